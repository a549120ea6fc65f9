"""The text of a packaged prompt: the person's words, released file paths, framing sentences.

The turns of a person are merged into one text that can be understood without the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from construction.judging.addressees import Called, called, signature
from construction.judging.deliverables import ANSWER
from construction.judging.reading import Ask, Reading, read
from construction.judging.result_folders import folders_of
from construction.mentions.extensions import tail
from construction.mentions.spans import find_file_spans
from construction.mentions.urls import find_urls
from construction.prompt_frame import WORDS, PromptWords
from construction.sessions.prompts.redactions import holds_mark
from construction.sessions.prompts.released_paths import INPUTS
from data.contracts import CutReason, Deliverable, Fixture, TaskInstance, UserTurn
from data.text.scripts import HAN, leading_language

_ANSWER_WORDS = 8  # a longer first sentence says more than "done with that"
_STATUS_WORDS = 25  # a longer turn does more than ask about progress
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
        parts.append(Part(turn.sender or signature(said), turn.said[_start(sentences) :].strip()))
    if parts:
        return Merged(tuple(parts), left_out)
    return Merged(tuple(Part(turn.sender, turn.said.strip()) for turn in turns), {})


def as_thread(merged: Merged) -> Merged | None:
    """The messages up to the last open question, if one person sent all; None if it is no thread.

    Messages that reached an assistant through a channel are not instructions to it: its log shows
    that it answered them, and messages after the last open question are not part of that. If
    a message calls the agent itself, it is a plain request and the result is None.
    """
    if len({part.sender for part in merged.parts}) != 1 or merged.parts[0].sender is None:
        return None
    if any(called(part.said) is Called.AGENT for part in merged.parts):
        return None
    wanting = [at for at, part in enumerate(merged.parts) if _is_open(part)]
    if not wanting:
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
        if not sentence.idle and not answers:
            return sentence.start if sentence is not sentences[0] else 0
    return 0


def prompt_text(
    earlier: Sequence[str],
    parts: Sequence[Part],
    fixtures: Sequence[Fixture],
    deliverables: Sequence[Deliverable],
    *,
    thread: bool = False,
) -> str:
    """The prompt: background, request, how to read them, input files and deliverables.

    A thread is shown as messages with their senders, and the request is to answer it.
    """
    words = WORDS[leading_language("\n".join(part.said for part in parts))]
    blocks = [words.context if thread else words.earlier, *earlier] if earlier else []
    if thread:
        blocks += [words.thread, *(f"{part.sender}: {part.said}" for part in parts), words.reply]
    else:
        blocks += [words.now] if earlier else []
        blocks += _said(parts, words)
    if not thread and len(parts) + len(earlier) > 1:
        blocks.append(words.as_one)
    if not thread and any(fixture.role == "observed" for fixture in fixtures):
        blocks.append(words.gaps)
    if fixtures:
        paths = [f"- {INPUTS}{fixture.path}" for fixture in fixtures]  # as attached and named
        blocks.append("\n".join([words.inputs, *paths]))
    given = frozenset(tail(fixture.path) for fixture in fixtures)
    names = [name for item in deliverables for name in item.name_hints]
    folders = folders_of("\n".join(part.said for part in parts), names)
    lines = [f"- {line}" for item in deliverables for line in _deliver(item, given, folders, words)]
    blocks.append("\n".join([words.deliver, *lines]))
    return "\n\n".join(blocks)


def _said(parts: Sequence[Part], words: PromptWords) -> list[str]:
    if len({part.sender for part in parts if part.sender}) < 2:
        return [part.said for part in parts]
    named = [f"{part.sender}: {part.said}" if part.sender else part.said for part in parts]
    return [words.several_people, *named]


def _deliver(
    item: Deliverable, given: frozenset[str], folders: Mapping[str, str], words: PromptWords
) -> list[str]:
    """The lines for one deliverable: names from the request, or the names of edited inputs."""
    if item.name_hints == (ANSWER,):
        return [words.answer.format(name=ANSWER)]
    edits = given.issuperset(tail(name) for name in item.name_hints)
    names = item.name_hints if item.source != "produced" or edits else ()
    placed = [f"{folders[name]}/{name}" if name in folders else name for name in names]
    lines = [words.named.format(name=name) for name in placed]
    if item.count > len(names):
        lines.append(words.files.format(count=item.count - len(names), type=item.file_type))
    return lines
