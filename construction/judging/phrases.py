"""Finding phrases in a sentence, in one plain form of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$|[^\x00-\x7f])|[。！？…；;~～\n]+")
_CLAUSE_END = re.compile(r"[,，、:：—–“”\"()（）【】\[\]*#>]+|\s-+\s")
_APOSTROPHES = str.maketrans("", "", "'’‘`")


def plain(text: str) -> str:
    """Lower case, no apostrophes, ` | ` where a sentence ends, ` , ` where a clause ends.

    The result starts and ends with ` | `, so that `| new ` means "at the start of a sentence".
    """
    marked = _SENTENCE_END.sub(" | ", text.lower().translate(_APOSTROPHES))
    return f" | {' '.join(_CLAUSE_END.sub(' , ', marked).split())} | "


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern that finds any of the phrases: a trie, so each place is looked at once."""
    trie: dict[str, Any] = {}
    for phrase in phrases:
        node = trie
        for char in phrase:
            node = node.setdefault(char, {})
        node[""] = {}
    return re.compile(_branches(trie))


def _branches(node: dict[str, Any]) -> str:
    if "" in node:  # a phrase ends here; longer ones need not be told apart
        return ""
    branches = [re.escape(char) + _branches(below) for char, below in sorted(node.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def has_any(text: str, phrases: re.Pattern[str]) -> bool:
    """Is one of the phrases in the plain text?"""
    return phrases.search(text) is not None
