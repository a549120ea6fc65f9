"""Turns from messages in OpenAI roles, including the variants that exports use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers.source import SourceFile, epoch_seconds
from construction.sessions.readers.turns import (
    ToolResults,
    agent_turn,
    block_text,
    plain,
    session_uid,
    system_turn,
    text_or_none,
    tool_call,
    type_name,
    user_turn,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat, ToolCall, Turn

ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
# Types of records without a role: some harnesses write calls and results this way.
CALL_TYPES = frozenset({"tool_call", "function_call"})
RESULT_TYPES = frozenset({"tool_result", "function_result"})
_BOOKKEEPING = frozenset({"session_meta", "error", "world_state", "metadata"})
_COMPACTION = "[CONTEXT COMPACTION"
_TIME_KEYS = ("timestamp", "created_at", "createdAt", "ts", "time")
_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking")
_NO_NAME = "tool"
# Calls and results in text, where the model has no tools: not the words of the person's side.
_TEXT_CALLS = (
    "<function=", "<tool_call>", "<function_calls>", "<execute_", "Action:", "```bash", "```sh",
    "<tool_use>", "<invoke ", '"commands"', '"keystrokes"',
)  # fmt: skip
_TEXT_RESULTS = (
    "OBSERVATION:", "Observation:", "EXECUTION RESULT of [", "<function_results>",
    "<tool_response>", "<tool_result", "<returncode>", "New Terminal Output:", "[Observation]",
    "<observation>",
)  # fmt: skip
_RESULT_PARTS = ("tool_result", "web_search_tool_result")
_PARTS = frozenset(
    {"text", "input_text", "output_text", "refusal", "summary_text", "thinking", "think"}
    | {"redacted_thinking", "reasoning", "tool_use", "tool_result", "server_tool_use"}
    | {"web_search_tool_result", "image", "image_url", "input_image", "file", "input_file"}
    | {"document", "input_audio", "audio", "audio_url", "video_url"}
)


@dataclass(slots=True)
class Conversation:
    """A conversation while it is read; `model` and `channel` are defaults for its messages."""

    source_path: str
    model: str | None = None
    channel: str | None = None
    turns: list[Turn] = field(default_factory=list)
    results: ToolResults = field(default_factory=ToolResults)
    system_prompt: str | None = None
    dropped: Counter[str] = field(default_factory=Counter)
    issues: list[ReadIssue] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)  # kinds of parts that are not known


def converse(
    messages: Sequence[tuple[int, object]],
    source_path: str,
    model: str | None = None,
    channel: str | None = None,
) -> Conversation:
    """The turns of (line, message) pairs; results are joined to calls by id, or else by name.

    `model` and `channel` apply to messages that name none. The system message at the start of a
    conversation is its system prompt. Messages of unknown form become issues.
    """
    talk = Conversation(source_path, model, channel)
    for _, message in messages:
        if isinstance(message, dict):
            _collect_results(message, talk.results)
    before = ""
    for line, message in messages:
        if isinstance(message, dict):
            text = _content_text(message)
            is_result = message.get("role") == "user" and text.startswith(_TEXT_RESULTS)
            if is_result and any(mark in before for mark in _TEXT_CALLS):
                talk.unknown["a tool's result as text"] += 1
            before = text if message.get("role") == "assistant" else ""
            for block in _blocks(message):
                kind = block.get("type", "text")
                known = isinstance(kind, str) and (kind in _PARTS or _is_declared(message, block))
                if not known:
                    talk.unknown[type_name(kind)] += 1
            _add(talk, message, line)
        else:
            _refuse(talk, line, type(message).__name__)
    talk.dropped["result_without_call"] += talk.results.unclaimed()
    return talk


def _is_declared(message: dict[str, Any], block: dict[str, Any]) -> bool:
    """Whether the role says what a part is: a call in tool_calls, or the result of a tool."""
    if message.get("role") == "tool":
        return block.get("type") == "tool_output" and bool(message.get("tool_call_id"))
    repeated = [call.get("id") for call in _dicts(message.get("tool_calls"))]
    is_call = message.get("role") == "assistant" and block.get("type") == "tool_call"
    return is_call and bool(block.get("tool_call_id")) and block["tool_call_id"] in repeated


def chat_session(
    source: SourceFile,
    source_format: SourceFormat,
    messages: Sequence[tuple[int, object]],
    name: str | None,
    **fields: Any,
) -> Iterator[Session | ReadIssue]:
    """The issues of a conversation, then its session with further `fields` of a Session.

    A conversation with parts that nobody knows is refused as a whole: what they hold may be the
    words of a person, or the result of a tool.
    """
    uids, model, channel = (fields.pop(key, None) for key in ("uids", "model", "channel"))
    talk = converse(messages, source.relative, model, channel)
    relative = source.relative
    if talk.unknown:
        kinds = ", ".join(f"{kind} ×{count}" for kind, count in sorted(talk.unknown.items())[:5])
        expected = "parts of text, media, calls and results"
        unit = "file" if uids is None else "record"
        line = messages[0][0] if uids is not None and messages else 0
        yield ReadIssue(unit, relative, line, "file.unknown_parts", f"parts: {kinds}", expected)
        return
    yield from talk.issues
    own = name or PurePosixPath(relative).name.split(".json")[0]
    started = fields.pop("started_at", None)
    prompt = fields.pop("system_prompt", None)
    yield Session(
        uid=uids.give(own) if uids is not None else session_uid(own, relative),
        session_id=own,
        source_format=source_format,
        source_path=relative,
        turns=tuple(talk.turns),
        started_at=started or next((turn.at for turn in talk.turns if turn.at), None),
        system_prompt=prompt or talk.system_prompt,
        dropped={reason: count for reason, count in sorted(talk.dropped.items()) if count},
        **fields,
    )


def _refuse(talk: Conversation, line: int, description: str) -> None:
    expected = "a message with an OpenAI role and content"
    talk.issues.append(
        ReadIssue("record", talk.source_path, line, "record.unexpected", description, expected)
    )


def _collect_results(message: dict[str, Any], results: ToolResults) -> None:
    if (
        message.get("role") in ("tool", "function")
        or text_or_none(message.get("type")) in RESULT_TYPES
    ):
        name = message.get("name") or message.get("tool_name") or _NO_NAME
        call_id = message.get("tool_call_id") or message.get("call_id") or name
        content = message.get("content", message.get("result", message.get("output")))
        is_error = message.get("is_error") is True or message.get("status") == "error"
        results.add(str(call_id), plain(content), is_error)
    for block in _blocks(message):
        if block.get("type") in _RESULT_PARTS:
            text = plain(block.get("content"))
            results.add(str(block.get("tool_use_id")), text, block.get("is_error") is True)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    parts = []
    for key in ("content", "content_parts"):
        content = message.get(key)
        if isinstance(content, list):
            parts += [block for block in content if isinstance(block, dict)]
    return parts


def _add(talk: Conversation, message: dict[str, Any], line: int) -> None:
    role, kind = text_or_none(message.get("role")), text_or_none(message.get("type"))
    has_role = message.get("role") is not None
    at = next((t for t in map(epoch_seconds, map(message.get, _TIME_KEYS)) if t), None)
    if role == "assistant" or (not has_role and kind in CALL_TYPES):
        _add_assistant(talk, message, line, at)
    elif role == "user":
        _add_user(talk, message, line, at)
    elif role in ("system", "developer"):
        text = _content_text(message)
        if talk.turns or talk.system_prompt is not None:
            talk.turns.append(system_turn(len(talk.turns), text, line, at=at))
        else:
            talk.system_prompt = text
    elif role in _BOOKKEEPING or (not has_role and kind in _BOOKKEEPING):
        talk.dropped["bookkeeping"] += 1
    elif role not in ("tool", "function") and kind not in RESULT_TYPES:
        role_type = type(message["role"]).__name__ if has_role else "none"
        _refuse(talk, line, f"an object with {len(message)} keys, role: {role_type}")


def _content_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    return block_text(message.get("message") if content is None else content)


def _add_user(talk: Conversation, message: dict[str, Any], line: int, at: float | None) -> None:
    text = _content_text(message)
    attachments = tuple(filter(None, map(_attachment, _blocks(message))))
    if not text and not attachments and _is_results_only(message):
        return
    name = message.get("name")
    talk.turns.append(
        user_turn(
            len(talk.turns),
            text,
            line,
            at=at,
            sender=name if isinstance(name, str) else None,
            channel=talk.channel,
            attachments=attachments,
        )
    )


def _is_results_only(message: dict[str, Any]) -> bool:
    blocks = _blocks(message)
    return bool(blocks) and all(block.get("type") in _RESULT_PARTS for block in blocks)


def _add_assistant(
    talk: Conversation, message: dict[str, Any], line: int, at: float | None
) -> None:
    text = _content_text(message)
    if text.startswith(_COMPACTION):
        talk.turns.append(system_turn(len(talk.turns), text, line, at=at))
        return
    thoughts = [message.get(key) for key in _THINKING_KEYS]
    thoughts += [b.get("thinking") for b in _blocks(message) if b.get("type") == "thinking"]
    model = message.get("model")
    stop = message.get("finish_reason")
    talk.turns.append(
        agent_turn(
            len(talk.turns),
            text,
            line,
            at=at,
            # Exports repeat the same reasoning under several keys.
            thinking=next((thought for thought in thoughts if isinstance(thought, str)), ""),
            model=model if isinstance(model, str) else talk.model,
            stop_reason=stop if isinstance(stop, str) else None,
            tool_calls=tuple(_calls(talk, message, line)),
        )
    )


def _calls(talk: Conversation, message: dict[str, Any], line: int) -> list[ToolCall]:
    calls = []
    for call in _dicts(message.get("tool_calls")):
        function = call.get("function")
        calls.append(
            _call(talk, {**call, **(function if isinstance(function, dict) else {})}, line)
        )
    for block in _blocks(message):
        if block.get("type") in ("tool_use", "server_tool_use"):
            calls.append(_call(talk, {**block, "arguments": block.get("input")}, line))
    for number, use in enumerate(_dicts(message.get("tool_uses"))):
        call_id = f"turn{len(talk.turns)}.{number}"
        if use.get("output") is not None:
            is_error = use.get("status") in ("error", "failed")
            talk.results.add(call_id, plain(use["output"]), is_error)
        named = {"id": call_id, "name": use.get("tool"), "arguments": use.get("input")}
        calls.append(_call(talk, named, line))
    if isinstance(message.get("function_call"), dict):
        calls.append(_call(talk, message["function_call"], line))
    if text_or_none(message.get("type")) in CALL_TYPES:
        function = message.get("function")
        calls.append(
            _call(talk, {**message, **(function if isinstance(function, dict) else {})}, line)
        )
    return calls


def _call(talk: Conversation, call: dict[str, Any], line: int) -> ToolCall:
    name = str(call.get("name") or _NO_NAME)
    call_id = str(call.get("id") or call.get("call_id") or name)
    return tool_call(talk.results, call_id, name, call.get("arguments"), line)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _attachment(block: dict[str, Any]) -> Attachment | None:
    """The media of a content part; None for text and for unknown kinds of parts."""
    kind = block.get("type")
    if kind == "image_url":
        image = block.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        return _from_url(url) if isinstance(url, str) else None
    if kind == "file" and isinstance(block.get("file"), dict):
        file = block["file"]
        return Attachment(
            text_or_none(file.get("filename")), None, text_or_none(file.get("file_data"))
        )
    if kind == "input_audio" and isinstance(block.get("input_audio"), dict):
        audio = block["input_audio"]
        return Attachment(None, f"audio/{audio.get('format')}", text_or_none(audio.get("data")))
    if kind == "image" and isinstance(block.get("source"), dict):
        image = block["source"]
        return Attachment(
            None, text_or_none(image.get("media_type")), text_or_none(image.get("data"))
        )
    return None


def _from_url(url: str) -> Attachment:
    if not url.startswith("data:"):
        return Attachment(url)
    head, _, data = url.partition(",")
    return Attachment(None, head.removeprefix("data:").split(";")[0] or None, data)
