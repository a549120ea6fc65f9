"""A session as exchanges: what a person said, and what the agent did until they spoke again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from construction.sessions.recovery.acts import acts_of
from construction.sessions.recovery.lexicon import RESET_COMMANDS
from data.contracts import AgentAct, Origin, Role, Session, Turn

_RESET_NOTICE = re.compile(r"(?<![\w/.-])/(?:new|reset|clear)(?![\w/-]|\.\w)")
_NOTICE_CHARS = 400
_RESET_HEADS = tuple(command + end for command in RESET_COMMANDS for end in (" ", "\n"))
# What agents answer to a heartbeat when there is nothing to say.
_SILENT = frozenset({"", "HEARTBEAT_OK", "NO_REPLY"})
# Looking a member of an enumeration up costs more than comparing it, and turns are many.
_HUMAN, _AGENT = Origin.HUMAN, Origin.AGENT
_CRON, _SYSTEM = Origin.CRON, Origin.SYSTEM
_USER, _ASSISTANT = Role.USER, Role.ASSISTANT


class LeftOutReason(StrEnum):
    """Why a turn belongs to no instance."""

    MACHINE_TURN = "machine_turn"  # a scheduled prompt, a heartbeat, and what the agent did then
    RESET_COMMAND = "reset_command"  # "/new" alone, and the answer to it
    BEFORE_FIRST_REQUEST = "before_first_request"
    COURTESY_ONLY = "courtesy_only"  # thanks with nothing before it to close
    EMPTY_TURN = "empty_turn"
    SUB_AGENT = "sub_agent_session"


@dataclass(slots=True)
class Exchange:
    """One human turn and the turns after it, up to the next human or scheduled one."""

    turn: Turn
    after_reset: bool
    answers: list[Turn] = field(default_factory=list)
    acts: list[AgentAct] = field(default_factory=list)

    @property
    def ended_at(self) -> float | None:
        """When the last turn with a time took place."""
        for turn in reversed(self.answers):
            if turn.at is not None:
                return turn.at
        return self.turn.at

    @property
    def reply(self) -> str:
        """The agent's last text, "" if it said nothing."""
        for turn in reversed(self.answers):
            if turn.role is _ASSISTANT and turn.text.strip() not in _SILENT:
                return turn.text
        return ""


def read_exchanges(session: Session) -> tuple[list[Exchange], dict[int, LeftOutReason]]:
    """The exchanges of a session in order, and the turns that belong to none, by index."""
    exchanges: list[Exchange] = []
    left_out: dict[int, LeftOutReason] = {}
    leaving: LeftOutReason | None = LeftOutReason.BEFORE_FIRST_REQUEST
    after_reset = False
    for turn in session.turns:
        if opens_exchange(turn):
            reset_inside = turn.said.lstrip()[:12].lower().startswith(_RESET_HEADS)
            exchanges.append(Exchange(turn, after_reset or reset_inside))
            leaving, after_reset = None, False
            continue
        reason = None if turn.origin is _AGENT else _reason_to_leave(turn)
        if reason is not None:
            if reason is LeftOutReason.EMPTY_TURN:
                left_out[turn.index] = reason
                continue
            after_reset = after_reset or reason is LeftOutReason.RESET_COMMAND
            leaving = reason
        if leaving is None:
            exchanges[-1].answers.append(turn)
            if turn.tool_calls:
                exchanges[-1].acts.extend(acts_of(turn))
        else:
            left_out[turn.index] = leaving
    return exchanges, left_out


def opens_exchange(turn: Turn) -> bool:
    """Does a person ask or send something here? Empty turns and bare resets do not count."""
    if turn.origin is not _HUMAN:
        return False
    said = turn.said.strip()
    return bool(turn.attachments) or (said != "" and said.lower() not in RESET_COMMANDS)


def _reason_to_leave(turn: Turn) -> LeftOutReason | None:
    """The reason if this turn, and the agent's turns after it, belong to no task."""
    if turn.origin is _HUMAN:
        return LeftOutReason.RESET_COMMAND if turn.said.strip() else LeftOutReason.EMPTY_TURN
    if turn.origin is _CRON:
        return LeftOutReason.MACHINE_TURN
    if turn.role is not _USER or turn.origin is not _SYSTEM:
        return None
    head = turn.text[:_NOTICE_CHARS]
    if "/" in head and _RESET_NOTICE.search(head):
        return LeftOutReason.RESET_COMMAND
    return LeftOutReason.MACHINE_TURN if "HEARTBEAT" in head.upper() else None
