"""Reads sessions of Continue: one document with a history of messages."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, document_of
from construction.sessions.readers.talk import (
    Record,
    Talk,
    block_text,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
)
from data.contracts import ReadIssue, Session, SourceFormat


def fits(sample: Sample) -> bool:
    """A `sessionId` and a `workspaceDirectory` next to a `history` of messages with roles."""
    history = dicts(sample.head.get("history"))
    return {"sessionId", "workspaceDirectory"} <= sample.head.keys() and all(
        isinstance(inner(entry, "message").get("role"), str) for entry in history[:20]
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session. Logs of prompts and the editor's state repeat the words, and are left out."""
    head = inner(document_of(source))
    talk = Talk(source, SourceFormat.CONTINUE, is_typed=True)
    for entry in dicts(head.get("history")):
        _add(talk, entry)
    folder = first_text(head, "workspaceDirectory")
    yield from talk.session(
        first_text(head, "sessionId"), cwd=_path(folder) if folder else None, agent_name="continue"
    )


def _path(folder: str) -> str:
    path = unquote(folder.removeprefix("file://"))
    return path[1:] if path[2:3] == ":" else path  # file:///c%3A/…


def _add(talk: Talk, entry: Record) -> None:
    message = inner(entry, "message")
    role, content = message.get("role"), message.get("content")
    if role == "thinking":
        talk.answer().think(block_text(content))
    elif role == "tool":
        talk.results.add(first_text(message, "toolCallId") or "", block_text(content))
    elif role != "assistant":
        pieces.add(talk, role, pieces.of(talk, content))
    else:
        states = {kind_of(state, "toolCallId"): state for state in _states(entry)}
        calls = dicts(message.get("toolCalls")) or [inner(s, "toolCall") for s in states.values()]
        made = [_call(call, states.get(kind_of(call, "id"), {})) for call in calls]
        thought = first_text(inner(entry, "reasoning"), "text")
        before = [pieces.Thought(thought)] if thought else []
        pieces.add(talk, role, [*before, *pieces.of(talk, content), *made])


def _states(entry: Record) -> list[Record]:
    return dicts(entry.get("toolCallStates")) or dicts([entry.get("toolCallState")])


def _call(call: Record, state: Record) -> pieces.Call:
    """A call; the program keeps the result of one as items of context in the call's state."""
    function = inner(call, "function")
    output = [plain(item.get("content")) for item in dicts(state.get("output"))]
    failed = state.get("status") in ("errored", "canceled")
    shown = "\n".join(output) if output or failed else None
    name, given = function.get("name"), function.get("arguments")
    return pieces.Call(call.get("id"), name, given, shown, failed)
