"""Figures as people read them."""

from __future__ import annotations

import pytest

from data.figures import amount, number, percent, percent_range


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (12_345, "12,345"), (-1_000, "-1,000"), ("200000000", "200,000,000"),
        (0.123456, "0.1235"), ("0.123456", "0.1235"), (2.0, "2"), ("2.50", "2.5"),
        (12_345.678, "12,346"), (1e300, "1e+300"), (float("nan"), "nan"),
        ("007", "007"), ("2024-03-01", "2024-03-01"), ("\u0661\u0662", "\u0661\u0662"),
        (True, "True"), (None, ""), ("", ""), ("a file", "a file"),
    ],
)  # fmt: skip
def test_a_number_has_commas_or_four_digits_and_other_texts_stay(value: object, text: str) -> None:
    assert number(value) == text


def test_shares_are_in_per_cent_with_their_unit_once_for_an_interval() -> None:
    assert [percent(0.12345), percent(0.5, 0), percent(None)] == ["12.3 %", "50 %", ""]
    assert percent_range(0.7008, 1.0) == "70.1 to 100.0 %"
    assert percent_range(None, 1.0) == ""


def test_an_amount_has_its_unit() -> None:
    assert [amount(1, "file"), amount(2_000, "file"), amount(3, "bytes")] == [
        "1 file", "2,000 files", "3 bytes",
    ]  # fmt: skip
