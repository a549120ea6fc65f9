"""From a model's answers to what it recognised: every value has to stand in the text it was shown.

An answer is hostile input. What names a kind that nobody knows, is longer than a value, is a line
of prose as a whole or a word of the language or of a program, or stands nowhere, is dropped and
counted; nothing of an answer is ever put into a text.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from anonymization.recogniser.contracts import (
    AskModel,
    Call,
    Dropped,
    Named,
    NamedValue,
    Part,
    Passage,
    ReadText,
    Recognised,
    RecogniserAnswer,
    Reply,
    Unread,
    text_key,
)
from anonymization.recogniser.passages import composed_text, kinds, read_form
from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import is_program_word, words
from anonymization.text.masking.known_search import ListedValues, Occurrence
from data.text.scripts import count_cjk

_LONGEST = 160  # characters of a value; keys and secrets may be longer
_LONGEST_SECRET = 4_000
_SENTENCE, _CJK_SENTENCE = 8, 16  # words and wide characters from which a whole line is prose
_LEAST = 2  # letters or digits
_IN_LINES = frozenset({EntityType.ADDRESS, EntityType.SECRET, EntityType.URL})
_KEYWORDS = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)
_SMALL = words("words.toml", "function_words")
_RANGE = re.compile(r"\s*(\d{1,6})\s*(?:[-–]\s*(\d{1,6})\s*)?")


def ask_about(
    calls: Sequence[Sequence[Call]], ask: AskModel, entities: Collection[EntityType]
) -> list[Recognised]:
    """What a model recognises in each scope, of the calls about it; all are asked together."""
    replies = iter(ask([call.request for of_scope in calls for call in of_scope]))
    return [_recognised(each, [next(replies) for _ in each], entities) for each in calls]


def _recognised(
    calls: Sequence[Call], replies: Sequence[Reply], entities: Collection[EntityType]
) -> Recognised:
    """What the replies to the calls of one scope come to; `entities` are the kinds looked for.

    A call without an answer leaves its texts to evidence.
    """
    texts: dict[str, ReadText] = {}
    counts = Counter[str](calls=len(calls))
    proposed: dict[str, bool] = {}
    private = set[str]()
    outcomes: dict[str, str] = {}
    for call, reply in zip(calls, replies, strict=True):
        outcomes[call.item_id] = "" if isinstance(reply, RecogniserAnswer) else why_unread(reply)
        if not isinstance(reply, RecogniserAnswer):
            counts[f"unread {why_unread(reply)}"] += 1
            proposed |= dict.fromkeys(call.rows, False)
            continue
        reading = _Reading(call, reply, entities)
        reading.into(texts)
        counts.update(reading.counts)
        private |= reading.private
        for row in call.rows:
            proposed[row] = row in reading.not_private and proposed.get(row, True)
    kept = {row for row, is_kept in proposed.items() if is_kept and row.casefold() not in private}
    counts["proposals"] = len(kept)
    return Recognised(texts, frozenset(kept), counts, outcomes)


def why_unread(reply: Reply) -> str:
    """Why a reply without a usable answer has none."""
    return reply.reason if isinstance(reply, Unread) else "call.other_answer"


class NamedValues:
    """The values of an answer, checked against what its call has shown."""

    def __init__(
        self,
        passages: Sequence[Passage],
        values: Iterable[NamedValue],
        entities: Collection[EntityType],
    ) -> None:
        self.counts = Counter[str]()
        self._passages = passages
        self._lines = {line.strip() for passage in passages for line in passage.body.splitlines()}
        named = [value for value in values if value.private]
        self._kinds = dict(self._accepted(named, entities))
        self._quotes = _quotes_of(named)
        self._hits = self._standing()
        standing = {hit.value for hits in self._hits.values() for hit in hits}
        self.drop(Dropped.NOT_IN_TEXT, len(self._kinds.keys() - standing))
        self.standing = frozenset(standing)

    def named_in(self, part: Part) -> list[Named]:
        """What is named in a part of a text."""
        return [
            (hit.start, hit.end, hit.type, hit.value in self._quotes) for hit in self._hits[part]
        ]

    def drop(self, why: Dropped, times: int = 1) -> None:
        """Count parts of the answer that are not used."""
        if times:
            self.counts[f"dropped {why}"] += times

    def _standing(self) -> dict[Part, list[Occurrence]]:
        search = ListedValues(
            [(kind, value) for value, kind in self._kinds.items()], genitives=True
        )
        hits: dict[Part, list[Occurrence]] = {}
        for part in (part for passage in self._passages for part in passage.parts):
            text = read_form(composed_text(part.text))
            hits[part] = [
                hit
                for hit in search.find(text)
                if part.start <= hit.start and hit.end <= part.end and self._is_meant(hit, text)
            ]
        return hits

    def _is_meant(self, hit: Occurrence, text: str) -> bool:
        """Does a hit lie in one of the quotes that limit where its value is meant, if any do?"""
        quotes = self._quotes.get(hit.value)
        return quotes is None or any(
            quote in text[max(0, hit.end - len(quote)) : hit.start + len(quote)] for quote in quotes
        )

    def _accepted(
        self, named: Sequence[NamedValue], entities: Collection[EntityType]
    ) -> Iterator[tuple[str, EntityType]]:
        known = set[str]()
        for each in named:
            value, kind = each.value.strip(), kinds().get(each.kind.strip().casefold())
            if value in known:
                continue
            known.add(value)
            if kind is None:
                self.drop(Dropped.UNKNOWN_KIND)
            elif kind not in entities:
                self.drop(Dropped.OTHER_LEVEL)
            elif (fault := self._fault(kind, value)) is not None:
                self.drop(fault)
            else:
                yield value, kind

    def _fault(self, kind: EntityType, value: str) -> Dropped | None:
        if sum(map(str.isalnum, value)) < _LEAST:
            return Dropped.TOO_SHORT
        longest = _LONGEST_SECRET if kind is EntityType.SECRET else _LONGEST
        if len(value) > longest or "\n" in value:
            return Dropped.TOO_LONG
        if kind not in _IN_LINES and value in self._lines and _is_sentence(value):
            return Dropped.WHOLE_LINE
        if kind is not EntityType.SECRET and _is_of_language(value):
            return Dropped.KEYWORD
        return None


class _Reading:
    """One answer, checked against what its call has shown."""

    def __init__(
        self, call: Call, answer: RecogniserAnswer, entities: Collection[EntityType]
    ) -> None:
        self._call = call
        self._values = NamedValues(call.passages, answer.values, entities)
        self.counts = self._values.counts
        self.counts.update(answered=1, values=len(self._values.standing))
        self.private = {value.casefold() for value in self._values.standing}
        open_names = {value.value.strip() for value in answer.values if not value.private}
        rows, faults = rows_of(answer.not_private, len(call.rows))
        self._values.drop(Dropped.NO_ROW, faults)
        self.not_private = {call.rows[row] for row in rows}
        self.not_private |= {row for row in call.rows if row in open_names}

    def into(self, texts: dict[str, ReadText]) -> None:
        """Add what was shown and named."""
        for passage in self._call.passages:
            for part in passage.parts:
                read = texts.setdefault(text_key(part.text), ReadText())
                spans = [(part.start, part.end)]
                read.shown += [span for span in spans if span not in read.shown]
                named = self._values.named_in(part)
                read.named += [each for each in named if each not in read.named]


def rows_of(given: Iterable[int | str], count: int) -> tuple[list[int], int]:
    """The rows, from 0, of their numbers (`7`, `9-14`), and how many numbers are of none."""
    rows: list[int] = []
    faults = 0
    for each in given:
        span = _RANGE.fullmatch(str(each))
        first = int(span[1]) if span else 0
        last = int(span[2] or span[1]) if span else 0
        if 1 <= first <= last <= count:
            rows += range(first - 1, last)
        else:
            faults += 1
    return rows, faults


def _quotes_of(named: Sequence[NamedValue]) -> Mapping[str, frozenset[str]]:
    """The quotes within which values are meant; not of those that are meant everywhere."""
    quotes: dict[str, frozenset[str]] = {}
    everywhere = {each.value.strip() for each in named if not each.within}
    for each in named:
        value = each.value.strip()
        if value not in everywhere:
            quotes[value] = quotes.get(value, frozenset()) | frozenset(each.within)
    return quotes


def _is_sentence(value: str) -> bool:
    return len(value.split()) >= _SENTENCE or count_cjk(value) >= _CJK_SENTENCE


def _is_of_language(value: str) -> bool:
    """Is it a keyword, a small word or a word of programs?"""
    if value in _KEYWORDS or value in _SMALL:
        return True
    return value.islower() and value.isascii() and value.isalpha() and is_program_word(value)
