"""The statement page of drawn points: the rows around each, with the values of its period and the
one before as the statement prints them.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import localcontext
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from construction.statements.model import SEPARATOR, Statements
from construction.statements.questions.terms import (
    currency_words,
    is_multiple,
    number_of,
    reporting_exponents,
    trimmed,
)
from data.atomic import write_bytes
from data.neutralise import one_line
from data.text.dates import write_date

# The rows around a point, and their page as SVG and PNG: the same bytes for the same rows.
#
# The PNG is drawn with the project's own CJK font.

FONT = "Noto Sans CJK JP"
_WIDTH, _EDGE = 860, 24
_ROW, _HEAD = 24, 140
_VALUE_AT, _BEFORE_AT = 680, _WIDTH - _EDGE  # right edges of the columns
_CELL = 150
_LABEL_UNITS = 66  # label width in narrow letters
_TITLE_UNITS = 100
_STYLE = (
    "text{font:14px 'Noto Sans CJK JP','Hiragino Sans',sans-serif;fill:#1d2430}"
    ".title{font-size:17px}.soft{fill:#5b6675}.heading{font-weight:bold}"
    ".paper{fill:#fff}.rule{stroke:#c9d0d9}.stripe{fill:#f4f6f8}"
    ".cell{fill:#ffe98a;stroke:#c28a00;stroke-width:2}"
)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a statement as a reader sees it: its value for the point's period as printed, and
    for the comparative period `before`, empty if there is none. `own` is the point's row."""

    own: bool
    label: str
    shown: str
    before: str
    heading: bool
    unit: str = ""


@dataclass(frozen=True, slots=True)
class _Page:
    """A statement as it is drawn: its title lines, column heads and rows."""

    company: str
    statement: str
    section: str
    unit: str
    period: str
    before: str
    source: str
    rows: tuple[_Row, ...]


def _draw(page: _Page) -> str:
    """The page with the cell of the point's row highlighted."""
    height = _HEAD + _ROW * len(page.rows) + _EDGE
    title = f"{page.company}: {page.statement}"
    value_at = _VALUE_AT if page.before else _BEFORE_AT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" aria-label={quoteattr(_clipped(title, _TITLE_UNITS))}>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        _text(_EDGE, 34, _clipped(page.company, _TITLE_UNITS), "title"),
        _text(_EDGE, 56, _clipped(f"{page.statement}, {page.unit}", _TITLE_UNITS), ""),
        _text(_EDGE, 78, _clipped(page.section, _TITLE_UNITS), "soft"),
        *_column_head(value_at, page.period, ""),
        *_column_head(_BEFORE_AT, page.before, "soft"),
        f'<path class="rule" d="M{_EDGE} 130H{_WIDTH - _EDGE}"/>',
    ]
    for at, row in enumerate(page.rows):
        parts += _row(row, _HEAD + at * _ROW, value_at, striped=at % 2 == 1)
    parts.append(_text(_EDGE, height - 8, _clipped(page.source, _TITLE_UNITS), "soft"))
    return "".join(parts) + "</svg>\n"


def _column_head(x: int, period: str, kind: str) -> list[str]:
    """The period, its length above its day ("12 months to"), so that columns do not meet."""
    length, to, day = period.rpartition(" to ")
    lines = [(106, f"{length} to"), (122, day)] if to else [(122, period)]
    return [_text(x, y, text, kind, end=True) for y, text in lines]


def _row(row: _Row, top: int, value_at: int, *, striped: bool) -> list[str]:
    parts = []
    if striped:
        width = _WIDTH - 2 * _EDGE
        parts.append(
            f'<rect class="stripe" x="{_EDGE}" y="{top}" width="{width}" height="{_ROW}"/>'
        )
    if row.own:
        left_edge = value_at - _CELL + 8
        parts.append(
            f'<rect class="cell" x="{left_edge}" y="{top + 1}" width="{_CELL}" height="{_ROW - 2}" '
            'rx="3"/>'
        )
    base = top + 17
    kind = "heading" if row.heading else ""
    parts.append(_text(_EDGE + 4, base, _clipped(row.label, _LABEL_UNITS), kind))
    parts.append(_text(value_at, base, row.shown, "", end=True))
    parts.append(_text(_BEFORE_AT, base, row.before, "soft", end=True))
    return parts


