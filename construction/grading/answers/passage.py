"""A text with its values, clauses, periods, noise, and mentions of the metric asked for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from construction.grading.answers import lexicon
from construction.grading.answers.lexicon import Declared, Dimension, Unit
from construction.grading.answers.markup import SENTENCE_END, Span
from construction.grading.answers.question import Period, Target, find_periods
from construction.grading.answers.tokens import Value, scan_values
from construction.grading.answers.units import settle
from data.text.dates import MONTH_NAME
from data.text.lexicon import load_table, pattern_of
from data.text.numbers import ONE_TO_TEN

_CLAUSE_END = pattern_of(r"[;、]|,(?![0-9])|(?<![0-9]),|\s(?:and|but|while|whereas)(?=\s)", re.I)
_REACH = 300  # characters of a clause that are read on each side of a value
_NUMERAL = f"[0-9{ONE_TO_TEN}百]{{1,9}}"
_LISTED = load_table(__package__, "noise.toml")
_NOISE = tuple(
    pattern_of(pattern.replace("{numeral}", _NUMERAL).replace("{month}", MONTH_NAME), re.I)
    for patterns in _LISTED.values()
    for pattern in patterns
)


@dataclass(frozen=True, slots=True)
class Passage:
    """What is known about a text before a value is chosen."""

    text: str
    values: tuple[Value, ...]
    starts: tuple[int, ...]
    sentences: tuple[Span, ...]
    cuts: tuple[Span, ...]
    periods: tuple[Period, ...]
    named: tuple[Span, ...]
    openers: dict[int, int]

    def within(self, low: int, high: int) -> list[int]:
        """Indices of the values that start in a span."""
        return list(range(bisect_left(self.starts, low), bisect_left(self.starts, high)))

    def clause(self, position: int) -> Span:
        """The clause around a position, at most `_REACH` characters to each side."""
        return _around(self.cuts, position, len(self.text))

    def sentence(self, position: int) -> Span:
        """The sentence around a position."""
        index = bisect_right(self.sentences, (position, len(self.text) + 1))
        low = self.sentences[index - 1][1] if index else 0
        high = self.sentences[index][0] if index < len(self.sentences) else len(self.text)
        return low, high


def _around(cuts: tuple[Span, ...], position: int, length: int) -> Span:
    index = bisect_right(cuts, (position, length + 1))
    low = cuts[index - 1][1] if index else 0
    high = cuts[index][0] if index < len(cuts) else length
    return max(low, position - _REACH), min(high, position + _REACH)


def read_passage(text: str, target: Target) -> Passage:
    """Analyses a clean text once; linear in its length."""
    noise = _noise_spans(text, target.company)
    values = scan_values(text, noise)
    named = tuple(match.span() for match in target.naming.finditer(text)) if target.naming else ()
    sentences = tuple(match.span() for match in SENTENCE_END.finditer(text))
    whole = sorted([*noise, *named, *((value.start, value.end) for value in values)])
    inner = _outside(sorted(match.span() for match in _CLAUSE_END.finditer(text)), whole)
    return Passage(
        text=text,
        values=tuple(values),
        starts=tuple(value.start for value in values),
        sentences=sentences,
        cuts=tuple(sorted([*sentences, *inner])),
        periods=find_periods(text),
        named=named,
        openers=_openers(text, values),
    )


def _outside(cuts: list[Span], protected: list[Span]) -> list[Span]:
    """The cuts that are not inside a date, a value or a name."""
    starts = [start for start, _ in protected]
    reach, furthest = [], 0
    for _, end in protected:
        furthest = max(furthest, end)
        reach.append(furthest)
    kept = []
    for low, high in cuts:
        index = bisect_right(starts, low) - 1
        if index < 0 or reach[index] <= low:
            kept.append((low, high))
    return kept


def _openers(text: str, values: list[Value]) -> dict[int, int]:
    """For each value in brackets, where its innermost bracket opens; a line break closes all."""
    openers: dict[int, int] = {}
    stack: list[int] = []
    brackets = re.finditer(r"[()\[\]\n]", text)
    bracket = next(brackets, None)
    for value in values:
        while bracket is not None and bracket.start() < value.end:
            if bracket.start() < value.start:
                _push(stack, bracket)
            bracket = next(brackets, None)
        if stack:
            openers[value.start] = stack[-1]
    return openers


def _push(stack: list[int], bracket: re.Match[str]) -> None:
    if bracket[0] in "([":
        stack.append(bracket.start())
    elif bracket[0] == "\n":
        stack.clear()
    elif stack:
        stack.pop()


def _noise_spans(text: str, company: str) -> list[tuple[int, int]]:
    """Spans in which no number is a value, in order of their start."""
    spans = [(period.start, period.end) for period in find_periods(text)]
    for pattern in _NOISE:
        spans += [match.span() for match in pattern.finditer(text)]
    return sorted(spans + _about_company(text, company) if company else spans)


def _about_company(text: str, company: str) -> list[tuple[int, int]]:
    """Digits of the company's name, and the code in brackets after it."""
    name = re.escape(company)
    code = re.compile(rf"{name}[^()\n]{{0,20}}\([A-Z:. ]{{0,8}}[0-9]{{4,6}}[^()\n]{{0,6}}\)", re.I)
    spans = [match.span() for match in code.finditer(text)]
    if any(char.isdigit() for char in company):
        spans += [match.span() for match in re.finditer(name, text, re.I)]
    return spans


