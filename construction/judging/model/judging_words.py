"""Words of judging: lines of a deliverable that speak of its judgement where the task does not.

Phrases that give orders are known to `injection`; new ones are made up faster than lists grow. What
all of them need are words for whoever judges, or for what a judge does.
"""

from __future__ import annotations

import re
from functools import cache

from data.text.folding import fold_width
from data.text.lexicon import load_table

_LEAST_ACTS = 2  # different ones in a line


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = load_table(__package__, "judging_words.toml")
    roles, acts = (
        re.compile("|".join(_beginning(word) for word in table[name])) for name in ("roles", "acts")
    )
    return roles, acts


def _beginning(word: str) -> str:
    """A word of letters matches where a word begins; others match anywhere."""
    return rf"(?<!\w){re.escape(word)}" if word.isascii() or word[0].isascii() else re.escape(word)


def judging_words(text: str) -> frozenset[str]:
    """The words of judging in a text, as the table has them."""
    folded = fold_width(text).lower()
    return frozenset(match for pattern in _patterns() for match in pattern.findall(folded))


def speaks_of_judging(line: str, ordinary: frozenset[str]) -> bool:
    """Does a line name a judge, or two acts of judging, beyond the `ordinary` words of its task?"""
    folded = fold_width(line).lower()
    roles, acts = ({*pattern.findall(folded)} - ordinary for pattern in _patterns())
    return bool(roles) or len(acts) >= _LEAST_ACTS