def _clipped(text: str, units: int) -> str:
    """One line of XML characters, cut to a width; wide characters count twice."""
    text = "".join(char if _is_xml(char) else "\ufffd" for char in one_line(text[:1000]))
    used = 0
    for at, char in enumerate(text):
        used += 2 if unicodedata.east_asian_width(char) in "FW" else 1
        if used > units:
            return f"{text[: max(at - 1, 0)]}…"
    return text


def _is_xml(char: str) -> bool:
    return char not in "\ufffe\uffff" and not "\ud800" <= char <= "\udfff"


def _text(x: int, y: int, text: str, kind: str, *, end: bool = False) -> str:
    if not text:
        return ""
    styled = f' class="{kind}"' if kind else ""
    anchored = ' text-anchor="end"' if end else ""
    return f'<text x="{x}" y="{y}"{styled}{anchored}>{escape(text)}</text>'


FONT_FILE = Path(__file__).parent / "fonts" / "NotoSansCJKjp-subset.otf"  # see `font_subset`


def render_png(svg: str, zoom: float = 2.0) -> bytes:
    """The picture as PNG; only the project's font is used, so that all machines agree."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            skip_system_fonts=True,
            font_files=[str(FONT_FILE)],
            font_family=FONT,
            sans_serif_family=FONT,
        )
    )


_SCALES = {0: "", 3: "thousands", 6: "millions"}
_DASH = "—"
_MAX_PLACES = 4
_REACH = 20  # rows of the page before and after the point's


def _shown(value: str | None, unit: str, exponent: int, *, negated: bool, label: str = "") -> str:
    """Scaled, in groups of three, negatives in brackets, zero as a dash; "" without a value.

    Ratios are in percent, unless their label names a multiple.
    """
    number = number_of(value) if value is not None else None
    if number is None:
        return ""
    if not number:
        return _DASH
    is_percent = unit == "ratio" and not is_multiple(label)
    with localcontext(prec=100):
        power = 2 if is_percent else -exponent if _is_scaled(unit) else 0
        scaled = trimmed(number.scaleb(power))
        scaled = -scaled if negated else scaled
        places = max(0, -int(scaled.as_tuple().exponent))
        least = 2 if unit.endswith("/share") else 0
        text = f"{abs(scaled):,.{min(max(places, least), _MAX_PLACES)}f}"
    text = f"{text}%" if is_percent else text
    return f"({text})" if scaled < 0 else text


def _is_scaled(unit: str) -> bool:
    """Whether amounts of the unit are printed in thousands or millions."""
    return not unit.endswith("/share") and unit not in ("ratio", "count")


def _unit_line(units: Sequence[str], exponents: Mapping[str, int]) -> str:
    """The line under a title that states the units of all rows, the commonest currency first.

    "in millions of US dollars, per-share amounts in US dollars, shares in thousands".
    """
    counts = Counter(units)
    ordered = sorted(counts, key=lambda unit: (-counts[unit], unit))
    money = [unit for unit in ordered if _is_scaled(unit) and unit != "shares"]
    parts = [_amounts(unit, exponents.get(unit, 0)) for unit in money]
    for unit in ordered:
        code = unit.removesuffix("/share")
        if code != unit:
            words = currency_words(code) or code
            parts.append(f"per-share amounts in {words}" if parts else f"in {words} per share")
    if "shares" in counts:
        scale = _SCALES[exponents.get("shares", 0)]
        parts.append(f"shares in {scale}" if scale else "numbers of shares")
    parts += ["ratios in percent"] if "ratio" in counts else []
    return ", ".join(parts) or "numbers"


def _amounts(unit: str, exponent: int) -> str:
    words, scale = currency_words(unit) or unit, _SCALES[exponent]
    return f"in {scale} of {words}" if scale else f"in {words}"


_OPENING = ("beginning", "期首")
_KEY = ("document", "report")
_Period = tuple[date, int]
_Exponents = Mapping[tuple[str, int | None, str], int]


@dataclass(frozen=True, slots=True)
class _Reports:
    """The statements that contain some points: rows in order, values by series and period.

    `filed` has the values as a document reported them, `standing` the current ones. `parts` are the
    dimensions of series, and `by_line` the values (and units) of dimensioned series by document,
    report, line, dimensions and period, since several of them may share a row.
    """

    rows: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]
    filed: Mapping[tuple[str, str, date, int], str]
    standing: Mapping[tuple[str, date, int], str]
    periods: Mapping[str, Sequence[_Period]]
    units: Mapping[str, str]
    parts: Mapping[str, str]
    by_line: Mapping[tuple[Any, ...], tuple[str, str]]


def _collect_reports(wanted: pl.DataFrame, statements: Statements) -> _Reports:
    """The reports of the points `wanted` (rows of POINTS), parenthetical rows left out."""
    keys = wanted.select(_KEY).drop_nulls().unique()
    rows = statements.rows.filter(~pl.col("parenthetical").fill_null(False))
    rows = rows.join(keys, on=_KEY, how="semi").sort(*_KEY, "line", "label", "series_id")
    series = rows.select("series_id").drop_nulls().unique()
    columns = ("series_id", "document", "period_end", "months", "value")
    now = statements.points.join(series, on="series_id", how="semi").select(columns)
    old = statements.history.join(series, on="series_id", how="semi").select(columns)
    by_report: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        by_report.setdefault((row["document"], row["report"]), []).append(row)
    filed = {
        (document, series_id, end, months): value
        for series_id, document, end, months, value in pl.concat([old, now])
        .sort(columns)
        .iter_rows()
    }
    standing = {
        (series_id, end, months): value
        for series_id, _, end, months, value in now.sort(columns).iter_rows()
    }
    parts, by_line = _dimensioned(wanted, keys, statements)
    units = _units(series, statements)
    return _Reports(by_report, filed, standing, _periods(now, old), units, parts, by_line)


def _dimensioned(
    wanted: pl.DataFrame, keys: pl.DataFrame, statements: Statements
) -> tuple[dict[str, str], dict[tuple[Any, ...], tuple[str, str]]]:
    """The dimensions of the wanted series, and the values of their reports by line."""
    series = statements.series.filter(pl.col("dimensions").is_not_null())
    own = series.join(wanted, on="series_id", how="semi").select("series_id", "dimensions")
    columns = ("series_id", "document", "report", "line", "period_end", "months", "value")
    frames = (statements.history.select(columns), statements.points.select(columns))
    values = (
        pl.concat(frames)
        .join(keys, on=_KEY, how="semi")
        .join(series.select("series_id", "dimensions", "unit"), on="series_id")
        .select(*_KEY, "line", "dimensions", "period_end", "months", "value", "unit")
        .sort(pl.all())
    )
    return dict(own.iter_rows()), {row[:6]: row[6:] for row in values.iter_rows()}


def _periods(now: pl.DataFrame, old: pl.DataFrame) -> dict[str, list[_Period]]:
    spans = pl.concat([now, old]).select("document", "period_end", "months").unique()
    periods: dict[str, list[_Period]] = {}
    for document, end, months in spans.sort("document", "period_end", "months").iter_rows():
        periods.setdefault(document, []).append((end, months))
    return periods


def _units(series: pl.DataFrame, statements: Statements) -> dict[str, str]:
    shown = statements.series.join(series, on="series_id", how="semi")
    return dict(shown.select("series_id", "unit").iter_rows())


def _comparative(reports: _Reports, point: Mapping[str, Any]) -> _Period | None:
    """The latest earlier period of the same length that the document reports the statement for."""
    rows = reports.rows.get((point["document"], point["report"]), ())
    series = {row["series_id"] for row in rows}
    counts: Counter[_Period] = Counter()
    for end, months in reports.periods.get(point["document"], ()):
        if months == point["months"] and end < point["period_end"]:
            counts[(end, months)] = sum(
                (point["document"], one, end, months) in reports.filed for one in series
            )
    best = [period for period, count in counts.items() if 2 * count >= max(counts.values()) > 0]
    return max(best, default=None)


def _rows_around(
    reports: _Reports, point: Mapping[str, Any], before: _Period | None, exponents: _Exponents
) -> tuple[tuple[_Row, ...], int | None]:
    """All rows of the point's statement, and the position of its own row; None without one.

    For a dimensioned point the rows have the values of the same dimensions.
    """
    key = (point["document"], point["report"])
    listed = reports.rows.get(key, ())
    position = _position(listed, point)
    period = (point["period_end"], point["months"])
    rows = []
    for at, row in enumerate(listed):
        opening = _opening(row, point)
        value, unit = _printed(reports, row, point, opening or period)
        if at == position:
            value = point["value"]
        earlier = _printed(reports, row, point, before)[0] if before and not opening else None
        exponent, negated = exponents.get((*key, unit), 0), bool(row["negated"])
        label = row["label"] or ""
        rows.append(
            _Row(
                own=at == position,
                label=label,
                shown=_shown(value, unit, exponent, negated=negated, label=label),
                before=_shown(earlier, unit, exponent, negated=negated, label=label),
                heading=row["series_id"] is None and not value,
                unit=unit,
            )
        )
    return tuple(rows), position


def _position(rows: Sequence[Mapping[str, Any]], point: Mapping[str, Any]) -> int | None:
    """The row of the point's series; if there are several, or none, the one of its line."""
    places = [at for at, row in enumerate(rows) if row["series_id"] == point["series_id"]]
    on_line = [at for at, row in enumerate(rows) if row["line"] == point["line"]]
    exact = [at for at in places if at in on_line]
    return next(iter(exact or places or on_line), None)


