"""What detection finds and masking uses. No finding ever carries the value itself (law 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


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
