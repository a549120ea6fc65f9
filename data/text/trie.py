"""Many literals as one regular expression that looks at each character once.

The patterns hold no repetition, hence nothing in them can run away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any


def trie_pattern(literals: Iterable[str]) -> str:
    """A pattern that matches the longest of the literals that begins at a place."""
    return _longest(_trie(literals))


def shortest_pattern(literals: Iterable[str]) -> str:
    """A pattern that matches the shortest of the literals that begins at a place.

    It is the smaller of the two: behind a literal that ends, longer ones are not distinguished.
    """
    return _shortest(_trie(literals))


def _trie(literals: Iterable[str]) -> dict[str, Any]:
    """Nodes by character; the key "" marks the end of a literal."""
    root: dict[str, Any] = {}
    for literal in literals:
        node = root
        for char in literal:
            node = node.setdefault(char, {})
        node[""] = {}
    return root


def _longest(node: Mapping[str, Any]) -> str:
    branches = [re.escape(char) + _longest(node[char]) for char in sorted(node) if char]
    if not branches:
        return ""
    if "" in node:
        return f"(?:{'|'.join(branches)})?"
    return _any(branches)


def _shortest(node: Mapping[str, Any]) -> str:
    if "" in node:
        return ""
    return _any([re.escape(char) + _shortest(node[char]) for char in sorted(node)])


def _any(branches: list[str]) -> str:
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
