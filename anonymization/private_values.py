"""The list of private values that only the owner of the material knows: nicknames, code names.

It is no part of a recipe: a recipe is published, and so would be the values, or hashes of them.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from anonymization.masking_recipe import text_lines
from anonymization.text.contracts import EntityType
from anonymization.text.masking.known_search import Listed
from anonymization.text.surrogates.scope_surrogates import COMMON
from data.canonical import canonical_json, keyed_digest
from data.errors import InputError

_KINDS = tuple(kind.value for kind in EntityType if kind not in COMMON)
_LEAST = 2  # letters or digits; one alone occurs everywhere


def read_private_values(path: Path | None) -> Listed:
    """The values of a file with a line for each, `value` or `KIND<TAB>value`, sorted.

    Blank lines and those that begin with `#` do not count. A value without a kind is UNEXPLAINED:
    its surrogate is made of invented words. Raises InputError for the first line that cannot be
    used; no message holds what the line says, for that is private.
    """
    if path is None:
        return ()
    kinds: dict[str, tuple[EntityType, int]] = {}
    for number, line in enumerate(text_lines(path, "a list of private values"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        kind, value = _parsed(path, number, line.strip())
        known, first = kinds.setdefault(value, (kind, number))
        if known is not kind:
            actual = f"{kind.value} for a value that is {known.value} in line {first}"
            todo = "Remove one of the two lines."
            raise InputError(str(path), actual, "one kind per value", todo, number)
    return tuple(sorted((kind, value) for value, (kind, _) in kinds.items()))


def _parsed(path: Path, number: int, line: str) -> tuple[EntityType, str]:
    *names, value = (part.strip() for part in line.split("\t"))
    if len(names) > 1:
        actual, todo = f"{len(names)} tabs", "Remove the others."
        raise InputError(str(path), actual, "at most one, after the kind", todo, number)
    kind = checked_kind(path, names[0], number) if names else EntityType.UNEXPLAINED
    checked_value(path, value, number)
    return kind, value


def checked_kind(path: Path, kind: str, line: int) -> EntityType:
    """The kind of private text that a line of an owner's file names. Raises InputError."""
    if kind in _KINDS:
        return EntityType(kind)
    near = get_close_matches(kind.upper(), _KINDS, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    todo = f"{hint}Without a kind, the value is replaced with invented words."
    expected = f"one of {', '.join(_KINDS)}"
    raise InputError(str(path), "an unknown kind of value", expected, todo, line)


def checked_value(path: Path, value: str, line: int) -> None:
    """Raises InputError for a value so short that it would be found everywhere."""
    size = sum(map(str.isalnum, value))
    if size < _LEAST:
        actual, expected = f"a value with {size} letters and digits", f"{_LEAST} or more"
        todo = "List a longer form of it, or remove the line."
        raise InputError(str(path), actual, expected, todo, line)


def listed_digest(listed: Listed, key: bytes) -> str:
    """A digest keyed with the release key: another list has another, and it reveals nothing."""
    return keyed_digest(key, canonical_json(listed).decode())
