"""Reads sessions of Kiro's command line: lines of a version, a kind, and data with its parts."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, json_lines
from construction.sessions.readers.talk import Record, Talk, dicts, inner, kind_of
from construction.sessions.readers.turns import plain, type_name
from data.contracts import ReadIssue, Session, SourceFormat

_ROLES = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "tool"}
_NOTICES = frozenset({"Compaction", "Clear", "CancelledPrompt"})


def fits(sample: Sample) -> bool:
    """A `version`, and a `kind` such as `Prompt` beside `data` with the id of a message."""
    return any(
        kind_of(record, "kind") in _ROLES and "message_id" in inner(record, "data")
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The one session of a file."""
    talk = Talk(source, SourceFormat.KIRO, is_typed=True)
    for line, record in talk.records(json_lines):
        kind, data = kind_of(record, "kind"), inner(record, "data")
        if (role := _ROLES.get(kind)) is not None:
            at = epoch_seconds(inner(data, "meta").get("timestamp"))
            given = pieces.of(talk, data.get("content"), line, _piece)
            pieces.add(talk, role, given, line, at=at)
        elif kind in _NOTICES:
            talk.notice(plain(data.get("summary")), line)
        else:
            talk.unexpected(line, f"a record of kind {type_name(record.get('kind'))}")
    yield from talk.session(agent_name="kiro")


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
