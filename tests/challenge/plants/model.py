"""A planted value and the bed that keeps account of one file's plants."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    """What a planted value is; the same words as the types in `hostile_text.jsonl`."""

    PERSON = "PERSON"
    ORGANIZATION = "ORGANIZATION"
    ADDRESS = "ADDRESS"
    EMAIL = "EMAIL"
    PHONE = "PHONE"
    BANK_CARD = "BANK_CARD"
    NATIONAL_ID = "NATIONAL_ID"
    COMPANY_CODE = "COMPANY_CODE"
    PASSPORT = "PASSPORT"
    PLATE = "PLATE"
    ACCOUNT = "ACCOUNT"
    CASE_NUMBER = "CASE_NUMBER"
    PERSON_NUMBER = "PERSON_NUMBER"
    USER_PATH = "USER_PATH"
    SECRET = "SECRET"
    URL = "URL"
    IP_ADDRESS = "IP_ADDRESS"


@dataclass(frozen=True, slots=True)
class Plant:
    """One value in one place of one file.

    `contextual`: words around the value (a sentence, a label, a column heading) tell a reader
    what it is. Otherwise the place alone does: an author field, a list of people.
    """

    path: Path
    fmt: str
    location: str
    kind: Kind
    value: str
    contextual: bool


class Bed:
    """The plants of one file, in the order they were put there."""

    def __init__(self, path: Path, fmt: str) -> None:
        self.path = path
        self.plants: list[Plant] = []
        self._fmt = fmt

    def put(
        self,
        location: str,
        kind: Kind,
        value: str,
        words: str = "{}",
        *,
        contextual: bool | None = None,
    ) -> str:
        """`words` with `value` in place of `{}`; the caller lays that text at `location`."""
        result = words != "{}" if contextual is None else contextual
        self.plants.append(Plant(self.path, self._fmt, location, kind, value, result))
        return words.replace("{}", value)
