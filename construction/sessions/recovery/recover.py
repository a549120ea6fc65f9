"""Turns the turns of a session into task instances."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from construction.mentions.extensions import CODE_EXTENSIONS, extension, is_tool
from construction.mentions.urls import find_urls
from construction.sessions.prompts.redactions import holds_mark
from construction.sessions.recovery.exchanges import Exchange, LeftOutReason, read_exchanges
from construction.sessions.recovery.features import RecoveryConfig, asks_back, closes
from construction.sessions.recovery.segment import decide
from construction.sessions.recovery.shell import READ, WROTE
from data.contracts import AgentAct, CutReason, Scalar, Session, TaskInstance, Turn, UserTurn

_SAID_BEFORE = 3  # turns
_CODE_FILES = 3


@dataclass(frozen=True, slots=True)
class Cut:
    """The boundary before a human turn that begins a new instance, with reason and evidence.

    `evidence` holds the score, the cohesion across the gap (0 to 1), the pause in seconds, and
    the names of the cues that held (rows of `cues.CUES`), strongest first.
    """

    turn_index: int
    reason: CutReason
    evidence: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Recovered:
    """The instances of a session, the cuts between them, and the reasons of turns left out.

    Every turn index is either in `left_out` or in the `turn_indices` of exactly one instance.
    """

    instances: tuple[TaskInstance, ...]
    cuts: tuple[Cut, ...]
    left_out: Mapping[int, LeftOutReason]


@dataclass(frozen=True, slots=True)
class _Group:
    """The exchanges of one instance; `start` is the position of the first in the session."""

    start: int
    exchanges: Sequence[Exchange]
    asks_back: bool
    reason: CutReason


def recover(session: Session, config: RecoveryConfig) -> Recovered:
    """Split a session into task instances; sub-agent sessions yield none."""
    if session.parent_session_id is not None:
        return Recovered((), (), {turn.index: LeftOutReason.SUB_AGENT for turn in session.turns})
    exchanges, left_out = read_exchanges(session)
    asked_back = [asks_back(exchange.reply) for exchange in exchanges]
    groups, cuts = _grouped(exchanges, asked_back, config)
    if groups and all(_closes(exchange.turn) for exchange in groups[0].exchanges):
        left_out |= dict.fromkeys(_indices(groups[0]), LeftOutReason.COURTESY_ONLY)
        groups, cuts = groups[1:], cuts[1:]
        groups[:1] = [replace(group, reason=CutReason.SESSION_START) for group in groups[:1]]
    instances = _instances(session, [exchange.turn.said for exchange in exchanges], groups)
    return Recovered(instances, tuple(cuts), dict(sorted(left_out.items())))


def _grouped(
    exchanges: Sequence[Exchange], asked_back: Sequence[bool], config: RecoveryConfig
) -> tuple[list[_Group], list[Cut]]:
    starts: list[tuple[int, CutReason]] = [(0, CutReason.SESSION_START)] if exchanges else []
    cuts: list[Cut] = []
    for decision in decide(exchanges, asked_back, config):
        if decision.reason is not None:
            starts.append((decision.position, decision.reason))
            first = exchanges[decision.position].turn.index
            cuts.append(Cut(first, decision.reason, decision.evidence))
    ends = [start for start, _ in starts[1:]] + [len(exchanges)]
    groups = [
        _Group(start, exchanges[start:end], any(asked_back[start:end]), reason)
        for (start, reason), end in zip(starts, ends, strict=False)
    ]
    return groups, cuts


def _closes(turn: Turn) -> bool:
    return not turn.attachments and closes(turn.said)


def _instances(
    session: Session, said: Sequence[str], groups: Sequence[_Group]
) -> tuple[TaskInstance, ...]:
    redacted = [any(_is_redacted(exchange) for exchange in group.exchanges) for group in groups]
    urls = session_urls(session) if any(redacted) else ()
    over_code = _is_over_code(act for group in groups for act in _acts(group))
    writers = (exchange.turn.sender for group in groups for exchange in group.exchanges)
    people = tuple(dict.fromkeys(name for name in writers if name))
    return tuple(
        TaskInstance(
            instance_id=f"{session.uid}_i{number}",
            session_uid=session.uid,
            session_id=session.session_id,
            source_format=session.source_format,
            source_path=session.source_path,
            started_by=group.reason,
            user_turns=tuple(_user_turn(exchange.turn) for exchange in group.exchanges),
            turn_indices=tuple(sorted(_indices(group))),
            acts=tuple(_acts(group)),
            session_urls=urls if is_redacted else (),
            reply=_last_reply(group.exchanges),
            asked_back=group.asks_back,
            cwd=session.cwd,
            fingerprint=_fingerprint(group.exchanges),
            said_before=tuple(said[max(0, group.start - _SAID_BEFORE) : group.start]),
            people=people,
            opening=said[0] if said else "",
            over_code=over_code and any(map(_touches_code, _acts(group))),
        )
        for number, (group, is_redacted) in enumerate(zip(groups, redacted, strict=True), start=1)
    )


def _is_over_code(acts: Iterable[AgentAct]) -> bool:
    """Did the agent read several code files that it had not written? A tool of its own is fewer."""
    written: set[str] = set()
    read: set[str] = set()
    for act in acts:
        if act.kind == WROTE:
            written.add(act.path)
        elif act.kind == READ and act.path not in written:
            read.add(act.path)
    return sum(map(_is_code, read)) >= _CODE_FILES


def _touches_code(act: AgentAct) -> bool:
    """A session may turn from a program to something else, which needs none of the program."""
    return act.kind in (READ, WROTE) and _is_code(act.path)


def _is_code(path: str) -> bool:
    return extension(path) in CODE_EXTENSIONS and not is_tool(path)


def _acts(group: _Group) -> Iterator[AgentAct]:
    return (act for exchange in group.exchanges for act in exchange.acts)


def _last_reply(exchanges: Sequence[Exchange]) -> str:
    for exchange in reversed(exchanges):
        if reply := exchange.reply:
            return reply
    return ""


def _user_turn(turn: Turn) -> UserTurn:
    return UserTurn(
        turn.index, turn.line, turn.text, turn.said, turn.at, turn.sender, turn.attachments
    )


def _indices(group: _Group) -> Iterator[int]:
    for exchange in group.exchanges:
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
