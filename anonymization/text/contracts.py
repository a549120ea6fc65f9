"""Records of private-text detection, masking and the vault.

No finding ever carries the value itself (law 8); edits, spans and entries do, and only a vault
keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from data.errors import BenchmintError


class EntityType(StrEnum):
    """Kinds of private text; renaming one is a breaking change."""

    PERSON = "PERSON"
    ORGANIZATION = "ORGANIZATION"
    LOCATION = "LOCATION"
    ADDRESS = "ADDRESS"
    DATE = "DATE"
    AGE = "AGE"
    NATIONALITY = "NATIONALITY"
    EMAIL = "EMAIL"
    PHONE = "PHONE"
    URL = "URL"
    IP_ADDRESS = "IP_ADDRESS"
    BANK_CARD = "BANK_CARD"
    BANK_ACCOUNT = "BANK_ACCOUNT"
    NATIONAL_ID = "NATIONAL_ID"
    COMPANY_CODE = "COMPANY_CODE"  # unified social credit code
    PASSPORT = "PASSPORT"
    PLATE = "PLATE"
    ACCOUNT = "ACCOUNT"  # chat and user names: WeChat, QQ, Feishu
    CASE_NUMBER = "CASE_NUMBER"
    PERSON_NUMBER = "PERSON_NUMBER"  # employee, customer, patient numbers
    USER_PATH = "USER_PATH"  # the user name inside a file path
    TITLE = "TITLE"
    QUANTITY = "QUANTITY"
    SECRET = "SECRET"  # noqa: S105 — the name of a kind, not a value


# Kinds whose form alone distinguishes them from other words.
PROVEN_BY_FORM = frozenset(
    {
        EntityType.EMAIL,
        EntityType.PHONE,
        EntityType.IP_ADDRESS,
        EntityType.BANK_CARD,
        EntityType.BANK_ACCOUNT,
        EntityType.NATIONAL_ID,
        EntityType.COMPANY_CODE,
        EntityType.PASSPORT,
        EntityType.SECRET,
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One private span: `text[start:end]` in code points, score in [0, 1]."""

    start: int
    end: int
    type: EntityType
    recognizer: str
    score: float


class Detector(Protocol):
    """Finds private spans in many texts at once; the same findings whatever the batches."""

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Per text its findings, sorted, without overlap."""
        ...


class Mode(StrEnum):
    """What replaces a private value."""

    SURROGATE = "surrogate"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """`text[start:end]` becomes `new`; the kind of value found there, and the recognizer."""

    start: int
    end: int
    new: str
    type: EntityType
    recognizer: str
    score: float


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A replacement in a masked text: its offset in code points, the surrogate and the original."""

    start: int
    surrogate: str
    original: str


@dataclass(frozen=True, slots=True)
class Document:
    """How to restore one document.

    `masked_sha256` is the digest of the released bytes, `original_sha256` of the original ones;
    `path` is the released file, `original_path` the name it had. A text has `encoding` and
    `spans`; for a file that was rewritten as a package `encoding` is empty, and the original is
    stored in the vault's folder under its digest.
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
    """A vault or a masked text that differs from what was sealed."""
