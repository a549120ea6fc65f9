"""Detects which program wrote a file, by its content instead of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from construction.sessions.readers.chat import find_messages
from construction.sessions.readers.chat_messages import CALL_TYPES, RESULT_TYPES, ROLES
from construction.sessions.readers.source import (
    LARGEST_DOCUMENT,
    SourceFile,
    first_records,
    read_head,
)
from data.contracts import SourceFormat

_NO_LOG = "not_a_session_log"
_MAGIC = (
    (b"SQLite format 3\x00", "sqlite"),
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CODEX_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
_OPENCLAW_TYPES = frozenset(
    {"model_change", "thinking_level_change", "compaction", "branch_summary", "custom_message"}
)
_CLAUDE_TYPES = frozenset(
    {"user", "assistant", "system", "summary", "attachment", "file-history-snapshot"}
    | {"queue-operation", "mode", "permission-mode", "progress", "custom-title", "last-prompt"}
)
_CLAUDE_KEYS = frozenset(
    {"uuid", "sessionId", "leafUuid", "message", "messageId", "snapshot", "operation"}
)


@dataclass(frozen=True, slots=True)
class Detection:
    """The program that wrote a file (`name`), its reader (`format`, if any), and the evidence."""

    format: SourceFormat | None
    name: str
    why: str


def detect(source: SourceFile) -> Detection:
    """Detect the format from the first records, or from the whole file if it is one document.

    Raises:
        OSError: the file cannot be read.
    """
    head = read_head(source)
    if not head.start:
        return Detection(None, "empty", "no bytes but white space")
    for magic, name in _MAGIC:
        if head.start.startswith(magic):
            return Detection(None, name, "its first bytes")
    if head.is_too_large:
        limit = f"one JSON document of more than {LARGEST_DOCUMENT // 2**20} MiB"
        return Detection(None, "document_too_large", limit)
    if head.record is not None and source.relative.endswith(".trajectory.jsonl"):
        return Detection(None, "openclaw_trajectory", "its name ends in .trajectory.jsonl")
    if head.record is not None:
        return _classify(head.record) or _detect_records(source)
    if head.document is not None:
        return _detect_document(head.document)
    return Detection(None, _NO_LOG, "neither JSON lines nor a JSON document")


def _detect_records(source: SourceFile) -> Detection:
    for record in first_records(source):
        detection = _classify(record)
        if detection is not None:
            return detection
    return Detection(None, _NO_LOG, "JSON lines of no known record type")


def _detect_document(document: object) -> Detection:
    items = document if isinstance(document, list) else [document]
    for item in items[:20]:
        detection = _classify(item) if isinstance(item, dict) else None
        if detection is not None:
            return detection
    return Detection(None, _NO_LOG, "a JSON document of no known kind")


def _classify(record: dict[str, Any]) -> Detection | None:
    """The first kind whose test holds; None if the record fits no particular program."""
    for name, source_format, why, test in _KINDS:
        if test(record):
            return Detection(source_format, name, why)
    return None


def _type(record: Mapping[str, Any]) -> str:
    kind = record.get("type")
    return kind if isinstance(kind, str) else ""


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    wanted = frozenset(keys)
    return lambda record: wanted <= record.keys()


def _is_atif(record: dict[str, Any]) -> bool:
    return str(record.get("schema_version", "")).upper().startswith("ATIF")


def _is_gemini(record: dict[str, Any]) -> bool:
    if "projectHash" in record or "$set" in record or _type(record) == "gemini":
        return True
    history = record.get("history")
    return isinstance(history, list) and _any_has(history, "parts")


def _any_has(items: list[Any], key: str) -> bool:
    return any(isinstance(item, dict) and key in item for item in items[:20])


def _is_qwen(record: dict[str, Any]) -> bool:
    message = record.get("message")
    has_parts = isinstance(message, dict) and "parts" in message
    return "sessionId" in record and (has_parts or "systemPayload" in record)


def _is_kimi(record: dict[str, Any]) -> bool:
    if _type(record) == "metadata" and "protocol_version" in record:
        return True
    return {"agents", "workDir"} <= record.keys() or _type(record).startswith("config.update")


def _is_droid(record: dict[str, Any]) -> bool:
    if _type(record) == "session_start":
        return True
    has_session = "session_id" in record or "sessionId" in record
    return has_session and _type(record) == "message" and "text" in record


def _is_opencode(record: dict[str, Any]) -> bool:
    if record.keys() & {"sessionID", "messageID", "projectID"}:
        return True
    # A text part of storage version 2 has no other keys.
    return {"id", "type", "text", "time"} == record.keys()


def _is_cursor(record: dict[str, Any]) -> bool:
    return "role" in record and isinstance(record.get("message"), dict) and "type" not in record


def _is_openclaw(record: dict[str, Any]) -> bool:
    kind, message = _type(record), record.get("message")
    if kind == "session":
        return bool(record.keys() & {"cwd", "version"})
    if kind == "message" and isinstance(message, dict):
        return "role" in message and "timestamp" in record
    return kind in _OPENCLAW_TYPES and "timestamp" in record


def _is_openclaw_index(record: dict[str, Any]) -> bool:
    """True for `sessions.json`: a map from session keys to facts about the sessions."""
    entries = list(record.values())
    return bool(entries) and all(
        isinstance(entry, dict) and "sessionId" in entry and "updatedAt" in entry
        for entry in entries
    )


def _is_grok(record: dict[str, Any]) -> bool:
    if "chat_format_version" in record:
        return True
    has_grok_type = _type(record) in {"system", "user", "assistant", "reasoning", "tool_result"}
    foreign = record.keys() & {"uuid", "sessionId", "timestamp", "message", "role"}
    return has_grok_type and "content" in record and not foreign


def _is_claude(record: dict[str, Any]) -> bool:
    if isinstance(record.get("loglines"), list):
        return True
    kind = _type(record)
    if kind == "system":
        return "uuid" in record  # other programs write `system` records, too
    return kind == "file-history-snapshot" or (
        kind in _CLAUDE_TYPES and bool(record.keys() & _CLAUDE_KEYS)
    )


def _is_export_of(app: str) -> Callable[[dict[str, Any]], bool]:
    return lambda record: str(record.get("app", "")).lower() == app


def _is_swe_agent(record: dict[str, Any]) -> bool:
    history = record.get("history")
    if isinstance(history, list) and _any_has(history, "message_type"):
        return True
    steps = record.get("trajectory")
    return isinstance(steps, list) and _any_has(steps, "action")


def _is_chat(record: dict[str, Any]) -> bool:
    """True for a list of messages that all have OpenAI roles, or for one such message."""
    conversation = find_messages(record)
    if conversation is not None:
        messages = [message for _, message in conversation[1]]
        return bool(messages) and all(
            isinstance(message, dict) and isinstance(message.get("role"), str)
            for message in messages
        )
    if isinstance(record.get("role"), str) and record["role"] in ROLES:
        said = record.get("content", record.get("message"))
        return isinstance(said, str | list) or bool(record.keys() & {"tool_calls", "function_call"})
    return (
        _type(record) in CALL_TYPES | RESULT_TYPES
        and "role" not in record
        and (isinstance(record.get("function"), dict) or "result" in record)
    )


_Test = Callable[[dict[str, Any]], bool]
# The order matters: a test may assume that those before it have failed.
_KINDS: tuple[tuple[str, SourceFormat | None, str, _Test], ...] = (
    ("atif", SourceFormat.ATIF, "its schema_version", _is_atif),
    ("openclaw_trajectory", None, "traceSchema", _has("traceSchema")),
    (
        "codex",
        SourceFormat.CODEX,
        "rollout records with a payload",
        lambda record: _type(record) in _CODEX_TYPES and "payload" in record,
    ),
    ("gemini", SourceFormat.GEMINI, "projectHash, $set, parts or type gemini", _is_gemini),
    ("qwen", None, "messages of parts, or a systemPayload", _is_qwen),
    ("kimi", None, "wire records or the state of agents", _is_kimi),
    (
        "copilot",
        None,
        "dotted event types with data",
        lambda record: "." in _type(record) and isinstance(record.get("data"), dict),
    ),
    ("droid", None, "session_start, or messages of plain text", _is_droid),
    ("antigravity", None, "numbered steps", _has("step_index", "source")),
    ("opencode", None, "storage parts", _is_opencode),
    ("kiro", None, "conversation_id and history", _has("conversation_id", "history")),
    ("swe_agent", SourceFormat.SWE_AGENT, "a trajectory of actions", _is_swe_agent),
    ("cursor", None, "role and message without type", _is_cursor),
    ("openclaw_index", None, "a map of session ids", _is_openclaw_index),
    ("openclaw", SourceFormat.OPENCLAW, "session header or message records", _is_openclaw),
    ("claude_code_meta", None, "a sub-agent's description", _has("agentType")),
    ("grok", None, "chat history without ids", _is_grok),
    ("claude_code", SourceFormat.CLAUDE_CODE, "typed records with uuid or message", _is_claude),
    ("chatgpt_export", None, "a mapping of nodes", _has("mapping", "current_node")),
    (
        "hermes",
        SourceFormat.CHAT,
        "OpenAI messages of a platform's session",
        lambda record: {"platform", "session_id"} <= record.keys() and _is_chat(record),
    ),
    ("chat", SourceFormat.CHAT, "messages in OpenAI roles", _is_chat),
    ("windsurf", None, "its app name", _is_export_of("windsurf")),
    ("sharegpt", None, "conversations with from and value", _has("conversations")),
)
