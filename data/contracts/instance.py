"""Task instances: task-level candidates recovered from the turns of a session."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from data.contracts.session import Attachment, SourceFormat


class CutReason(StrEnum):
    """Why an instance starts where it starts (and the one before it ended)."""

    SESSION_START = "session_start"
    EXPLICIT_RESET = "explicit_reset"
    AFTER_DELIVERY = "after_delivery"
    LONG_PAUSE = "long_pause"
    TOPIC_SHIFT = "topic_shift"
    MARKED_AS_NEW = "marked_as_new"


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
class TaskInstance:
    """One task-level candidate, self-sufficient for the gates and for packaging.

    `session_urls` holds every URL of the raw session, and is filled only if a user turn of
    this instance holds a redaction (the restoration gate alone needs it).
    `reply` is the agent's last text; `asked` is true if the agent ever ended a turn of this
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
    asked: bool = False
    cwd: str | None = None
    fingerprint: str = ""
    # The words of the person before this instance in the same session, newest last, at most
    # three: a request that leans on them is not self-sufficient.
    said_before: tuple[str, ...] = ()
