"""Values of checks as people read them: one notation for what was expected and found."""

from __future__ import annotations

import pytest

from data.snapshot.task_pages import _answer_text, _settings, brief, plain, quantity, reading_text


@pytest.mark.parametrize(
    ("text", "scale", "shown"),
    [
        ("11314000000 JPY", 1_000_000, "11,314 million JPY"),
        ("281190 count", 1_000, "281.19 thousand"),
        ("20000 JPY", 10_000, "20,000 JPY"),
        ("9800000000 JPY", 1, "9,800,000,000 JPY"),
        ("347.0 count", 1, "347"),
        ("0.0379 ratio", 1, "0.0379"),
        ("59.50 percent", 1, "59.5 %"),
        ("2018", 1, "2018"),
        ("-100", 1, "-100"),
        ("007", 1, "007"),
        ("about 3", 1, "about 3"),
    ],
)
def test_numbers_have_one_notation(text: str, scale: int, shown: str) -> None:
    assert quantity(text, scale) == shown


def test_expected_and_read_values_are_told_in_the_unit_asked_for() -> None:
    assert _answer_text("11314", "JPY", 1_000_000) == "11,314 million JPY"
    assert _answer_text("2", "JPY", 10_000) == "20,000 JPY"
    assert reading_text("11314000000000000 JPY", "JPY", 1_000_000) == "11,314,000,000 million JPY"
    assert reading_text("58000 USD", "JPY", 1_000) == "58,000 USD"
    assert reading_text('["a", "b"]') == "a, b"


def test_lists_and_fields_are_words() -> None:
    assert _answer_text('["a", "b"]') == "a, b"
    assert _answer_text("[a", "") == "[a"
    assert plain({"due_on": "5 May", "no": None, "of": [1, True]}) == "due on: 5 May; of: 1, yes"
    assert _settings({"max": 1, "program": "x" * 900}) == "max: 1"


def test_a_beginning_ends_between_words() -> None:
    assert brief("word " * 80).endswith("word …")
    assert brief("short\nline") == "short line"
