"""Reads chat messages in OpenAI roles: lines, documents, runs (tau-bench), exports (dataclaw)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers.chat_messages import converse
from construction.sessions.readers.source import (
    SourceFile,
    epoch_seconds,
    json_lines,
    read_head,
)
from construction.sessions.readers.turns import Uids
from data.contracts import ReadIssue, Session, SourceFormat

_MESSAGE_KEYS = ("messages", "traj")
_ID_KEYS = ("session_id", "sessionId", "conversation_id", "id")
_START_KEYS = ("session_start", "start_time", "startTime", "created_at", "timestamp")


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The sessions of a file.

    JSON lines are the messages of one session, or sessions with a list of messages each. A
    document is a session, a list of messages, or a list of sessions.
    """
    uids = Uids(source.relative)
    loose: list[tuple[int, object]] = []
    for item in _items(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        line, value = item
        conversation = find_messages(value)
        if conversation is None:
            loose.append(item)
        else:
            yield from _session(source, uids, *conversation, line)
    if loose:
        yield from _session(source, uids, {}, loose, 0)


def _items(source: SourceFile) -> Iterator[tuple[int, object] | ReadIssue]:
    """(line, value) of each line, or of each item of a document (line 0)."""
    lines = json_lines(source)
    first = next(lines, None)
    document = None if isinstance(first, tuple) else read_head(source).document
    if isinstance(document, list):
        yield from ((0, item) for item in document)
    elif document is not None:
        yield 0, document
    elif first is not None:
        yield first
        yield from lines


def find_messages(value: object) -> tuple[dict[str, Any], list[tuple[int, object]]] | None:
    """(fields around the messages, numbered messages) of a session; None if `value` is not one."""
    if not isinstance(value, dict):
        return None
    conversation = value.get("conversation")
    if isinstance(conversation, dict):
        value = {**value, **conversation}
    for key in _MESSAGE_KEYS:
        messages = value.get(key)
        if isinstance(messages, list):
            return value, [(0, message) for message in messages]
    return None


def _session(
    source: SourceFile,
    uids: Uids,
    head: dict[str, Any],
    messages: Sequence[tuple[int, object]],
    line: int,
) -> Iterator[Session | ReadIssue]:
    platform = _first_text(head, ("platform",))
    model = _first_text(head, ("model",))
    with_lines = [(number or line, message) for number, message in messages]
    talk = converse(with_lines, source.relative, model, platform)
    yield from talk.issues
    name = _name(source, head)
    settings = head.get("model_config")
    started = next((at for at in (epoch_seconds(head.get(k)) for k in _START_KEYS) if at), None)
    yield Session(
        uid=uids.give(name),
        session_id=name,
        source_format=SourceFormat.CHAT,
        source_path=source.relative,
        turns=tuple(talk.turns),
        cwd=_first_text(head, ("cwd",))
        or _first_text(settings if isinstance(settings, dict) else {}, ("cwd",)),
        started_at=started or next((turn.at for turn in talk.turns if turn.at), None),
        system_prompt=_first_text(head, ("system_prompt",)) or talk.system_prompt,
        dropped={reason: count for reason, count in sorted(talk.dropped.items()) if count},
        extra={"reward": head["reward"]} if isinstance(head.get("reward"), int | float) else {},
    )


def _name(source: SourceFile, head: dict[str, Any]) -> str:
    """The session's name: its own id, the run's task and trial, or the file's name."""
    own = _first_text(head, _ID_KEYS)
    if own is not None:
        return own
    if "task_id" in head:
        trial = f"_trial_{head['trial']}" if "trial" in head else ""
        return f"task_{head['task_id']}{trial}"
    return PurePosixPath(source.relative).name.split(".json")[0]


def _first_text(head: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((value for value in map(head.get, keys) if isinstance(value, str) and value), None)
