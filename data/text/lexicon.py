"""Loading of word lists and phrase lists, and the patterns that find their phrases."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast


@cache
def load_table(package: str, *path: str) -> Mapping[str, Any]:
    """The TOML table at `path` inside a package, read once; callers do not change it.

    Errors: FileNotFoundError, tomllib.TOMLDecodeError.
    """
    return tomllib.loads(files(package).joinpath(*path).read_text("utf-8"))


class _UncompiledPattern:
    """Compiles itself at the first use of a method, which from then on is the pattern's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, method)
        return method


def pattern_of(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile` for long patterns: most commands never use them, and wait for none of them."""
    return cast("re.Pattern[str]", _UncompiledPattern(pattern, flags))


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern that finds any of the literal phrases; it looks at each character once."""
    return pattern_of(_shortest_pattern(phrases))


# Many literals as one pattern --------------------------------------------------------------------
# Many literals as one regular expression that looks at each character once.
#
# The patterns hold no repetition, hence nothing in them can run away.


def trie_pattern(literals: Iterable[str]) -> str:
    """A pattern that matches the longest of the literals that begins at a place."""
    return _longest(_trie(literals))


def _shortest_pattern(literals: Iterable[str]) -> str:
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
