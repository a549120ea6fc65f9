"""Reads runs of agents over benchmarks.

- tau2-bench: results, simulations in which another model plays the person.
- Terminus: rows, as data sets of traces hold them: keys pressed in a terminal. The agent answers in
  JSON with the keys to press; what comes back is what the terminal then showed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    decoded,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
    without_thought,
)
from data.contracts import Origin, ReadIssue, Session, SourceFormat

_MARKS = frozenset({"###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"})


def fits_tau2(sample: Sample) -> bool:
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


def read_tau2(source: SourceFile) -> Iterator[Session | ReadIssue]:
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
        _add_tau2(talk, message, line, model)
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


def _add_tau2(talk: Talk, message: Record, line: int, model: str | None) -> None:
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


_TASK = re.compile(
    r"^Task Description:\n(.*?)(?=^Current [Tt]erminal [Ss](?:tate|creen):|\Z)", re.DOTALL | re.M
)


def fits_terminus(sample: Sample) -> bool:
    """A row with `conversations` in roles, and an agent name such as `terminus-2`."""
    return any(
        kind_of(record, "agent").startswith("terminus")
        and any("role" in message for message in dicts(record.get("conversations")))
        for record in sample.records
    )


def read_terminus(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each row."""
    uids = Uids(source.relative)
    for line, row in Talk(source, SourceFormat.TERMINUS).records():
        talk = Talk(source, SourceFormat.TERMINUS)
        for message in dicts(row.get("conversations")):
            _add_terminus(talk, kind_of(message, "role"), plain(message.get("content")), line)
        name = "-".join(filter(None, (first_text(row, "trial_name"), first_text(row, "episode"))))
        yield from talk.session(
            name or None,
            uids=uids,
            agent_name=first_text(row, "agent"),
            started_at=epoch_seconds(row.get("date")),
        )


def _add_terminus(talk: Talk, role: str, text: str, line: int) -> None:
    if role == "assistant":
        _add_answer(talk, text, line)
    elif role == "system":
        talk.system(text, line)
    elif not talk.drafts:
        task = _TASK.search(text)
        talk.person(text, line, said=task[1].strip() if task else None)
    elif talk.open:
        # The terminal shows all keys of an answer at once, after the last of them.
        *silent, last = talk.open
        for _ in silent:
            talk.result("")
        talk.result(text, call_id=last)
    else:
        talk.person(text, line, origin=Origin.AGENT)  # another agent hands the work over


def _add_answer(talk: Talk, text: str, line: int) -> None:
    answer = talk.answer(line)
    thought, text = without_thought(text)
    answer.think(thought)
    held = _object(text)
    answer.say(first_text(held, "analysis", "state_analysis") or (text if not held else ""))
    answer.say(first_text(held, "plan", "explanation"))
    for command in dicts(held.get("commands")):
        given = {"command": plain(command.get("keystrokes")).rstrip("\n")}
        answer.call(None, "terminal", given, line)


def _object(text: str) -> Record:
    """The object in an answer, which words or a fence may surround."""
    start, end = text.find("{"), text.rfind("}")
    return inner(decoded(text[start : end + 1]))
