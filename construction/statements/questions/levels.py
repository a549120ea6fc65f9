"""Levels of difficulty: which questions are made harder on purpose, and by which means.

A medium question has other words for its line or a period without its dates; a hard one combines
two values of a company: a difference, a growth, a ratio.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import LOSS_ASKED, SIGNED_LABEL
from construction.statements.model import Statement
from construction.statements.periods import ELAPSED
from construction.statements.questions.ambiguity import Database, Slots, other_values, rivals
from construction.statements.questions.contracts import (
    Combined,
    Company,
    Level,
    Means,
    Operation,
    Point,
    Question,
    QuestionConfig,
    QuestionReason,
    Rival,
    Series,
    Sharpening,
)
from construction.statements.questions.printed import is_own_wording, plain_words
from construction.statements.questions.templates import Words, owned, with_filing
from construction.statements.questions.terms import (
    PAID,
    PARTS,
    Amount,
    amount_of,
    number_of,
    percentage,
    span_words,
)
from construction.statements.questions.wording import (
    WORDS,
    has_word,
    is_bare_thing,
    phrase_of,
    synonym_of,
)
from construction.statements.questions.write import (
    filing_words,
    sharpen,
    wordings_of,
    words_of,
    write_question,
)
from data.randomness import keyed_order
from data.text.dates import MONTHS

_WORDED = {Means.FILER_WORDING, Means.SYNONYM, Means.UNDATED_PERIOD}
_LEAST_NAME = 4  # letters of a word by which companies are alike


@dataclass(frozen=True, slots=True)
class _Harder:
    """Slots in harder words, the words for the period ("" for the usual ones), and the means."""

    slots: Slots
    period: str
    means: tuple[Means, ...]


def _harder_words(question: Question, database: Database, config: QuestionConfig) -> _Harder:
    """The question's slots in harder words that still fit its point alone, if there are any.

    A question that has the filer's own label keeps it.
    """
    slots = Slots(
        question.company, question.series, question.point, question.sharpened, question.worded
    )
    means = list(_given(question, database))
    synonym = _synonym(slots)
    if synonym and not (slots.point.value.startswith("-") and PAID.search(synonym)):
        reworded = sharpen(replace(slots, worded=synonym), database, config.max_sharpenings)
        if not isinstance(reworded, Rival):
            slots = reworded
            means.append(Means.SYNONYM)
    period = _undated(question.point, question.company)
    if period:
        dated = replace(slots, sharpened=(*slots.sharpened, Sharpening.DATES))
        if rivals(dated, database):
            period = ""
    means += [Means.UNDATED_PERIOD] if period else []
    return _Harder(slots, period, tuple(means))


def _given(question: Question, database: Database) -> Iterator[Means]:
    """The means that lie in the point itself."""
    core = question.company.core
    if core and len(core[0]) >= _LEAST_NAME and len(database.by_first_word.get(core[0], ())) > 1:
        yield Means.LIKE_NAMED_COMPANY
    if other_values(question.point, database):
        yield Means.RESTATED
    if not is_own_wording(question.series, question.worded):
        yield Means.FILER_WORDING


def _synonym(slots: Slots) -> str | None:
    own = ("", plain_words(phrase_of(slots.series.label).text))
    is_plain = slots.worded in own and slots.series.dimensions is None
    return synonym_of(slots.series.label) if is_plain else None


def _undated(point: Point, company: Company) -> str:
    """ "for the first quarter of the fiscal year ending March 2021", also for the day at its end.

    Empty for whole years, and for periods that do not end with a month: the month in which a
    52/53-week year ends is not known from its quarters. A calendar year has its number alone, and
    so have its parts in any question.
    """
    part = point.fiscal_period
    elapsed = None if part == "FY" else ELAPSED.get(part or "")
    is_month_end = (point.period_end + timedelta(days=1)).day == 1
    is_rounded = company.convention.is_rounded
    if elapsed is None or part is None or not is_month_end or is_rounded:
        return ""
    last = point.period_end.year * 12 + point.period_end.month - 1 + 12 - elapsed
    if last % 12 == 11:
        return "" if point.months else f"at the end of {PARTS[part]}fiscal year {last // 12}"
    named = f"{PARTS[part]}the fiscal year ending {MONTHS[last % 12]} {last // 12}"
    return f"for {named}" if point.months else f"at the end of {named}"


_YEAR = range(350, 381)  # days between the ends of two periods a year apart
_TENTH = Decimal("0.1")
_MOST_PERCENT = Decimal(1000)  # a larger change says that the first value was near zero
# What lines of a statement are set in relation to.
_WHOLES = {
    Statement.INCOME: frozenset(["net sales", "total revenues", "net revenue", "revenue"]),
    Statement.BALANCE: frozenset(["total assets"]),
}
_OF_COMPANY = {Sharpening.TICKER, Sharpening.REGISTER}
_MOVEMENTS = frozenset(
    ["increase", "decrease", "change", "effect", "gain", "loss", "adjustment", "adjustments"]
)
_RELATED = re.compile(WORDS["related"]["pattern"], re.I)
_TEXTS = {
    Operation.DIFFERENCE: "By how much did {metric} change from {before} to {now}, {unit}?",
    Operation.GROWTH: "By what percentage did {metric} change from {before} to {now}, to one "
    "decimal place?",
    Operation.RATIO: "What {verb} {metric} as a percentage of its {whole} {period}, to one "
    "decimal place?",
}


@dataclass(frozen=True, slots=True)
class _Pair:
    """A second value of the same company, and how it is combined with the question's own."""

    operation: Operation
    series: Series
    point: Point


