"""Finding any of many phrases in a text that was brought into a plain form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from data.text.trie import shortest_pattern


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern that finds any of the phrases, looking at each place once."""
    return re.compile(shortest_pattern(phrases))


def has_any(text: str, phrases: re.Pattern[str]) -> bool:
    """Is one of the phrases in the plain text?"""
    return phrases.search(text) is not None
