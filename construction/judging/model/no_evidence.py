"""Sentences that are no evidence: they speak of being judged, or of what is not there.

Only quotes are held against this list. A judge reads all that was delivered, and what else a
sentence of the list may mean, nobody is marked down for it: it just cannot be what shows that a
criterion is met.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from construction.judging.model.injection import addresses_judge
from data.text.folding import fold_width
from data.text.lexicon import load_table

_LEAST_ACTS = 2  # different ones in a sentence
_ORDINARY = ("roles", "acts", "elsewhere")


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Of `roles`, `acts`, `directions` and `elsewhere`."""
    table = load_table(__package__, "no_evidence.toml")
    return {
        name: re.compile("|".join(_beginning(word) for word in words))
        for name, words in table.items()
    }


def _beginning(word: str) -> str:
    """A word of letters matches where a word begins; others match anywhere."""
    return rf"(?<!\w){re.escape(word)}" if word.isascii() or word[0].isascii() else re.escape(word)


def _words(name: str, text: str) -> frozenset[str]:
    return frozenset(_patterns()[name].findall(fold_width(text).lower()))


def ordinary_words(text: str) -> frozenset[str]:
    """The words of the list that a task uses itself: in its deliverables they say nothing."""
    return frozenset().union(*(_words(name, text) for name in _ORDINARY))


def is_no_evidence(sentence: str, ordinary: frozenset[str] = frozenset()) -> bool:
    """Does a sentence speak to a judge, or of what is not there?"""
    return bool(_words("elsewhere", sentence) - ordinary) or speaks_to_judge(sentence, ordinary)


def speaks_to_judge(sentence: str, ordinary: frozenset[str] = frozenset()) -> bool:
    """Does a sentence address a judge, or direct a judgement with words that the task has not?"""
    if addresses_judge(sentence):
        return True
    roles, acts = (_words(name, sentence) - ordinary for name in ("roles", "acts"))
    return bool(roles or len(acts) >= _LEAST_ACTS) and bool(_words("directions", sentence))
