"""Wrapped lines: which breaks are inside a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text.wrapping import unwrapped

LONG = "The committee of the rowing club meets every second"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LONG}\nTuesday.", f"{LONG} Tuesday."),
        ("Save it as\n/w/a.csv", "Save it as /w/a.csv"),
        ("划船俱乐部的委员会每隔一周的星期二晚上开会，会上先宣读上次的记\n录。", None),
    ],
)
def test_a_long_line_without_an_end_goes_on(text: str, expected: str | None) -> None:
    assert unwrapped(text) == (expected or text.replace("\n", " "))


@pytest.mark.parametrize(
    "text",
    [
        "Dear all\nwe meet on Tuesday.",
        f"{LONG}.\nTuesday is fine.",
        f"{LONG}:\nTuesday",
        f"{LONG}\n\nTuesday",
        f"{LONG}\n- Tuesday",
        f"{LONG}\n1. Tuesday",
        f"# {LONG}\nTuesday",
        f"| {LONG} |\n| Tuesday |",
    ],
)
def test_items_headings_and_short_lines_stay_apart(text: str) -> None:
    assert unwrapped(text) == text


@given(st.text(st.sampled_from("ab .:-1\n#|为")))
def test_only_line_breaks_change(text: str) -> None:
    changed = unwrapped(text)
    assert len(changed) == len(text)
    assert all(
        new == old or (old, new) == ("\n", " ") for old, new in zip(text, changed, strict=True)
    )
