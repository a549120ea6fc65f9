"""What masking changes and what the vault holds of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from anonymization.text.contracts import EntityType
from data.errors import BenchmintError


class Mode(StrEnum):
    """What stands in the place of a private value."""

    SURROGATE = "surrogate"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """`text[start:end]` becomes `new`; what was found there, and by whom."""

    start: int
    end: int
    new: str
    type: EntityType
    recognizer: str
    score: float


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place of a masked text, in code points, with what stands there and what stood there."""

    start: int
    surrogate: str
    original: str


@dataclass(frozen=True, slots=True)
class Document:
    """How to get one document back.

    `masked_sha256` is of the released bytes, `original_sha256` of the original ones, `path` of the
    released file, `original_path` the name it had. A text has `encoding` and `spans`; a file that
    was rewritten as a package has `encoding` empty, and its original lies in the vault's folder
    under its digest.
    """

    path: str
    original_path: str
    masked_sha256: str
    original_sha256: str
    encoding: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A private value and what it was replaced with. Only a vault holds this."""

    type: EntityType
    value: str
    surrogate: str


class VaultRefused(BenchmintError):
    """A vault, or a masked text, that is not what was sealed."""