def _printed(
    reports: _Reports, row: Mapping[str, Any], point: Mapping[str, Any], period: _Period
) -> tuple[str | None, str]:
    """The value of a row for a period, for the point's dimensions if it has any, and its unit."""
    dimensions = reports.parts.get(point["series_id"])
    if dimensions is not None:
        key = (point["document"], point["report"], row["line"], dimensions, *period)
        return reports.by_line.get(key, (None, ""))
    unit = reports.units.get(row["series_id"] or "", "")
    return _value(reports, row, point["document"], period), unit


def _opening(row: Mapping[str, Any], point: Mapping[str, Any]) -> _Period | None:
    """For a balance that opens a flow statement, the day before the period."""
    label = (row["label"] or "").lower()
    opens = point["months"] and any(word in label for word in _OPENING)
    if not opens or point["period_start"] is None:
        return None
    return point["period_start"] - timedelta(days=1), 0


def _value(reports: _Reports, row: Mapping[str, Any], document: str, period: _Period) -> str | None:
    """The value of a row for a period; for balances in a flow statement, that of its last day."""
    series_id, (end, months) = row["series_id"], period
    if series_id is None:
        return None
    for length in dict.fromkeys((months, 0)):
        value = reports.filed.get((document, series_id, end, length))
        value = value if value is not None else reports.standing.get((series_id, end, length))
        if value is not None:
            return value
    return None


