"""Reads messages of the Vercel AI SDK: those of the window (versions 4, 5, 6) and of the model."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, values
from construction.sessions.readers.talk import (
    Answer,
    Record,
    Talk,
    dicts,
    first_text,
    inner,
    kind_of,
)
from construction.sessions.readers.turns import Uids, inline_media, plain, text_field, type_name
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_MODEL_PARTS = frozenset({"tool-call", "tool-result"})
_SILENT = ("step-start", "source", "source-url", "source-document", "data-", "tool-approval-")
_TIMES = ("createdAt", "created_at", "timestamp")


def fits(sample: Sample) -> bool:
    """Messages with `toolInvocations`, parts of the window, or calls named by `toolCallId`."""
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
    return any(str(kind_of(part)).startswith("tool-") and "state" in part for part in shown)


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a list of messages, or one for each object that holds such a list."""
    uids = Uids(source.relative)
    loose = Talk(source, SourceFormat.VERCEL_AI)
    for item in values(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        line, record = item
        if not isinstance(record, dict):
            loose.unexpected(line, type_name(record))
        elif isinstance(record.get("messages"), list):
            talk = Talk(source, SourceFormat.VERCEL_AI)
            for message in dicts(record["messages"]):
                _add(talk, message, line)
            yield from talk.session(first_text(record, "id", "chatId"), uids=uids)
        else:
            _add(loose, record, line)
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
    if role == "assistant":
        answer = talk.answer(line, at=at)
        for part in parts:
            _add_part(talk, answer, part, line)
    elif role == "tool":
        for part in parts:
            _add_result(talk, part)
    elif role in ("system", "user"):
        texts, media = _said(talk, parts, line)
        if role == "system":
            talk.system(texts, line, at=at)
        else:
            talk.person(texts, line, at=at, media=media)
    elif role == "data":
        talk.skip()
    else:
        talk.unexpected(line, f"a message of role {type_name(role)}")


def _said(talk: Talk, parts: list[Record], line: int) -> tuple[str, tuple[Attachment, ...]]:
    texts: list[str] = []
    media: list[Attachment] = []
    for part in parts:
        kind = plain(kind_of(part))
        if kind == "text":
            texts.append(plain(part.get("text")))
        elif kind in ("file", "image"):
            url = first_text(part, "url", "data", "image") or ""
            held = inline_media(url)
            name = text_field(part, "filename") or held.path
            mime = held.mime or first_text(part, "mediaType", "mimeType")
            media.append(Attachment(name, mime, held.data))
        elif kind.startswith(_SILENT):
            talk.skip()
        else:
            talk.unknown_part(line, part)
    return "\n".join(texts), tuple(media)


def _add_part(talk: Talk, answer: Answer, part: Record, line: int) -> None:
    kind = plain(kind_of(part))
    if kind == "text":
        answer.say(part.get("text"))
    elif kind in ("reasoning", "redacted-reasoning"):
        answer.think(part.get("text") or part.get("reasoning"))
    elif kind == "tool-call":
        arguments = part.get("input", part.get("args"))
        answer.call(part.get("toolCallId"), part.get("toolName"), arguments, line)
    elif kind == "tool-result":
        _add_result(talk, part)
    elif kind == "tool-invocation":
        called = inner(part, "toolInvocation")
        own = answer.call(
            called.get("toolCallId"), called.get("toolName"), called.get("args"), line
        )
        if "result" in called:
            talk.results.add(own, plain(called["result"]))
    elif kind == "dynamic-tool" or (kind.startswith("tool-") and "toolCallId" in part):
        name = part.get("toolName") or kind.removeprefix("tool-")
        own = answer.call(part.get("toolCallId"), name, part.get("input"), line)
        if "output" in part or "errorText" in part:
            failed = part.get("state") == "output-error" or "errorText" in part
            talk.results.add(own, plain(part.get("output")) or plain(part.get("errorText")), failed)
    elif kind.startswith(_SILENT) or kind == "file":
        talk.skip()
    else:
        talk.unknown_part(line, part)


def _add_result(talk: Talk, part: Record) -> None:
    if kind_of(part) != "tool-result":
        talk.skip()
        return
    output = part.get("output", part.get("result"))
    kind = kind_of(output) if isinstance(output, dict) else None
    failed = part.get("isError") is True or kind in ("error-text", "error-json", "execution-denied")
    if isinstance(output, dict) and kind is not None and "value" in output:
        output = output["value"]
    talk.results.add(str(part.get("toolCallId")), plain(output), failed)
