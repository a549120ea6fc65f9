"""Chinese numerals: values, the short last digit, and writing them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text.numerals import (
    NUMBER_WORDS,
    chinese_integer,
    english_value,
    write_chinese,
    write_chinese_digits,
)


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
    read = english_value(word)
    assert read is not None
    assert read[0] == NUMBER_WORDS[word]
