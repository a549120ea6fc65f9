"""Exports sessions as ATIF 1.8, for viewers, training tools and harnesses that read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from construction.sessions.readers.atif import CONTINUED, EXTRA_KEY, ORIGINS, SOURCES
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile, epoch_seconds
from construction.sessions.readers.talk import WEB
from construction.sessions.scan import scan
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import Attachment, ReadIssue, Role, Session, SourceFormat, ToolCall, Turn

_SCHEMA = "ATIF-v1.8"
_UNKNOWN = "unknown"
_SOURCE_OF = {role: source for source, role in SOURCES.items()}
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_AUDIO = frozenset(
    {"audio/wav", "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/flac"}
    | {"audio/webm", "audio/aiff"}
)
# Paths that the ATIF reader would take for inline data or a web address.
_NOT_A_PATH = ("data:", *WEB)


def export_sessions(
    paths: Sequence[Path], format: SourceFormat | None, out: Path, tell: Callable[[str], None]
) -> tuple[int, int]:
    """Write each session below `paths` to `out`; returns the numbers of sessions and problems.

    `tell` gets a line for each file and line that could not be read.
    """
    written = problems = 0
    for file in scan(paths, format):
        if file.format is None:
            problems += 1
            tell(f"{file.relative}: not read, {file.reason} ({file.label})")
            continue
        for item in read_source(SourceFile(file.path, file.relative), file.format):
            if isinstance(item, ReadIssue):
                problems += 1
                line = f"{item.source_path}:{item.line}"
                tell(f"{line}: found {item.actual}; expected {item.expected}")
            else:
                write_bytes(out / f"{item.uid}.json", pretty_json(to_atif(item)))
                written += 1
    return written, problems


def to_atif(session: Session) -> dict[str, Any]:
    """The session as an ATIF 1.8 document, JSON-ready.

    `readers.atif` reads the same turns back: texts, calls, results, times, attachments, senders,
    channels, parents. Fields without an ATIF equivalent are stored under `extra.benchmint`. The
    path and format of the original log appear only in `extra.benchmint.source`, its line numbers
    nowhere.
    """
    steps: list[dict[str, Any]] = []
    if session.system_prompt is not None:
        steps.append({"step_id": 1, "source": "system", "message": session.system_prompt})
    steps.extend(_step(number, turn) for number, turn in enumerate(session.turns, len(steps) + 1))
    document = {
        "schema_version": _SCHEMA,
        "session_id": session.session_id,
        "trajectory_id": session.uid,
        "agent": {
            "name": session.agent_name or _UNKNOWN,
            "version": session.agent_version or _UNKNOWN,
        },
        "steps": steps,
        "extra": {EXTRA_KEY: _root_fields(session)},
    }
    if _is_continued(session):
        document[CONTINUED] = session.extra[CONTINUED]
    return document


def _is_continued(session: Session) -> bool:
    return isinstance(session.extra.get(CONTINUED), str)


def _root_fields(session: Session) -> dict[str, Any]:
    """The session's fields without an ATIF equivalent at the document's root."""
    extra = dict(session.extra)
    if _is_continued(session):
        del extra[CONTINUED]  # a field of the standard
    return {
        "source": {
            "format": session.source_format.value,
            "format_version": session.format_version,
            "path": session.source_path,
        },
        "agent_name": session.agent_name,
        "agent_version": session.agent_version,
        "cwd": session.cwd,
        "started_at": session.started_at,
        "parent_session_id": session.parent_session_id,
        "system_prompt": session.system_prompt is not None,
        "dropped": session.dropped,
        "extra": extra,
    }


def _step(number: int, turn: Turn) -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": number, "source": _SOURCE_OF[turn.role]}
    fields: dict[str, Any] = {}
    _put_time(turn, step, fields)
    _put_message(turn, step, fields)
    # The standard allows these fields on the agent's steps only.
    _put_agent_fields(turn, step if turn.role is Role.ASSISTANT else fields)
    if turn.origin is not ORIGINS[turn.role]:
        fields["origin"] = turn.origin.value
    if turn.said != turn.text:
        fields["said"] = turn.said
    for key in ("turn_id", "parent_id", "sender", "channel", "stop_reason"):
        value = getattr(turn, key)
        if value is not None:
            fields[key] = value
    if fields:
        step["extra"] = {EXTRA_KEY: fields}
    return step


def _put_time(turn: Turn, step: dict[str, Any], fields: dict[str, Any]) -> None:
    if turn.at is None:
        return
    if 0 <= turn.at < 4_102_444_800:
        moment = datetime.fromtimestamp(turn.at, UTC)
        step["timestamp"] = moment.isoformat().replace("+00:00", "Z")
    if epoch_seconds(step.get("timestamp")) != turn.at:
        fields["at"] = turn.at


def _put_message(turn: Turn, step: dict[str, Any], fields: dict[str, Any]) -> None:
    """Store pictures and sound as parts of the message, other attachments beside it."""
    parts: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for attachment in turn.attachments:
        part = _media_part(attachment)
        if part is None:
            kept.append({"path": attachment.path, "mime": attachment.mime, "data": attachment.data})
        else:
            kept.append({"part": len(parts)})
            parts.append(part)
    step["message"] = [{"type": "text", "text": turn.text}, *parts] if parts else turn.text
    if len(parts) < len(kept):
        fields["attachments"] = kept


def _media_part(attachment: Attachment) -> dict[str, Any] | None:
    mime, path, data = attachment.mime, attachment.path, attachment.data
    if mime not in _IMAGES and mime not in _AUDIO:
        return None
    if path is None and data is not None:
        location = f"data:{mime};base64,{data}"
    elif data is None and path and not path.startswith(_NOT_A_PATH):
        location = path
    else:
        return None
    kind = "image" if mime in _IMAGES else "audio"
    return {"type": kind, "source": {"media_type": mime, "path": location}}


def _put_agent_fields(turn: Turn, holder: dict[str, Any]) -> None:
    if turn.model is not None:
        holder["model_name"] = turn.model
    if turn.thinking:
        holder["reasoning_content"] = turn.thinking
    if not turn.tool_calls:
        return
    holder["tool_calls"] = [
        {
            "tool_call_id": call.call_id,
            "function_name": call.name,
            "arguments": call.arguments,
        }
        for call in turn.tool_calls
    ]
    # The reader assigns results first in, first out: a repeated id needs an entry for each call.
    has_repeated_id = len({call.call_id for call in turn.tool_calls}) < len(turn.tool_calls)
    results = [
        _result(call)
        for call in turn.tool_calls
        if has_repeated_id or call.result is not None or call.is_error
    ]
    if results:
        holder["observation"] = {"results": results}


def _result(call: ToolCall) -> dict[str, Any]:
    result: dict[str, Any] = {"source_call_id": call.call_id}
    if call.result is not None:
        result["content"] = call.result
    if call.is_error:
        result["extra"] = {EXTRA_KEY: {"is_error": True}}
    return result
