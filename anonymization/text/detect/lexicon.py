"""Word lists of this package, read once."""

from __future__ import annotations

from functools import cache

from data.text.lexicon import load_table


def _text(table: str, key: str) -> str:
    return str(load_table(__package__, "data", table)[key]).strip()


@cache
def words(table: str, key: str) -> frozenset[str]:
    """A list: separated by `|` where entries hold spaces, else by white space."""
    listed = _text(table, key)
    return frozenset(listed.split("|") if "|" in listed else listed.split())


@cache
def characters(table: str, key: str) -> frozenset[str]:
    """A list of single characters."""
    return frozenset(_text(table, key))
