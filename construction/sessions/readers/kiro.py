"""Reads Kiro's command line: records of a kind and data, as lines or listed in an export."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    records,
)
from construction.sessions.readers.talk import Record, Talk, dicts, first_text, inner, kind_of
from construction.sessions.readers.turns import plain, type_name
from data.contracts import ReadIssue, Session, SourceFormat

_ROLES = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "tool"}
_LISTED = "log_entries"
_NOTICES = frozenset({"Compaction", "Clear", "CancelledPrompt"})


def fits(sample: Sample) -> bool:
    """A `kind` such as `Prompt` beside `data` with the id of a message, or an export of such."""
    return any(
        kind_of(entry, "kind") in _ROLES and "message_id" in inner(entry, "data")
        for entry in (*sample.records, *dicts(sample.head.get(_LISTED))[:5])
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The one session of a file."""
    talk = Talk(source, SourceFormat.KIRO, is_typed=True)
    for line, record in talk.records(lambda file: records(file, _LISTED)):
        kind, data = kind_of(record, "kind"), inner(record, "data")
        if (role := _ROLES.get(kind)) is not None:
            at = epoch_seconds(inner(data, "meta").get("timestamp"))
            given = pieces.of(talk, data.get("content"), line, _piece)
            pieces.add(talk, role, given, line, at=at)
        elif kind in _NOTICES:
            talk.notice(plain(data.get("summary")), line)
        else:
            talk.unexpected(line, f"a record of kind {type_name(record.get('kind'))}")
    head = inner(document_of(source), "metadata")
    yield from talk.session(
        first_text(head, "session_id"), cwd=first_text(head, "cwd"), agent_name="kiro"
    )


def _piece(part: Record) -> pieces.Piece:
    kind, data = kind_of(part, "kind"), inner(part, "data")
    if kind == "toolUse":
        return pieces.Call(data.get("toolUseId"), data.get("name"), data.get("input"))
    if kind == "toolResult":
        shown = "\n".join(plain(block.get("data")) for block in dicts(data.get("content")))
        return pieces.Result(plain(data.get("toolUseId")), shown, data.get("status") == "error")
    if kind == "text":
        return pieces.Text(plain(part.get("data")))
    return pieces.common({**data, "type": kind})
