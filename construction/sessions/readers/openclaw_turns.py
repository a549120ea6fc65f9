"""Turns from single records of an OpenClaw or pi log."""

from __future__ import annotations

from typing import Any

from construction.sessions.readers.source import epoch_seconds
from construction.sessions.readers.turns import (
    ToolResults,
    agent_turn,
    block_text,
    system_turn,
    text_or_none,
    tool_call,
    user_turn,
)
from data.contracts import Attachment, ToolCall, Turn

NOTICE_TYPES = frozenset({"compaction", "branch_summary", "custom_message"})
NOTICE_ROLES = frozenset({"system", "custom", "hookMessage", "branchSummary", "compactionSummary"})


def record_turn(record: dict[str, Any], index: int, line: int, results: ToolResults) -> Turn | None:
    """The turn of a record; None for a record without one (result, setting, unknown kind)."""
    at = epoch_seconds(record.get("timestamp"))
    own_id, parent = text_or_none(record.get("id")), text_or_none(record.get("parentId"))
    kind, message = record.get("type"), record.get("message")
    if kind != "message" and text_or_none(kind) in NOTICE_TYPES:
        text = text_or_none(record.get("summary")) or block_text(record.get("content"))
        return system_turn(index, text, line, at=at, turn_id=own_id, parent_id=parent)
    if not isinstance(message, dict):
        return None
    if at is None:
        # The record's own time takes precedence: the message's time is wrong in some logs.
        at = epoch_seconds(message.get("timestamp"))
    role, content = text_or_none(message.get("role")), message.get("content")
    if role == "assistant":
        return _assistant_turn(message, index, line, at, own_id, parent, results)
    if role == "user":
        text, images = block_text(content), _images(content)
        return user_turn(
            index, text, line, at=at, turn_id=own_id, parent_id=parent, attachments=images
        )
    if role == "bashExecution":
        text = f"$ {message.get('command')}\n{text_or_none(message.get('output')) or ''}"
    elif role in NOTICE_ROLES:
        text = block_text(content) or text_or_none(message.get("summary")) or ""
    else:
        return None
    return system_turn(index, text, line, at=at, turn_id=own_id, parent_id=parent)


def _assistant_turn(
    message: dict[str, Any],
    index: int,
    line: int,
    at: float | None,
    own_id: str | None,
    parent: str | None,
    results: ToolResults,
) -> Turn:
    content = message.get("content")
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "toolCall":
            call_id, name = str(block.get("id")), str(block.get("name"))
            calls.append(tool_call(results, call_id, name, block.get("arguments"), line))
        elif kind == "thinking" and isinstance(block.get("thinking"), str):
            thoughts.append(block["thinking"])
    return agent_turn(
        index,
        block_text(content),
        line,
        at=at,
        turn_id=own_id,
        parent_id=parent,
        thinking="\n".join(thoughts),
        model=text_or_none(message.get("model")),
        stop_reason=text_or_none(message.get("stopReason")),
        tool_calls=tuple(calls),
    )


def _images(content: object) -> tuple[Attachment, ...]:
    blocks = content if isinstance(content, list) else ()
    return tuple(
        Attachment(None, text_or_none(block.get("mimeType")), text_or_none(block.get("data")))
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "image"
    )