_LENGTHS = {3: "3 months to ", 6: "6 months to ", 9: "9 months to ", 12: "12 months to "}


def pages(point_ids: Iterable[str], statements: Statements, round_share: float) -> dict[str, _Page]:
    """The page of each point, in the order of their ids; unknown ids are left out.

    A value that a later filing replaced is shown in the filing that gave it; a point in no row of
    a statement stands alone. `round_share` as for questions (`reporting_exponents`).
    """
    ids = sorted(set(point_ids))
    filed = pl.concat([statements.points, statements.history.drop("replaced_by")])
    wanted = filed.filter(pl.col("point_id").is_in(ids)).sort("point_id")
    reports = _collect_reports(wanted, statements)
    exponents = reporting_exponents(statements, round_share)
    series = _by_id(statements.series, "series_id", wanted["series_id"])
    companies = _by_id(statements.companies, "company_id", wanted["company_id"])
    return {
        point["point_id"]: _page(
            point, series[point["series_id"]], companies[point["company_id"]], reports, exponents
        )
        for point in wanted.iter_rows(named=True)
    }


def _by_id(frame: pl.DataFrame, key: str, ids: pl.Series) -> dict[str, dict[str, Any]]:
    rows = frame.filter(pl.col(key).is_in(ids.unique().to_list())).iter_rows(named=True)
    return {row[key]: row for row in rows}


