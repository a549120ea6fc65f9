"""The words of a person over several turns as one text that stands on its own.

What a newcomer has no use for is left out: thanks and agreement, "continue", announcements of
files, questions about how the work stands, and praise of an answer that a newcomer has not seen.
Corrections stay, in their place after what they correct.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from construction.judging.reading import Ask, Reading, read
from construction.sessions.mentions.spans import find_file_spans
from construction.sessions.network.urls import find_urls
from construction.sessions.prompts.redactions import holds_mark
from data.contracts import CutReason, TaskInstance, UserTurn

_ANSWER_WORDS = 8  # at the start of a turn; a longer sentence says more than "done with that"
_STATUS_WORDS = 25  # a longer turn says more than how the work stands
_SIGNED = re.compile(r"\s[-–—]\s?([A-Z][a-z]+(?: [A-Z][a-z]*)?)\.?$")
_LONGEST_SIGNATURE = 40
_MAY_GO_ON = (CutReason.TOPIC_SHIFT, CutReason.AFTER_DELIVERY, CutReason.LONG_PAUSE)
_ABOUT = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]+|\b\d[\d,.]+\d|\b[a-z]{8,}\b|[\u4e00-\u9fff]{2}")


class LeftOut(StrEnum):
    """Why a turn of the instance is not in the prompt."""

    CHATTER = "chatter"
    ANNOUNCES_FILES = "announces_files"
    ASKS_STATUS = "asks_status"
    REACTS = "reacts"  # to an answer that a newcomer has not seen
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Part:
    """What one turn says, and who wrote it, if that is known."""

    sender: str | None
    said: str


@dataclass(frozen=True, slots=True)
class Merged:
    """What is said, in order, and which turns (by index) were left out, with the reason."""

    parts: tuple[Part, ...]
    left_out: Mapping[int, LeftOut]

    @property
    def people(self) -> tuple[str, ...]:
        """The named writers, in order of appearance."""
        return tuple(dict.fromkeys(part.sender for part in self.parts if part.sender))

    @property
    def text(self) -> str:
        return "\n\n".join(part.said for part in self.parts)


def merge_turns(turns: Sequence[UserTurn]) -> Merged:
    """Join what is said into one text; if nothing but chatter is said, all of it stays."""
    heard = [(turn, read(turn.said)) for turn in turns]
    last = max((at for at, (_, sentences) in enumerate(heard) if _wants(sentences)), default=-1)
    parts: list[Part] = []
    left_out: dict[int, LeftOut] = {}
    seen: set[str] = set()
    for at, (turn, sentences) in enumerate(heard):
        said = turn.said.strip()
        reason = LeftOut.REPEATED if said in seen else _left_out(sentences, at > 0, at > last)
        if reason is not None:
            left_out[turn.index] = reason
            continue
        seen.add(said)
        parts.append(Part(turn.sender or _signature(said), turn.said[_start(sentences) :].strip()))
    if parts:
        return Merged(tuple(parts), left_out)
    return Merged(tuple(Part(turn.sender, turn.said.strip()) for turn in turns), {})


def as_thread(merged: Merged) -> Merged | None:
    """The messages up to the last that wants something, if all have a writer; else None.

    Messages that reached an assistant through a channel are not orders to it: what its log shows
    is that it answered them. What came after the last open question is no part of that. Where
    that question calls the agent, it is a plain request: None.
    """
    if not merged.parts or any(part.sender is None for part in merged.parts):
        return None
    wanting = [at for at, part in enumerate(merged.parts) if _is_open(part)]
    if not wanting:
        return None
    last = merged.parts[wanting[-1]]
    if any(sentence.to_agent for sentence in read(last.said)):
        return None
    return replace(merged, parts=merged.parts[: wanting[-1] + 1])


def _is_open(part: Part) -> bool:
    """Does a message ask something of whoever reads it? A wish ("I want advice") may be news."""
    return any(
        sentence.ask is Ask.QUESTION and not sentence.to_other for sentence in read(part.said)
    )


def background(instance: TaskInstance, request: str) -> tuple[str, ...]:
    """What the person said before, if the request goes on about the same things.

    Recovery hands over the last few turns of the instance before; where a person has said that
    something new begins, none of them belongs to it. Turns with files, URLs or redactions are
    left out: the gates have looked at those of this instance only.
    """
    if instance.started_by not in _MAY_GO_ON:
        return ()
    about = _about(request)
    return tuple(
        said.strip()
        for said in instance.said_before
        if not about.isdisjoint(_about(said)) and _is_plain_talk(said)
    )


def _is_plain_talk(said: str) -> bool:
    if holds_mark(said) or find_urls(said) or find_file_spans(said):
        return False
    return _left_out(read(said), later=True, after_all=False) is None


def _about(text: str) -> frozenset[str]:
    """What a text is about: capitals inside a sentence, figures, long words, pairs of Han."""
    return frozenset(match[0] for match in _ABOUT.finditer(text))


def _wants(sentences: Sequence[Reading]) -> bool:
    return any(sentence.demands or sentence.requires for sentence in sentences)


def _left_out(sentences: Sequence[Reading], later: bool, after_all: bool) -> LeftOut | None:
    """Why a turn has nothing for a newcomer.

    `later`: it is not the first, so that "Great!" answers something; `after_all`: nothing is
    asked for any more.
    """
    plain = [sentence for sentence in sentences if not sentence.chatter]
    if not plain:
        return LeftOut.CHATTER
    if all(sentence.announces for sentence in plain):
        return LeftOut.ANNOUNCES_FILES
    if _wants(sentences):
        return None
    words = sum(sentence.words for sentence in plain)
    if words <= _STATUS_WORDS and all(sentence.ask is Ask.STATUS for sentence in plain):
        return LeftOut.ASKS_STATUS
    opening = sentences[0]
    if opening.reply or (later and opening.chatter) or (after_all and opening.closes):
        return LeftOut.REACTS
    return None


def _start(sentences: Sequence[Reading]) -> int:
    """Where a turn begins to say something: after "Perfect! Thanks. We are done with that"."""
    for sentence in sentences:
        answers = sentence.reply and not sentence.demands and sentence.words <= _ANSWER_WORDS
        if not sentence.chatter and not answers:
            return sentence.start if sentence is not sentences[0] else 0
    return 0


def _signature(said: str) -> str | None:
    """The name that a message of a channel is signed with: "… by noon. - Raj"."""
    signed = _SIGNED.search(said[-_LONGEST_SIGNATURE:])
    return signed[1] if signed else None