_IN_PERCENT = {
    "percent": Decimal(1),
    "points": Decimal(1),
    "ratio": Decimal(100),
    "permille": Decimal("0.1"),
    "bps": Decimal("0.01"),
}
_ONE_SEPARATOR = pattern_of(r"([0-9]{1,3})([.,])[0-9]{3}(?![0-9]|[.,][0-9])")
_PER_SHARE = pattern_of(
    r"\bper (?:\w+ )?share\b|\bEPS\b|[1一]株当たり|[1一]株あたり|每股"
    r"|\b(?:je aktie|par action|por acci[oó]n|per azione|per aandeel|por ação|pe?r\.? ak[st]je)\b",
    re.I,
)
_AMOUNTS_TO = pattern_of(
    r"\b(?:decreases?|declines?|drop|fall|reductions?)(?: [a-z]+){0,4}?"
    r" (?:amount(?:ed|s)|c[ao]mes?) to\b[^0-9]*\Z",
    re.I,
)
_COMPARED = pattern_of(r"\s+(?:from|compared|versus|vs)\b", re.I)
_LEVEL_AFTER = pattern_of(r"\s*(?:へと?|に|まで|にまで|から)\s*(?:と)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """A value with its amount in base units of `unit`; `stated` is False if the unit is assumed."""

    value: Value
    amount: Decimal
    unit: Unit
    quantum: Decimal
    stated: bool
    low: int
    high: int

    def rank(self, target: Target) -> int:
        """How well the unit fits, 0 best: as asked, plain money, none, other currency, other
        dimension."""
        if not self.stated:
            return 2
        if self.unit.dimension is not target.unit.dimension:
            return 1 if accepted(self.unit, target) and self.unit.name == target.unit.name else 4
        proportion = target.unit.dimension is Dimension.PROPORTION
        if proportion and target.points and self.value.unit is not None:
            return 0 if self.value.unit.name in ("points", "bps") else 1  # the levels, in per cent
        return 0 if proportion or self.unit.name == target.unit.name else 3


def accepted(unit: Unit, target: Target) -> bool:
    """The same dimension, or plain money if money per share is asked for."""
    if unit.dimension is target.unit.dimension:
        return True
    return unit.dimension is Dimension.MONEY and target.unit.dimension is Dimension.PER_SHARE


def read(
    passage: Passage,
    value: Value,
    target: Target,
    declared: Declared,
    low: int,
    high: int,
    alone: bool,
) -> Reading:
    """A value read within the scope `low:high`; `alone` if the scope holds nothing else."""
    clause_low, clause_high = passage.clause(value.start)
    clause = (max(low, clause_low), min(high, max(clause_high, value.end)))
    unit, stated = _unit(passage, value, target, declared, clause[0])
    if target.comma:
        value = _in_comma_language(passage.text, value, unit, stated, target)
    worth = _worth(value, unit, stated, target, declared)
    negative = _is_negative(
        passage.text,
        value,
        value.negative or (value.bracketed and alone and not target.counts),
        clause,
        [passage.values[index] for index in passage.within(*clause)] or [value],
        target,
    )
    amount = value.number.value * worth
    signed = -amount if negative and amount else amount
    reading_unit = _reading_unit(unit, target)
    return Reading(value, signed, reading_unit, value.number.quantum * worth, stated, *clause)


def _in_comma_language(text: str, value: Value, unit: Unit, stated: bool, target: Target) -> Value:
    """A number of one separator and three digits, as a language with decimal commas reads it.

    A point groups thousands and a comma is the decimal mark, unless the number would then be finer
    than was asked for, in a way that nobody writes: "3,612" where whole thousands are asked for, or
    "3.481" without a unit where decimals are.
    """
    number = value.number
    match = _ONE_SEPARATOR.match(text, number.start)
    if match is None or not number.digits or match[1].startswith("0"):
        return value
    if match[2] == ".":
        bare = not stated and not number.scaled
        exact = target.decimals == 3 and number.quantum * 1000 == target.scale
        is_decimal = exact or (bare and target.decimals > 0)
        return value if is_decimal else replace(value, number=number.in_thousands(1))
    decimal = number.in_thousands(-1)
    scale = Decimal(1) if number.scaled or stated else target.scale
    is_too_fine = target.decimals == 0 and decimal.quantum * unit.factor * scale < target.quantum
    return value if is_too_fine else replace(value, number=decimal)


def _reading_unit(unit: Unit, target: Target) -> Unit:
    """Proportions are read in the proportion asked for; otherwise basis points and per
    mille are read in percent."""
    if unit.dimension is not Dimension.PROPORTION:
        return Unit(unit.dimension, unit.name)
    if target.unit.dimension is Dimension.PROPORTION:
        return target.unit
    return Unit(unit.dimension, "percent" if unit.name != "ratio" else unit.name)


def _unit(
    passage: Passage, value: Value, target: Target, declared: Declared, low: int
) -> tuple[Unit, bool]:
    unit = value.unit if value.unit is not None else declared.unit
    if unit is None:
        return target.unit, False
    unit = settle(unit, target.unit)
    asks_money = target.unit.dimension is Dimension.MONEY
    if unit.dimension is Dimension.PER_SHARE and asks_money and _PER_SHARE.search(target.text):
        return Unit(Dimension.MONEY, unit.name, unit.factor), True
    if unit.dimension is not Dimension.MONEY or value.number.scaled:
        return unit, True
    before = passage.within(low, value.start)
    start = passage.values[before[-1]].end if before else low
    if _PER_SHARE.search(passage.text[start : value.start]):
        return Unit(Dimension.PER_SHARE, unit.name, unit.factor), True
    return unit, True


def _worth(value: Value, unit: Unit, stated: bool, target: Target, declared: Declared) -> Decimal:
    """How many base units one unit of the number is."""
    worth = unit.factor
    if unit.dimension is Dimension.PROPORTION:
        return worth * _IN_PERCENT[unit.name] / _IN_PERCENT[_reading_unit(unit, target).name]
    if value.number.scaled or unit.dimension is Dimension.PER_SHARE:
        return worth
    if declared.scale is not None and unit.factor == 1:
        return declared.scale
    return worth if stated else target.scale


def _is_negative(
    text: str,
    value: Value,
    marked: bool,
    clause: tuple[int, int],
    values: Sequence[Value],
    target: Target,
) -> bool:
    """Whether the amount is negative; `values` are those of the clause, `marked`: it has a minus
    mark."""
    low, high = clause
    words = lexicon.SIGNED_LABEL.sub(lambda match: " " * len(match[0]), text[low:high])
    inside = (value.start - low, value.end - low)
    words = words[: inside[0]] + " " * (inside[1] - inside[0]) + words[inside[1] :]
    if target.negative:
        return _in_asked_direction(words, marked, target)
    if target.minus:
        return marked or lexicon.LOSS.search(words) is not None
    whole = words
    if target.naming is not None:
        words = target.naming.sub(lambda match: " " * len(match[0]), words)
    if target.side is not None and target.side.said.search(target.metric):
        words = whole  # "a net loss of 5" names the loss and says that it is one
    stated = target.side.is_stated(words, inside[0]) if target.side is not None else None
    if stated is not None:
        return marked or stated
    return marked or _has_loss(text, words, value, low, values)


def _in_asked_direction(words: str, marked: bool, target: Target) -> bool:
    """If a loss is asked for, a loss is positive and a profit negative."""
    if lexicon.LOSS.search(words):
        return False
    if target.naming is not None:
        words = target.naming.sub(" ", words)
    return marked or lexicon.OPPOSITE.search(words) is not None


def _has_loss(text: str, words: str, value: Value, low: int, values: Sequence[Value]) -> bool:
    if lexicon.LOSS_NOUN.search(words):
        return True
    for match in lexicon.CHANGE_DOWN.finditer(words):
        if _COMPARED.match(words, match.end()):
            continue
        owner = min(values, key=lambda other: _gap(other, match.start() + low, match.end() + low))
        if owner == value and not _is_level(text, value):
            return True
    return False


def _gap(value: Value, start: int, end: int) -> tuple[int, bool]:
    """Characters between a value and a word; of two equally near values the one after the word
    wins."""
    behind = value.start >= end
    return (value.start - end if behind else max(start - value.end, 0)), not behind


def _is_level(text: str, value: Value) -> bool:
    """ "fell to X", Xに低下, 降至X: X is the resulting level, not the amount of the change.

    "The decrease amounted to X" gives the amount.
    """
    before = text[max(0, value.start - 60) : value.start]
    if _AMOUNTS_TO.search(before):
        return False
    return bool(lexicon.LEVEL_BEFORE.search(before) or _LEVEL_AFTER.match(text, value.end))
