"""Word lists of this package, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _read(name: str) -> dict[str, str]:
    parsed = tomllib.loads((files(__package__) / "data" / name).read_text("utf-8"))
    return {key: str(value) for key, value in parsed.items()}


@cache
def words(table: str, key: str) -> frozenset[str]:
    """A list: separated by `|` where entries hold spaces, else by white space."""
    listed = _read(table)[key].strip()
    return frozenset(listed.split("|") if "|" in listed else listed.split())


@cache
def characters(table: str, key: str) -> frozenset[str]:
    """A list of single characters."""
    return frozenset(_read(table)[key].strip())
