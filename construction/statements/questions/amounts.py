"""Unit, scale and precision of a question, its gold answer and the answer's plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext

import polars as pl

from construction.grading.answers.contracts import GoldAnswer
from construction.grading.answers.units import measure_words
from construction.statements.model import Statements
from construction.statements.questions.wording import WORDS

_CURRENCIES: Mapping[str, str] = WORDS["currencies"]
_CODE = re.compile(r"[A-Z]{3}")
_SCALES = {0: "", 3: "thousand", 6: "million"}
_MULTIPLE = re.compile(r"\b(?:times|multiple|turnover|price[- ]earnings|per book|leverage)\b", re.I)
_UNITS = re.compile(r"\bper (?:[a-z-]{1,20} ){0,4}units?\b", re.I)
_PLACES = {1: "one decimal place", 2: "two decimal places", 3: "three decimal places"}
_MAX_VALUE = 60  # characters of a value as filed
_PER_SHARE_PLACES = 2
_SCALED_PLACES = 1  # with more decimals, the next finer scale reads better


@dataclass(frozen=True, slots=True)
class Amount:
    """A value in the unit and scale in which it is asked for.

    `unit_phrase` goes into the question ("in millions of US dollars"), `guideline` describes the
    format of the answer.
    """

    gold: GoldAnswer
    unit_phrase: str
    guideline: str
    answer: str


def amount_of(value: str, unit: str, label: str, exponent: int, max_decimals: int) -> Amount | None:
    """The amount of a value as filed, exact in the scale 10^`exponent` (0, 3, 6) or a finer one.

    None if the value is not a number, its unit is unknown, or it needs too many decimals.
    """
    number = number_of(value)
    if number is None:
        return None
    with localcontext(prec=100):
        if unit == "ratio":
            return _proportion(number, label, max_decimals)
        if unit.endswith("/share"):
            piece = "unit" if _UNITS.search(label) else "share"
            return _per_share(number, unit.removesuffix("/share"), piece, max_decimals)
        if unit == "count":
            return _scaled(number, "count", "", 0, max_decimals)
        words = "shares" if unit == "shares" else currency_words(unit) or measure_words(unit)
        return None if words is None else _scaled(number, unit, words, exponent, max_decimals)


def number_of(value: str) -> Decimal | None:
    """A decimal as filed, without exponent and trailing zeros; None if it is not a number."""
    try:
        number = Decimal(value) if len(value) <= _MAX_VALUE else None
    except InvalidOperation:
        return None
    if number is None or not number.is_finite():
        return None
    return trimmed(number)


def currency_words(code: str) -> str | None:
    """The currency in words, or its code if there are none; None if `code` is no currency."""
    if not _CODE.fullmatch(code):
        return None
    return _CURRENCIES.get(code, code)


def _scaled(
    number: Decimal, unit: str, words: str, exponent: int, max_decimals: int
) -> Amount | None:
    for power in sorted((power for power in _SCALES if power <= exponent), reverse=True):
        scaled = trimmed(number.scaleb(-power))
        places = _places(scaled)
        if places <= (_SCALED_PLACES if power else max_decimals):
            gold = GoldAnswer(scaled, unit, Decimal(10**power), places)
            scale = _SCALES[power]
            unit_phrase = f"in {scale}s of {words}" if scale else f"in {words}"
            rounding = f", to {_PLACES[places]}" if places else ""
            tail = " ".join(part for part in (scale, words) if part)
            phrase = f"{unit_phrase}{rounding}" if words else ""
            return Amount(
                gold,
                phrase,
                _guideline(unit_phrase if words else "", places, is_scaled=power > 0),
                _plain_answer(gold, tail),
            )
    return None


def is_finer(number: Decimal, unit: str, exponent: int) -> bool:
    """Has an amount of money digits that its statement, in thousands or millions, does not print?

    Such digits are a slip of tagging, which no reader of the statement would find.
    """
    return exponent > 0 and _CODE.fullmatch(unit) is not None and number % 1000 != 0


def _per_share(number: Decimal, code: str, piece: str, max_decimals: int) -> Amount | None:
    words = currency_words(code)
    places = max(_places(number), _PER_SHARE_PLACES)
    if words is None or places > max(max_decimals, 4):
        return None
    gold = GoldAnswer(
        number.quantize(Decimal(1).scaleb(-places)), f"{code}/share", Decimal(1), places
    )
    unit_phrase = f"in {words} per {piece}"
    return Amount(
        gold,
        unit_phrase,
        _guideline(unit_phrase, places),
        _plain_answer(gold, f"{words} per {piece}"),
    )


def _proportion(number: Decimal, label: str, max_decimals: int) -> Amount | None:
    """Ratios are asked for as percentages unless the label names a multiple."""
    if not is_multiple(label):
        return percentage(trimmed(number * 100), max_decimals)
    gold = GoldAnswer(number, "ratio", Decimal(1), _places(number))
    return _ratio(gold, "as a multiple", "times", max_decimals)


def is_multiple(label: str) -> bool:
    """Does a label name a multiple ("price-earnings ratio"), which is not given in percent?"""
    return _MULTIPLE.search(label) is not None


def percentage(percent: Decimal, max_decimals: int = 1) -> Amount | None:
    """An amount in percent; None if it needs too many decimals."""
    gold = GoldAnswer(percent, "percent", Decimal(1), _places(percent))
    return _ratio(gold, "as a percentage", "percent", max_decimals)


def _ratio(gold: GoldAnswer, unit_phrase: str, tail: str, max_decimals: int) -> Amount | None:
    if gold.decimals > max_decimals:
        return None
    rounding = f", to {_PLACES[gold.decimals]}" if gold.decimals else ""
    return Amount(
        gold,
        f"{unit_phrase}{rounding}",
        _guideline(unit_phrase, gold.decimals),
        _plain_answer(gold, tail),
    )


def _guideline(unit_phrase: str, places: int, *, is_scaled: bool = False) -> str:
    precision = (
        f"to {_PLACES.get(places, f'{places} decimal places')}" if places else "as a whole number"
    )
    stated = f" {unit_phrase}," if unit_phrase else ""
    bare = " A number without a unit is read in that unit." if is_scaled else ""
    return (
        f"Answer with a single number{stated} {precision}; a leading minus sign marks a negative "
        f"number.{bare} No further text is needed."
    )


def _plain_answer(gold: GoldAnswer, tail: str) -> str:
    number = f"{gold.value:,.{gold.decimals}f}"
    return f"{number} {tail}".strip()


def _places(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def trimmed(number: Decimal) -> Decimal:
    """Without trailing zeros after the point and without exponent; zero is 0."""
    text = f"{number:f}"
    bare = text.rstrip("0").rstrip(".") if "." in text else text
    return Decimal(bare if bare not in ("-0", "") else "0")


def reporting_exponents(
    statements: Statements, round_share: float
) -> dict[tuple[str, int | None, str], int]:
    """Per document, number of the statement and unit the power of ten: 0, 3 or 6.

    It is 6 if at least `round_share` of the non-zero amounts are millions with at most one decimal,
    and 3 if they are whole thousands: filings give full amounts but print rounded ones.
    """
    units = statements.series.select("series_id", "unit")
    values = statements.points.join(units, on="series_id").filter(
        ~pl.col("unit").str.ends_with("/share") & ~pl.col("unit").is_in(["ratio", "count"])
    )
    bare = pl.col("value").str.strip_prefix("-")
    zeros = bare.str.len_chars() - bare.str.strip_chars_end("0").str.len_chars()
    zeros = pl.when(bare.str.contains(".", literal=True)).then(0).otherwise(zeros)
    shares = (
        values.filter(bare.str.contains(r"[1-9]"))
        .group_by("document", "report", "unit")
        .agg(millions=(zeros >= 6 - _SCALED_PLACES).mean(), thousands=(zeros >= 3).mean())
    )
    power = (
        pl.when(pl.col("millions") >= round_share)
        .then(6)
        .when(pl.col("thousands") >= round_share)
        .then(3)
        .otherwise(0)
    )
    powers = shares.select("document", "report", "unit", power.alias("power"))
    return {(row[0], row[1], row[2]): row[3] for row in powers.iter_rows()}
