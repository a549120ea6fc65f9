"""Settings of the recogniser (a model that reads), what it is asked, and what it recognised.

No answer is trusted: what becomes of it is decided in `answers`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from anonymization.text.contracts import EntityType
from data.contracts import StageConfig


class RecogniserConfig(StageConfig):
    """Which model reads what is private, if any does; its address is a runtime setting.

    `call_words` and `file_words` are the most words of one call and of one file that it is shown;
    evidence alone decides about the rest. `reply_tokens` limits a reply, reasoning included. With
    `accepts_proposals`, the owner accepts unseen that words which the model calls not private stay.
    """

    model: str = ""
    call_words: Annotated[int, Field(ge=50)] = 3000
    file_words: Annotated[int, Field(ge=50)] = 30_000
    reply_tokens: Annotated[int, Field(ge=256)] = 16_000
    accepts_proposals: bool = False


class Dropped(StrEnum):
    """Why a part of an answer is not used."""

    UNKNOWN_KIND = "unknown_kind"
    OTHER_LEVEL = "kind_of_another_level"
    NOT_IN_TEXT = "not_in_the_text"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    WHOLE_LINE = "whole_line"
    KEYWORD = "keyword"
    NO_ROW = "no_such_row"


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class NamedValue(_Answer):
    """A value as it stands in the text, meant wherever it stands or `within` these quotes only."""

    value: str
    kind: str
    private: bool = True
    within: tuple[str, ...] = ()


class RecogniserAnswer(_Answer):
    """What a model answers: values, and the numbers of rows that are not private (`7`, `9-14`)."""

    values: Annotated[tuple[NamedValue, ...], Field(max_length=3000)]
    not_private: Annotated[tuple[int | str, ...], Field(max_length=3000)] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One call; texts stay out of every `repr`."""

    item_id: str
    system: str = field(repr=False)
    user: str = field(repr=False)
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Unread:
    """A call without a usable answer, and why."""

    reason: str


Reply = RecogniserAnswer | Unread
AskModel = Callable[[Sequence[Request]], Sequence[Reply]]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text that a passage shows, by offsets in the composed text."""

    text: str = field(repr=False)
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """What a model reads under one number, and of which texts it is made."""

    heading: str = field(repr=False)
    body: str = field(repr=False)
    parts: tuple[Part, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """What one request shows: passages, numbered from 1, and rows of the owner's list, likewise."""

    item_id: str
    passages: tuple[Passage, ...] = field(repr=False)
    rows: tuple[str, ...] = field(repr=False)
    request: Request


@dataclass(slots=True)
class ReadText:
    """Which parts of a text a model has read, and what it named there, by composed offsets.

    A value that it named is meant wherever the word stands, or here only.
    """

    shown: list[tuple[int, int]] = field(default_factory=list)
    named: list[tuple[int, int, EntityType, bool]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a model read in one scope: its texts by `text_key`, and the words it would keep.

    `counts` says how many calls, values and proposals there were, and what was not used and why;
    `outcomes` why a call was not answered, by its id, and nothing where it was.
    """

    texts: Mapping[str, ReadText] = field(default_factory=dict)
    proposals: frozenset[str] = frozenset()
    counts: Counter[str] = field(default_factory=Counter)
    outcomes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Did the model read everything that it was to read?"""
        return bool(self.outcomes) and not any(self.outcomes.values())

    def as_json(self) -> dict[str, Any]:
        """The record for `from_json`."""
        texts = {key: [read.shown, read.named] for key, read in sorted(self.texts.items())}
        return {
            "texts": texts,
            "proposals": sorted(self.proposals),
            "counts": dict(sorted(self.counts.items())),
            "outcomes": dict(self.outcomes),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Recognised:
        """What `as_json` recorded."""
        texts = {
            key: ReadText(
                [(start, end) for start, end in shown],
                [(start, end, EntityType(kind), is_here) for start, end, kind, is_here in named],
            )
            for key, (shown, named) in record["texts"].items()
        }
        counts: Counter[str] = Counter(record["counts"])
        return cls(texts, frozenset(record["proposals"]), counts, record["outcomes"])


def text_key(text: str) -> str:
    """A name for a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of several scopes, in order of their names."""
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))
