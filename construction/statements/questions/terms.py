"""What a question says beside its row: its period, its unit and scale, and what a sign means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation, localcontext
from functools import lru_cache

import polars as pl

from construction.grading.answers.lexicon import LOSS_ASKED, SIGNED_LABEL, GoldAnswer
from construction.grading.answers.question import sides
from construction.grading.answers.units import measure_words
from construction.statements.conventions import Convention, YearLabel
from construction.statements.model import Statement, Statements
from construction.statements.periods import ELAPSED
from construction.statements.questions.contracts import Company, FlowSide, Point
from construction.statements.questions.wording import (
    WORDS,
    Phrase,
    filed_phrase,
    pattern_in,
    phrase_of,
)
from data.text.dates import MONTHS, write_date

# How a question names its period: as the company does where that is known, else by its last day.
#
# Only a calendar year has one name for everybody. Of other fiscal years a question says the day on
# which they end, and the name only if the company's filings show it. A day that the source rounds
# and no filing states is not said: such a period needs a name.

PARTS = {
    "FY": "",
    "H1": "the first half of ",
    "H2": "the second half of ",
    "Q1": "the first quarter of ",
    "Q2": "the second quarter of ",
    "Q3": "the third quarter of ",
    "Q4": "the fourth quarter of ",
    "9M": "the first nine months of ",
}


def _write_span(start: date, end: date) -> str:
    """April 1, 2009 to March 31, 2010; the year once if both days share it."""
    if start.year == end.year:
        return f"{MONTHS[start.month - 1]} {start.day} to {write_date(end)}"
    return f"{write_date(start)} to {write_date(end)}"


# Months of the fiscal year before each of its parts.
_MONTHS_BEFORE = {"FY": 0, "H1": 0, "9M": 0, "Q1": 0, "Q2": 3, "Q3": 6, "H2": 6, "Q4": 9}
_LENGTHS = {3: "the three months", 6: "the six months", 9: "the nine months", 12: "the year"}
# Of 52/53-week years, whose quarters have 12, 13, 14 or 16 weeks.
_WEEKS = {3: "the quarter", 6: "the half-year", 9: "the three quarters", 12: "the year"}


_MARGIN = timedelta(days=20)  # by which last days move: of years of weeks, and rounded ones
_YEAR = timedelta(days=380)
_PERIOD = ("company_id", "period_end", "fiscal_period")
_LAST_DAY = "last_day"


def last_days(points: pl.DataFrame) -> pl.DataFrame:
    """The last days of the whole fiscal years of each company."""
    years = points.filter(pl.col("fiscal_period") == "FY", pl.col("months") == 12)
    return years.select("company_id", pl.col("period_end").alias(_LAST_DAY)).unique()


def without_wrong_parts(points: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """The points without the names of quarters and halves that the `years` of `last_days` refute.

    A name counts from the first day of the year that the register knows. If another year closed
    between that day and the end of the quarter, the company has moved the end of its years since.
    """
    ago = pl.col("fiscal_period").replace_strict(
        {part: f"-{months}mo" for part, months in ELAPSED.items() if part != "FY"},
        default=None,
        return_dtype=pl.String,
    )
    begin = pl.col("period_end").dt.offset_by("1d").dt.offset_by(ago)
    wrong = (
        points.select(*_PERIOD, begin=begin)
        .unique()
        .join(years, on="company_id")
        .filter(
            pl.col(_LAST_DAY) > pl.col("begin") + _MARGIN,
            pl.col(_LAST_DAY) < pl.col("period_end") - _MARGIN,
        )
        .select(*_PERIOD, is_wrong=True)
        .unique()
    )
    names = ("fiscal_year", "fiscal_period")
    marked = points.join(wrong, on=_PERIOD, how="left")
    kept = [pl.when(pl.col("is_wrong").is_null()).then(pl.col(name)).alias(name) for name in names]
    return marked.with_columns(kept).drop("is_wrong")


def document_ends(statements: Statements) -> dict[str, date]:
    """The last day of the period that each document is about: of its flows, if it has any.

    Forecasts reach beyond it, and so do counts of shares on the cover.
    """
    ahead = statements.series.filter(pl.col("statement") == Statement.GUIDANCE)
    columns = ("document", "series_id", "period_end", "months")
    filed = pl.concat([statements.points.select(columns), statements.history.select(columns)])
    ends = (
        filed.join(ahead, on="series_id", how="anti")
        .group_by("document")
        .agg(
            pl.col("period_end").filter(pl.col("months") > 0).max().alias("flows"),
            pl.col("period_end").max().alias("any"),
        )
        .select("document", pl.coalesce("flows", "any"))
    )
    return {document: end for document, end in ends.iter_rows() if end is not None}


def is_comparative(end: date, document_end: date | None, *, is_flow: bool) -> bool:
    """Is a value that ends on `end` one of an earlier period, which filings may give otherwise?

    Flows of a year ago are recast for operations sold since. The balance sheet at the end of the
    last year, which every report repeats, is not.
    """
    gap = _MARGIN if is_flow else _YEAR
    return document_end is not None and document_end - end > gap


def period_words(point: Point, company: Company, *, dated: bool) -> str:
    """ "as of March 31, 2010"; "for the first quarter of fiscal year 2010" if that is a part of the
    calendar year, with its last day if `dated`; "for fiscal 2010 (the year ended February 27,
    2010)" if the company's name for it is known; otherwise "for the fiscal year ended March 31,
    2010". Empty if neither the day nor a name is known."""
    named, ended = _fiscal_name(point, company), _ended(point, company.convention)
    if point.months == 0:
        closed = company.convention.closed(point.period_end)
        at_end = f"at the end of {named}" if named else ""
        return f"as of {write_date(closed)}" if closed else at_end
    part, start = point.fiscal_period, point.period_start
    if part not in _MONTHS_BEFORE:
        if start is not None and not company.convention.is_rounded:
            return f"for the period from {_write_span(start, point.period_end)}"
        return f"for {ended}" if ended else ""
    if named:
        closed = company.convention.closed(point.period_end)
        is_odd = closed is not None and closed.month != point.period_end.month
        is_said = ended and (dated or is_odd or needs_days(point))
        return f"for {named} ({ended})" if is_said else f"for {named}"
    return f"for {ended.replace('the year', 'the fiscal year', 1)}" if ended else ""


