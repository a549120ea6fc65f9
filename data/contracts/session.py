"""What a reader yields: sessions and turns, a superset of ATIF (Harbor's trajectory format).

These are plain slotted dataclasses, not pydantic models: half a gigabyte of logs passes
through them, and they are built by our own readers from input that was checked line by line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class SourceFormat(StrEnum):
    """Formats that are read. Detection names many more, as unsupported."""

    OPENCLAW = "openclaw"  # OpenClaw and pi JSONL, v1 and v3
    CLAUDE_CODE = "claude_code"
    CODEX = "codex"
    ATIF = "atif"
    CHAT = "chat"  # OpenAI roles, tau-bench runs, dataclaw exports


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class Origin(StrEnum):
    """Who caused a turn. Only `human` turns are user text for the gates."""

    HUMAN = "human"
    AGENT = "agent"  # assistant turns, and prompts that an agent wrote to a sub-agent
    CRON = "cron"  # scheduled prompts
    SYSTEM = "system"  # heartbeats, hooks, notices, compaction, injected context


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something a person sent along: a path as written, or inline media.

    `path` is the string in the log (POSIX, Windows or bare name), None for inline media.
    `data` holds inline media as base64 text, exactly as logged.
    """

    path: str | None
    mime: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call by the agent with its result, joined by the reader.

    `arguments` is the decoded JSON object (or {"input": text} where the log holds free text).
    `result` is the result's text, None if the log has no result; `line` is 1-based.
    """

    call_id: str
    name: str
    arguments: dict[str, Any]
    result: str | None = None
    is_error: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of one party after split records were merged.

    `text` is what the log holds; `said` is the same after `unwrap` took off transport
    wrappers (only user turns differ). `at` is seconds since the epoch, UTC. `line` is the
    1-based line of the first record (0 where the file is one JSON document).
    """

    index: int
    role: Role
    origin: Origin
    text: str
    said: str
    line: int
    at: float | None = None
    turn_id: str | None = None
    parent_id: str | None = None
    sender: str | None = None
    channel: str | None = None
    thinking: str = ""
    model: str | None = None
    stop_reason: str | None = None  # as logged: "stop", "aborted", "error", "length", …
    attachments: tuple[Attachment, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation on its active branch, in order.

    `session_id` is the log's own id; `uid` is unique in the corpus: the id as a slug plus six
    hex digits of the source path, so that a follow-up file that repeats the id does not clash.
    `dropped` counts records that were understood and left out, by reason
    (`abandoned_branch`, `replayed_prefix`, `duplicate_event`, `bookkeeping`, …).
    """

    uid: str
    session_id: str
    source_format: SourceFormat
    source_path: str  # relative to the root it was found under, POSIX
    turns: tuple[Turn, ...]
    format_version: str | None = None
    cwd: str | None = None
    started_at: float | None = None
    agent_name: str | None = None
    agent_version: str | None = None
    parent_session_id: str | None = None  # set for sub-agent sessions
    system_prompt: str | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadIssue:
    """A unit that could not be read, with what a person needs to mend it (no raw text).

    `unit` is "line", "record" or "file"; `found` names type and length, e.g.
    "text, 640 bytes, not JSON"; `expected` says what would have been read.
    """

    unit: str
    source_path: str
    line: int
    reason: str
    found: str
    expected: str
