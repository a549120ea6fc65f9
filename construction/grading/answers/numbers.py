"""Why a part of an answer is wrong, and the verdict on numbers.

Imports nothing but the standard library, text utilities and the reader of
`construction.grading.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import ROUND_DOWN, Context, Decimal, InvalidOperation, localcontext
from itertools import islice

from construction.grading.answers import lexicon
from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import (
    AnswerCheck,
    AnswerReason,
    ErrorReason,
    GoldAnswer,
    Verdict,
    rounded,
)
from construction.grading.answers.question import side_asked
from construction.grading.answers.units import (
    PROPORTIONS,
    Measured,
    kind_of,
    measured,
    measures_asked,
    settle,
    unit_asked,
)
from construction.grading.spec import AnswerSpec
from data.text.folding import fold_width
from data.text.lexicon import pattern_of

_MAX_SHIFT = 12  # powers of ten within which a number of the same digits is a wrong scale
MAX_TEXT = 2000  # characters of a text, date or boolean that are read
_LONGEST_BLANK = 40
_BLANK_MARKS = " \t\r\n\"'`*_-–—―ー~.…。,;:!?|/\\[](){}<>「」"
_PLACEHOLDERS = frozenset(["", "null", "nan", "undefined", "blank", "empty", "空", "空白", "空欄"])
_NO_ANSWER = pattern_of(
    r"\b(?:tbd|tba|pending|to be (?:determined|confirmed|announced)|no answer"
    r"|not (?:stated|given|known)"
    r"|(?:needs?|requires?) (?:\w+ )?(?:research|review|checking|verification|data|information))\b"
    r"|[暂暫]无|暫無|[待未](?:查|定|补|補|核|确认|確認)|没有答案|(?:答案|回答|データ|情報|資料|記載)な[しく]"
    r"|確認中|調査中|未能|\A\s*(?:なし|無し|无|無|没有|不详|未知)[\s。.]*\Z",
    re.I,
)
_UNIT_WORDS = {
    unit: pattern_of(rf"[0-9]\s?(?:{words})", re.I) for unit, words in PROPORTIONS.items()
}
_BASIS_POINTS, _POINTS = _UNIT_WORDS["bps"], _UNIT_WORDS["points"]
_POINTS_ASKED = pattern_of(
    r"\bpoints?\b|\bpp\b|百分[点點]|ポイント"
    r"|(?=.*\b(?:margin|rate|ratio|share|yield|proportion)s?\b)"
    r".*\b(?:chang|increas|decreas|differ|ris[ei]|rose|fall|fell|mov|widen|narrow|improv)"
    r"|(?=.*[率比]).*(?:増減|増加|減少|变动|变化|变動|差|上升|下降|上昇|低下)",
    re.I | re.S,
)
_TWO_IN_BRACKETS = pattern_of(
    r"\(([0-9][0-9.,]*)\)\s*(?:or|或者?|または|又は|もしくは)\s*\(([0-9][0-9.,]*)\)", re.I
)
_LOOKED_UP = pattern_of(r"\b(?:look|show|turn)(?:s|n|ed|ing)? (?:\w+ ){0,4}?up\b", re.I)
_SIGNED_NUMBER = pattern_of(r"(?<![0-9])[-−–△▲(]\s?[$€£¥]?\s?[0-9]")
_UNKNOWN_UNIT = pattern_of(
    r"\W*[0-9][0-9.,]*\s?(?:[^\W\d_]+(?:[ -][^\W\d_]+){0,2})[23]?\s*[.。]?\s*"
)
_EXACT = Context(prec=200)
_AND = pattern_of(r"[\s,]*(?:and|と|零|又|plus)?\s*", re.I)
_MAX_AND = 8  # characters
_MAX_UNITS = 400  # of measure in a text; further ones are not read as units
_MAX_MEASURED = 20_000  # characters of a number with a unit of measure that are read
_LEAST_DIGITS = 2  # that a coarser rounding keeps, to be called one


_SAME_DIGITS = (None, AnswerReason.WRONG_SIGN, AnswerReason.WRONG_SCALE)
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
    units_asked = measures_asked(spec.unit, question, spec.scale)
    unit, scale = spec.unit, Decimal(spec.scale)
    if unit is None and not units_asked:
        unit_named = unit_asked(question)
        unit = None if unit_named.unit is None else str(settle(unit_named.unit, unit_named.unit))
        scale = unit_named.scale if unit is not None and unit_named.scale and scale == 1 else scale
    gold = GoldAnswer(value, "count" if units_asked else unit or "count", scale, decimals)
    if units_asked:
        return _compare_measured(spec, text[-_MAX_MEASURED:], gold, question, units_asked)
    return _compare(spec, text, gold, question)


def _compare(spec: AnswerSpec, text: str, gold: GoldAnswer, question: str) -> Verdict:
    check = check_answer(text, gold, question, strict=True)
    if check.extracted is None:
        known = _FROM_CHECK.get(check.error_reason or ErrorReason.NO_VALUE)
        if is_refusal(text):
            return Verdict(known or AnswerReason.REFUSED)
        return Verdict(known or _why_not_stated(spec, text, gold, question))
    if gold.unit == "percent" and _in_points(text, question):
        return Verdict(AnswerReason.WRONG_UNIT, f"{check.extracted} points")
    verdict = _verdict(check, gold, spec.tolerance)
    if verdict.reason is None:
        return replace(verdict, reason=_contradiction(text, gold, question))
    in_bps = gold.unit == "percent" and _BASIS_POINTS.search(fold_width(text[-MAX_TEXT:]))
    return (
        replace(verdict, reason=AnswerReason.WRONG_UNIT) if in_bps and verdict.reason else verdict
    )


def _compare_measured(
    spec: AnswerSpec, text: str, gold: GoldAnswer, question: str, units_asked: frozenset[str]
) -> Verdict:
    """A number of a unit of measure: its unit may be left out, and no other one may be given."""
    folded = fold_width(text)
    kinds = {kind_of(unit) for unit in units_asked}
    spans_found = islice(measured(folded), _MAX_UNITS)
    spans = [span for span in spans_found if span.number or kind_of(span.unit) in kinds]
    own = sorted((span for span in spans if span.unit in units_asked), key=lambda span: span.start)
    others = [span for span in spans if span.unit not in units_asked]

    def verdict_on(piece: str) -> Verdict:
        return _compare(spec, piece, gold, question)

    verdict = verdict_on(_without(folded, [(span.unit_start, span.end) for span in own]))
    if verdict.reason is not None:
        units = [span for span in others if kind_of(span.unit) != "time" or "time" in kinds]
        is_wrong_unit = units and not own and not is_refusal(text)
        return replace(verdict, reason=AnswerReason.WRONG_UNIT) if is_wrong_unit else verdict
    if any(_is_continued(folded, span, others, kinds) for span in own):
        return replace(verdict, reason=AnswerReason.WRONG_VALUE)
    numbers = {span.number for span in own if span.number}
    if numbers and not any(verdict_on(number).reason in _SAME_DIGITS for number in numbers):
        return replace(verdict, reason=AnswerReason.AMBIGUOUS)
    rest = [(span.unit_start if span in own else span.start, span.end) for span in spans]
    is_declared = not own and any(span.number is None for span in others)
    if others and (is_declared or verdict_on(_without(folded, sorted(rest))).reason is not None):
        return replace(verdict, reason=AnswerReason.WRONG_UNIT)
    return verdict


def _is_continued(text: str, span: Measured, others: list[Measured], kinds: set[str]) -> bool:
    """Does a smaller unit go on with the number: 12 years and 6 months?"""
    return any(
        kind_of(other.unit) in kinds and _AND.fullmatch(text, span.end, other.start)
        for other in others
        if span.end <= other.start <= span.end + _MAX_AND
    )


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    return " ".join([*pieces, text[position:]])


def _contradiction(text: str, gold: GoldAnswer, question: str) -> AnswerReason | None:
    """What a text says against the value that it states: another one beside it, or its contrary."""
    folded = fold_width(text[-MAX_TEXT:])
    if any(match[1] != match[2] for match in _TWO_IN_BRACKETS.finditer(folded)):
        return AnswerReason.AMBIGUOUS
    is_up = lexicon.CHANGE_UP.search(_LOOKED_UP.sub(" ", folded)) is not None
    rises = is_up and not lexicon.LOSS.search(folded)
    side = side_asked(question)
    rises = rises and (side is None or not side.said.search(folded))
    is_up = rises and not lexicon.CHANGE_UP.search(fold_width(question))
    if is_up and gold.value < 0 and not _SIGNED_NUMBER.search(folded):
        return AnswerReason.WRONG_SIGN
    return None


def _in_points(text: str, question: str) -> bool:
    """Does a text give percentage points where the question does not ask for a difference?"""
    return bool(
        _POINTS.search(fold_width(text[-MAX_TEXT:]))
        and not _POINTS_ASKED.search(fold_width(question))
    )


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
    folded = fold_width(text[-MAX_TEXT:])
    if _UNKNOWN_UNIT.fullmatch(folded):
        return AnswerReason.WRONG_UNIT
    if gold.unit == "percent" and (_BASIS_POINTS.search(folded) or _in_points(text, question)):
        return AnswerReason.WRONG_UNIT
    if reason in (None, AnswerReason.WRONG_SIGN) and _is_contrary(folded, question):
        return AnswerReason.WRONG_SIGN
    return AnswerReason.REFUSED if reason in (None, AnswerReason.WRONG_SIGN) else reason


def _is_contrary(text: str, question: str) -> bool:
    """Does a text speak of a profit, inflow or rise alone, where the question has its contrary?"""
    text = _LOOKED_UP.sub(" ", text)
    wording = lexicon.SIGNED_LABEL.sub(" ", fold_width(question))
    is_loss, is_gain = (
        [bool(words.search(part)) for part in (text, wording)]
        for words in (lexicon.LOSS, lexicon.OPPOSITE)
    )
    return (is_loss[0] and not is_loss[1]) or (is_gain[0] and not is_loss[0] and is_loss[1])


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
    shifts = [shift for shift in range(-_MAX_SHIFT, _MAX_SHIFT + 1) if shift]
    if gold.value and any(is_gold(amount.scaleb(shift)) for shift in shifts):
        return AnswerReason.WRONG_SCALE
    return AnswerReason.WRONG_VALUE


def _is_rounding(amount: Decimal, gold: GoldAnswer) -> bool:
    """Is the amount the gold value with more digits than asked for, or with fewer?"""
    quantum = Decimal(1).scaleb(-gold.decimals)
    cut_off = (amount / quantum).to_integral_value(ROUND_DOWN) * quantum
    if gold.value and gold.value in (rounded(amount, quantum), cut_off):
        return True
    digits = gold.value.adjusted() + 1 + gold.decimals if gold.value else 0
    coarser = [quantum.scaleb(power) for power in range(1, digits - _LEAST_DIGITS + 1)]
    return any(rounded(gold.value, coarse) == amount for coarse in coarser)
