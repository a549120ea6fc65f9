"""The families of tokens of `families.toml`, compiled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from data.text.lexicon import load_table
from data.text.trie import trie_pattern

_ENTROPY = 2.6  # bits per character that random text of 16 or more characters exceeds


@dataclass(frozen=True, slots=True)
class Family:
    """Tokens of one form; the head of `families.toml` explains the fields."""

    name: str
    provider: str
    prefixes: tuple[str, ...]
    infix: str
    pattern: re.Pattern[str]
    entropy: float
    random: bool
    named: bool
    ignore_case: bool
    checksum: str
    near: re.Pattern[str] | None

    @property
    def group(self) -> str:
        """The name as a group of a regular expression."""
        return self.name.replace("-", "_")


def _family(row: dict[str, Any]) -> Family:
    ignore_case = bool(row.get("ignore_case", False))
    return Family(
        name=row["name"],
        provider=row["provider"],
        prefixes=tuple(row["prefixes"]),
        infix=row.get("infix", ""),
        pattern=re.compile(row["pattern"], re.IGNORECASE if ignore_case else 0),
        entropy=float(row.get("entropy", _ENTROPY)),
        random=bool(row.get("random", False)),
        named=bool(row.get("named", False)),
        ignore_case=ignore_case,
        checksum=row.get("checksum", ""),
        near=_near(row),
    )


def _near(row: dict[str, Any]) -> re.Pattern[str] | None:
    if row.get("exact", False):
        return re.compile("|".join(map(re.escape, row["prefixes"])))
    return re.compile(row["near"]) if "near" in row else None


def _by_prefix(families: Iterable[Family]) -> dict[str, tuple[tuple[str, Family], ...]]:
    """Per prefix in lower case the families that may begin with it, the longest prefix first."""
    pairs = [(prefix, family) for family in families for prefix in family.prefixes]
    return {
        start: tuple(
            sorted(
                (pair for pair in pairs if start.startswith(pair[0].lower())),
                key=lambda pair: -len(pair[0]),
            )
        )
        for start in sorted({prefix.lower() for prefix, _ in pairs})
    }


FAMILIES = tuple(_family(row) for row in load_table(__package__, "families.toml")["family"])
INFIXED = tuple(family for family in FAMILIES if family.infix)
BY_PREFIX = _by_prefix(FAMILIES)
_NEAR = tuple(family.near for family in FAMILIES if family.near)


def claims_a_family(value: str) -> bool:
    """Does it begin like tokens of an exactly known form?"""
    return any(near.match(value) for near in _NEAR)


# Where a token may begin: no letter or digit before it, unless those belong to an escape such as
# `\\n`, `%3D` or `\\u003d`.
WORD_BEGINS = r"(?<![A-Za-z0-9])"
BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
# For texts without and with escapes, the latter four times slower; searched in lower case.
STARTS = tuple(re.compile(begins + trie_pattern(BY_PREFIX)) for begins in (WORD_BEGINS, BEGINS))


def has_escapes(text: str) -> bool:
    """May a letter or digit before a token belong to an escape?"""
    return "\\" in text or "%" in text
