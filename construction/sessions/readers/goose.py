"""Reads sessions of Goose: JSON lines with a head, or the document of `goose session export`."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    block_text,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
)
from data.contracts import ReadIssue, Session, SourceFormat

_LISTED = ("conversation", "messages")
_ASKED = frozenset({"toolRequest", "frontendToolRequest"})
_SILENT = frozenset(
    {"toolConfirmationRequest", "actionRequired", "redactedThinking", "contextLengthExceeded"}
    | {"summarizationRequested", "conversationCompacted"}
)


def fits(sample: Sample) -> bool:
    """A header with `working_dir`, or messages whose parts are Goose's requests and responses."""
    for record in sample.records:
        if "working_dir" in record and (
            "message_count" in record
            or "description" in record
            or any(isinstance(record.get(key), list) for key in _LISTED)
        ):
            return True
        kinds = {kind_of(part) for part in dicts(record.get("content"))}
        if "role" in record and kinds & (_ASKED | {"toolResponse"}):
            return True
    return False


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file: records of role `user` that hold responses are results."""
    talk = Talk(source, SourceFormat.GOOSE)
    head: Record = {}
    for line, record in talk.records():
        if "role" in record:
            add_message(talk, record, line)
        elif "working_dir" in record:
            head = record
            for key in _LISTED:
                for message in dicts(record.get(key)):
                    add_message(talk, message, line)
        else:
            talk.unexpected(line, f"an object with {len(record)} keys")
    yield from session_of(talk, head)


def session_of(talk: Talk, head: Record, uids: Uids | None = None) -> Iterator[Session | ReadIssue]:
    """The session with what its head says."""
    return talk.session(
        first_text(head, "id"),
        uids=uids,
        cwd=first_text(head, "working_dir"),
        agent_name="goose",
        started_at=epoch_seconds(head.get("created_at")),
    )


def add_message(talk: Talk, message: Record, line: int) -> None:
    """Add one message: words, calls, and results in whichever role they stand."""
    at = epoch_seconds(message.get("created"))
    given = list(pieces.of(talk, message.get("content"), line, _piece))
    if message.get("role") == "user" and inner(message, "metadata").get("userVisible") is False:
        given = [
            pieces.Notice(piece.text) if isinstance(piece, pieces.Text) else piece
            for piece in given
        ]
    pieces.add(talk, message.get("role"), given, line, at=at)


def _piece(part: Record) -> pieces.Piece:
    kind = kind_of(part)
    if kind in _ASKED:
        called = inner(part, "toolCall", "value")
        return pieces.Call(part.get("id"), called.get("name"), called.get("arguments"))
    if kind == "toolResponse":
        return _result(part)
    if kind == "systemNotification":
        return pieces.Notice(plain(part.get("msg")))
    return pieces.SILENT if kind in _SILENT else pieces.common(part)


def _result(part: Record) -> pieces.Result:
    result = inner(part, "toolResult")
    value = result.get("value")
    failed = result.get("status") == "error" or inner(result, "value").get("isError") is True
    listed = value.get("content") if isinstance(value, dict) else value
    # Some tools answer twice, for the agent and, shortened, for the person's window.
    for_agent = [b for b in dicts(listed) if "assistant" in plain(_audience(b))]
    text = block_text(for_agent) if for_agent else block_text(listed) or plain(listed)
    return pieces.Result(plain(part.get("id")), text or plain(result.get("error")), failed)


def _audience(block: Record) -> object:
    return block.get("audience") or inner(block, "annotations").get("audience")
