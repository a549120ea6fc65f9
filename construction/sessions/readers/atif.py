"""Reads ATIF trajectories (Harbor RFC 0001) 1.0 to 1.8, including exports of this project."""

from __future__ import annotations

import itertools
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from construction.sessions.readers.atif_steps import (
    SOURCES,
    foreign_turn,
    is_handover,
    message_parts,
    ours,
    own_turn,
)
from construction.sessions.readers.source import Sample, SourceFile, json_document
from construction.sessions.readers.turns import Uids, text_field
from data.contracts import Origin, ReadIssue, Session, SourceFormat, Turn

CONTINUED = "continued_trajectory_ref"
_VERSION = re.compile(r"ATIF-v(1\.[0-8])")


@dataclass(frozen=True, slots=True)
class _Names:
    uid: str
    session_id: str
    parent: str | None
    is_root: bool


def fits(sample: Sample) -> bool:
    """A `schema_version` that begins with ATIF."""
    versions = (str(record.get("schema_version", "")) for record in sample.records)
    return any(version.upper().startswith("ATIF") for version in versions)


def parts(path: Path) -> list[Path]:
    """The trajectory of a trial of Harbor, and the agent's own logs of the same run beside it."""
    folder = path.parent
    is_trial = path.name == "trajectory.json" and folder.name == "agent"
    if not is_trial or not (folder.parent / "result.json").is_file():
        return []
    others = itertools.islice(folder.rglob("*"), _MOST_FILES)
    logs = (file for file in others if not file.name.startswith("trajectory"))
    return [path, *sorted(file for file in logs if file.is_file())]


_MOST_FILES = 100_000


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The trajectory, and a separate session for each embedded sub-agent's trajectory.

    Steps copied from an earlier trajectory are dropped as `replayed_prefix`; the reference to a
    continuation is kept as `extra["continued_trajectory_ref"]`. A trajectory that names a
    parent is a sub-agent's, also in a file of its own. An unreadable step becomes an
    issue, the others are read. Exports of `to_atif` are read back unchanged.
    """
    document = json_document(source)
    if isinstance(document, ReadIssue):
        yield document
        return
    uids = Uids(source.relative)
    waiting: deque[tuple[Any, str | None]] = deque([(document, None)])
    number = 0
    while waiting:
        trajectory, parent = waiting.popleft()
        issue = _unreadable(trajectory, source.relative)
        if issue is not None:
            yield issue
        else:
            session_id = _session_id(trajectory, source.relative, number)
            names = _Names(uids.give(session_id), session_id, parent, is_root=number == 0)
            yield from _read(trajectory, source.relative, names)
            embedded = trajectory.get("subagent_trajectories")
            if isinstance(embedded, list):
                waiting.extend((inner, session_id) for inner in embedded)
        number += 1


def _unreadable(trajectory: object, relative: str) -> ReadIssue | None:
    expected = "an ATIF trajectory 1.0-1.8: an object with schema_version and steps"
    if not isinstance(trajectory, dict):
        description = type(trajectory).__name__
    elif not isinstance(steps := trajectory.get("steps"), list):
        description = f"steps: {type(steps).__name__}"
    else:
        version = trajectory.get("schema_version")
        if isinstance(version, str) and _VERSION.fullmatch(version):
            return None
        length = f", {len(version)} characters" if isinstance(version, str) else ""
        description = f"schema_version: {type(version).__name__}{length}"
    return ReadIssue("file", relative, 0, "file.not_atif", description, expected)


def _session_id(trajectory: dict[str, Any], relative: str, number: int) -> str:
    """The session id; sub-agents share it with their run and use the trajectory's id instead."""
    keys = ("trajectory_id", "session_id") if number else ("session_id", "trajectory_id")
    named = text_field(trajectory, keys[0]) or text_field(trajectory, keys[1])
    return named or f"{PurePosixPath(relative).stem}{f'-subagent-{number}' if number else ''}"


def _read(
    trajectory: dict[str, Any], relative: str, names: _Names
) -> Iterator[Session | ReadIssue]:
    fields = ours(trajectory)
    agent = trajectory.get("agent")
    agent = agent if isinstance(agent, dict) else {}
    own = agent.get("extra") if fields is None else None
    parent = names.parent or (
        text_field(own, "parent_session_id") if isinstance(own, dict) else None
    )
    prompts_by = Origin.AGENT if parent is not None or not names.is_root else None
    hands_over = False
    takes_prompt = fields is None or fields.get("system_prompt") is True
    prompt: str | None = None
    turns: list[Turn] = []
    dropped: Counter[str] = Counter()
    for number, step in enumerate(trajectory["steps"], start=1):
        if not isinstance(step, dict) or str(step.get("source")) not in SOURCES:
            yield _bad_step(step, number, relative)
        elif step.get("is_copied_context") is True:
            dropped["replayed_prefix"] += 1
        elif number == 1 and takes_prompt and step["source"] == "system":
            prompt = message_parts(step.get("message"))[0]
        elif fields is not None:
            turns.append(own_turn(len(turns), step))
        else:
            model = text_field(agent, "model_name")
            origin = Origin.AGENT if hands_over else prompts_by
            turns.append(foreign_turn(len(turns), step, model, origin))
            hands_over = is_handover(step)
    session = replace(
        _session(trajectory, agent, relative, names, turns),
        parent_session_id=parent,
        system_prompt=prompt,
        dropped=dict(dropped),
    )
    yield session if fields is None else _as_exported(session, fields)


def _session(
    trajectory: dict[str, Any],
    agent: dict[str, Any],
    relative: str,
    names: _Names,
    turns: Sequence[Turn],
) -> Session:
    """The session of a trajectory, without what its steps alone tell."""
    return Session(
        uid=names.uid,
        session_id=names.session_id,
        source_format=SourceFormat.ATIF,
        source_path=relative,
        turns=tuple(turns),
        format_version=trajectory["schema_version"].removeprefix("ATIF-v"),
        started_at=next((turn.at for turn in turns if turn.at is not None), None),
        agent_name=text_field(agent, "name"),
        agent_version=text_field(agent, "version"),
        extra={CONTINUED: ref} if (ref := text_field(trajectory, CONTINUED)) else {},
    )


def _as_exported(session: Session, fields: dict[str, Any]) -> Session:
    """The session with the fields that only our exports hold; `fields` is checked, not trusted."""
    counts = fields.get("dropped")
    extra = fields.get("extra")
    started = fields.get("started_at")
    before = counts if isinstance(counts, dict) else {}
    dropped = Counter({key: n for key, n in before.items() if type(n) is int and n > 0})
    dropped.update(session.dropped)
    return replace(
        session,
        cwd=text_field(fields, "cwd"),
        started_at=started if isinstance(started, float) else None,
        agent_name=text_field(fields, "agent_name"),
        agent_version=text_field(fields, "agent_version"),
        parent_session_id=text_field(fields, "parent_session_id"),
        dropped=dict(dropped),
        extra={**(extra if isinstance(extra, dict) else {}), **session.extra},
    )


def _bad_step(step: object, number: int, relative: str) -> ReadIssue:
    description = f"step {number}: {type(step).__name__}"
    if isinstance(step, dict):
        description += f", source: {type(step.get('source')).__name__}"
    expected = "an object whose source is system, user or agent"
    return ReadIssue("record", relative, 0, "record.bad_step", description, expected)