def _combined_question(
    question: Question,
    harder: _Harder,
    database: Database,
    config: QuestionConfig,
    askable: Collection[str],
    seed: int,
) -> Question | None:
    """A hard question about the same point and a second one; None if no second one fits.

    The second point is filed and `askable` too, and the words of the question fit no other pair.
    """
    parts = words_of(harder.slots, database, config)
    if isinstance(parts, QuestionReason) or not _can_combine(parts[0], question.series):
        return None
    pairs = [pair for pair in _pairs(question, database) if pair.point.point_id in askable]
    names = [f"{question.point_id}/{pair.operation}/{pair.point.point_id}" for pair in pairs]
    for at in keyed_order(seed, "question.pair", names):
        made = _combined_with(question, harder, pairs[at], parts[0], database, config)
        if made is not None:
            return made
    return None


def _can_combine(words: Words, series: Series) -> bool:
    """Is the line an amount whose change has a plain meaning?"""
    plain = SIGNED_LABEL.sub(" ", words.metric.text)
    is_loss = LOSS_ASKED.search(plain) or has_word(plain, _MOVEMENTS)
    is_thing = is_bare_thing(words.metric.text)  # "by how much did its land change"
    is_plain = not is_loss and not is_thing and not plain.startswith("other ")
    return is_plain and series.dimensions is None


def _pairs(question: Question, database: Database) -> Iterator[_Pair]:
    own, series = question.point, question.series
    if _positive(own) is None or own.replaced_by:
        return
    for point in database.points.of_series(series.series_id):
        days = (own.period_end - point.period_end).days
        is_alike = (point.months, point.fiscal_period) == (own.months, own.fiscal_period)
        if days not in _YEAR or not is_alike or _positive(point) is None or series.unit == "ratio":
            continue
        yield _Pair(Operation.GROWTH, series, point)
        if not series.unit.endswith("/share"):
            yield _Pair(Operation.DIFFERENCE, series, point)
    wholes = _WHOLES.get(Statement(series.statement), frozenset())
    label = phrase_of(series.label).text
    if not wholes or label in wholes or not _RELATED.fullmatch(plain_words(label)):
        return
    for whole in database.of_company.get(series.company_id, ()):
        same = (series.statement, series.unit, None)
        if (whole.statement, whole.unit, whole.dimensions) != same:
            continue
        if phrase_of(whole.label).text in wholes:
            for point in database.points.of_series(whole.series_id):
                if _same_period(own, point) and _positive(point) is not None:
                    yield _Pair(Operation.RATIO, whole, point)


