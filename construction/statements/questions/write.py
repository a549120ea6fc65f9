"""Writes the question and answer for a data point and its sharpenings.

`sharpen` finds the fewest words that leave a question with one reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from construction.grading.answers.check import check_answer
from construction.statements.model import Statement
from construction.statements.questions.ambiguity import Database, Slots, other_values, rivals, twins
from construction.statements.questions.contracts import (
    STEPS,
    FilingKind,
    FlowSide,
    Point,
    QuestionConfig,
    QuestionReason,
    Rival,
    Series,
    Sharpening,
)
from construction.statements.questions.printed import is_change_in, plain_words, wordings
from construction.statements.questions.rows import Rows
from construction.statements.questions.templates import (
    Words,
    by_register,
    is_garbled,
    pauses,
    place_words,
    sentence,
)
from construction.statements.questions.terms import (
    GAIN,
    ODD_SIDES,
    PAID,
    Amount,
    Signed,
    amount_of,
    is_comparative,
    is_finer,
    needs_days,
    number_of,
    period_words,
    signed,
    trimmed,
)
from construction.statements.questions.wording import (
    FULLER,
    WITHOUT_OTHERS,
    WORDS,
    Phrase,
    has_foreign_letters,
    has_word,
    is_countable,
    phrase_of,
    same_words,
)
from data.randomness import keyed_hash
from data.text.dates import write_date

_GAIN = re.compile(r"\bgain(s?)\b(?= (?:from|on)\b|$)")
_CASH_FLOW = re.compile(WORDS["cash_flow"]["pattern"], re.I)
_CASH_CHANGE = re.compile(
    r"\b(?:change|increase|decrease)\b.*\bcash\b(?! collateral)|\bcash\b.*\bincrease\b", re.I
)
_EXCHANGE = frozenset(["exchange", "currency", "currencies", "translation"])
_BALANCING = re.compile(WORDS["balancing"]["pattern"], re.I)
_TOTAL: str = WORDS["balancing"]["total"]
_PARTS: tuple[str, ...] = tuple(WORDS["balancing"]["parts"])
_ROUNDING = Decimal("0.001")  # of a total, by which cut values may differ
_DIGITS = re.compile(r"[0-9][0-9,.]*")
_AVERAGE = "average number of "  # which no day has
_CODE = 3  # letters of a currency
_LEAST_DIGITS = 3  # shorter runs of digits occur in any text
_WORDING_STAGE = "question.wording"


@dataclass(frozen=True, slots=True)
class Written:
    """The texts of a question and its amount."""

    text: str
    guideline: str
    amount: Amount


def write_question(
    slots: Slots, database: Database, config: QuestionConfig, seed: int, period: str = ""
) -> Written | QuestionReason:
    """The question in the words that `slots` allows, or why it cannot be asked.

    `period` replaces the words for the period.
    """
    parts = words_of(slots, database, config)
    if isinstance(parts, QuestionReason):
        return parts
    words, amount = parts
    words = replace(words, period=period) if period else words
    choice = int.from_bytes(keyed_hash(seed, _WORDING_STAGE, slots.point.point_id)[:4], "big")
    text = sentence(words, choice)
    if not check_answer(amount.answer, amount.gold, text).is_correct:
        return QuestionReason.NOT_CHECKABLE
    if len(text) > config.max_characters:
        return QuestionReason.OVERLOADED
    return Written(text, amount.guideline, amount)


def words_of(
    slots: Slots, database: Database, config: QuestionConfig
) -> tuple[Words, Amount] | QuestionReason:
    """The parts of a question and its amount, or why it cannot be asked."""
    amount = _amount(slots, database, config)
    if isinstance(amount, QuestionReason):
        return amount
    phrase = _metric(slots, database, config)
    if isinstance(phrase, QuestionReason):
        return phrase
    metric, ahead = phrase_of(phrase.phrase), slots.series.statement == Statement.GUIDANCE
    if phrase.phrase == slots.worded:  # finished, with the capitals of names
        metric = replace(metric, text=slots.worded)
    if slots.point.value.startswith("-"):
        metric = _either_way(metric, phrase.clause)
    location = _location(slots, database)
    is_instant_flow = not slots.point.months and slots.series.statement == Statement.CASH_FLOW
    is_aside = pauses(metric.text) or metric.text.endswith(WITHOUT_OTHERS)
    if location and (is_aside or is_instant_flow):
        return QuestionReason.OVERLOADED  # read as part of the aside; a balance "in the cash flow"
    if slots.series.dimensions and any(metric.bag & {*part} for part in slots.series.sections[1:]):
        return QuestionReason.OVERLOADED  # "automotive costs in its Automotive segment"
    period = period_words(slots.point, slots.company, dated=Sharpening.DATES in slots.sharpened)
    if not period:
        return QuestionReason.PERIOD_UNNAMED
    words = Words(
        company=slots.company.name,
        identified=_identified(slots),
        metric=metric,
        location=location,
        period=period.replace(" ended ", " ending ") if ahead else period,
        unit=amount.unit_phrase,
        filing=filing_words(slots, database),
        sign=phrase.clause,
        ahead=ahead,
    )
    if _holds_value(f"{words.company} {metric.text}", slots.point.value, amount):
        return QuestionReason.VALUE_IN_WORDS
    return words, amount


def _either_way(metric: Phrase, clause: str) -> Phrase:
    """A gain below zero is a loss, which no one reports "as its gain"."""
    if clause == "Give a loss as a negative number.":
        return replace(metric, text=_GAIN.sub(_or_loss, metric.text))
    return metric


def _or_loss(gain: re.Match[str]) -> str:
    return "gains or losses" if gain[1] else "gain or loss"


def wordings_of(slots: Slots, database: Database) -> tuple[str, ...]:
    """What a question may call the line of a point, the most natural first."""
    series, point = slots.series, slots.point
    row = (point.document, point.report, point.line)
    return wordings(
        series,
        point,
        slots.company,
        database.printed.get(point.document, {}),
        negated=row in database.negated,
        twins=twins(slots, database),
    )


def first_sharpenings(
    series: Series, point: Point, database: Database, worded: str
) -> tuple[Sharpening, ...]:
    """What a question says from the start: where a line is, the days of odd periods, and the
    filing of a value that another filing may give otherwise."""
    steps = [*_first_places(series, worded)]
    if not steps and _is_balance_change(series, point, database, worded):
        steps = [Sharpening.STATEMENT]
    steps += [Sharpening.DATES] if needs_days(point) else []
    steps += [Sharpening.FILING] if point.filed and _filing_kind(series, point, database) else []
    return tuple(steps)


def _filing_kind(series: Series, point: Point, database: Database) -> FilingKind | None:
    """Why a question names the filing; None for a value of the period that its filing is about."""
    if point.replaced_by:
        return FilingKind.ORIGINAL
    if other_values(point, database):
        return FilingKind.RESTATED
    if series.statement == Statement.GUIDANCE:
        return FilingKind.ANNOUNCED
    end = database.ends.get(point.document)
    is_later = is_comparative(point.period_end, end, is_flow=point.months > 0)
    return FilingKind.REPORTED if is_later else None


def _first_places(series: Series, worded: str) -> tuple[Sharpening, ...]:
    """A dimension needs its context.

    Items that a cash flow statement adds back (interest income, depreciation) are easily confused
    with lines of the income statement.
    """
    if series.dimensions is not None and series.path:
        return (Sharpening.STATEMENT, Sharpening.PATH)
    text = worded or phrase_of(series.label).text
    added_back = series.statement == Statement.CASH_FLOW and not _CASH_FLOW.search(text)
    return (Sharpening.STATEMENT,) if added_back else ()


def _is_balance_change(series: Series, point: Point, database: Database, worded: str) -> bool:
    """Is a row of a cash flow statement the change in a line of the balance sheet, which may move
    for other reasons too?"""
    if series.statement != Statement.CASH_FLOW:
        return False
    rows = database.printed.get(point.document, {}).values()
    lines = [(database.series[row.series_id], row.label) for row in rows]
    lines += [(other, other.label) for other in database.of_company[series.company_id]]
    balances = (label for other, label in lines if other.statement == Statement.BALANCE)
    return is_change_in(worded or phrase_of(series.label).text, balances)


def _amount(slots: Slots, database: Database, config: QuestionConfig) -> Amount | QuestionReason:
    series, point = slots.series, slots.point
    number = number_of(point.value)
    if number is None:
        return QuestionReason.NO_VALUE
    if not number:
        return QuestionReason.ZERO_VALUE
    exponent = _exponent(point, series.unit, database)
    if is_finer(number, series.unit, exponent):
        return QuestionReason.TOO_PRECISE
    amount = amount_of(point.value, series.unit, series.label, exponent, config.max_decimals)
    if amount is not None:
        return _knowing_others(amount, number, other_values(point, database))
    known = amount_of("1", series.unit, series.label, exponent, config.max_decimals)
    return QuestionReason.UNKNOWN_UNIT if known is None else QuestionReason.TOO_PRECISE


def _exponent(point: Point, unit: str, database: Database) -> int:
    """The power of ten in which the statement reports; that of the filing which replaced it, if
    nothing else of it stands."""
    standing = database.points.get(point.replaced_by) if point.replaced_by else None
    reports = [(one.document, one.report, unit) for one in (point, standing) if one is not None]
    return next((database.exponents[key] for key in reports if key in database.exponents), 0)


def _knowing_others(amount: Amount, number: Decimal, others: Sequence[Point]) -> Amount:
    """The amount whose gold answer also knows what other filings give; `number` is as filed."""
    filed = [value for point in others if (value := number_of(point.value)) is not None]
    with localcontext(prec=100):
        unit = amount.gold.value * amount.gold.scale / number if number else Decimal(1)
        elsewhere = tuple(sorted({trimmed(value * unit) for value in filed}))
    return replace(amount, gold=replace(amount.gold, elsewhere=elsewhere))


def _metric(slots: Slots, database: Database, config: QuestionConfig) -> Signed | QuestionReason:
    series = slots.series
    phrase = phrase_of(series.label)
    texts = (series.label, *series.path)
    if series.untranslated or any(has_foreign_letters(text) for text in texts):
        return QuestionReason.UNTRANSLATED
    if not slots.company.name or has_foreign_letters(slots.company.name):
        return QuestionReason.NO_COMPANY_NAME
    if is_garbled(slots.company.name):
        return QuestionReason.NAME_GARBLED
    is_amount = series.statement == Statement.BALANCE and len(series.unit) == _CODE
    is_thing = is_amount and is_countable(phrase_of(slots.worded or series.label))
    if not slots.point.months and phrase.text.startswith(_AVERAGE):
        return QuestionReason.PERIOD_UNNAMED
    if not phrase.key or phrase.bare or is_thing:
        return QuestionReason.BARE_LABEL
    if len((slots.worded or phrase.text).split()) > config.max_label_words:
        return QuestionReason.LABEL_TOO_LONG
    if refused := _misplaced(slots, database, phrase.text):
        return refused
    point = slots.point
    is_below = point.value.startswith("-")
    signed_label = signed(
        phrase.text,
        negative=is_below,
        balance=not point.months,
        side=_side(series, phrase.text),
        negated=(point.document, point.report, point.line) in database.negated,
        gains_apart=_has_gains_apart(slots),
    )
    if signed_label is None or "brackets" in signed_label.clause:
        return QuestionReason.SIGN_UNCLEAR
    if Sharpening.WHOLE in slots.sharpened:
        return replace(signed_label, phrase=FULLER.get(signed_label.phrase, signed_label.phrase))
    return _worded(slots, signed_label, phrase.text) if slots.worded else signed_label


def _worded(slots: Slots, signed_label: Signed, concept: str) -> Signed | QuestionReason:
    """The filing's own words for a line, with what has to be said of the sign."""
    if slots.worded == plain_words(signed_label.phrase):
        return Signed(slots.worded, signed_label.clause)
    if signed_label.phrase != concept:
        return QuestionReason.SIGN_UNCLEAR
    is_below = slots.point.value.startswith("-")
    if PAID.search(concept) and not is_below and not PAID.search(slots.worded):
        return Signed(slots.worded)
    plain = signed(slots.worded, negative=is_below, balance=not slots.point.months)
    is_odd = signed_label.clause in ODD_SIDES and not (is_below or (plain and plain.clause))
    return Signed(slots.worded, "" if is_odd else signed_label.clause)


