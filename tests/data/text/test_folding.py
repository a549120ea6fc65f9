"""What each way of folding leaves alike and what it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text import folding


@given(st.text(max_size=200))
def test_lengths_stay_where_offsets_have_to_hold(text: str) -> None:
    assert len(folding.fold_characters(text)) == len(text)
    assert len(folding.lower_in_place(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＡＢ－１２", "AB-12"),
        ("a\u00a0b\u2011c", "a b-c"),
        ("٣", "3"),
        ("王，李", "王，李"),
        ("’", "'"),
    ],
)
def test_fold_characters(text: str, folded: str) -> None:
    assert folding.fold_characters(text) == folded


def test_lower_in_place_keeps_what_would_grow() -> None:
    assert folding.lower_in_place("İABC") == "İabc"


def test_fold_case_and_words() -> None:
    assert folding.fold_case("ＡＣＭＥ Straße") == "acme strasse"
    assert folding.fold_words("A.C.M.E. Corp., (UK)") == "acme corp uk"
    assert folding.alphanumeric("Ａ-b c.1") == "abc1"


def test_white_space() -> None:
    assert folding.fold_spaces(" a \n b ") == "a b"
    assert folding.without_spaces("売 上　高") == "売上高"