def _same_period(first: Point, second: Point) -> bool:
    return (first.period_start, first.period_end, first.months, first.document) == (
        second.period_start, second.period_end, second.months, second.document,
    )  # fmt: skip


def _positive(point: Point) -> Decimal | None:
    number = number_of(point.value)
    return number if number is not None and number > 0 else None


def _combined_with(
    question: Question,
    harder: _Harder,
    pair: _Pair,
    words: Words,
    database: Database,
    config: QuestionConfig,
) -> Question | None:
    first, second = _slots(harder.slots, pair, harder.period)
    amount = _amount(question, pair, database, config)
    other = _second_words(first, second, database, config)
    if other is None or amount is None or rivals(first, database):
        return None
    text = _text(question, harder, pair, words, other, amount, filing_words(first, database))
    is_right = text and check_answer(amount.answer, amount.gold, text).is_correct
    if not is_right or len(text) > config.max_characters:
        return None
    return replace(
        question,
        text=text,
        guideline=amount.guideline,
        answer=amount.answer,
        gold=amount.gold,
        sharpened=tuple(first.sharpened),
        level=Level.HARD,
        means=(*harder.means, Means.TWO_POINTS),
        worded=harder.slots.worded,
        combined=Combined(pair.operation, pair.series, pair.point),
    )


def _second_words(
    first: Slots, second: Slots, database: Database, config: QuestionConfig
) -> Words | None:
    """The words for the second value: those of the first for the same line, else the most natural
    ones that fit it alone ("net sales" where the filing prints that)."""
    is_same = first.series.series_id == second.series.series_id
    choices = (second.worded,) if is_same else wordings_of(second, database)
    for worded in choices:
        slots = replace(second, worded=worded)
        parts = words_of(slots, database, config)
        if not isinstance(parts, QuestionReason) and not rivals(slots, database):
            return parts[0]
    return None


def _slots(slots: Slots, pair: _Pair, period: str) -> tuple[Slots, Slots]:
    """The slots of both values; the filing is named where both are in it and one may differ."""
    is_same = pair.series.series_id == slots.series.series_id
    both = pair.point.document == slots.point.document and slots.point.filed is not None
    named = both and (is_same or Sharpening.FILING in slots.sharpened)
    filing = (Sharpening.FILING,) if named else ()
    own = tuple(step for step in slots.sharpened if step is not Sharpening.FILING)
    kept = own if is_same else tuple(step for step in own if step in _OF_COMPANY)
    dates = (Sharpening.DATES,) if pair.point.period_start is not None else ()
    is_dated = period or (is_same and slots.point.period_start is not None)
    dated = (Sharpening.DATES,) if is_dated and Sharpening.DATES not in own else ()
    second = replace(
        slots,
        series=pair.series,
        point=pair.point,
        sharpened=(*kept, *dates, *filing),
        worded=slots.worded if is_same else "",
    )
    return replace(slots, sharpened=(*own, *dated, *filing)), second


def _amount(
    question: Question, pair: _Pair, database: Database, config: QuestionConfig
) -> Amount | None:
    """The combined value as it is asked for; None if it says nothing."""
    first, second = _positive(question.point), _positive(pair.point)
    if first is None or second is None or first == second:
        return None
    with localcontext(prec=100):
        if pair.operation is Operation.DIFFERENCE:
            unit = question.series.unit
            scales = {
                database.exponents.get((point.document, point.report, unit), 0)
                for point in (question.point, pair.point)
            }
            if len(scales) > 1:
                return None  # one filing rounds where the other does not
            (exponent,) = scales
            label = question.series.label
            return amount_of(f"{first - second:f}", unit, label, exponent, config.max_decimals)
        part = first if pair.operation is Operation.RATIO else first - second
        percent = (part / second * 100).quantize(_TENTH, rounding=ROUND_HALF_UP)
    return percentage(percent) if percent and abs(percent) <= _MOST_PERCENT else None


