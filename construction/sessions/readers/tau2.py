"""Reads results of tau2-bench: simulations in which another model plays the person."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    dicts,
    first_text,
    inner,
    plain,
    type_name,
)
from data.contracts import ReadIssue, Session, SourceFormat

_MARKS = frozenset({"###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"})


def fits(sample: Sample) -> bool:
    """`simulations` next to tasks or info, or one simulation with its task's ID and reward."""
    return any(
        (isinstance(record.get("simulations"), list) and bool(record.keys() & {"tasks", "info"}))
        or _is_simulation(record)
        for record in sample.records
    )


def _is_simulation(record: Record) -> bool:
    return {"task_id", "messages"} <= record.keys() and bool(
        record.keys() & {"termination_reason", "reward_info"}
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each simulation; the calls of the one who plays the person are left out."""
    uids = Uids(source.relative)
    issues: list[ReadIssue] = []
    for line, held in objects(source, issues):
        for run in dicts(held.get("simulations")) or [held]:
            yield from _simulation(source, uids, run, inner(held, "info"), line)
    yield from issues


def _simulation(
    source: SourceFile, uids: Uids, run: Record, info: Record, line: int
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.TAU2)
    model = first_text(inner(info, "agent_info"), "llm")
    for message in dicts(run.get("messages")):
        _add(talk, message, line, model)
    trial = f"_trial_{run['trial']}" if isinstance(run.get("trial"), int) else ""
    name = first_text(run, "id") or f"task_{plain(run.get('task_id'))}{trial}"
    reward = inner(run, "reward_info").get("reward")
    yield from talk.session(
        name,
        uids=uids,
        agent_name="tau2",
        started_at=epoch_seconds(run.get("start_time")),
        extra={"reward": reward} if isinstance(reward, int | float) else {},
    )


def _add(talk: Talk, message: Record, line: int, model: str | None) -> None:
    role, text = message.get("role"), plain(message.get("content"))
    at = epoch_seconds(message.get("timestamp"))
    calls = dicts(message.get("tool_calls"))
    if role == "assistant":
        answer = talk.answer(line, at=at, model=model)
        answer.say(text)
        for call in calls:
            function = inner(call, "function") or call
            answer.call(call.get("id"), function.get("name"), function.get("arguments"), line)
    elif role == "user":
        if calls:
            talk.dropped["call_of_user"] += len(calls)
        if text.strip() in _MARKS:
            talk.notice(text, line, at=at)
        else:
            talk.person(text, line, at=at)
    elif role == "tool":
        for result in dicts(message.get("tool_messages")) or [message]:
            if result.get("requestor") == "user":
                talk.skip("result_of_user")
                continue
            call_id = plain(result.get("id") or result.get("tool_call_id"))
            talk.results.add(call_id, plain(result.get("content")), result.get("error") is True)
    elif role == "system":
        talk.system(text, line, at=at)
    else:
        talk.unexpected(line, f"a message of role {type_name(role)}")