def span_words(point: Point, company: Company) -> str:
    """One end of a change, said once: "the year ended March 31, 2010", "March 31, 2010"; as
    `period_words` calls it if its last day is unknown or its length has no name."""
    if point.months in _LENGTHS and (ended := _ended(point, company.convention)):
        return ended
    words = period_words(point, company, dated=True)
    return words.removeprefix("for ").removeprefix("the period from ").removeprefix("as of ")


def _fiscal_name(point: Point, company: Company) -> str:
    """ "the first quarter of fiscal year 2010", or "of fiscal 2010" if that is the company's own
    name for it; empty if nothing shows what the company calls the year."""
    part, label = point.fiscal_period, company.convention.named_by
    if part not in _MONTHS_BEFORE or point.fiscal_year is None:
        return ""
    if _is_calendar(point):
        return f"{PARTS[part]}fiscal year {point.fiscal_year}"
    is_dated = company.convention.closed(point.period_end) is not None and point.months > 0
    is_clear = label is YearLabel.END or (label is not None and is_dated)
    return f"{PARTS[part]}fiscal {point.fiscal_year}" if is_clear else ""


def _is_calendar(point: Point) -> bool:
    """Is a fiscal period, or the day at its end, that of the calendar year of the same name?"""
    if point.months:
        return not needs_days(point)
    last = ELAPSED[point.fiscal_period or "FY"]
    return (point.period_end.year, point.period_end.month) == (point.fiscal_year, last)


def _ended(point: Point, convention: Convention) -> str:
    """ "the three months ended March 31, 2010"; empty if the day is unknown."""
    closed = convention.closed(point.period_end)
    lengths = _WEEKS if convention.is_rounded else _LENGTHS
    length = lengths.get(point.months, f"the {point.months} months")
    return f"{length} ended {write_date(closed)}" if closed else ""


def needs_days(point: Point) -> bool:
    """Whether a fiscal period differs from the calendar period of that name, with days known.

    "The first half of fiscal year 2024" is unclear if it begins in July.
    """
    part, start = point.fiscal_period, point.period_start
    if point.months == 0 or start is None or part not in _MONTHS_BEFORE:
        return False
    end = point.period_end
    last = _MONTHS_BEFORE[part] + point.months
    starts = (start.year, start.month, start.day) == (
        point.fiscal_year, _MONTHS_BEFORE[part] + 1, 1,
    )  # fmt: skip
    return not starts or (end.year, end.month) != (point.fiscal_year, last)