def _text(
    question: Question,
    harder: _Harder,
    pair: _Pair,
    words: Words,
    other: Words,
    amount: Amount,
    filing: str,
) -> str:
    """The question; empty if its owner has no place in it, or its periods are named unlike."""
    before, now = _spans(question.point, pair.point, harder)
    metric = words.metric.text
    said = "" if metric.endswith(", net") else owned(words, metric)  # of Acme Inc., it is less Acme
    if not said:
        return ""
    if pair.operation is not Operation.RATIO and not now:
        return ""
    text = _TEXTS[pair.operation].format(
        metric=said,
        whole=other.metric.text,
        verb="were" if words.metric.plural else "was",
        period=harder.period or words.period,
        before=before,
        now=now,
        unit=amount.unit_phrase,
    )
    text = text.replace(", ?", "?")
    clause = "" if pair.operation is Operation.RATIO else " Give a decrease as a negative number."
    return f"{with_filing(text, filing, len(text))}{clause}"


def _spans(now: Point, before: Point, harder: _Harder) -> tuple[str, str]:
    """The words for both periods: "the same period a year later" if they have no dates."""
    if harder.period and (earlier := _undated(before, harder.slots.company)):
        later = "the same point" if not now.months else "the same period"
        earlier = earlier.removeprefix("for ").removeprefix("at ")
        return earlier, f"{later} a year later"
    first, second = (
        span_words(point, harder.slots.company).removeprefix("at ") for point in (before, now)
    )
    marks = (" ended ", "the end of ")  # both are called by their day, or both by their name
    is_alike = all((mark in first) == (mark in second) for mark in marks)
    return (first, second) if is_alike else ("", "")


def leveled(
    questions: Sequence[Question],
    database: Database,
    config: QuestionConfig,
    askable: Collection[str],
    seed: int,
) -> list[Question]:
    """The questions, in their order, with the shares of medium and hard ones of `config.levels`.

    They are taken in a keyed order, so that neither level depends on the order of the input.
    """
    wanted = {
        Level.HARD: math.floor(config.levels.hard * len(questions)),
        Level.MEDIUM: math.floor(config.levels.medium * len(questions)),
    }
    made = dict.fromkeys(wanted, 0)
    final = list(questions)
    for at in keyed_order(seed, "question.level", [one.point_id for one in questions]):
        if made == wanted:
            break
        harder = _harder_words(questions[at], database, config)
        level = None
        if made[Level.HARD] < wanted[Level.HARD]:
            level = _combined_question(questions[at], harder, database, config, askable, seed)
        is_worded = not _WORDED.isdisjoint(harder.means)
        if level is None and is_worded and made[Level.MEDIUM] < wanted[Level.MEDIUM]:
            level = _medium(questions[at], harder, database, config, seed)
        if level is not None:
            final[at] = level
            made[level.level] += 1
    return final


def _medium(
    question: Question, harder: _Harder, database: Database, config: QuestionConfig, seed: int
) -> Question | None:
    written = write_question(harder.slots, database, config, seed, harder.period)
    if isinstance(written, QuestionReason):
        return None
    return replace(
        question,
        text=written.text,
        guideline=written.guideline,
        answer=written.amount.answer,
        gold=written.amount.gold,
        sharpened=tuple(harder.slots.sharpened),
        level=Level.MEDIUM,
        means=harder.means,
        worded=harder.slots.worded,
    )


def level_counts(questions: Sequence[Question], config: QuestionConfig) -> Mapping[str, Any]:
    """The shares asked for, the questions of each level, and how often each means was used."""
    levels = Counter(str(question.level) for question in questions)
    means = Counter(str(kind) for question in questions for kind in question.means)
    return {
        "shares": {"medium": config.levels.medium, "hard": config.levels.hard},
        "questions": {str(level): levels[str(level)] for level in Level},
        "means": dict(sorted(means.items())),
    }
