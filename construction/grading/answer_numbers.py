"""Why a part of an answer is wrong, and the verdict on numbers.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from enum import StrEnum

from construction.grading.spec import AnswerSpec
from construction.statements.answers import lexicon
from construction.statements.answers.check import check_answer
from construction.statements.answers.contracts import AnswerCheck, ErrorReason, GoldAnswer
from data.text.folding import fold_width

MAX_SHIFT = 12  # powers of ten within which a number of the same digits is a wrong scale
MAX_TEXT = 2000  # characters of a text, date or boolean that are read
_LONGEST_BLANK = 40
_BLANK_MARKS = " \t\r\n\"'`*_-–—―ー~.…。,;:!?|/\\[](){}<>「」"
_PLACEHOLDERS = frozenset(["", "null", "nan", "undefined", "blank", "empty", "空", "空白", "空欄"])
_NO_ANSWER = re.compile(
    r"\b(?:tbd|tba|pending|to be (?:determined|confirmed|announced)|no answer"
    r"|not (?:stated|given|known)"
    r"|(?:needs?|requires?) (?:\w+ )?(?:research|review|checking|verification|data|information))\b"
    r"|[暂暫]无|暫無|[待未](?:查|定|补|補|核|确认|確認)|没有答案|(?:答案|回答|データ|情報|資料|記載)な[しく]"
    r"|確認中|調査中|未能|\A\s*(?:なし|無し|无|無|没有|不详|未知)[\s。.]*\Z",
    re.I,
)
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


def is_blank(text: str) -> bool:
    """Does the text hold nothing: marks alone, or a placeholder for no value?"""
    plain = fold_width(text[: _LONGEST_BLANK + 1]).strip(_BLANK_MARKS)
    return len(text.strip()) <= _LONGEST_BLANK and plain.casefold() in _PLACEHOLDERS


def is_doubtful(text: str) -> bool:
    """Do the words doubt or guess?"""
    folded = fold_width(text[-MAX_TEXT:])
    return bool(lexicon.GUESS.search(folded) or lexicon.DOUBT.search(folded))


def is_refusal(text: str) -> bool:
    """Does the text give up, or say in any other way that something is missing?"""
    folded = fold_width(text[-MAX_TEXT:])
    return gives_up(text) or any(words.search(folded) for words in (lexicon.REFUSAL, _NO_ANSWER))


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
        known = _FROM_CHECK.get(check.error_reason or ErrorReason.NO_VALUE)
        return Verdict(known or _why_not_stated(spec, text, gold, question))
    return _verdict(check, gold, spec.tolerance)


def _verdict(check: AnswerCheck, gold: GoldAnswer, tolerance: float | None) -> Verdict:
    if check.extracted is None:
        return Verdict(AnswerReason.NO_VALUE)
    reading = f"{check.extracted} {check.unit}"
    if check.error_reason in (ErrorReason.WRONG_UNIT, ErrorReason.WRONG_CURRENCY):
        return Verdict(_FROM_CHECK[check.error_reason], reading)
    with localcontext(_EXACT):
        return Verdict(_deviation(check.extracted / gold.scale, gold, tolerance), reading)


def _why_not_stated(spec: AnswerSpec, text: str, gold: GoldAnswer, question: str) -> AnswerReason:
    """Why a text states no number: it refuses, has none, or quotes one.

    A number that is quoted but not stated comes with a refusal to state it, unless it is wrong in
    any case: then the reason is what is wrong with it.
    """
    if is_refusal(text) or is_doubtful(text):
        return AnswerReason.REFUSED
    reason = _verdict(check_answer(text, gold, question), gold, spec.tolerance).reason
    return AnswerReason.REFUSED if reason in (None, AnswerReason.WRONG_SIGN) else reason


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
    cut_off = (amount / quantum).to_integral_value(ROUND_DOWN) * quantum
    if gold.value and gold.value in (_rounded(amount, quantum), cut_off):
        return True
    digits = gold.value.adjusted() + 1 + gold.decimals if gold.value else 0
    coarser = [quantum.scaleb(power) for power in range(1, digits - _LEAST_DIGITS + 1)]
    return any(_rounded(gold.value, coarse) == amount for coarse in coarser)


def _rounded(amount: Decimal, quantum: Decimal) -> Decimal:
    """Half up on the magnitude."""
    return (amount / quantum).quantize(Decimal(1), rounding=ROUND_HALF_UP) * quantum
