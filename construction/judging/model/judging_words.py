"""Words of judging: lines of a deliverable that speak of its judgement where the task does not.

Phrases that give orders are known to `injection`; new ones are made up faster than lists grow. What
all of them need are words for whoever judges, or for what a judge does, and a form that directs
somebody: reports on audits, exams or courts use the first without the second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from data.text.folding import fold_width
from data.text.lexicon import load_table

_LEAST_ACTS = 2  # different ones in a line
_JUDGING = ("roles", "acts")


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Of `roles`, `acts` and `directions`."""
    table = load_table(__package__, "judging_words.toml")
    return {
        name: re.compile("|".join(_beginning(word) for word in words))
        for name, words in table.items()
    }


def _beginning(word: str) -> str:
    """A word of letters matches where a word begins; others match anywhere."""
    return rf"(?<!\w){re.escape(word)}" if word.isascii() or word[0].isascii() else re.escape(word)


def judging_words(text: str) -> frozenset[str]:
    """The words of judging in a text, as the table has them."""
    folded, patterns = fold_width(text).lower(), _patterns()
    return frozenset(word for name in _JUDGING for word in patterns[name].findall(folded))


def speaks_of_judging(line: str, ordinary: frozenset[str]) -> bool:
    """Does a line give directions about judging, beyond the `ordinary` words of its task?"""
    folded, patterns = fold_width(line).lower(), _patterns()
    roles, acts = ({*patterns[name].findall(folded)} - ordinary for name in _JUDGING)
    speaks = bool(roles) or len(acts) >= _LEAST_ACTS
    return speaks and patterns["directions"].search(folded) is not None
