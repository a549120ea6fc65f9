"""Records and settings of the leak scan, and the leak gate: is a private value left in a candidate,
or a file that nobody could search?

No leak ever carries the value itself (law 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import PlainSerializer

from data.contracts import Bound, Count, Gate, GateReason, Limit, StageConfig


class Encoding(StrEnum):
    """How a value was written in a layer of a file."""

    RAW = "raw"
    OTHER_CASE = "other_case"
    OTHER_SPELLING = "other_spelling"
    UTF16_LE = "utf16_le"
    UTF16_BE = "utf16_be"
    BASE64 = "base64"
    HEX = "hex"
    JSON = "json"
    PERCENT = "percent"
    HTML = "html"
    QUOTED_PRINTABLE = "quoted_printable"
    MARKUP_TEXT = "markup_text"
    WRAPPED = "wrapped"
    LOOK_ALIKE = "look_alike"
    SPOKEN = "spoken"
    BASE32 = "base32"
    CELLS = "cells"
    SPACED = "spaced"
    ROT13 = "rot13"
    REVERSED = "reversed"
    FILE_NAME = "file_name"


class NotScannable(StrEnum):
    """Why a file could not be searched; each reason fails the release (law 9)."""

    TOO_LARGE = "not_scannable.too_large"
    TOO_DEEP = "not_scannable.too_deep"
    INFLATES = "not_scannable.inflates"
    ENCRYPTED = "not_scannable.encrypted"
    BROKEN = "not_scannable.broken"
    UNKNOWN_ARCHIVE = "not_scannable.unknown_archive"
    LINK = "not_scannable.link"


@dataclass(frozen=True, slots=True)
class PrivateValue:
    """One private value and its kind: an entity type, `tripwire`, `identifier` …"""

    value: str
    kind: str


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """A private value in a released file, or a file that could not be searched.

    `file` is the path below the root, `!` before each member of an archive. `offset` counts
    bytes of the layer in which the value was found (the member, or its decoded form), at the first
    of `count` occurrences. `digest` is keyed; it is empty for a file that was not scannable.
    """

    file: str
    kind: str
    encoding: str
    offset: int
    digest: str = ""
    count: int = 1


class LeakConfig(StageConfig):
    """Limits for the leak scan.

    `min_*` are the minimum lengths of values to search for; shorter ones can occur by chance.
    Values that are only letters or only digits and shorter than `whole_token_below` characters only
    match whole tokens. `fold_kinds` are searched case-insensitively; persons only if their name has
    more than one word.
    """

    min_letters: Count = 4
    min_digits: Count = 6
    min_cjk: Count = 2
    whole_token_below: Count = 12
    fold_kinds: Annotated[frozenset[str], PlainSerializer(sorted)] = frozenset(
        {"EMAIL", "URL", "PERSON", "tripwire"}
    )
    max_depth: Count = 3
    max_file_bytes: Count = 2 << 30
    max_inflated_bytes: Count = 4 << 30
    free_inflated_bytes: Count = 100 << 20
    max_inflation_ratio: Count = 200
    max_members: Count = 50_000
    document_seconds: Count = 60


class LeakReason(GateReason):
    PRIVATE_VALUE = "leaks.private_value", "A private value was found."
    NOT_SCANNABLE = "leaks.not_scannable", "A file could not be searched for private values."


@dataclass(frozen=True, slots=True)
class _Leaks:
    """Private values that were found, and files that could not be searched."""

    values: int
    not_scannable: int


def measure(leaks: Sequence[Leak]) -> _Leaks:
    """Count what the scan of one candidate found."""
    unsearched = sum(not leak.digest for leak in leaks)
    return _Leaks(values=len(leaks) - unsearched, not_scannable=unsearched)


GATE = Gate(
    name="leaks",
    stage="leak-check",
    section="masking.leaks",
    meaning="Does it still contain a private value from its own or another session?",
    config=LeakConfig,
    reasons=LeakReason,
    measure=measure,
    limits=(
        Limit(
            "private values",
            Bound.MAX,
            "values and files",
            "No private values are left in the candidate or its files.",
            LeakReason.PRIVATE_VALUE,
            lambda seen: seen["values"] + seen["not_scannable"],
            when=lambda seen: seen["values"] > 0,
            at=0,
            movable=False,
        ),
        Limit(
            "files not searched",
            Bound.MAX,
            "files",
            "Every file in the candidate could be searched.",
            LeakReason.NOT_SCANNABLE,
            lambda seen: seen["not_scannable"],
            at=0,
            movable=False,
        ),
    ),
)
