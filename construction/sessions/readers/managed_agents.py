"""Reads sessions of managed agents: the events that the service lists, bare or inside `raw`."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import ReadIssue, Session, SourceFormat

_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = ("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result")
_SILENT = ("session.", "span.", "agent.thread_", "user.interrupt", "user.tool_confirmation")
_MAIN = ""


def fits(sample: Sample) -> bool:
    """Session events whose IDs begin with `sevt_`, or such an agent's calls and messages."""
    return any(
        plain(event.get("id", "")).startswith("sevt_")
        or (kind_of(event) in (*_CALLS, "user.define_outcome") and "id" in event)
        for record in sample.records
        for event in (_event(record), *dicts(record.get("data"))[:5])
    )


def _event(record: Record) -> Record:
    return inner(record, "raw") or record


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file. The threads of other agents are sessions of their own."""
    talks: dict[str, Talk] = {}
    issues: list[ReadIssue] = []
    name: str | None = None
    for line, held in objects(source, issues):
        name = name or first_text(held, "session_id")
        for event in dicts(held.get("data")) or [_event(held)]:
            thread = _MAIN
            if kind_of(event).startswith(("agent.", "user.")):
                thread = first_text(event, "session_thread_id") or _MAIN
            talk = talks.setdefault(thread, Talk(source, SourceFormat.MANAGED_AGENTS))
            _add(talk, event, line)
    yield from issues
    uids = Uids(source.relative)
    for thread, talk in talks.items():
        own = thread or name
        yield from talk.session(own, uids=uids, parent_session_id=name if thread else None)


def _add(talk: Talk, event: Record, line: int) -> None:
    kind, at = kind_of(event), epoch_seconds(event.get("processed_at"))
    if kind in ("user.message", "agent.message"):
        role = "user" if kind.startswith("user") else "assistant"
        pieces.add(talk, role, pieces.of(talk, event.get("content"), line), line, at=at)
    elif kind == "user.define_outcome":
        talk.person(plain(event.get("description")), line, at=at)
        talk.notice(plain(inner(event, "rubric").get("content")), line, at=at)
    elif kind == "agent.thinking":
        talk.answer(line, at=at).think(first_text(event, "thinking", "text"))
    elif kind in _CALLS:
        answer = talk.answer(line, at=at, key="calls")
        answer.call(event.get("id"), event.get("name"), event.get("input"), line)
    elif kind in _RESULTS:
        own = first_text(event, "tool_use_id", "mcp_tool_use_id", "custom_tool_use_id") or ""
        failed = event.get("is_error") is True
        talk.results.add(own, _shown(talk, event.get("content"), line), failed)
    elif kind.startswith("session.error"):
        talk.notice(plain(inner(event, "error").get("message")), line, at=at)
    elif kind.startswith(_SILENT):
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")


def _shown(talk: Talk, content: object, line: int) -> str:
    """The texts of a result; those of a search stand in documents of their own."""

    def piece_of(part: Record) -> pieces.Piece:
        if isinstance(part.get("content"), list):
            return pieces.Text("\n".join(plain(p.get("text")) for p in dicts(part["content"])))
        piece = pieces.common(part)
        return (
            pieces.SILENT if piece is pieces.UNKNOWN or isinstance(piece, pieces.Result) else piece
        )

    return pieces.text(pieces.of(talk, content or [], line, piece_of))
