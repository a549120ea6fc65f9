"""Turns the turns of a session into task instances.

Where one task ends and the next begins is a question of meaning, which a model answers
(`by_model`). Without its answer structure alone decides: a reset, a long pause, and material of
another task after something was delivered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from construction.mentions.extensions import tail
from construction.mentions.spans import find_file_spans
from construction.mentions.urls import find_urls
from construction.sessions.recovery.agent_work import made_by_programs, shown_files, tools_called
from construction.sessions.recovery.exchanges import Exchange, LeftOutReason, read_exchanges
from construction.sessions.recovery.shell import WROTE
from construction.sessions.redactions import holds_mark
from data.contracts import AgentAct, CutReason, Session, StageConfig, TaskInstance, Turn, UserTurn

_SAID_BEFORE = 3  # turns
_NAMED_CHARS = 4_000  # of a message in which file names are looked for


class RecoveryConfig(StageConfig):
    """When structure alone separates two tasks, and how much of a session to show to a model.

    `long_pause_seconds`: a pause this long (12 hours) separates work on different files.
    `prompt_tokens` limits one question about a session and `message_tokens` one message (longer
    ones are cut in the middle); `window_turns` is the number of messages per question. Longer
    sessions are split into windows that overlap by `overlap_turns`.
    """

    long_pause_seconds: float = Field(default=43_200.0, gt=0)
    prompt_tokens: int = Field(default=12_000, gt=0)
    message_tokens: int = Field(default=900, gt=0)
    window_turns: int = Field(default=60, gt=1)
    overlap_turns: int = Field(default=6, ge=1)


@dataclass(frozen=True, slots=True)
class Recovered:
    """The instances of a session and the reasons of turns left out.

    Every turn index is either in `left_out` or in the `turn_indices` of exactly one instance.
    """

    instances: tuple[TaskInstance, ...]
    left_out: Mapping[int, LeftOutReason]


@dataclass(frozen=True, slots=True)
class Tasks:
    """Which messages of a person form one task, by their turn indices; `reason` of the cuts.

    `no_task` are messages that ask for no work. A message that is in neither belongs to the task of
    the one before it.
    """

    tasks: tuple[tuple[int, ...], ...]
    no_task: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """The exchanges of one instance by their positions in the session, ascending."""

    positions: tuple[int, ...]
    reason: CutReason


def recover(session: Session, config: RecoveryConfig, tasks: Tasks | None = None) -> Recovered:
    """Split a session into task instances; sub-agent sessions yield none.

    `tasks` is a model's answer about this session; without it structure alone decides.
    """
    if session.parent_session_id is not None:
        return Recovered((), {turn.index: LeftOutReason.SUB_AGENT for turn in session.turns})
    exchanges, left_out = read_exchanges(session)
    if tasks is None:
        groups, idle = _by_structure(exchanges, config), list[int]()
    else:
        groups, idle = _as_told(exchanges, tasks)
    for position in idle:
        left_out |= dict.fromkeys(_indices([exchanges[position]]), LeftOutReason.NO_TASK)
    return Recovered(_instances(session, exchanges, groups), dict(sorted(left_out.items())))


def _by_structure(exchanges: Sequence[Exchange], config: RecoveryConfig) -> list[_Group]:
    groups: list[list[int]] = []
    reasons: list[CutReason] = []
    known: set[str] = set()
    has_delivered = False
    for position, exchange in enumerate(exchanges):
        brought, used = _brought(exchange), _used(exchange)
        pause = _pause(exchanges[position - 1], exchange) if position else 0.0
        reason: CutReason | None = None
        if not position:
            reason = CutReason.SESSION_START
        elif exchange.after_reset:
            reason = CutReason.EXPLICIT_RESET
        elif known.isdisjoint(brought | used):
            if has_delivered and brought:
                reason = CutReason.AFTER_DELIVERY
            elif pause >= config.long_pause_seconds and (brought or used) and known:
                reason = CutReason.LONG_PAUSE
        if reason is not None:
            groups.append([])
            reasons.append(reason)
            known, has_delivered = set(), False
        groups[-1].append(position)
        known |= brought | used
        has_delivered = has_delivered or any(act.kind == WROTE for act in exchange.acts)
    return [_Group(tuple(group), reason) for group, reason in zip(groups, reasons, strict=True)]


def _brought(exchange: Exchange) -> set[str]:
    """The names of the files that a person attaches or names."""
    attached = {tail(item.path).lower() for item in exchange.turn.attachments if item.path}
    spans = find_file_spans(exchange.turn.said[:_NAMED_CHARS])
    return attached | {tail(span.path).lower() for span in spans if not span.doubtful}


def _used(exchange: Exchange) -> set[str]:
    return {tail(act.path).lower() for act in exchange.acts}


def _pause(before: Exchange, after: Exchange) -> float:
    """Seconds without a turn before `after`; 0 where times are not recorded."""
    if after.turn.at is None or before.ended_at is None:
        return 0.0
    return max(0.0, after.turn.at - before.ended_at)


def _as_told(exchanges: Sequence[Exchange], tasks: Tasks) -> tuple[list[_Group], list[int]]:
    """The groups that a model named, in the order of their first messages, and idle positions."""
    position_of = {exchange.turn.index: at for at, exchange in enumerate(exchanges)}
    task_of = {
        position_of[index]: number
        for number, members in enumerate(tasks.tasks)
        for index in members
        if index in position_of
    }
    idle = {position_of[index] for index in tasks.no_task if index in position_of}
    groups: dict[int, list[int]] = {}
    last = 0
    for position in range(len(exchanges)):
        if position in idle and position not in task_of:
            continue
        last = task_of.get(position, last)
        groups.setdefault(last, []).append(position)
    started = [CutReason.SESSION_START, *[CutReason.OTHER_TASK] * len(groups)]
    in_order = sorted(groups.values())
    made = [_Group(tuple(of), reason) for of, reason in zip(in_order, started, strict=False)]
    return made, sorted(idle - task_of.keys())


def _asks_back(reply: str) -> bool:
    """Does the agent's text end with a question mark?"""
    return reply.rstrip().endswith(("?", "？"))


