"""Whether a text gives up on the question, or doubts what it says."""

from __future__ import annotations

import re

from construction.statements.answers import lexicon
from construction.statements.answers.passage import Passage
from construction.statements.answers.question import Target

_DENIED_WITHIN = 30  # characters between "not" and the value that it denies


def gives_up(passage: Passage, scope: tuple[int, int]) -> bool:
    """Does the text give up on the question, or say that what was asked for is missing?"""
    low, high = scope
    if lexicon.GIVES_UP.search(passage.text, low, high):
        return True
    for match in lexicon.REFUSAL.finditer(passage.text, low, high):
        first, last = passage.clause(match.start())
        if any(first <= start and end <= last for start, end in passage.named):
            return True
    return False


def is_doubted(passage: Passage, target: Target) -> bool:
    """Does a word deny or doubt anything but another value, outside the names asked about?

    "3,633, not 3,400" denies a value that is none; "not consolidated" may be the metric's name;
    "no loss" denies the side that a question asks to give as a negative number.
    """
    text = passage.text
    named = [*passage.named]
    if target.company:
        named += [match.span() for match in re.finditer(re.escape(target.company), text, re.I)]
    for match in lexicon.DOUBT.finditer(text):
        is_name = any(low <= match.start() and match.end() <= high for low, high in named)
        following = passage.within(match.end(), match.end() + _DENIED_WITHIN)
        denied = following and lexicon.NEGATED_BEFORE.search(
            text, match.start(), passage.values[following[0]].start
        )
        denies = bool(denied) or (
            target.side is not None and target.side.is_denied(text, match.start())
        )
        if not is_name and not denies:
            return True
    return False
