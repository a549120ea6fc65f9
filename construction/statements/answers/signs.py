"""The sign of a value: marks, loss words of its clause, and the direction asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from construction.statements.answers import lexicon
from construction.statements.answers.asked import Asked
from construction.statements.answers.candidates import Value

_LEVEL_AFTER = re.compile(r"\s*(?:へと?|に|まで|にまで|から)\s*(?:と)?")


def is_negative(
    text: str,
    value: Value,
    marked: bool,
    clause: tuple[int, int],
    values: Sequence[Value],
    asked: Asked,
) -> bool:
    """Whether the amount is negative; `values` are those of the clause, `marked` a written mark."""
    low, high = clause
    words = lexicon.SIGNED_LABEL.sub(lambda match: " " * len(match[0]), text[low:high])
    inside = (value.start - low, value.end - low)
    words = words[: inside[0]] + " " * (inside[1] - inside[0]) + words[inside[1] :]
    if asked.negative:
        return _in_asked_direction(words, marked, asked)
    if asked.naming is not None:
        words = asked.naming.sub(lambda match: " " * len(match[0]), words)
    return marked or _has_loss(text, words, value, low, values)


def _in_asked_direction(words: str, marked: bool, asked: Asked) -> bool:
    """Where a loss is asked a loss is positive and a profit negative."""
    if lexicon.LOSS.search(words):
        return False
    if asked.naming is not None:
        words = asked.naming.sub(" ", words)
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
    """Characters between a value and a word; of two equally near the one behind the word."""
    behind = value.start >= end
    return (value.start - end if behind else max(start - value.end, 0)), not behind


def _is_level(text: str, value: Value) -> bool:
    """ "fell to X", Xに低下, 降至X: X is what it became, not by how much it changed."""
    before = text[max(0, value.start - 40) : value.start]
    return bool(lexicon.LEVEL_BEFORE.search(before) or _LEVEL_AFTER.match(text, value.end))
