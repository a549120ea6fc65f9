"""Neighbouring rows, section path and the picture of a statement."""

from __future__ import annotations

import io
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops

from construction.statements.enrichment import (
    FONT,
    FONT_FILE,
    _characters,
    _draw,
    _Page,
    _Row,
    _shown,
    _unit_line,
    _write_subset,
    pages,
    render_png,
    write_pictures,
)
from construction.statements.model import Statements
from tests.construction.statements.enrichment.glyphs import missing_glyphs
from tests.construction.statements.questions.small import YEAR_END, Book

# The shipped font: what it draws, and that the subset is the declared one.

_UNKNOWN = "\U0001f9ff"  # in no text font: drawn as the missing-glyph box, or not at all
_SOURCE = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


def _drawn(char: str) -> Image.Image:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
        '<rect width="40" height="40" fill="#fff"/>'
        f'<text x="4" y="32" font-family="{FONT}" font-size="30">{char}</text></svg>'
    )
    return Image.open(io.BytesIO(render_png(svg, zoom=1.0))).convert("L")


def _ink(picture: Image.Image) -> int:
    return sum(picture.histogram()[:128])


@pytest.mark.parametrize("char", list("売上高株式会社現金資産髙﨑の合計Aé€→産余額"))
def test_characters_of_the_font_are_drawn(char: str) -> None:
    """Neither blank nor the box that stands for all missing characters."""
    picture = _drawn(char)
    assert missing_glyphs(char) == ""
    assert _ink(picture) > 20
    assert ImageChops.difference(picture, _drawn(_UNKNOWN)).getbbox() is not None


@pytest.mark.parametrize("char", list("现产额"))
def test_simplified_chinese_is_drawn_as_the_missing_glyph(char: str) -> None:
    assert missing_glyphs(char) == char
    assert ImageChops.difference(_drawn(char), _drawn(_UNKNOWN)).getbbox() is None


def test_the_font_is_the_declared_subset() -> None:
    with TTFont(FONT_FILE) as font:
        mapped = frozenset(font.getBestCmap())
        assert font["name"].getDebugName(1) == FONT
        assert "SIL Open Font License" in font["name"].getDebugName(13)
    assert mapped <= _characters()
    kanji = {char for char in _characters() if 0x4E00 <= char <= 0x9FFF}
    assert kanji <= mapped
    assert 6_600 < len(kanji) < 6_700
    assert FONT_FILE.stat().st_size < 2_000_000
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FONT_FILE.parent / "OFL.txt").read_text("utf-8")


@pytest.mark.slow
def test_the_subset_is_made_anew_from_the_installed_font(tmp_path: Path) -> None:
    if not _SOURCE.is_file():
        pytest.skip(f"no {_SOURCE}: install fonts-noto-cjk (`make system`)")
    _write_subset(_SOURCE, tmp_path / "again.otf")
    with TTFont(tmp_path / "again.otf") as again, TTFont(FONT_FILE) as shipped:
        assert again.getBestCmap().keys() == shipped.getBestCmap().keys()


_SVG = "{http://www.w3.org/2000/svg}"
_ROUND = 0.6
_LAST_YEAR = date(2009, 3, 31)


def a_balance_sheet(n_lines: int = 30) -> tuple[Statements, list[str]]:
    book, points = Book(), []
    company = book.company("edinet:E1", "Ardent Mills", name_local="株式会社アーデント")
    book.row(0, "流動資産")
    for at in range(n_lines):
        line = book.line(company, f"Balance sheet | Current assets | Item {at}", unit="JPY")
        points.append(book.value(line, f"{(at + 1) * 1000}000", months=0))
        book.value(line, f"{at}000000", _LAST_YEAR, months=0)
        book.row(at + 1, f"項目 {at} <&>", line, negated=at == 20)
    book.row(5, "in brackets", None, parenthetical=True)
    return book.close(), points