def _misplaced(slots: Slots, database: Database, phrase: str) -> QuestionReason | None:
    """Is the line a balance among flows, the total that balances assets, or a part that does not
    add up to it?"""
    if slots.point.months and _is_balance(slots, database):
        return QuestionReason.SIGN_UNCLEAR
    if slots.series.statement != Statement.BALANCE or slots.series.dimensions is not None:
        return None
    if _BALANCING.search(phrase):
        return QuestionReason.BALANCING
    if phrase not in _PARTS:
        return None
    values = _on_that_day(slots, database, (_TOTAL, *_PARTS))
    if len(values) <= len(_PARTS):
        return None
    gap = values[_TOTAL] - sum(values[part] for part in _PARTS)
    return QuestionReason.UNBALANCED if abs(gap) > abs(values[_TOTAL]) * _ROUNDING else None


def _on_that_day(slots: Slots, database: Database, phrases: Sequence[str]) -> Mapping[str, Decimal]:
    """The values of the lines of these names in the filing and on the day of the point."""
    values: dict[str, Decimal] = {}
    for series in database.of_company[slots.company.company_id]:
        name = phrase_of(series.label).text
        if name not in phrases or series.dimensions is not None:
            continue
        for point in database.points.of_series(series.series_id):
            number = number_of(point.value)
            same = (point.document, point.period_end) == (
                slots.point.document,
                slots.point.period_end,
            )
            if same and number is not None:
                values[name] = number
    return values


