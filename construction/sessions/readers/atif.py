"""Reads ATIF trajectories (Harbor RFC 0001) 1.0 to 1.8, including exports of this project."""

from __future__ import annotations

import itertools
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, json_document
from construction.sessions.readers.talk import (
    WEB,
    Uids,
    agent_turn,
    block_text,
    decoded_arguments,
    dicts,
    first_text,
    inline_media,
    inner,
    plain,
    system_turn,
    text_or_none,
    user_turn,
)
from data.contracts import (
    Attachment,
    Origin,
    ReadIssue,
    Role,
    Session,
    SourceFormat,
    ToolCall,
    Turn,
)

EXTRA_KEY = "benchmint"
SOURCES = {"user": Role.USER, "agent": Role.ASSISTANT, "system": Role.SYSTEM}
ORIGINS = {
    Role.USER: Origin.HUMAN,
    Role.ASSISTANT: Origin.AGENT,
    Role.SYSTEM: Origin.SYSTEM,
}
# The tool name for results without a call: what the environment showed after a step.
_OBSERVATION = "observation"
_ORIGIN_NAMES = frozenset(origin.value for origin in Origin)


def _ours(holder: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of this project's export; None if another tool wrote the object."""
    extra = holder.get("extra")
    fields = extra.get(EXTRA_KEY) if isinstance(extra, dict) else None
    return fields if isinstance(fields, dict) else None


def _foreign_turn(
    index: int, step: dict[str, Any], model: str | None, prompts_by: Origin | None
) -> Turn:
    """The turn of a step that another tool wrote.

    `prompts_by` is the origin of user messages where it is known: prompts to a sub-agent.
    """
    text, media = _message_parts(step.get("message"))
    at = epoch_seconds(step.get("timestamp"))
    if step["source"] == "agent":
        return agent_turn(
            index,
            text,
            0,
            at=at,
            thinking=first_text(step, "reasoning_content") or "",
            model=first_text(step, "model_name") or model,
            tool_calls=_attributed(_tool_calls(step)),
        )
    if step["source"] == "system":
        return system_turn(index, text, 0, at=at)
    return user_turn(index, text, 0, at=at, attachments=media, origin=prompts_by)


def _own_turn(index: int, step: dict[str, Any]) -> Turn:
    """The turn of a step that `export_atif` wrote, as it was before the export."""
    fields = _ours(step) or {}
    role = SOURCES[step["source"]]
    text, media = _message_parts(step.get("message"))
    calls = step if role is Role.ASSISTANT else fields
    own_at = fields.get("at")
    said = text_or_none(fields.get("said"))
    return Turn(
        index=index,
        role=role,
        origin=_origin(fields.get("origin"), ORIGINS[role]),
        text=text,
        said=text if said is None else said,
        line=0,
        at=own_at if isinstance(own_at, float) else epoch_seconds(step.get("timestamp")),
        turn_id=text_or_none(fields.get("turn_id")),
        parent_id=text_or_none(fields.get("parent_id")),
        sender=text_or_none(fields.get("sender")),
        channel=text_or_none(fields.get("channel")),
        thinking=text_or_none(calls.get("reasoning_content")) or "",
        model=text_or_none(calls.get("model_name")),
        stop_reason=text_or_none(fields.get("stop_reason")),
        attachments=_attachments(fields.get("attachments"), media),
        tool_calls=_tool_calls(calls),
    )


def _message_parts(message: object) -> tuple[str, tuple[Attachment, ...]]:
    """Text and media of a message; the address of a picture on the web counts as text."""
    if not isinstance(message, list):
        return block_text(message), ()
    texts: list[str] = []
    media: list[Attachment] = []
    for part in message:
        if not isinstance(part, dict):
            continue
        source = part.get("source")
        if isinstance(text := part.get("text"), str):
            texts.append(text)
        elif isinstance(source, dict) and (path := first_text(source, "path")) is not None:
            if path.startswith(WEB):
                texts.append(path)
            else:
                media.append(_media(path, first_text(source, "media_type")))
    return "\n".join(texts), tuple(media)


def _tool_calls(step: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a step joined to the results of its observation, first in, first out."""
    results = _results_by_call(step)
    listed = step.get("tool_calls")
    calls: list[ToolCall] = []
    for call in listed if isinstance(listed, list) else ():
        if not isinstance(call, dict):
            continue
        id_ = first_text(call, "tool_call_id") or ""
        waiting = results.get(id_)
        name = first_text(call, "function_name") or ""
        calls.append(_joined(id_, name, call.get("arguments"), waiting.pop(0) if waiting else {}))
    for id_, unclaimed in results.items():
        calls.extend(_joined(id_, _OBSERVATION, None, result) for result in unclaimed)
    return tuple(calls)


def _attributed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls of a step with what was observed after it, where that names no call.

    As many results as calls belong to them in order; one result is what the last call led to.
    """
    observed = [call for call in calls if call.name == _OBSERVATION and not call.call_id]
    called = [call for call in calls if call.name != _OBSERVATION or call.call_id]
    waiting = [number for number, call in enumerate(called) if call.result is None]
    if not waiting or not observed or len(observed) not in (1, len(waiting)):
        return calls
    for number, result in zip(waiting[-len(observed) :], observed, strict=True):
        called[number] = replace(called[number], result=result.result, is_error=result.is_error)
    return tuple(called)


def _is_handover(step: dict[str, Any]) -> bool:
    """Whether the harness let a sub-agent sum up the work here: the next prompt is its own."""
    observation = step.get("observation")
    listed = observation.get("results") if isinstance(observation, dict) else None
    return step.get("source") == "system" and any(
        isinstance(result, dict) and bool(result.get("subagent_trajectory_ref"))
        for result in (listed if isinstance(listed, list) else ())
    )


def _results_by_call(step: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    observation = step.get("observation")
    listed = observation.get("results") if isinstance(observation, dict) else None
    results: dict[str, list[dict[str, Any]]] = {}
    for result in listed if isinstance(listed, list) else ():
        if isinstance(result, dict):
            results.setdefault(first_text(result, "source_call_id") or "", []).append(result)
    return results


def _joined(id_: str, name: str, arguments: object, result: dict[str, Any]) -> ToolCall:
    content = result.get("content")
    text = None if content is None else _message_parts(content)[0]
    failed = (_ours(result) or {}).get("is_error") is True
    return ToolCall(id_, name, decoded_arguments(arguments), text, failed)


def _attachments(listed: object, media: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """Attachments in their order; `part` is the index of a media part of the message."""
    if not isinstance(listed, list):
        return tuple(media)
    attachments: list[Attachment] = []
    for item in listed:
        if not isinstance(item, dict):
            continue
        part = item.get("part")
        if isinstance(part, int) and 0 <= part < len(media):
            attachments.append(media[part])
        elif part is None:
            attachments.append(
                Attachment(*(text_or_none(item.get(key)) for key in ("path", "mime", "data")))
            )
    return tuple(attachments)


def _media(path: str, mime: str | None) -> Attachment:
    inline = inline_media(path)
    return inline if inline.data is not None else Attachment(path, mime)


def _origin(value: object, default: Origin) -> Origin:
    return Origin(value) if isinstance(value, str) and value in _ORIGIN_NAMES else default


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
    versions = (plain(record.get("schema_version", "")) for record in sample.records)
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
    named = first_text(trajectory, keys[0]) or first_text(trajectory, keys[1])
    return named or f"{PurePosixPath(relative).stem}{f'-subagent-{number}' if number else ''}"


def _read(
    trajectory: dict[str, Any], relative: str, names: _Names
) -> Iterator[Session | ReadIssue]:
    fields = _ours(trajectory)
    agent = inner(trajectory, "agent")
    own = agent.get("extra") if fields is None else None
    parent = names.parent or (
        first_text(own, "parent_session_id") if isinstance(own, dict) else None
    )
    prompts_by = Origin.AGENT if parent is not None or not names.is_root else None
    hands_over = False
    takes_prompt = fields is None or fields.get("system_prompt") is True
    prompt: str | None = None
    turns: list[Turn] = []
    dropped: Counter[str] = Counter()
    steps = trajectory["steps"] if fields is not None else _gathered(trajectory["steps"], dropped)
    for number, step in enumerate(steps, start=1):
        if not isinstance(step, dict) or plain(step.get("source")) not in SOURCES:
            yield _bad_step(step, number, relative)
        elif step.get("is_copied_context") is True:
            dropped["replayed_prefix"] += 1
        elif number == 1 and takes_prompt and step["source"] == "system":
            prompt = _message_parts(step.get("message"))[0]
        elif fields is not None:
            turns.append(_own_turn(len(turns), step))
        else:
            model = first_text(agent, "model_name")
            origin = Origin.AGENT if hands_over else prompts_by
            turns.append(_foreign_turn(len(turns), step, model, origin))
            hands_over = _is_handover(step)
    session = replace(
        _session(trajectory, agent, relative, names, turns),
        parent_session_id=parent,
        system_prompt=prompt,
        dropped=dict(dropped),
    )
    yield session if fields is None else _as_exported(session, fields)


def _gathered(steps: Sequence[Any], dropped: Counter[str]) -> list[Any]:
    """The steps with the results that a converter logged as steps of their own at their calls."""
    callers: dict[str, dict[str, Any]] = {}
    gathered: list[Any] = []
    for step in steps:
        calls = dicts(step.get("tool_calls")) if isinstance(step, dict) else []
        results = dicts(inner(step, "observation").get("results"))
        named = first_text(inner(step, "extra"), "tool_call_id")
        ids = [first_text(result, "source_call_id") or named for result in results]
        if calls or not ids or any(id_ not in callers for id_ in ids):
            step = dict(step) if isinstance(step, dict) else step
            gathered.append(step)
            own = (first_text(call, "tool_call_id") for call in calls)
            callers.update({id_: step for id_ in own if id_})
            continue
        code = inner(step, "extra").get("exec_exit_code")
        for id_, result in zip(ids, results, strict=True):
            caller = callers[plain(id_)]
            before = dicts(inner(caller, "observation").get("results"))
            extra = {"extra": {EXTRA_KEY: {"is_error": True}}} if code not in (None, 0) else {}
            made = {**extra, **result, "source_call_id": id_}
            caller["observation"] = {"results": [*before, made]}
        said, shown = (_message_parts(step.get("message"))[0], map(_shown, results))
        if said and said not in shown:
            gathered.append({key: step[key] for key in step if key != "observation"})
        else:
            dropped["duplicate_event"] += 1
    return gathered


def _shown(result: dict[str, Any]) -> str:
    return _message_parts(result.get("content"))[0]


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
        agent_name=first_text(agent, "name"),
        agent_version=first_text(agent, "version"),
        extra={CONTINUED: ref} if (ref := first_text(trajectory, CONTINUED)) else {},
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
        cwd=first_text(fields, "cwd"),
        started_at=started if isinstance(started, float) else None,
        agent_name=first_text(fields, "agent_name"),
        agent_version=first_text(fields, "agent_version"),
        parent_session_id=first_text(fields, "parent_session_id"),
        dropped=dict(dropped),
        extra={**(extra if isinstance(extra, dict) else {}), **session.extra},
    )


def _bad_step(step: object, number: int, relative: str) -> ReadIssue:
    description = f"step {number}: {type(step).__name__}"
    if isinstance(step, dict):
        description += f", source: {type(step.get('source')).__name__}"
    expected = "an object whose source is system, user or agent"
    return ReadIssue("record", relative, 0, "record.bad_step", description, expected)