def test_rows_on_both_sides_with_the_values_of_the_period() -> None:
    statements, points = a_balance_sheet(60)
    page = pages([points[25]], statements, _ROUND)[points[25]]
    assert [row.own for row in page.rows] == [at == 20 for at in range(41)]
    own = page.rows[20]
    assert (own.label, own.shown, own.before) == ("項目 25 <&>", "26", "25")
    assert page.rows[15].shown == "(21)"  # printed with the opposite sign
    assert page.section == "Balance sheet > Current assets"
    assert page.period == "March 31, 2010"
    assert page.before == "March 31, 2009"
    assert page.unit == "in millions of Japanese yen"


def test_the_window_ends_with_the_statement() -> None:
    statements, points = a_balance_sheet()
    page = pages([points[0]], statements, _ROUND)[points[0]]
    assert [row.own for row in page.rows] == [at == 1 for at in range(22)]
    assert page.rows[0].heading and page.rows[0].shown == ""


def test_a_neighbour_shows_what_the_document_said_before_it_was_restated() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills")
    lines = [book.line(company, f"Balance sheet | Item {at}") for at in range(2)]
    own = book.value(lines[0], "5000000", months=0)
    other = book.value(lines[1], "7000000", months=0, document="doc-2")
    book.restated(other, "6000000", document="doc-1")
    for at, line in enumerate(lines):
        book.row(at, f"Item {at}", line)
    result = pages([own], book.close(), _ROUND)[own]
    assert [row.shown for row in result.rows] == ["5", "6"]


def test_cash_at_the_beginning_is_that_of_the_day_before_the_period() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills")
    sales = book.line(company, "Cash flow statement | Net cash")
    cash = book.line(company, "Cash flow statement | Cash")
    own = book.value(sales, "5000000", period_start=date(2009, 4, 1))
    book.value(cash, "2000000", _LAST_YEAR, months=0)
    book.value(cash, "7000000", months=0)
    book.row(1, "Net cash", sales)
    book.row(2, "Cash at beginning of year", cash)
    book.row(3, "Cash at end of year", cash)
    result = pages([own], book.close(), _ROUND)[own]
    assert [row.shown for row in result.rows] == ["5", "2", "7"]


def test_the_font_has_all_the_marks_that_the_page_itself_brings() -> None:
    statements, points = a_balance_sheet(12)
    for result in pages(points, statements, _ROUND).values():
        assert missing_glyphs("".join(ElementTree.fromstring(_draw(result)).itertext())) == ""


def test_a_point_in_no_statement_stands_alone() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills")
    point = book.value(book.line(company, "Balance sheet | Item"), "5000", report=None, line=None)
    result = pages([point, "unknown"], book.close(), _ROUND)[point]
    assert [(row.own, row.shown) for row in result.rows] == [(True, "5")]


def test_order_of_rows_does_not_matter() -> None:
    result, points = a_balance_sheet()
    turned = Statements(
        result.companies.reverse(),
        result.series.reverse(),
        result.points.reverse(),
        result.history.reverse(),
        result.rows.reverse(),
    )
    assert pages(points[::-1], turned, _ROUND) == pages(points, result, _ROUND)


def test_one_cell_is_highlighted_and_it_is_the_points() -> None:
    statements, points = a_balance_sheet()
    result = pages([points[15]], statements, _ROUND)[points[15]]
    root = ElementTree.fromstring(_draw(result))
    (cell,) = [rect for rect in root.iter(f"{_SVG}rect") if rect.get("class") == "cell"]
    top = float(cell.get("y", "0"))
    inside = [
        text.text
        for text in root.iter(f"{_SVG}text")
        if top < float(text.get("y", "0")) < top + float(cell.get("height", "0"))
    ]
    assert inside == ["項目 15 <&>", "16", "15"]
    texts = [text.text for text in root.iter(f"{_SVG}text")]
    assert texts[:2] == ["株式会社アーデント", "Balance sheet, in millions of Japanese yen"]


@given(label=st.text(max_size=200), company=st.text(max_size=200))
def test_hostile_labels_stay_text(label: str, company: str) -> None:
    row = _Row(True, label + "</text><script>alert(1)</script>", "1", "", False)
    page = _Page(company, "Balance sheet", "", "in euros", "", "", "", (row,))
    root = ElementTree.fromstring(_draw(page))
    assert {element.tag for element in root.iter()} <= {
        f"{_SVG}{name}" for name in ("svg", "style", "rect", "text", "path")
    }


