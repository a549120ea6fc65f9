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

from anonymization.text.contracts import EntityType, SecondLook
from data.contracts import StageConfig


class RecogniserConfig(StageConfig):
    """Which model reads what is private, if any does; its address is a runtime setting.

    `call_words` and `file_words` are the most words of one call and of one file that it is shown;
    evidence alone decides about the rest. `reply_tokens` limits a reply, reasoning included. With
    `accepts_proposals`, the owner accepts unseen that words which the model calls not private stay.
    With `second_look`, it is then shown what was replaced, and says what need not be, what belongs
    together and what was missed.
    """

    model: str = ""
    call_words: Annotated[int, Field(ge=50)] = 3000
    file_words: Annotated[int, Field(ge=50)] = 30_000
    reply_tokens: Annotated[int, Field(ge=256)] = 16_000
    accepts_proposals: bool = False
    second_look: bool = True


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
    PROVEN = "proven_private"
    NO_PART = "no_part"
    NO_GROUP = "no_group"


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


class KeptPart(_Answer):
    """The number of a row, and a part of its value that stays."""

    row: int | str
    part: str


_Row = int | str


class SecondAnswer(_Answer):
    """What a model answers to what was replaced: the numbers of rows that stay, parts that stay,
    rows that are one person, firm or host, and values that were missed."""

    keep: Annotated[tuple[_Row, ...], Field(max_length=3000)] = ()
    keep_parts: Annotated[tuple[KeptPart, ...], Field(max_length=3000)] = ()
    same: Annotated[tuple[tuple[_Row, ...], ...], Field(max_length=3000)] = ()
    missed: Annotated[tuple[NamedValue, ...], Field(max_length=3000)] = ()


Answer = RecogniserAnswer | SecondAnswer


@dataclass(frozen=True, slots=True)
class Request:
    """One call; texts stay out of every `repr`."""

    item_id: str
    system: str = field(repr=False)
    user: str = field(repr=False)
    max_tokens: int
    answer: type[Answer] = RecogniserAnswer


@dataclass(frozen=True, slots=True)
class Unread:
    """A call without a usable answer, and why."""

    reason: str


Reply = Answer | Unread
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


Named = tuple[int, int, EntityType, bool]


@dataclass(slots=True)
class ReadText:
    """Which parts of a text a model has read, and what it named there, by composed offsets.

    A value that it named is meant wherever the word stands, or here only. `missed` are those that
    it named when it was shown what was replaced.
    """

    shown: list[tuple[int, int]] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    missed: list[Named] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a model read in one scope: its texts by `text_key`, and the words it would keep.

    `counts` says how many calls, values and proposals there were, and what was not used and why;
    `outcomes` why a call was not answered, by its id, and nothing where it was; `looked` the same
    for those that showed it what was replaced, of which `second` is the answer.
    """

    texts: Mapping[str, ReadText] = field(default_factory=dict)
    proposals: frozenset[str] = frozenset()
    counts: Counter[str] = field(default_factory=Counter)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    second: SecondLook = field(default_factory=SecondLook)
    looked: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Did the model read everything that it was to read?"""
        return bool(self.outcomes) and not any(self.outcomes.values())

    def as_json(self) -> dict[str, Any]:
        """The record for `from_json`."""
        texts = {
            key: [read.shown, read.named, read.missed] for key, read in sorted(self.texts.items())
        }
        return {
            "texts": texts,
            "proposals": sorted(self.proposals),
            "counts": dict(sorted(self.counts.items())),
            "outcomes": dict(self.outcomes),
            "kept": sorted(self.second.kept),
            "parts": {value: list(parts) for value, parts in sorted(self.second.parts.items())},
            "same": [[list(value) for value in group] for group in self.second.same],
            "looked": dict(self.looked),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Recognised:
        """What `as_json` recorded."""
        texts = {
            key: ReadText([(start, end) for start, end in shown], *map(_named_from, named))
            for key, (shown, *named) in record["texts"].items()
        }
        counts: Counter[str] = Counter(record["counts"])
        second = SecondLook(
            frozenset(record["kept"]),
            {value: tuple(parts) for value, parts in record["parts"].items()},
            tuple(
                tuple((EntityType(kind), value) for kind, value in group)
                for group in record["same"]
            ),
        )
        proposals, looked = frozenset(record["proposals"]), record["looked"]
        return cls(texts, proposals, counts, record["outcomes"], second, looked)


def _named_from(rows: Iterable[Sequence[Any]]) -> list[Named]:
    return [(start, end, EntityType(kind), is_here) for start, end, kind, is_here in rows]


def text_key(text: str) -> str:
    """A name for a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of several scopes, in order of their names."""
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))
