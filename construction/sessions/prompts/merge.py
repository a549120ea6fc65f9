"""Merges the turns of a person into one text that can be understood without the conversation.

Left out is what is of no use to a reader who has not seen the conversation: thanks and agreement,
"continue", announcements of files, questions about progress, and reactions to an answer. A
correction stays after the statement that it corrects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from construction.judging.reading import Ask, Reading, read
from construction.mentions.spans import find_file_spans
from construction.mentions.urls import find_urls
from construction.sessions.prompts.redactions import holds_mark
from data.contracts import CutReason, TaskInstance, UserTurn
from data.text.scripts import HAN

_ANSWER_WORDS = 8  # a longer first sentence says more than "done with that"
_STATUS_WORDS = 25  # a longer turn does more than ask about progress
_SIGNED = re.compile(r"\s[-–—]\s?([A-Z][a-z]+(?: [A-Z][a-z]*)?)\.?$")
_LONGEST_SIGNATURE = 40
_MAY_GO_ON = (CutReason.TOPIC_SHIFT, CutReason.AFTER_DELIVERY, CutReason.LONG_PAUSE)
_ABOUT = re.compile(rf"(?<=[a-z,;:] )[A-Z][\w-]+|\b\d[\d,.]+\d|\b[a-z]{{8,}}\b|[{HAN}]{{2}}")


class LeftOut(StrEnum):
    """Why a turn of the instance is not in the prompt."""

    CHATTER = "chatter"
    ANNOUNCES_FILES = "announces_files"
    ASKS_STATUS = "asks_status"
    REACTS = "reacts"  # to an answer that the reader has not seen
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Part:
    """The words of one turn and their sender, if known."""

    sender: str | None
    said: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The kept turns in order, and the reason by index for each turn left out."""

    parts: tuple[Part, ...]
    left_out: Mapping[int, LeftOut]

    @property
    def people(self) -> tuple[str, ...]:
        """The named senders, in order of appearance."""
        return tuple(dict.fromkeys(part.sender for part in self.parts if part.sender))

    @property
    def text(self) -> str:
        return "\n\n".join(part.said for part in self.parts)


def merge_turns(turns: Sequence[UserTurn]) -> Merged:
    """Select the turns that belong in the prompt; if all are chatter, every one is kept."""
    readings = [(turn, read(turn.said)) for turn in turns]
    last = max((at for at, (_, sentences) in enumerate(readings) if _wants(sentences)), default=-1)
    parts: list[Part] = []
    left_out: dict[int, LeftOut] = {}
    seen: set[str] = set()
    for at, (turn, sentences) in enumerate(readings):
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
    """The messages up to the last open question, if all have a sender; None if it is no thread.

    Messages that reached an assistant through a channel are not instructions to it: its log shows
    that it answered them, and messages after the last open question are not part of that. If
    that question addresses the agent itself, it is a plain request and the result is None.
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
    """True if a message asks its reader a question; a wish ("I want advice") may be mere news."""
    return any(
        sentence.ask is Ask.QUESTION and not sentence.to_other for sentence in read(part.said)
    )


def background(instance: TaskInstance, request: str) -> tuple[str, ...]:
    """The person's earlier turns that share a topic with the request.

    Recovery provides the last few turns of the previous instance. If the person announced a new
    topic, none of them belongs here. Turns with files, URLs or redactions are left out, because
    the gates have examined only those of this instance.
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
    """Topic words: capitalised words inside a sentence, numbers, long words, pairs of Han."""
    return frozenset(match[0] for match in _ABOUT.finditer(text))


def _wants(sentences: Sequence[Reading]) -> bool:
    return any(sentence.demands or sentence.requires for sentence in sentences)


def _left_out(sentences: Sequence[Reading], later: bool, after_all: bool) -> LeftOut | None:
    """Why a turn is left out; None if it is kept.

    `later`: it is not the first turn, so that "Great!" answers something. `after_all`: no request
    follows.
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
    """The offset after opening pleasantries: "Perfect! Thanks. We are done with that."."""
    for sentence in sentences:
        answers = sentence.reply and not sentence.demands and sentence.words <= _ANSWER_WORDS
        if not sentence.chatter and not answers:
            return sentence.start if sentence is not sentences[0] else 0
    return 0


def _signature(said: str) -> str | None:
    """The name that signs a channel message: "… by noon. - Raj"."""
    signed = _SIGNED.search(said[-_LONGEST_SIGNATURE:])
    return signed[1] if signed else None
