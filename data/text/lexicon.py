"""Loading of word lists and phrase lists, and the patterns that find their phrases."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from data.text.trie import shortest_pattern


@cache
def load_table(package: str, *path: str) -> Mapping[str, Any]:
    """The TOML table at `path` inside a package, read once; callers do not change it.

    Errors: FileNotFoundError, tomllib.TOMLDecodeError.
    """
    return tomllib.loads(files(package).joinpath(*path).read_text("utf-8"))


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern that finds any of the literal phrases; it looks at each character once."""
    return re.compile(shortest_pattern(phrases))


def has_any(text: str, phrases: re.Pattern[str]) -> bool:
    """Is one of the phrases in the text?"""
    return phrases.search(text) is not None


def alternatives(words: Iterable[str]) -> str:
    """The words as one group of a pattern, the longest first, so that it finds whole words."""
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=len, reverse=True))})"