def _instances(
    session: Session, exchanges: Sequence[Exchange], groups: Sequence[_Group]
) -> tuple[TaskInstance, ...]:
    said = [exchange.turn.said for exchange in exchanges]
    members = [[exchanges[position] for position in group.positions] for group in groups]
    redacted = [any(map(_is_redacted, of)) for of in members]
    urls = session_urls(session) if any(redacted) else ()
    made = made_by_programs(session)
    shown = [shown_files(of) for of in members]
    return tuple(
        TaskInstance(
            instance_id=f"{session.uid}_i{number}",
            session_uid=session.uid,
            session_id=session.session_id,
            source_format=session.source_format,
            source_path=session.source_path,
            started_by=group.reason,
            user_turns=tuple(_user_turn(exchange.turn) for exchange in of),
            turn_indices=tuple(sorted(_indices(of))),
            acts=tuple(_acts(of)),
            session_urls=urls if is_redacted else (),
            reply=_last_reply(of),
            asked_back=any(_asks_back(exchange.reply) for exchange in of),
            cwd=session.cwd,
            fingerprint=_fingerprint(of),
            said_before=tuple(said[max(0, group.positions[0] - _SAID_BEFORE) : group.positions[0]]),
            answers=tuple(exchange.reply for exchange in of),
            tools=tools_called(of),
            made=tuple(sorted({act.path for act in _acts(of)} & made)),
            kept=kept,
            in_part=in_part,
        )
        for number, (group, of, is_redacted, (kept, in_part)) in enumerate(
            zip(groups, members, redacted, shown, strict=True), start=1
        )
    )


def _acts(exchanges: Sequence[Exchange]) -> Iterator[AgentAct]:
    return (act for exchange in exchanges for act in exchange.acts)


def _last_reply(exchanges: Sequence[Exchange]) -> str:
    for exchange in reversed(exchanges):
        if reply := exchange.reply:
            return reply
    return ""


def _user_turn(turn: Turn) -> UserTurn:
    return UserTurn(
        turn.index, turn.line, turn.text, turn.said, turn.at, turn.sender, turn.attachments
    )


def _indices(exchanges: Sequence[Exchange]) -> Iterator[int]:
    for exchange in exchanges:
        yield exchange.turn.index
        yield from (turn.index for turn in exchange.answers)


def _is_redacted(exchange: Exchange) -> bool:
    turn = exchange.turn
    return holds_mark(turn.text) or any(
        item.path is not None and holds_mark(item.path) for item in turn.attachments
    )


def _fingerprint(exchanges: Sequence[Exchange]) -> str:
    """SHA-256 of the texts of the human turns, each prefixed with its length."""
    digest = hashlib.sha256()
    for exchange in exchanges:
        raw = exchange.turn.text.encode("utf-8", "surrogatepass")
        digest.update(f"{len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()


def session_urls(session: Session) -> tuple[str, ...]:
    """Every URL in the texts, tool arguments and tool results of a session, in order."""
    urls: dict[str, None] = {}
    for text in _raw_texts(session):
        # Searching a single character is fastest, and most tool results hold no URL.
        if ("/" in text and "://" in text) or "www." in text:
            urls.update((mention.url, None) for mention in find_urls(text))
    return tuple(urls)


def _raw_texts(session: Session) -> Iterator[str]:
    for turn in session.turns:
        yield turn.text
        for call in turn.tool_calls:
            yield from _strings(call.arguments)
            if call.result is not None:
                yield call.result


def _strings(value: object) -> Iterator[str]:
    """The strings in decoded JSON, in document order; iterative, since nesting may be deep."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(reversed(item.values()))
        elif isinstance(item, list):
            stack.extend(reversed(item))