def _is_balance(slots: Slots, database: Database) -> bool:
    """Has a line of a cash flow statement the words of one of the balance sheet? Then it is its
    change, in a direction that no word tells."""
    if slots.series.statement != Statement.CASH_FLOW:
        return False
    own = phrase_of(slots.worded or slots.series.label)
    return any(
        other.statement == Statement.BALANCE and same_words(own, phrase_of(other.label))
        for other in database.of_company[slots.company.company_id]
    )


def _has_gains_apart(slots: Slots) -> bool:
    """Has the statement lines of their own for gains and for losses, as Japanese ones have?"""
    series = slots.series
    return slots.company.source == "edinet" and series.statement == Statement.INCOME


def _identified(slots: Slots) -> str:
    company = slots.company
    if Sharpening.REGISTER in slots.sharpened:
        return by_register(company.company_id)
    if Sharpening.TICKER in slots.sharpened and company.ticker:
        return _by_ticker(company.ticker)
    return ""


def _by_ticker(ticker: str) -> str:
    """The ticker or, as in Japan, the securities code, as a question names it."""
    return f"{'securities code' if ticker[:1].isdigit() else 'ticker'} {ticker}"


def _side(series: Series, phrase: str) -> FlowSide | None:
    if series.statement != Statement.CASH_FLOW:
        return None
    if _CASH_FLOW.search(phrase) and not GAIN.search(phrase):
        return None
    parts = " ".join(series.path).lower()
    cash = "investing" in parts or "financing" in parts
    return FlowSide.CASH if cash else FlowSide.ADDED_BACK


