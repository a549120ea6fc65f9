"""Reads sessions of Gemini CLI: JSON lines, documents with `messages`, or a `history` of parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers.chat_messages import converse
from construction.sessions.readers.source import (
    SourceFile,
    epoch_seconds,
    json_lines,
    no_records,
    read_head,
)
from construction.sessions.readers.turns import session_uid, text_field
from data.contracts import ReadIssue, Session, SourceFormat

_AGENT_NAME = "gemini"
_AGENT_ROLES = frozenset({"gemini", "model", "assistant"})
_NOTICES = frozenset({"info", "error", "warning"})
_LISTED = ("messages", "history")
_STARTS = ("startTime", "start_time")
Record = dict[str, Any]


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file. Notices of the program and changes of its header are no turns."""
    head: Record = {}
    messages: list[tuple[int, object]] = []
    for item in _records(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        line, record = item
        if "projectHash" in record or any(isinstance(record.get(key), list) for key in _LISTED):
            head = record
            listed = [record[key] for key in _LISTED if isinstance(record.get(key), list)]
            messages += [(line, chat) for entry in chain(*listed) for chat in as_chat(entry)]
        elif "$set" not in record:
            messages += [(line, chat) for chat in as_chat(record)]
    if not messages:
        yield no_records(source, "messages of Gemini CLI")
        return
    talk = converse(messages, source.relative)
    yield from talk.issues
    name = text_field(head, "sessionId") or PurePosixPath(source.relative).stem
    started = next((at for key in _STARTS if (at := epoch_seconds(head.get(key)))), None)
    yield Session(
        uid=session_uid(name, source.relative),
        session_id=name,
        source_format=SourceFormat.GEMINI,
        source_path=source.relative,
        turns=tuple(talk.turns),
        started_at=started or next((turn.at for turn in talk.turns if turn.at), None),
        agent_name=_AGENT_NAME,
        system_prompt=talk.system_prompt,
        dropped={reason: count for reason, count in sorted(talk.dropped.items()) if count},
    )


def _records(source: SourceFile) -> Iterator[tuple[int, Record] | ReadIssue]:
    start = read_head(source)
    if start.record is None and isinstance(start.document, dict):
        yield 0, start.document
    else:
        yield from json_lines(source)


def as_chat(entry: object) -> Iterator[object]:
    """A record as messages in OpenAI roles: what was said, then the results of its tools."""
    if not isinstance(entry, dict):
        yield entry
        return
    role = entry.get("type") or entry.get("role")
    if not isinstance(role, str) or role in _NOTICES:
        yield {"role": "metadata"} if role in _NOTICES else entry
        return
    at = entry.get("timestamp") or entry.get("ts")
    content = [_block(part) for part in _parts(entry)]
    if role not in _AGENT_ROLES:
        yield {"role": role, "content": content, "timestamp": at}
        return
    raw = entry.get("toolCalls")
    calls = [call for call in raw if isinstance(call, dict)] if isinstance(raw, list) else []
    yield {
        "role": "assistant",
        "content": content,
        "timestamp": at,
        "model": entry.get("model"),
        "tool_calls": [
            {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
            for call in calls
        ],
    }
    for call in calls:
        yield {
            "role": "tool",
            "tool_call_id": call.get("id") or call.get("name"),
            "content": _output(call),
            "status": call.get("status"),
        }


def _parts(entry: Record) -> list[object]:
    content = entry.get("content", entry.get("parts"))
    if isinstance(content, list):
        return content
    return [content] if content else []


def _block(part: object) -> object:
    """A part as a content block: text, or inline media as a `data:` URL."""
    inline = part.get("inlineData") if isinstance(part, dict) else None
    if isinstance(inline, dict):
        url = f"data:{inline.get('mimeType', '')};base64,{inline.get('data', '')}"
        return {"type": "image_url", "image_url": {"url": url}}
    text = part.get("text") if isinstance(part, dict) else part
    return {"type": "text", "text": text if isinstance(text, str) else ""}


def _output(call: Record) -> object:
    """What a tool answered, without the wrapping of the response."""
    results = call.get("result")
    for result in results if isinstance(results, list) else []:
        answer = result.get("functionResponse") if isinstance(result, dict) else None
        response = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(response, dict):
            return response.get("output", response.get("error", response))
    return call.get("resultDisplay", "")
