"""Reads transcripts of Antigravity: numbered steps of the person, the model and the system."""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds
from construction.sessions.readers.talk import Record, Talk, dicts, kind_of, plain, type_name
from data.contracts import ReadIssue, Session, SourceFormat

_REQUEST = re.compile(r"<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>", re.DOTALL)
# What a person wrote beside a document that the agent had shown.
_COMMENT = re.compile(r"^Comment: \"(.*?)\"$", re.DOTALL | re.MULTILINE)
_DONE = frozenset({"DONE", "RUNNING"})
_SOURCES = frozenset({"USER_EXPLICIT", "USER_IMPLICIT", "MODEL", "SYSTEM"})


def fits(sample: Sample) -> bool:
    """Steps with a `step_index`, a `type` and a `source` such as `USER_EXPLICIT` or `MODEL`."""
    return any(
        {"step_index", "type"} <= record.keys() and kind_of(record, "source") in _SOURCES
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session, in the order of its steps, which are logged when they end.

    A request with the number of an earlier step was edited: what had followed is taken back.
    """
    talk = Talk(source, SourceFormat.ANTIGRAVITY, is_typed=True)
    steps: dict[int, tuple[int, Record]] = {}
    for line, record in talk.records():
        number = record.get("step_index")
        if not isinstance(number, int):
            talk.unexpected(line, "a step without a number")
            continue
        if kind_of(record) == "USER_INPUT":
            for later in [held for held in steps if held >= number]:
                talk.skip("abandoned_branch")
                del steps[later]
        steps[number] = (line, record)
    for _, (line, record) in sorted(steps.items()):
        _add(talk, record, line)
    yield from talk.session(agent_name="antigravity")


def _add(talk: Talk, step: Record, line: int) -> None:
    """Add a step; results come in the order of the calls."""
    source, kind = kind_of(step, "source"), kind_of(step)
    at = epoch_seconds(step.get("created_at"))
    text = plain(step.get("content") or step.get("error"))
    if kind == "USER_INPUT":
        _add_request(talk, text, line, at)
    elif kind == "PLANNER_RESPONSE":
        answer = talk.answer(line, at=at)
        answer.think(step.get("thinking"))
        answer.say(step.get("content"))
        talk.open.clear()
        for call in dicts(step.get("tool_calls")):
            answer.call(call.get("id"), call.get("name"), call.get("args"), line)
    elif source == "MODEL" or (kind == "ERROR_MESSAGE" and talk.open):
        talk.result(text, kind == "ERROR_MESSAGE" or step.get("status") not in _DONE)
    elif source in _SOURCES:
        talk.notice(text, line, at=at)
    else:
        talk.unexpected(line, f"a step of type {type_name(kind)}")


def _add_request(talk: Talk, text: str, line: int, at: float | None) -> None:
    request = _REQUEST.search(text)
    if request is None:
        talk.person(text, line, at=at)
        return
    comments = _COMMENT.findall(text[: request.start()])
    said = "\n".join(filter(None, (*comments, request[1].strip())))
    if said:
        talk.person(text, line, at=at, said=said)
    else:
        talk.notice(text, line, at=at)  # a button
