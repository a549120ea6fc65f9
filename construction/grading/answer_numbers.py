"""Why a part of an answer is wrong, and the verdict on numbers.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from enum import StrEnum

from construction.grading.spec import AnswerSpec
from construction.statements.answers import lexicon
from construction.statements.answers.check import check_answer
from construction.statements.answers.contracts import ErrorReason, GoldAnswer
from data.text.folding import fold_width

MAX_SHIFT = 12  # powers of ten within which a number of the same digits is a wrong scale
MAX_TEXT = 2000  # characters of a text, date or boolean that are read
_EXACT = Context(prec=200)
_LEAST_DIGITS = 2  # that a coarser rounding keeps, to be called one


class AnswerReason(StrEnum):
    """Why a part of an answer is wrong; renaming one is a breaking change."""

    MISSING = "answer.missing"  # no answer, or not this part
    REFUSED = "answer.refused"
    NO_VALUE = "answer.no_value"  # text without a value of this type
    AMBIGUOUS = "answer.ambiguous"  # several values, or one that can be read in two ways
    WRONG_UNIT = "answer.wrong_unit"
    WRONG_CURRENCY = "answer.wrong_currency"
    WRONG_SIGN = "answer.wrong_sign"
    WRONG_SCALE = "answer.wrong_scale"  # the right digits times a power of ten
    WRONG_ROUNDING = "answer.wrong_rounding"  # more digits than asked for, or fewer
    SWAPPED_PARTS = "answer.swapped_parts"
    INCOMPLETE = "answer.incomplete"  # a date without its day or month
    WRONG_ORDER = "answer.wrong_order"
    MISSING_ITEMS = "answer.missing_items"
    EXTRA_ITEMS = "answer.extra_items"
    WRONG_VALUE = "answer.wrong_value"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is None for a right value; `reading` is how the text was understood."""

    reason: AnswerReason | None
    reading: str | None = None


_FROM_CHECK = {
    ErrorReason.AMBIGUOUS_VALUES: AnswerReason.AMBIGUOUS,
    ErrorReason.WRONG_UNIT: AnswerReason.WRONG_UNIT,
    ErrorReason.WRONG_CURRENCY: AnswerReason.WRONG_CURRENCY,
}


def gives_up(text: str) -> bool:
    """Does the text say that the question cannot be answered?"""
    return lexicon.GIVES_UP.search(fold_width(text[-MAX_TEXT:])) is not None


def is_refusal(text: str) -> bool:
    """Does the text give up, or say in any other way that something is missing?"""
    return gives_up(text) or lexicon.REFUSAL.search(fold_width(text[-MAX_TEXT:])) is not None


def compare_number(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A number with its unit, scale and sign. Raises ValueError if the gold value is none."""
    try:
        value = Decimal(spec.value.replace(",", ""))
    except InvalidOperation as error:
        raise ValueError(f"the gold value of {spec.part} is not a number") from error
    exponent = value.as_tuple().exponent
    decimals = spec.decimals
    if decimals is None:
        decimals = max(0, -exponent) if isinstance(exponent, int) else 0
    gold = GoldAnswer(value, spec.unit or "count", Decimal(spec.scale), decimals)
    check = check_answer(text, gold, question, strict=True)
    if check.extracted is None:
        # A number that is quoted, but not stated as the value, comes with a refusal to state one.
        is_refused = is_refusal(text) or any(char.isdecimal() for char in text)
        no_value = AnswerReason.REFUSED if is_refused else AnswerReason.NO_VALUE
        return Verdict(_FROM_CHECK.get(check.error_reason or ErrorReason.NO_VALUE, no_value))
    reading = f"{check.extracted} {check.unit}"
    if check.error_reason in (ErrorReason.WRONG_UNIT, ErrorReason.WRONG_CURRENCY):
        return Verdict(_FROM_CHECK[check.error_reason], reading)
    with localcontext(_EXACT):
        return Verdict(_deviation(check.extracted / gold.scale, gold, spec.tolerance), reading)


def _deviation(amount: Decimal, gold: GoldAnswer, tolerance: float | None) -> AnswerReason | None:
    """How an amount in the scale of the gold value differs from it; None if it does not."""
    allowed = Decimal(str(tolerance or 0))

    def is_gold(other: Decimal) -> bool:
        return abs(other - gold.value) <= allowed

    if is_gold(amount):
        return None
    if _is_rounding(amount, gold):
        return AnswerReason.WRONG_ROUNDING
    if gold.value and is_gold(-amount):
        return AnswerReason.WRONG_SIGN
    shifts = [shift for shift in range(-MAX_SHIFT, MAX_SHIFT + 1) if shift]
    if gold.value and any(is_gold(amount.scaleb(shift)) for shift in shifts):
        return AnswerReason.WRONG_SCALE
    return AnswerReason.WRONG_VALUE


def _is_rounding(amount: Decimal, gold: GoldAnswer) -> bool:
    """Is the amount the gold value with more digits than asked for, or with fewer?"""
    quantum = Decimal(1).scaleb(-gold.decimals)
    if _rounded(amount, quantum) == gold.value:
        return True
    digits = gold.value.adjusted() + 1 + gold.decimals if gold.value else 0
    coarser = [quantum.scaleb(power) for power in range(1, digits - _LEAST_DIGITS + 1)]
    return any(_rounded(gold.value, coarse) == amount for coarse in coarser)


def _rounded(amount: Decimal, quantum: Decimal) -> Decimal:
    """Half up on the magnitude."""
    return (amount / quantum).quantize(Decimal(1), rounding=ROUND_HALF_UP) * quantum
