"""What enters: sessions and turns as readers yield them, task instances recovered from them, and
signals, what people install from a skill registry at one date.

Sessions are a superset of ATIF (Harbor's trajectory format).

Those of sessions are plain slotted dataclasses, not pydantic models: half a gigabyte of logs passes
through them, and they are built by our own readers from input that was checked line by line.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter


class SourceFormat(StrEnum):
    """Formats that are read. Detection recognises many more and reports them as unsupported."""

    OPENCLAW = "openclaw"  # OpenClaw and pi JSONL, v1 and v3
    CLAUDE_CODE = "claude_code"
    CODEX = "codex"
    CODEX_EXEC = "codex_exec"  # the stream of `codex exec --json`
    ATIF = "atif"
    CHAT = "chat"  # OpenAI roles, tau-bench runs, dataclaw exports
    HERMES = "hermes"
    GEMINI = "gemini"  # Gemini CLI, JSON lines and documents
    QWEN = "qwen"
    KIMI = "kimi"
    KIRO = "kiro"
    COPILOT_CLI = "copilot_cli"
    CURSOR = "cursor"
    ANTIGRAVITY = "antigravity"
    AUTOGEN = "autogen"  # saved states of AutoGen's teams and agents
    OPENCODE = "opencode"
    OPENHANDS = "openhands"
    GOOSE = "goose"
    CLINE = "cline"  # and Roo Code
    AMP = "amp"
    AIDER = "aider"
    SPECSTORY = "specstory"
    VSCODE_CHAT = "vscode_chat"
    SWE_AGENT = "swe_agent"  # trajectories of SWE-agent
    MINI_SWE_AGENT = "mini_swe_agent"
    ADK = "adk"  # Google's Agent Development Kit
    VERCEL_AI = "vercel_ai"
    OPENAI_RESPONSES = "openai_responses"
    INSPECT = "inspect"
    TAU2 = "tau2"
    TERMINUS = "terminus"
    TRAE = "trae"
    DROID = "droid"
    AGNO = "agno"
    OPENAI_AGENTS = "openai_agents"  # sessions of the OpenAI Agents SDK in SQLite
    CONTINUE = "continue"
    CRUSH = "crush"
    MANAGED_AGENTS = "managed_agents"  # the events of a hosted agent's session
    LANGSMITH = "langsmith"
    LANGFUSE = "langfuse"
    OPENINFERENCE = "openinference"
    OTEL_GENAI = "otel_genai"


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
    """An attachment of a message: a path as written, or inline media.

    `path` is the string in the log (POSIX, Windows or bare name), None for inline media.
    `data` holds inline media as base64 text, exactly as logged.
    """

    path: str | None
    mime: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call by the agent, with its result joined by the reader.

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
    """One message of one party, after split records were merged.

    `text` is what the log holds; `said` is the text after `unwrap` removed transport wrappers
    (only user turns differ). `at` is seconds since the epoch, UTC. `line` is the
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
    source_path: str  # relative to the input root, POSIX
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
    """A unit that could not be read, with what a person needs to repair it (no raw text).

    `unit` is "line", "record" or "file"; `actual` names type and length, e.g.
    "text, 640 bytes, not JSON"; `expected` describes what can be read.
    """

    unit: str
    source_path: str
    line: int
    reason: str
    actual: str
    expected: str


class CutReason(StrEnum):
    """Why an instance starts where it starts (and the one before it ended)."""

    SESSION_START = "session_start"
    EXPLICIT_RESET = "explicit_reset"
    AFTER_DELIVERY = "after_delivery"
    LONG_PAUSE = "long_pause"
    OTHER_TASK = "other_task"  # a model read that another task begins


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A turn that a person typed: position and line in the log, raw and unwrapped text."""

    index: int
    line: int
    text: str
    said: str
    at: float | None = None
    sender: str | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentAct:
    """What the agent did with one file: `read`, `wrote` or `ran`. Path as logged."""

    kind: str
    path: str
    turn_index: int


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text file as the log holds it, whole, before the agent changed it. Path as logged."""

    path: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class TaskInstance:
    """One task-level candidate, self-sufficient for the gates and for packaging.

    `session_urls` holds every URL of the raw session, and is filled only if a user turn of
    this instance holds a redaction (the restoration gate alone needs it).
    `reply` is the agent's last text; `asked_back` is true if the agent ever ended a turn of this
    instance by asking back. `fingerprint` is a SHA-256 over the user turns' texts, equal for
    copies of a session in several files.
    """

    instance_id: str  # <session uid>_i<k>, k from 1
    session_uid: str
    session_id: str
    source_format: SourceFormat
    source_path: str
    started_by: CutReason
    user_turns: tuple[UserTurn, ...]
    turn_indices: tuple[int, ...]
    acts: tuple[AgentAct, ...] = ()
    session_urls: tuple[str, ...] = ()
    reply: str = ""
    asked_back: bool = False
    cwd: str | None = None
    fingerprint: str = ""
    # The person's messages before this instance in the same session, newest last, at most three:
    # a request that depends on them is not self-sufficient.
    said_before: tuple[str, ...] = ()
    # The agent's last text after each user turn, "" where it wrote none.
    answers: tuple[str, ...] = ()
    # The tools that it called, with how often: "Bash ×4".
    tools: tuple[str, ...] = ()
    # Files that a program which it ran made, as far as the log tells.
    made: tuple[str, ...] = ()
    # Files that the agent read: whose text the log holds whole, and paths of which it holds a part.
    kept: tuple[KeptText, ...] = ()
    in_part: tuple[str, ...] = ()


def dump_instance(instance: TaskInstance) -> str:
    """An instance as JSON text: the private payload that stages hand on."""
    return orjson.dumps(instance).decode()


def load_instance(payload: str) -> TaskInstance:
    """The instance that `dump_instance` wrote."""
    return _adapter().validate_json(payload)


@cache
def _adapter() -> TypeAdapter[TaskInstance]:
    """Built when it is first needed: it costs milliseconds at the start of every command."""
    return TypeAdapter(TaskInstance)


class Popularity(StrEnum):
    """What registries count of a skill; one of them is declared as the measure of a snapshot.

    `listings` is 1 for each entry of a source that counts nothing.
    """

    DOWNLOADS = "downloads"
    STARS = "stars"
    INSTALLS_CURRENT = "installs_current"
    INSTALLS_ALL_TIME = "installs_all_time"
    COMMENTS = "comments"
    VERSIONS = "versions"
    USES = "uses"
    LISTINGS = "listings"


@dataclass(frozen=True, slots=True)
class SignalProvenance:
    """The origin of a signal. `rank` is 1-based: as stated by the source, otherwise by the measure.

    `date` is the date of the snapshot, `url` the skill's page or API address where it is known.
    """

    source: str
    date: dt.date
    url: str | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """One skill of a registry. Its texts are untrusted: show them escaped.

    `popularity` holds the counts that the source gives; a count that it does not give is absent,
    which is not 0. `created_at` is in seconds since the epoch, UTC. `tags` are sorted.
    """

    slug: str
    name: str
    summary: str
    owner: str | None
    popularity: Mapping[Popularity, int]
    tags: tuple[str, ...]
    provenance: SignalProvenance
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class SignalSnapshot:
    """The signals of one source at one date, sorted by slug; each slug once, each with `measure`.

    `digest` is the SHA-256 (hex) of all the rest, and does not depend on the order of the input.
    """

    date: dt.date
    source: str
    measure: Popularity
    signals: tuple[Signal, ...]
    digest: str
