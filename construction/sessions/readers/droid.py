"""Reads Factory's Droid: its session logs, and the stream of `droid exec`."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds
from construction.sessions.readers.talk import (
    Record,
    Talk,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import ReadIssue, Session, SourceFormat

_SILENT = frozenset({"todo_state", "session_end", "completion", "system"})
_SHOWN = "user_only"  # words of the program that the model is not sent


def fits(sample: Sample) -> bool:
    """A `session_start`, or plain text messages with a session ID."""
    return any(
        kind_of(record) == "session_start"
        or (
            kind_of(record) == "message"
            and "text" in record
            and bool({"session_id", "sessionId"} & record.keys())
        )
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The one session of a file."""
    talk = Talk(source, SourceFormat.DROID)
    head: Record = {}
    for line, record in talk.records():
        kind = kind_of(record)
        if kind == "session_start" or (kind == "system" and not head):
            head = record
        elif kind == "message":
            _add_message(talk, record, line)
        elif kind == "tool_call":
            answer = talk.answer(line, at=_at(record), key=first_text(record, "messageId"))
            name = first_text(record, "toolName", "toolId", "name")
            answer.call(record.get("id"), name, record.get("parameters"), line)
        elif kind == "tool_result":
            shown = record.get("value", record.get("error"))
            talk.results.add(plain(record.get("id")), plain(shown), record.get("isError") is True)
        elif kind == "compaction_state":
            talk.notice(plain(record.get("summaryText")), line, at=_at(record))
        elif kind in _SILENT:
            talk.skip()
        else:
            talk.unexpected(line, f"a record of type {type_name(kind)}")
    yield from talk.session(
        first_text(head, "id", "session_id", "sessionId"),
        cwd=first_text(head, "cwd"),
        agent_name="droid",
        parent_session_id=first_text(head, "parent", "parentSessionId"),
    )


def _at(record: Record) -> float | None:
    return epoch_seconds(record.get("timestamp"))


def _add_message(talk: Talk, record: Record, line: int) -> None:
    message = inner(record, "message") or record
    given = list(pieces.of(talk, message.get("content", record.get("text")), line))
    if message.get("visibility", record.get("visibility")) == _SHOWN:
        talk.notice(pieces.text(given), line, at=_at(record))
        return
    key = first_text(record, "id") if "text" in record else None
    pieces.add(talk, message.get("role"), given, line, at=_at(record), key=key)
