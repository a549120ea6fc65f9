"""Japanese line items in English: the table, the composition, and what stays untranslated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.labels import _default_table, _load_table, translate
from construction.statements.model import LabelMethod, Statement
from data.errors import ConfigError
from data.text.folding import without_spaces
from data.text.scripts import HAN_KANA

PAIRS = Path(__file__).with_name("label_pairs.tsv")
_JAPANESE = re.compile(f"[{HAN_KANA}]")
# Parts that compositions are made of, and letters that no table knows.
_PARTS = [
    "その他",
    "有形固定資産",
    "投資その他の資産",
    "売上債権",
    "長期",
    "借入金",
    "の増減額（△は減少）",
    "による支出",
    "の取得による支出",
    "又は",
    "及び",
    "、",
    "１株当たり",
    "当期純利益",
    "（純額）",
    "売却益",
    "引当金",
    "謎",
    "ぷ",
    "ｱ",
    "Ａ",
    "(",
    ")",
    "　",
    "{x}",
    "é",
]


def _pairs() -> list[tuple[str, str, Statement | None]]:
    lines = [line for line in PAIRS.read_text("utf-8").splitlines() if line.strip()]
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(row[0], row[1], Statement(row[2]) if len(row) > 2 else None) for row in rows]


def test_there_are_more_than_a_hundred_pairs() -> None:
    assert len(_pairs()) >= 120


@pytest.mark.parametrize(("label", "english", "statement"), _pairs())
def test_pair(label: str, english: str, statement: Statement | None) -> None:
    result = translate(label, statement)
    assert (result.text, result.method) == (english, LabelMethod.TABLE)


@pytest.mark.parametrize(
    "label",
    [
        "謎の項目",
        "その他、謎の項目",
        "謎の取得による支出",
        "土地又は謎",
        "謎及び土地",
        "、",
        "又は",
        "　",
        "",
        "の増減額（△は減少）",
        "土地（謎）",
        "é",
        "土地" * 80,
    ],
)
def test_what_is_not_known_whole_is_untranslated(label: str) -> None:
    result = translate(label)
    assert (result.text, result.method) == (None, LabelMethod.UNTRANSLATED)


def test_an_english_label_is_reported_as_it_is() -> None:
    result = translate(" EBITDA (adjusted)")
    assert (result.text, result.method) == ("EBITDA (adjusted)", LabelMethod.REPORTED)


def test_width_and_spaces_do_not_matter() -> None:
    assert without_spaces("１株当たり　配当額（ＩＦＲＳ）") == "1株当たり配当額(IFRS)"
    assert translate("1株当たり配当額").text == translate("１株当たり　配当額").text


def test_the_statement_settles_what_a_balance_is() -> None:
    cash = "現金及び現金同等物"
    assert translate(cash, Statement.BALANCE).text == "Cash and cash equivalents"
    assert translate(cash, Statement.CASH_FLOW).text == "Cash and cash equivalents at end of period"


def test_only_a_loss_of_the_same_kind_is_put_in_brackets() -> None:
    assert translate("営業利益又は営業損失（△）").text == "Operating profit (loss)"
    assert translate("営業利益又は経常損失").text == "Operating profit or ordinary loss"


@given(st.lists(st.sampled_from(_PARTS), max_size=12).map("".join) | st.text(max_size=60))
def test_a_translation_holds_no_japanese(label: str) -> None:
    result = translate(label)
    if result.text is None:
        assert result.method is LabelMethod.UNTRANSLATED
        return
    assert not _JAPANESE.search(result.text)
    assert result.text.isascii()
    assert result.text.strip() == result.text != ""


@given(st.sampled_from(sorted(_default_table())), st.sampled_from(sorted(_default_table())))
def test_sections_tell_items_apart(first: str, second: str) -> None:
    """The item and its section both stand in the composed label."""
    result = translate(f"{first}、{second}")
    if not result.exact and "(" not in first + second:
        item, section = translate(first).text, translate(second).text
        assert item is not None and section is not None and result.text is not None
        assert result.text.startswith(item)
        assert section.removeprefix("Total ").lower() in result.text.lower()


def test_the_table_is_japanese_to_ascii() -> None:
    table = _default_table()
    assert all(text.isascii() for result in table.values() for text in result.values())
    assert all(_JAPANESE.search(label) for label in table)


@pytest.mark.parametrize(
    ("line", "position"),
    [
        ("土地", ":2:"),
        ("土地\tLand\tCash flow\n", ":2:"),
        ("土地\t土地\n", ":2:"),
        ("土地\t \n", ":2:"),
        ("土地\tLand\n土 地\tGround\n", ":3:"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path: Path, line: str, position: str) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(f"# remark\n{line}", "utf-8")
    with pytest.raises(ConfigError, match=re.escape(f"table.tsv{position}")):
        _load_table(path)


def test_a_label_may_have_a_text_for_each_statement(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("土地\tLand\n土地\tLand sold\tCash flow statement\n", "utf-8")
    assert _load_table(path) == {"土地": {"": "Land", "Cash flow statement": "Land sold"}}
