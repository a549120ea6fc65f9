"""Reads Codex rollouts: JSON lines with or without `payload`, and documents with `items`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers.codex_items import is_injected, without_editor_context
from construction.sessions.readers.codex_log import CodexLog, Draft
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    add_records,
    epoch_seconds,
)
from construction.sessions.readers.turns import (
    agent_turn,
    session_uid,
    system_turn,
    text_field,
    tool_call,
    user_turn,
)
from data.contracts import Origin, ReadIssue, Role, Session, SourceFormat, Turn

_AGENT_NAME = "codex"


_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)


def fits(sample: Sample) -> bool:
    """Typed rollout records with a payload."""
    return any(
        isinstance(kind := record.get("type"), str) and kind in _TYPES and "payload" in record
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of one rollout, which may be incomplete.

    A text logged as event and as item counts once. Context that the harness wrote into user
    messages has system origin, a prompt to a sub-agent agent origin.
    """
    log = CodexLog(source.relative)
    if (yield from add_records(source, "items", log.add, "rollout records")):
        log.settle_events()
        yield _session(log, source.relative)


def _session(log: CodexLog, relative: str) -> Session:
    meta = log.meta
    session_id = (
        text_field(meta, "id") or text_field(meta, "session_id") or PurePosixPath(relative).stem
    )
    by_agent, parent = _spawned_by(meta)
    turns = tuple(_turn(log, index, draft, by_agent) for index, draft in enumerate(log.drafts))
    if unclaimed := log.results.unclaimed():
        log.dropped["unclaimed_result"] = unclaimed
    started = epoch_seconds(meta.get("timestamp"))
    if started is None:
        started = next((turn.at for turn in turns if turn.at is not None), None)
    return Session(
        uid=session_uid(session_id, relative),
        session_id=session_id,
        source_format=SourceFormat.CODEX,
        source_path=relative,
        turns=turns,
        cwd=text_field(meta, "cwd") or log.cwd,
        started_at=started,
        agent_name=_AGENT_NAME,
        agent_version=text_field(meta, "cli_version"),
        parent_session_id=parent,
        system_prompt=_system_prompt(meta),
        dropped=dict(log.dropped),
    )


def _turn(log: CodexLog, index: int, draft: Draft, by_agent: bool) -> Turn:
    if draft.role is Role.ASSISTANT:
        calls = tuple(tool_call(log.results, *call) for call in draft.calls)
        return agent_turn(
            index,
            "\n".join(draft.texts),
            draft.line,
            at=draft.at,
            turn_id=draft.id,
            thinking="\n".join(draft.thoughts),
            model=draft.model,
            stop_reason=draft.stop_reason,
            tool_calls=calls,
        )
    text = "\n".join(draft.texts)
    typed = [part for part in draft.texts if not is_injected(part)]
    if draft.role is Role.SYSTEM or not (typed or draft.media):
        return system_turn(index, text, draft.line, at=draft.at, turn_id=draft.id)
    request, files = without_editor_context("\n".join(typed))
    turn = user_turn(
        index,
        request,
        draft.line,
        at=draft.at,
        turn_id=draft.id,
        attachments=draft.media + files,
        origin=Origin.AGENT if by_agent else None,
    )
    return replace(turn, text=text) if request != text else turn


def _spawned_by(meta: dict[str, Any]) -> tuple[bool, str | None]:
    """(whether an agent started this session, the id of that agent's session if known)."""
    origin = meta.get("source")
    spawn = origin.get("subagent") if isinstance(origin, dict) else None
    if spawn is None:
        return False, None
    thread = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    named = text_field(thread, "parent_thread_id") if isinstance(thread, dict) else None
    return True, named or text_field(meta, "parent_thread_id")


def _system_prompt(meta: dict[str, Any]) -> str | None:
    base = meta.get("base_instructions")
    text = text_field(base, "text") if isinstance(base, dict) else None
    return text or text_field(meta, "instructions")