@pytest.mark.parametrize(
    ("value", "unit", "exponent", "negated", "printed"),
    [
        ("812400000", "USD", 6, False, "812.4"),
        ("-31500000", "USD", 3, False, "(31,500)"),
        ("-31500000", "USD", 3, True, "31,500"),
        ("31500000", "USD", 3, True, "(31,500)"),
        ("0.0", "USD", 3, True, "—"),
        ("2.5", "USD/share", 6, False, "2.50"),
        ("0.239", "ratio", 6, False, "23.9%"),
        ("－", "JPY", 6, False, ""),
        (None, "JPY", 6, False, ""),
    ],
)
def test_printed_values(
    value: str | None, unit: str, exponent: int, negated: bool, printed: str
) -> None:
    assert _shown(value, unit, exponent, negated=negated) == printed


@pytest.mark.parametrize(
    ("units", "exponents", "words"),
    [
        (["USD"], {"USD": 6}, "in millions of US dollars"),
        (["USD/share"], {}, "in US dollars per share"),
        (
            ["USD/share", "USD", "USD", "shares"],
            {"USD": 6, "shares": 3},
            "in millions of US dollars, per-share amounts in US dollars, shares in thousands",
        ),
        (["ratio", "JPY"], {"JPY": 0}, "in Japanese yen, ratios in percent"),
        (["count"], {}, "numbers"),
    ],
)
def test_the_line_under_the_title_states_the_unit_of_every_row(
    units: list[str], exponents: dict[str, int], words: str
) -> None:
    assert _unit_line(units, exponents) == words


def test_rows_of_other_units_are_scaled_by_their_own() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.")
    sales = book.line(company, "Income statement | Sales")
    per_share = book.line(company, "Income statement | Earnings per share", unit="USD/share")
    book.value(sales, "812000000")
    point = book.value(per_share, "0.51", line=2)
    book.row(1, "Sales", sales)
    book.row(2, "Earnings per share", per_share)
    result = pages([point], book.close(), _ROUND)[point]
    assert [row.shown for row in result.rows] == ["812", "0.51"]
    assert result.unit == "in millions of US dollars, per-share amounts in US dollars"


def test_a_part_stands_among_the_rows_of_the_same_part() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.")
    points = {}
    for at, item in enumerate(("Sales", "Assets"), 1):
        for part, value in (("Europe", at), ("Asia", 10 * at)):
            name = f"Segments | Geography | {part} | {item}"
            line = book.line(company, name, dimensions=f"Geography={part}", concept=item)
            points[part, item] = book.value(line, f"{value}000000", line=at)
        book.row(at, item, None)
    result = pages([points["Asia", "Assets"]], book.close(), _ROUND)[points["Asia", "Assets"]]
    assert [(row.label, row.shown) for row in result.rows] == [("Sales", "10"), ("Assets", "20")]


def test_heads_of_columns_do_not_meet() -> None:
    day, row = "September 30, 2010", _Row(True, "Sales", "1", "1", False, "USD")
    page = _Page("A", "B", "C", "D", f"12 months to {day}", f"12 months to {day}", "E", (row,))
    heads = [
        (float(text.get("x", 0)), text.text or "")
        for text in ElementTree.fromstring(_draw(page)).iter(f"{_SVG}text")
        if text.text in (day, "12 months to")
    ]
    assert len(heads) == 4
    (first, _), (last, words) = min(heads), max(heads)
    assert last - first > 8 * len(words)  # no letter of the font is wider than 8 on average


def test_pictures_are_written_under_their_numbers(tmp_path: Path) -> None:
    statements, points = a_balance_sheet(3)
    result = pages(points, statements, _ROUND)
    numbers = {point: number for number, point in enumerate(points, start=1)}
    write_pictures(tmp_path / "svg", result, numbers)
    assert sorted(path.name for path in (tmp_path / "svg").iterdir()) == [
        "00001.svg",
        "00002.svg",
        "00003.svg",
    ]


def test_year_end_is_the_day_shown() -> None:
    statements, points = a_balance_sheet(2)
    assert pages(points, statements, _ROUND)[points[0]].period.endswith(str(YEAR_END.year))
