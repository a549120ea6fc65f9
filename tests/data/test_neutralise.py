"""Hostile text is harmless where it is shown, and honest text stays as it is."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.neutralise import (
    csv_cell,
    markdown,
    one_line,
    public_text,
    script_json,
    storable,
    storable_tree,
    visible,
)

ANY_TEXT = st.text(st.characters(codec=None))  # lone surrogates included
HONEST = [
    "Résumé für Zoë: 订单汇总 ¥1,200 → 完成 👩‍💻",  # with a joiner
    "می‌خواهم",  # with a non-joiner
    "שלום \u200fעולם",  # with a directional mark
    "a\tb\nc",
]


@pytest.mark.parametrize("text", HONEST)
def test_honest_text_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "⟨U+001B⟩[31mred⟨U+001B⟩[0m"),
        ("invoice\u202exslx.exe", "invoice⟨U+202E⟩xslx.exe"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("nul\x00", "nul⟨U+0000⟩"),
        ("seen\U000e0069\U000e0067", "seen⟨U+E0069⟩⟨U+E0067⟩"),
        ("\ufeffstart", "⟨U+FEFF⟩start"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("over\rwritten\r\nnext", "over\nwritten\nnext"),
    ],
)
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT)
def test_visible_is_utf8_and_idempotent(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert visible(shown) == shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


@given(ANY_TEXT)
def test_one_line_is_one(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


def test_markdown_shows_markup_literally() -> None:
    assert markdown("[x](http://h)|*b*\n<b>`c`") == r"\[x\](http://h)\|\*b\* \<b\>\`c\`"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "|", "%", "\t=", "\n=", "  ="])
def test_no_cell_starts_a_formula(start: str) -> None:
    assert csv_cell(f"{start}HYPERLINK(1)") == f"'{start}HYPERLINK(1)"


def test_numbers_and_plain_texts_are_cells_as_they_are() -> None:
    assert [csv_cell(value) for value in (-5, 1.5, None, True, "a=b", "")] == [
        -5,
        1.5,
        None,
        True,
        "a=b",
        "",
    ]


@pytest.mark.parametrize("value", ["10", "-3", "0.25", "1e-9", "True", "unrecoverable", "zh|mail"])
def test_numbers_and_code_words_may_be_told(value: str) -> None:
    assert public_text(value) == value


@pytest.mark.parametrize(
    "value",
    ["salaries-2026.xlsx", "ann@example.org", "Ann Lee", "/home/ann", "https://h/x", "9" * 30, ""],
)
def test_of_other_texts_only_the_length_is_told(value: str) -> None:
    assert public_text(value) == f"text, {len(value)} characters"


def test_what_files_cannot_hold_is_named() -> None:
    assert storable("a\udc80") == "a⟨U+DC80⟩"
    assert storable(2**70) == "integer of 71 bits"
    assert storable(2**63 - 1) == 2**63 - 1
    assert storable_tree({"a\ud800": ["\ud800", {"b": (2**64,)}]}) == {
        "a⟨U+D800⟩": ["⟨U+D800⟩", {"b": ["integer of 65 bits"]}]
    }


@given(st.recursive(st.text() | st.integers(-9, 9), lambda inner: st.lists(inner)))
def test_script_json_holds_the_value_and_no_markup(value: object) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert not set("<>&") & set(text)


def test_long_hostile_texts_take_no_time() -> None:
    for text in ("\x1b[" * 300_000, "a_" * 300_000, "1" * 600_000, "=" * 600_000):
        visible(text)
        markdown(text)
        public_text(text)
        csv_cell(text)