def _location(slots: Slots, database: Database) -> str:
    point, words = slots.point, place_words(slots.series, frozenset(slots.sharpened))
    rows = database.printed.get(point.document, {})
    if _is_before_exchange(rows, point.report, point.line, slots.series.label):
        return f" before the effect of exchange rate changes{words}"
    return words


def _is_before_exchange(rows: Rows, report: int | None, line: int | None, label: str) -> bool:
    """Is a row the change in cash above the effect of exchange rates, so that it lacks that?"""
    if (
        report is None
        or line is None
        or not _CASH_CHANGE.search(label)
        or has_word(label, _EXCHANGE)
    ):
        return False
    return any(
        at[0] == report and at[1] > line and has_word(row.label, _EXCHANGE)
        for at, row in rows.items()
    )


def filing_words(slots: Slots, database: Database) -> str:
    """ "According to its filing of June 25, 2010", where the question names one."""
    filed = slots.point.filed
    if Sharpening.FILING not in slots.sharpened or filed is None:
        return ""
    kind = _filing_kind(slots.series, slots.point, database) or FilingKind.REPORTED
    return f"{kind} of {write_date(filed)}"


def _holds_value(text: str, value: str, amount: Amount) -> bool:
    """Whether the digits of the value are in the words: labels of filings may embed them."""
    digits = {value.strip("-").replace(".", "").strip("0"), _bare(amount)}
    runs = [run.replace(",", "").replace(".", "").strip("0") for run in _DIGITS.findall(text)]
    return any(len(run) >= _LEAST_DIGITS and run in digits for run in runs)


def _bare(amount: Amount) -> str:
    return f"{abs(amount.gold.value):f}".replace(".", "").strip("0")


def _applicable(step: Sharpening, slots: Slots, taken: Sequence[Sharpening]) -> bool:
    """Whether a step adds words that the question does not have yet."""
    series, company, point = slots.series, slots.company, slots.point
    if step in taken:
        return False
    fits = {
        Sharpening.WHOLE: not slots.worded and phrase_of(series.label).text in FULLER,
        Sharpening.TICKER: company.ticker is not None,
        Sharpening.DATES: point.months > 0 and point.period_start is not None,
        Sharpening.FILING: point.filed is not None,
    }
    return fits.get(step, True)


def sharpen(slots: Slots, database: Database, limit: int) -> Slots | Rival:
    """The slots with the fewest further words that leave no rival, or the first remaining rival."""
    first = tuple(slots.sharpened)
    for _ in range(limit + 1):
        remaining = rivals(slots, database)
        if not remaining:
            return _pruned(slots, first, database)
        taken = tuple(slots.sharpened)
        steps = (step for rival in remaining for step in STEPS[rival.cause])
        step = next((step for step in steps if _applicable(step, slots, taken)), None)
        if step is None:
            return remaining[0]
        slots = replace(slots, sharpened=_with(taken, step))
    return remaining[0]


def _pruned(slots: Slots, first: Sequence[Sharpening], database: Database) -> Slots:
    """The slots without added words that turned out to be unnecessary."""
    for step in slots.sharpened:
        fewer = tuple(one for one in slots.sharpened if one is not step)
        less = replace(slots, sharpened=fewer)
        if step not in first and not rivals(less, database):
            slots = less
    return slots


def _with(taken: Sequence[Sharpening], step: Sharpening) -> tuple[Sharpening, ...]:
    return tuple(one for one in Sharpening if one in taken or one is step)
