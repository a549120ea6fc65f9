"""A demo session before it is written in a log format: who said and did what, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Flavor(StrEnum):
    """The log formats that are written; several are variants that one reader reads."""

    OPENCLAW = "openclaw"
    PI = "pi"
    CLAUDE_CODE = "claude_code"
    CODEX = "codex"
    ATIF = "atif"
    CHAT_JSON = "chat_json"
    CHAT_LINES = "chat_lines"
    TAU = "tau"
    DATACLAW = "dataclaw"


class Tool(StrEnum):
    """What the agent can do; each format has its own names for it."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    FETCH = "fetch"


@dataclass(frozen=True, slots=True)
class Call:
    """One call: `target` is a path, a command or a URL; `content` is what is written."""

    tool: Tool
    target: str
    result: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class Human:
    """A person's message. `text` is `said` with the attachment markers the person's client adds.

    `task` counts the task instances of the session, from 0. `at` is in seconds since the epoch,
    here and below.
    """

    at: int
    said: str
    text: str
    sender: str
    task: int


@dataclass(frozen=True, slots=True)
class Agent:
    at: int
    text: str
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    stop: str = "stop"


@dataclass(frozen=True, slots=True)
class Machine:
    """A turn that was not typed by a person: `heartbeat`, `cron` or `flush`."""

    at: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Compaction:
    at: int
    summary: str


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A message and its answer that the person took back: an abandoned branch."""

    at: int
    text: str
    answer: str


Event = Human | Agent | Machine | Compaction | Abandoned


@dataclass(frozen=True, slots=True)
class Script:
    """One session. `number` is its position in the corpus, `block` the folder it is stored in.

    `digest` is 64 hex digits that belong to the session; ids are cut from it.
    """

    number: int
    block: int
    digest: str
    flavor: Flavor
    language: str
    channel: str
    cwd: str
    started: int
    sender: str
    events: tuple[Event, ...] = field(repr=False)

    @property
    def session_id(self) -> str:
        """A UUID that belongs to the session."""
        h = self.digest
        return f"{h[:8]}-{h[8:12]}-4{h[12:15]}-8{h[15:18]}-{h[18:30]}"

    def human_turns(self) -> tuple[Human, ...]:
        return tuple(event for event in self.events if isinstance(event, Human))
