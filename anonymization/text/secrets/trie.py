"""Many literals as one regular expression that looks at each character once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def trie_pattern(literals: Iterable[str]) -> str:
    """A pattern that matches the longest of the literals that begins at a place."""
    root: dict[str, Any] = {}
    for literal in literals:
        node = root
        for char in literal:
            node = node.setdefault(char, {})
        node[""] = {}
    return _branch(root)


def _branch(node: dict[str, Any]) -> str:
    branches = [re.escape(char) + _branch(node[char]) for char in sorted(node) if char]
    if not branches:
        return ""
    if "" in node:
        return f"(?:{'|'.join(branches)})?"
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
