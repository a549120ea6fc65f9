"""Numbers in text: separators, scales, numerals."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text.numbers import (
    NUMBER_WORDS,
    _english_value,
    chinese_integer,
    scan_numbers,
    write_chinese,
    write_chinese_digits,
)

# Chinese numerals: values, the short last digit, and writing them.


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("十", 10),
        ("二十五", 25),
        ("一百零五", 105),
        ("二〇二五", 2025),
        ("两万", 20_000),
        ("三万五千", 35_000),
        ("三千五", 3_500),
        ("三千零五", 3_005),
        ("三万五", 35_000),
        ("五百三", 530),
        ("一亿两千万", 120_000_000),
        ("一億二千万", 120_000_000),
        ("三万亿", 3_000_000_000_000),
        ("壹佰", 100),
        ("亿", 100_000_000),
    ],
)
def test_chinese_integer(written: str, value: int) -> None:
    assert chinese_integer(written) == value


@pytest.mark.parametrize(
    "written", ["", "abc", "12", "三十点五", "百分之五", "元", "一" * 25, "十千"]
)
def test_what_is_no_chinese_integer(written: str) -> None:
    assert chinese_integer(written) is None


@given(st.integers(1, 99))
def test_what_is_written_is_read_again(number: int) -> None:
    assert chinese_integer(write_chinese(number)) == number


@given(st.integers(1000, 9999))
def test_years_are_written_digit_by_digit(year: int) -> None:
    assert chinese_integer(write_chinese_digits(year)) == year


@pytest.mark.parametrize("word", sorted(NUMBER_WORDS))
def test_number_words_are_read(word: str) -> None:
    read = _english_value(word)
    assert read is not None
    assert read[0] == NUMBER_WORDS[word]


def only(text: str) -> Decimal:
    (number,) = scan_numbers(text)
    assert (number.start, number.end) == (0, len(text))
    return number.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7,310.25", "7310.25"),
        ("7 310,25", "7310.25"),
        ("7'310.25", "7310.25"),
        ("7.310,25", "7310.25"),
        ("7.310.250", "7310250"),
        ("7.310", "7.310"),
        ("7,310", "7310"),
        ("7,31", "7.31"),
        ("7,3105", "7.3105"),
        (".5", "0.5"),
        ("7.31e6", "7310000"),
        ("7.31 × 10^6", "7310000"),
        ("7.31E-2", "0.0731"),
        ("7.31 million", "7310000"),
        ("7.31mm", "7310000"),
        ("7.31 thousand million", "7310000000"),
        ("7 billion 310 million", "7310000000"),
        ("7,310 000s", "7310000"),
        ("seven hundred thirty-one million", "731000000"),
        ("two billion three hundred million", "2300000000"),
        ("seven point three one billion", "7310000000"),
        ("7億3,100万", "731000000"),
        ("7億3千万", "730000000"),
        ("73億4千5百万", "7345000000"),
        ("4,567万8千", "45678000"),
        ("7億3100万2345", "731002345"),
        ("731百万", "731000000"),
        ("7.31万亿", "7310000000000"),
        ("七亿三千一百万", "731000000"),
        ("七千三百一十万零五百", "73100500"),
        ("三十四点五", "34.5"),
        ("七三一〇五", "73105"),
        ("壱億弐千万", "120000000"),
        ("1兆2,345億", "1234500000000"),
    ],
)
def test_value(text: str, value: str) -> None:
    assert only(text) == Decimal(value)


@pytest.mark.parametrize("text", ["9" * 200, "", "million", "万円", "百貨店"])
def test_no_number(text: str) -> None:
    assert list(scan_numbers(text)) == []


def test_last_digit_is_worth_its_scale() -> None:
    assert [n.quantum for n in scan_numbers("1.23 billion; 12億3千万; 5")] == [
        Decimal(10**7),
        Decimal(10**7),
        Decimal(1),
    ]


@given(st.integers(0, 10**15), st.integers(0, 4))
def test_grouping_does_not_change_a_number(whole: int, decimals: int) -> None:
    value = Decimal(whole).scaleb(-decimals)
    assert only(f"{value:,f}") == value
    assert only(f"{value:,f}".replace(",", "'")) == value
