"""From a value as written to an amount in base units: its unit, scale and sign."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from construction.statements.answers import lexicon
from construction.statements.answers.candidates import Value
from construction.statements.answers.contracts import Declared, Dimension, Unit
from construction.statements.answers.passage import Passage
from construction.statements.answers.question import Target
from construction.statements.answers.units import settle

_IN_PERCENT = {
    "percent": Decimal(1),
    "ratio": Decimal(100),
    "permille": Decimal("0.1"),
    "bps": Decimal("0.01"),
}
_PER_SHARE = re.compile(r"\bper (?:\w+ )?share\b|\bEPS\b|[1一]株当たり|[1一]株あたり|每股", re.I)
_AMOUNTS_TO = re.compile(
    r"\b(?:decreases?|declines?|drop|fall|reductions?)(?: [a-z]+){0,4}?"
    r" (?:amount(?:ed|s)|c[ao]mes?) to\b[^0-9]*\Z",
    re.I,
)
_LEVEL_AFTER = re.compile(r"\s*(?:へと?|に|まで|にまで|から)\s*(?:と)?")


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
    worth = _worth(value, unit, stated, target, declared)
    negative = is_negative(
        passage.text,
        value,
        value.negative or (value.bracketed and alone),
        clause,
        [passage.values[index] for index in passage.within(*clause)] or [value],
        target,
    )
    amount = value.number.value * worth
    signed = -amount if negative and amount else amount
    reading_unit = _reading_unit(unit, target)
    return Reading(value, signed, reading_unit, value.number.quantum * worth, stated, *clause)


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


def is_negative(
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
    if target.naming is not None:
        words = target.naming.sub(lambda match: " " * len(match[0]), words)
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
