"""Reads messages of the Vercel AI SDK: those of the window (versions 4, 5, 6) and of the model."""

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
)
from data.contracts import ReadIssue, Session, SourceFormat

_MODEL_PARTS = frozenset({"tool-call", "tool-result"})
_SILENT = ("step-start", "source", "source-url", "source-document", "data-", "tool-approval-")
_TIMES = ("createdAt", "created_at", "timestamp")


def fits(sample: Sample) -> bool:
    """Messages with `toolInvocations`, parts of the window, or calls identified by `toolCallId`."""
    return any(
        _is_message(message)
        for record in sample.records
        for message in (record, *dicts(record.get("messages"))[:20])
    )


def _is_message(message: Record) -> bool:
    if not isinstance(message.get("role"), str):
        return False
    if "toolInvocations" in message:
        return True
    shown = dicts(message.get("parts"))
    if shown and "content" not in message and "id" in message:
        return all(isinstance(kind_of(part), str) for part in shown)
    content = dicts(message.get("content"))
    if any(kind_of(part) in _MODEL_PARTS and "toolCallId" in part for part in content):
        return True
    return any(kind_of(part).startswith("tool-") and "state" in part for part in shown)


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a list of messages, or one for each object that holds such a list."""
    uids = Uids(source.relative)
    loose = Talk(source, SourceFormat.VERCEL_AI)
    issues: list[ReadIssue] = []
    for line, record in objects(source, issues):
        if isinstance(record.get("messages"), list):
            talk = Talk(source, SourceFormat.VERCEL_AI)
            for message in dicts(record["messages"]):
                _add(talk, message, line)
            yield from talk.session(first_text(record, "id", "chatId"), uids=uids)
        else:
            _add(loose, record, line)
    yield from issues
    if loose.drafts or not uids.any_given:
        yield from loose.session(uids=uids)


def _add(talk: Talk, message: Record, line: int) -> None:
    role, content = message.get("role"), message.get("content")
    at = next((t for t in map(epoch_seconds, map(message.get, _TIMES)) if t), None)
    parts = dicts(message.get("parts")) or dicts(content)
    if not parts and isinstance(content, str):
        parts = [{"type": "text", "text": content}]
    parts += [
        {"type": "tool-invocation", "toolInvocation": call}
        for call in dicts(message.get("toolInvocations"))
        if not dicts(message.get("parts"))
    ]
    if role == "data":
        talk.skip()
    else:
        pieces.add(talk, role, pieces.of(talk, parts, line, _piece), line, at=at)


def _piece(part: Record) -> pieces.Piece:
    kind = kind_of(part)
    if kind == "tool-result":
        return _result(part)
    if kind == "tool-invocation":
        called = inner(part, "toolInvocation")
        shown = plain(called["result"]) if "result" in called else None
        return pieces.Call(
            called.get("toolCallId"), called.get("toolName"), called.get("args"), shown
        )
    if kind == "dynamic-tool" or (kind.startswith("tool-") and "toolCallId" in part):
        if kind in _MODEL_PARTS:
            return pieces.common(part)
        name = part.get("toolName") or kind.removeprefix("tool-")
        is_done = "output" in part or "errorText" in part
        shown = plain(part.get("output")) or plain(part.get("errorText")) if is_done else None
        failed = part.get("state") == "output-error" or "errorText" in part
        return pieces.Call(part.get("toolCallId"), name, part.get("input"), shown, failed)
    return pieces.SILENT if kind.startswith(_SILENT) else pieces.common(part)


def _result(part: Record) -> pieces.Result:
    output = part.get("output", part.get("result"))
    kind = kind_of(output) if isinstance(output, dict) else None
    failed = part.get("isError") is True or kind in ("error-text", "error-json", "execution-denied")
    if isinstance(output, dict) and kind is not None and "value" in output:
        output = output["value"]
    return pieces.Result(plain(part.get("toolCallId")), plain(output), failed)