def years_named(point: Point) -> frozenset[int]:
    """The years by which readers may call the fiscal year that a duration belongs to.

    These are the company's own and those of its first and last day: the fiscal year from April 2009
    to March 2010 is 2009 to some and 2010 to others, and so are its quarters.
    """
    last = point.period_end.year * 12 + point.period_end.month - 1
    first = last - max(point.months, 1) + 1
    if point.fiscal_period in _MONTHS_BEFORE:
        first -= _MONTHS_BEFORE[point.fiscal_period]
        last = first + 11
    named = (point.fiscal_year, first // 12, last // 12)
    return frozenset(year for year in named if year is not None)


# The sign convention of a question: what a negative number means.

_RULES = WORDS["sign"]
_BRACKETS = tuple((pattern_in(rule), rule["negative"]) for rule in _RULES["bracket"])
_EITHER = tuple(
    (pattern_in(rule), rule["negative"], rule.get("balance", False)) for rule in _RULES["either"]
)
_TURNED = tuple((pattern_in(rule), rule["by"]) for rule in _RULES["turned"])
GAIN, _NEVER, PAID, _LOSS, _CONTRA, _ADJUSTING = (
    pattern_in(_RULES[name]) for name in ("gain", "never", "paid", "loss", "contra", "adjusting")
)
# Sides that a concept has and the words of a row need not have: "policy benefits", "legal reserve".
ODD_SIDES = frozenset(f"Give {side} as a negative number."
                      for side in ("income", "an expense", "a deficit"))  # fmt: skip
_POSITIVE_LOSS = "Give a loss as a positive number."


@dataclass(frozen=True, slots=True)
class Signed:
    """A label phrase whose direction is clear, and the sentence that states it if needed."""

    phrase: str
    clause: str = ""


def signed(
    phrase: str,
    *,
    negative: bool,
    balance: bool,
    side: FlowSide | None = None,
    negated: bool = False,
    gains_apart: bool = False,
) -> Signed | None:
    """The phrase with its sign convention.

    `balance`: the value is that of a day. `side`: the part of a cash flow statement of the line,
    unless it names a flow of cash itself. `negated`: the statement prints the value with its sign
    reversed. `gains_apart`: gains and losses have lines of their own there.

    The sign of a filed value is never reversed: an unsigned label of a loss with a `negative` value
    is written in its signed form. Clauses are sentences of their own, as the answer check expects.
    None where the sign would be unclear: plain items below zero, and those that a cash flow
    statement subtracts, a negative loss without a signed form.
    """
    if side is not None and _ADJUSTING.search(phrase):
        return Signed(phrase, _give(str(side)))
    if side is not None and negated and "(" not in phrase and not GAIN.search(phrase):
        return None
    for pattern, below in _BRACKETS:
        if pattern.search(phrase):
            return Signed(phrase, _give(below))
    if LOSS_ASKED.search(SIGNED_LABEL.sub(" ", phrase)):
        if negative:
            return _turned(phrase)
        return Signed(phrase, "" if balance or not _LOSS.search(phrase) else _POSITIVE_LOSS)
    if not negative and _NEVER.search(phrase):
        return Signed(phrase)
    clause = _either_way(phrase, balance) or _one_way(phrase, negative, balance, side, negated)
    is_gain = gains_apart and not negative and GAIN.search(phrase) is not None
    clause = "" if is_gain and clause == _give("a loss") else clause
    is_turned = negative and clause == _give(str(FlowSide.ADDED_BACK))
    return None if is_turned or (negative and not clause) else Signed(phrase, clause)


def _either_way(phrase: str, balance: bool) -> str:
    """The sentence for a label that can have either sign; empty for others."""
    for pattern, below, of_balances in _EITHER:
        if balance == of_balances and pattern.search(phrase):
            return _give(below)
    return ""


def _one_way(
    phrase: str, negative: bool, balance: bool, side: FlowSide | None, negated: bool
) -> str:
    """The sentence for all other labels; empty if a positive value needs none."""
    if not balance and PAID.search(phrase):
        below = "cash received" if negated else str(FlowSide.CASH)  # "paid" is no minus
        return _give(below) if negative else "Give the amount paid as a positive number."
    if negative and side is not None and not negated:
        return _give(str(side))
    if not balance and GAIN.search(phrase):
        return _give("a loss")
    if negative and not negated and _CONTRA.search(phrase):
        return _give("a deduction")
    return ""


@lru_cache(maxsize=200_000)
def phrases_of(label: str) -> tuple[Phrase, ...]:
    """What a question may call a label: as it is, and in its signed form for a negative value."""
    phrase = phrase_of(label)
    signed_label = signed(phrase.text, negative=True, balance=False)
    turned = signed_label is not None and signed_label.phrase != phrase.text
    return (
        (phrase, phrase_of(signed_label.phrase))
        if signed_label is not None and turned
        else (phrase,)
    )


@lru_cache(maxsize=200_000)
def readings_of(label: str) -> tuple[Phrase, ...]:
    """What a reader may take a label for: what questions call it, and its own words."""
    return (*phrases_of(label), filed_phrase(label))


def _turned(phrase: str) -> Signed | None:
    for pattern, by in _TURNED:
        if pattern.search(phrase):
            turned = pattern.sub(by, phrase, count=1)
            return next(
                Signed(turned, _give(side)) for rule, side in _BRACKETS if rule.search(turned)
            )
    return None


def _give(side: str) -> str:
    """Only what the answer check knows in words may be asked for."""
    if side not in sides():
        raise KeyError(f"{side}: expected an entry of answers/sides.toml. Add one.")
    return f"Give {side} as a negative number."


# Unit, scale and precision of a question, its gold answer and the answer's plain text.

_CURRENCIES: Mapping[str, str] = WORDS["currencies"]
_SCALES = {0: "", 3: "thousand", 6: "million"}
_MULTIPLE = re.compile(r"\b(?:times|multiple|turnover|price[- ]earnings|per book|leverage)\b", re.I)
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
            piece = "share" if {"unit", "units"}.isdisjoint(label.lower().split()) else "unit"
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
    return _CURRENCIES.get(code, code) if _is_currency(code) else None


def _is_currency(unit: str) -> bool:
    """Is a unit the code of a currency?"""
    return len(unit) == 3 and unit.isascii() and unit.isalpha() and unit.isupper()


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
    return exponent > 0 and _is_currency(unit) and number % 1000 != 0


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