def _page(
    point: Mapping[str, Any],
    series: Mapping[str, Any],
    company: Mapping[str, Any],
    reports: _Reports,
    exponents: _Exponents,
) -> _Page:
    before = _comparative(reports, point)
    rows, position = _rows_around(reports, point, before, exponents)
    if position is None:
        rows, before = (_alone(point, series, exponents),), None
    section = tuple((series["name"] or "").split(SEPARATOR)[:-1])
    window = rows[max(0, (position or 0) - _REACH) : (position or 0) + _REACH + 1]
    key = (point["document"], point["report"])
    units = [row.unit for row in window if row.shown and row.unit]
    scales = {unit: exponents.get((*key, unit), 0) for unit in units}
    return _Page(
        company=company["name_local"] or company["name"] or "",
        statement=series["statement"] or "",
        section=" > ".join(section),
        unit=_unit_line(units, scales),
        period=_head((point["period_end"], point["months"])),
        before=_head(before) if before else "",
        source=f"Filing {point['document']}",
        rows=window,
    )


def _alone(point: Mapping[str, Any], series: Mapping[str, Any], exponents: _Exponents) -> _Row:
    unit, label = series["unit"] or "", series["label"] or ""
    exponent = exponents.get((point["document"], point["report"], unit), 0)
    printed = _shown(point["value"], unit, exponent, negated=False, label=label)
    return _Row(True, label, printed, "", False, unit)


def _head(period: _Period) -> str:
    end, months = period
    return _LENGTHS.get(months, "") + write_date(end)


def write_pictures(out: Path, drawn: Mapping[str, _Page], numbers: Mapping[str, int]) -> None:
    """One SVG per point of `numbers`, named by its number: the same bytes on every machine."""
    out.mkdir(exist_ok=True)
    for point_id, number in sorted(numbers.items()):
        write_bytes(out / f"{number:05}.svg", _draw(drawn[point_id]).encode())


_RANGES = (
    (0x0020, 0x024F),  # Latin with accents
    (0x2000, 0x206F),  # dashes, quotation marks, ellipsis
    (0x20A0, 0x20BF),  # currency signs
    (0x2190, 0x22FF),  # arrows and mathematical signs
    (0x3000, 0x312F),  # kana and CJK punctuation
    (0xFF00, 0xFFEF),  # full-width and half-width forms
    (0xFFFD, 0xFFFD),
)
_LEAD = (*range(0x81, 0xA0), *range(0xE0, 0xFD))
_DROPPED = ["VORG", "vhea", "vmtx", "BASE"]


def _characters() -> frozenset[int]:
    """The code points of the subset."""
    pairs = (bytes(pair) for pair in product(_LEAD, range(0x40, 0xFD)))
    japanese = "".join(pair.decode("cp932", "ignore") for pair in pairs)
    ranges = (range(first, last + 1) for first, last in _RANGES)
    return frozenset(map(ord, japanese)).union(*ranges)


def _write_subset(collection: Path, out: Path) -> None:
    """Write the subset of the Japanese font of a collection (`NotoSansCJK-Regular.ttc`)."""
    from fontTools import subset
    from fontTools.ttLib import TTCollection

    with TTCollection(str(collection)) as fonts:
        font = next(font for font in fonts if font["name"].getDebugName(1) == FONT)
        font.recalcTimestamp = False
        options = subset.Options(hinting=False, layout_features=["kern", "ccmp"], name_IDs=["*"])
        options.drop_tables += _DROPPED
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=sorted(_characters()))
        cutter.subset(font)
        font.save(str(out))


if __name__ == "__main__":
    _write_subset(Path(sys.argv[1]), FONT_FILE)
