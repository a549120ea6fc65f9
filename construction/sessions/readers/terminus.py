"""Reads rows of Terminus runs, as data sets of traces hold them: keys pressed in a terminal.

The agent answers in JSON with the keys to press; what comes back is what the terminal then showed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    decoded,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    without_thought,
)
from data.contracts import Origin, ReadIssue, Session, SourceFormat

_TASK = re.compile(
    r"^Task Description:\n(.*?)(?=^Current [Tt]erminal [Ss](?:tate|creen):|\Z)", re.DOTALL | re.M
)


def fits(sample: Sample) -> bool:
    """A row with `conversations` in roles, and an agent name such as `terminus-2`."""
    return any(
        kind_of(record, "agent").startswith("terminus")
        and any("role" in message for message in dicts(record.get("conversations")))
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each row."""
    uids = Uids(source.relative)
    for line, row in Talk(source, SourceFormat.TERMINUS).records():
        talk = Talk(source, SourceFormat.TERMINUS)
        for message in dicts(row.get("conversations")):
            _add(talk, kind_of(message, "role"), plain(message.get("content")), line)
        name = "-".join(filter(None, (first_text(row, "trial_name"), first_text(row, "episode"))))
        yield from talk.session(
            name or None,
            uids=uids,
            agent_name=first_text(row, "agent"),
            started_at=epoch_seconds(row.get("date")),
        )


def _add(talk: Talk, role: str, text: str, line: int) -> None:
    if role == "assistant":
        _add_answer(talk, text, line)
    elif role == "system":
        talk.system(text, line)
    elif not talk.drafts:
        task = _TASK.search(text)
        talk.person(text, line, said=task[1].strip() if task else None)
    elif talk.open:
        # The terminal shows all keys of an answer at once, after the last of them.
        *silent, last = talk.open
        for _ in silent:
            talk.result("")
        talk.result(text, call_id=last)
    else:
        talk.person(text, line, origin=Origin.AGENT)  # another agent hands the work over


def _add_answer(talk: Talk, text: str, line: int) -> None:
    answer = talk.answer(line)
    thought, text = without_thought(text)
    answer.think(thought)
    held = _object(text)
    answer.say(first_text(held, "analysis", "state_analysis") or (text if not held else ""))
    answer.say(first_text(held, "plan", "explanation"))
    for command in dicts(held.get("commands")):
        given = {"command": plain(command.get("keystrokes")).rstrip("\n")}
        answer.call(None, "terminal", given, line)


def _object(text: str) -> Record:
    """The object in an answer, which words or a fence may surround."""
    start, end = text.find("{"), text.rfind("}")
    return inner(decoded(text[start : end + 1]))
