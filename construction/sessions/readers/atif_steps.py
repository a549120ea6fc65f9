"""Reads the steps of an ATIF trajectory, and the fields that `export_atif` adds to the standard's.

ATIF (Harbor RFC 0001, 1.0-1.8) has no senders, channels, branches or documents. The export stores
them under `extra.benchmint`, at the root and in the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from construction.sessions.readers.source import epoch_seconds
from construction.sessions.readers.turns import (
    WEB,
    agent_turn,
    block_text,
    decoded_arguments,
    inline_media,
    system_turn,
    text_field,
    text_or_none,
    user_turn,
)
from data.contracts import Attachment, Origin, Role, ToolCall, Turn

EXTRA_KEY = "benchmint"
SOURCES = {"user": Role.USER, "agent": Role.ASSISTANT, "system": Role.SYSTEM}
ORIGINS = {
    Role.USER: Origin.HUMAN,
    Role.ASSISTANT: Origin.AGENT,
    Role.SYSTEM: Origin.SYSTEM,
}
# The tool name for results without a call: what the environment showed after a step.
OBSERVATION = "observation"
_ORIGIN_NAMES = frozenset(origin.value for origin in Origin)


def ours(holder: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of this project's export; None if another tool wrote the object."""
    extra = holder.get("extra")
    fields = extra.get(EXTRA_KEY) if isinstance(extra, dict) else None
    return fields if isinstance(fields, dict) else None


def foreign_turn(
    index: int, step: dict[str, Any], model: str | None, prompts_by: Origin | None
) -> Turn:
    """The turn of a step that another tool wrote.

    `prompts_by` is the origin of user messages where it is known: prompts to a sub-agent.
    """
    text, media = message_parts(step.get("message"))
    at = epoch_seconds(step.get("timestamp"))
    if step["source"] == "agent":
        return agent_turn(
            index,
            text,
            0,
            at=at,
            thinking=text_field(step, "reasoning_content") or "",
            model=text_field(step, "model_name") or model,
            tool_calls=_attributed(tool_calls(step)),
        )
    if step["source"] == "system":
        return system_turn(index, text, 0, at=at)
    return user_turn(index, text, 0, at=at, attachments=media, origin=prompts_by)


def own_turn(index: int, step: dict[str, Any]) -> Turn:
    """The turn of a step that `export_atif` wrote, as it was before the export."""
    fields = ours(step) or {}
    role = SOURCES[step["source"]]
    text, media = message_parts(step.get("message"))
    calls = step if role is Role.ASSISTANT else fields
    own_at = fields.get("at")
    said = text_or_none(fields.get("said"))
    return Turn(
        index=index,
        role=role,
        origin=_origin(fields.get("origin"), ORIGINS[role]),
        text=text,
        said=text if said is None else said,
        line=0,
        at=own_at if isinstance(own_at, float) else epoch_seconds(step.get("timestamp")),
        turn_id=text_or_none(fields.get("turn_id")),
        parent_id=text_or_none(fields.get("parent_id")),
        sender=text_or_none(fields.get("sender")),
        channel=text_or_none(fields.get("channel")),
        thinking=text_or_none(calls.get("reasoning_content")) or "",
        model=text_or_none(calls.get("model_name")),
        stop_reason=text_or_none(fields.get("stop_reason")),
        attachments=_attachments(fields.get("attachments"), media),
        tool_calls=tool_calls(calls),
    )


def message_parts(message: object) -> tuple[str, tuple[Attachment, ...]]:
    """Text and media of a message; the address of a picture on the web counts as text."""
    if not isinstance(message, list):
        return block_text(message), ()
    texts: list[str] = []
    media: list[Attachment] = []
    for part in message:
        if not isinstance(part, dict):
            continue
        source = part.get("source")
        if isinstance(text := part.get("text"), str):
            texts.append(text)
        elif isinstance(source, dict) and (path := text_field(source, "path")) is not None:
            if path.startswith(WEB):
                texts.append(path)
            else:
                media.append(_media(path, text_field(source, "media_type")))
    return "\n".join(texts), tuple(media)


def tool_calls(step: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a step joined to the results of its observation, first in, first out."""
    results = _results_by_call(step)
    listed = step.get("tool_calls")
    calls: list[ToolCall] = []
    for call in listed if isinstance(listed, list) else ():
        if not isinstance(call, dict):
            continue
        id_ = text_field(call, "tool_call_id") or ""
        waiting = results.get(id_)
        name = text_field(call, "function_name") or ""
        calls.append(_joined(id_, name, call.get("arguments"), waiting.pop(0) if waiting else {}))
    for id_, unclaimed in results.items():
        calls.extend(_joined(id_, OBSERVATION, None, result) for result in unclaimed)
    return tuple(calls)


def _attributed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls of a step with what was observed after it, where that names no call.

    As many results as calls belong to them in order; one result is what the last call led to.
    """
    observed = [call for call in calls if call.name == OBSERVATION and not call.call_id]
    called = [call for call in calls if call.name != OBSERVATION or call.call_id]
    waiting = [number for number, call in enumerate(called) if call.result is None]
    if not waiting or not observed or len(observed) not in (1, len(waiting)):
        return calls
    for number, result in zip(waiting[-len(observed) :], observed, strict=True):
        called[number] = replace(called[number], result=result.result, is_error=result.is_error)
    return tuple(called)


def is_handover(step: dict[str, Any]) -> bool:
    """Whether the harness let a sub-agent sum up the work here: the next prompt is its own."""
    observation = step.get("observation")
    listed = observation.get("results") if isinstance(observation, dict) else None
    return step.get("source") == "system" and any(
        isinstance(result, dict) and bool(result.get("subagent_trajectory_ref"))
        for result in (listed if isinstance(listed, list) else ())
    )


def _results_by_call(step: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    observation = step.get("observation")
    listed = observation.get("results") if isinstance(observation, dict) else None
    results: dict[str, list[dict[str, Any]]] = {}
    for result in listed if isinstance(listed, list) else ():
        if isinstance(result, dict):
            results.setdefault(text_field(result, "source_call_id") or "", []).append(result)
    return results


def _joined(id_: str, name: str, arguments: object, result: dict[str, Any]) -> ToolCall:
    content = result.get("content")
    text = None if content is None else message_parts(content)[0]
    failed = (ours(result) or {}).get("is_error") is True
    return ToolCall(id_, name, decoded_arguments(arguments), text, failed)


def _attachments(listed: object, media: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """Attachments in their order; `part` is the index of a media part of the message."""
    if not isinstance(listed, list):
        return tuple(media)
    attachments: list[Attachment] = []
    for item in listed:
        if not isinstance(item, dict):
            continue
        part = item.get("part")
        if isinstance(part, int) and 0 <= part < len(media):
            attachments.append(media[part])
        elif part is None:
            attachments.append(
                Attachment(*(text_or_none(item.get(key)) for key in ("path", "mime", "data")))
            )
    return tuple(attachments)


def _media(path: str, mime: str | None) -> Attachment:
    inline = inline_media(path)
    return inline if inline.data is not None else Attachment(path, mime)


def _origin(value: object, default: Origin) -> Origin:
    return Origin(value) if isinstance(value, str) and value in _ORIGIN_NAMES else default
