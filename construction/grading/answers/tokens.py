"""Values in text: a number with its currency, scale, unit, sign mark and brackets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from construction.grading.answers.lexicon import Declared, Dimension, Unit
from construction.grading.answers.units import (
    ANY_CURRENCY,
    combine,
    per_share_at,
    phrase,
    scaled_currency_at,
    scaled_unit_before,
    sen_at,
    unit_after,
    unit_before,
)
from data.text.numbers import Number, scale_at, scan_numbers

_DASHES = "-−–"
_SIGN_WORD = re.compile(
    r"(?:\b(?:minus|negative|moins|menos|meno|min) |マイナス ?|负|負|[△▲] ?)\Z", re.I
)
_ZERO = re.compile(r"(?<![A-Za-z])(?:nil|zero)(?![A-Za-z])|ゼロ", re.I)
_COPULA = re.compile(r"(?:\b(?:of|was|were|is|are|by|to|be)|[:=はが为是])\s*\Z", re.I)
_IN_UNIT = re.compile(r",? ?\(?in ([A-Za-z$€£¥ ]{1,40})", re.I)
_BRACKET_UNIT = re.compile(r" ?\(([^()\n]{1,40})\)")
_CLOSING = re.compile(r"\s*\)")
_RATIO_OF = re.compile(r"\bratio of (?:about |approximately |roughly )?\Z", re.I)
_HUNDREDTHS = ("百分之", "百分之约", "百分之約")


@dataclass(frozen=True, slots=True)
class Value:
    """A number as written in the text.

    `weak` values (bare years, number words) count only if the scope holds nothing else; `bracketed`
    ones are negative (accounting style) if the brackets hold nothing else.
    """

    start: int
    end: int
    number: Number
    unit: Unit | None
    negative: bool
    bracketed: bool
    weak: bool


@dataclass(slots=True)
class _Suffix:
    number: Number
    unit: Unit | None
    end: int


def scan_values(text: str, noise: list[tuple[int, int]]) -> list[Value]:
    """All values of a text from left to right; numbers that start in `noise` are left out."""
    starts = [start for start, _ in noise]
    ends, furthest = [], 0
    for _, end in noise:
        furthest = max(furthest, end)
        ends.append(furthest)
    values: list[Value] = []
    for number in _numbers(text):
        if values and number.start < values[-1].end:
            continue
        index = bisect_right(starts, number.start) - 1
        silent = index >= 0 and number.start < ends[index]
        value = _value(text, number, values[-1].end if values else 0)
        if value is not None and silent and _is_amount_like_a_year(text, number, noise[index]):
            silent = False
        elif value is not None and silent and noise[index] == (number.start, number.end):
            before = text[max(0, number.start - 4) : number.start]
            is_in_prices = f" {before.lower()}".endswith(" in ")  # "in 2009 dollars" is no amount
            silent = value.unit is None or is_in_prices
        if value is not None and silent:
            value = replace(value, weak=True) if _year_like(text, value) else None
        if value is not None:
            values.append(value)
    return values


def _is_amount_like_a_year(text: str, number: Number, noise: tuple[int, int]) -> bool:
    """Is a number taken for a year, as in "2047 million", with a scale behind it?"""
    return number.scaled and noise[0] == number.start and text[slice(*noise)].isdigit()


def _year_like(text: str, value: Value) -> bool:
    number = value.number
    raw = text[number.start : number.end]
    return value.unit is None and raw.isdigit() and len(raw) == 4 and 1900 <= number.value <= 2100


def _numbers(text: str) -> Iterator[Number]:
    zeros = [match.span() for match in _ZERO.finditer(text)]
    position = 0
    for number in scan_numbers(text):
        while position < len(zeros) and zeros[position][0] <= number.start:
            start, end = zeros[position]
            position += 1
            if start < number.start:
                yield Number(start, end, Decimal(0), Decimal(1), False, digits=False)
        yield number
    for start, end in zeros[position:]:
        yield Number(start, end, Decimal(0), Decimal(1), False, digits=False)


def _value(text: str, number: Number, floor: int) -> Value | None:
    start, before, negative = _prefix(text, number.start, floor)
    bare = (
        _sign_before(text, number.start, floor) or number.start if number.start > floor else floor
    )
    joined = None if number.scaled else scaled_unit_before(text, bare, floor)
    if joined is not None:
        number, before = number.times(joined[1], number.end), before or joined[0]
        start, _, minus = _prefix(text, joined[2], floor)
        negative = negative or minus
    if not _stands_free(text, start, floor):
        return None
    suffix = _suffix(text, number)
    bracketed = text[start - 1 : start] == "(" and start > floor
    if bracketed:
        closing = _CLOSING.match(text, suffix.end)
        bracketed = closing is not None
        if closing:
            start -= 1
            suffix = _behind(text, suffix, closing.end())
            start, more, minus = _prefix(text, start, floor)
            before, negative = before or more, negative or minus
            negative = negative or _opens_negative(text, start, more, suffix.end > closing.end())
    if suffix.unit is None and _RATIO_OF.search(text[max(0, start - 30) : start]):
        suffix.unit = Unit(Dimension.PROPORTION, "ratio")
    if _cut_off(text, suffix.end):
        return None
    unit = combine(before, suffix.unit)
    weak = _is_weak(text, suffix.number, unit, start)
    if weak is None:
        return None
    return Value(start, suffix.end, suffix.number, unit, negative, bracketed, weak)


def _opens_negative(text: str, start: int, currency: Unit | None, unit_follows: bool) -> bool:
    """Accounting brackets: next to a currency, colon or copula, or followed by a scale."""
    return (
        currency is not None
        or unit_follows
        or _COPULA.search(text[max(0, start - 12) : start]) is not None
    )


def _prefix(text: str, position: int, floor: int) -> tuple[int, Unit | None, bool]:
    """Where the value starts, the currency before it, and whether a mark makes it negative."""
    unit: Unit | None = None
    negative = False
    for _ in range(5):
        if position <= floor:
            break
        if text[max(floor, position - 5) : position].endswith(_HUNDREDTHS):
            unit, position = Unit(Dimension.PROPORTION, "percent"), text.rindex("百", 0, position)
            continue
        if not negative and (sign_start := _sign_before(text, position, floor)) is not None:
            negative, position = True, sign_start
            continue
        bare = position - 1 if text[position - 1] == " " else position
        currency = unit_before(text, bare, floor) if unit is None and bare > floor else None
        if currency is None:
            break
        unit, position = currency
    return position, unit, negative


def _sign_before(text: str, position: int, floor: int) -> int | None:
    if text[position - 1] in _DASHES:
        before = text[position - 2 : position - 1] if position >= 2 else ""
        joined = before.isascii() and (before.isalnum() or before in ")%]")
        return None if joined and before else position - 1
    match = _SIGN_WORD.search(text[max(floor, position - 10) : position])
    return position - len(match[0]) if match else None


def _suffix(text: str, number: Number) -> _Suffix:
    coin = scaled_currency_at(text, number.end)
    if coin is not None and not number.scaled:
        return _Suffix(number.times(coin[1], coin[2]), coin[0], coin[2])
    unit = unit_after(text, number.end)
    if unit is None:
        return _phrase_behind(text, _Suffix(number, None, number.end))
    right = _Suffix(number, unit[0], unit[1])
    if unit[0].dimension is Dimension.MONEY:
        sen = sen_at(text, right.end)
        if sen:
            right.number = replace(number, value=number.value + sen[0], quantum=Decimal("0.01"))
            right.end = sen[1]
        if not number.scaled and (scale := scale_at(text, right.end)):
            right = _Suffix(number.times(*scale), right.unit, scale[1])
        share = per_share_at(text, right.end)
        if share and not right.number.scaled:
            right.unit, right.end = replace(unit[0], dimension=Dimension.PER_SHARE), share
    return right if right.number.scaled else _phrase_behind(text, right)


def _phrase_behind(text: str, right: _Suffix) -> _Suffix:
    """`1,234.5 (USD millions)`, `1,234.5 in millions of USD`, `2.35 per share`."""
    share = per_share_at(text, right.end)
    if share and right.unit is None:
        return _Suffix(right.number, Unit(Dimension.PER_SHARE, ANY_CURRENCY), share)
    for pattern in (_BRACKET_UNIT, _IN_UNIT):
        match = pattern.match(text, right.end)
        declared, whole = phrase(match[1]) if match else (Declared(), False)
        if match is None or declared == Declared() or (pattern is _BRACKET_UNIT and not whole):
            continue
        number = right.number
        if declared.scale is not None and not number.scaled:
            number = number.times(declared.scale, match.end())
        end = match.end() if whole else right.end
        return _Suffix(number, right.unit or declared.unit, end)
    return right


def _behind(text: str, right: _Suffix, position: int) -> _Suffix:
    """Scale and unit that follow closing brackets: `(5,230.5)万元`."""
    scale = None if right.number.scaled else scale_at(text, position)
    number, end = right.number, position
    if scale:
        number, end = number.times(*scale), scale[1]
    unit = unit_after(text, end) if right.unit is None else None
    return _Suffix(number, unit[0], unit[1]) if unit else _Suffix(number, right.unit, end)


def _stands_free(text: str, start: int, floor: int) -> bool:
    """Not the end of a word: neither letters nor a letter and a hyphen before it."""
    before = text[start - 1 : start] if start else ""
    if not before.isascii() or start <= floor:
        return True
    if before in _DASHES and start >= 2:
        return not text[start - 2].isascii() or not text[start - 2].isalpha()
    return not (before.isalpha() or before == "_")


def _cut_off(text: str, end: int) -> bool:
    """Whether a letter, or a hyphen and a letter, follows directly: 5G, 52-week."""
    after = text[end : end + 2]
    letter = after[1:2] if after[:1] == "-" else after[:1]
    return bool(letter) and letter.isascii() and (letter.isalpha() or letter == "_")


def _is_weak(text: str, number: Number, unit: Unit | None, start: int) -> bool | None:
    """Whether it counts only alone; None if the words are not a number at all."""
    raw = text[number.start : number.end]
    if number.digits:
        plain = len(raw) == 4 and raw.isdigit() and unit is None
        return plain and 1900 <= number.value <= 2100
    if number.value == 0:
        return unit is None and not _COPULA.search(text[max(0, start - 8) : start])
    if raw[0].isascii():
        percent = unit is not None and unit.dimension is Dimension.PROPORTION
        return not (number.scaled or percent)
    if unit is not None:
        return len(raw) == 1 and unit.dimension is not Dimension.PROPORTION
    after = text[number.end : number.end + 1]
    return not number.scaled or len(raw) < 3 or (after.isalpha() and after not in "でとだ")
