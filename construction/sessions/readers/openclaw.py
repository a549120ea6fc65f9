"""Reads OpenClaw and pi logs: JSON lines or a list, version 1 or 3 (a tree), header optional.

A version 3 log is a tree of records; its active branch is the path from the last message to the
root. In version 1, and where a parent is missing, a record follows the one before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, values
from construction.sessions.readers.talk import (
    Record,
    ToolResults,
    Uids,
    agent_turn,
    block_text,
    dicts,
    plain,
    system_turn,
    text_or_none,
    tool_call,
    type_name,
    user_turn,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat, Turn

_NOTICE_TYPES = frozenset({"compaction", "branch_summary", "custom_message"})
_NOTICE_ROLES = frozenset({"system", "custom", "hookMessage", "branchSummary", "compactionSummary"})


def _turn(record: Record, index: int, line: int, results: ToolResults) -> Turn | None:
    """The turn of a record; None for a record without one (result, setting, unknown kind)."""
    message = record.get("message")
    is_notice = text_or_none(record.get("type")) in _NOTICE_TYPES
    held: Record = record if is_notice or not isinstance(message, dict) else message
    # The record's own time takes precedence: the message's time is wrong in some logs.
    at = epoch_seconds(record.get("timestamp"))
    at = epoch_seconds(held.get("timestamp")) if at is None else at
    ids: Record = {
        "at": at,
        "turn_id": text_or_none(record.get("id")),
        "parent_id": text_or_none(record.get("parentId")),
    }
    role, content = text_or_none(held.get("role")), held.get("content")
    given = [pieces.common(block) for block in dicts(content)]
    text = content if isinstance(content, str) else pieces.text(given)
    if is_notice or role in _NOTICE_ROLES:
        return system_turn(index, text_or_none(held.get("summary")) or text, line, **ids)
    if role == "bashExecution":
        shown = f"$ {held.get('command')}\n{text_or_none(held.get('output')) or ''}"
        return system_turn(index, shown, line, **ids)
    if role == "user":
        media = tuple(piece for piece in given if isinstance(piece, Attachment))
        return user_turn(index, text, line, attachments=media, **ids)
    if role != "assistant":
        return None
    calls = [piece for piece in given if isinstance(piece, pieces.Call)]
    return agent_turn(
        index,
        text,
        line,
        thinking="\n".join(piece.text for piece in given if isinstance(piece, pieces.Thought)),
        model=text_or_none(held.get("model")),
        stop_reason=text_or_none(held.get("stopReason")),
        tool_calls=tuple(
            tool_call(results, plain(call.call_id), plain(call.name), call.arguments, line)
            for call in calls
        ),
        **ids,
    )


# Types of records that hold the program's state and no turn.
_BOOKKEEPING = frozenset(
    {"model_change", "thinking_level_change", "custom", "label", "session_info", "compact"}
)
_OTHER_ROLES = _NOTICE_ROLES | {"user", "bashExecution"}
# Header fields that name the session this one was copied from.
_ORIGINS = ("branchedFrom", "parentSession")
_ROOT = -1
# OpenClaw logs a message delivered to a channel a second time, under this "model".
_MIRROR = "delivery-mirror"


@dataclass(slots=True)
class _Log:
    """The records of one session by position, and the tree that they form.

    `parents` holds the position of each record's parent, or _ROOT; a parent precedes its child.
    `silent` are the records that make no turn, `results` those with tool results; `by_call` maps
    a call's id to its message.
    """

    header: Record
    lines: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    by_id: dict[str, int] = field(default_factory=dict)
    by_call: dict[str, int] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)
    silent: set[int] = field(default_factory=set)
    dropped: Counter[str] = field(default_factory=Counter)


_CHANGES = frozenset(
    {"model_change", "thinking_level_change", "compaction", "branch_summary", "custom_message"}
)


def fits(sample: Sample) -> bool:
    """A session header, or messages and changes with a time."""
    for record in sample.records:
        kind, message = text_or_none(record.get("type")), record.get("message")
        if kind == "session" and record.keys() & {"cwd", "version"}:
            return True
        is_message = kind == "message" and isinstance(message, dict) and "role" in message
        if "timestamp" in record and (is_message or kind in _CHANGES):
            return True
    return False


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The sessions of a log: one, unless it contains another header with a different id.

    A log without header takes its id from the file's name. Messages off the active branch are
    counted in `dropped`; records of unknown type or form become issues.
    """
    log = _Log({})
    seen: set[str] = set()
    uids = Uids(source.relative)
    for item in values(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        line, record = item
        if not isinstance(record, dict):
            yield _issue(source, line, f"a value of type {type(record).__name__}")
        elif record.get("type") != "session":
            problem = _add(log, line, record)
            if problem is not None:
                yield _issue(source, line, problem)
        elif plain(record.get("id")) in seen:
            log.dropped["bookkeeping"] += 1
        else:
            if log.records:
                yield _session(source, log, uids)
            seen.add(plain(record.get("id")))
            log = _Log(record)
    if log.records or log.header:
        yield _session(source, log, uids)


def _issue(source: SourceFile, line: int, problem: str) -> ReadIssue:
    expected = "a message with a known role, a summary, or a change of settings"
    return ReadIssue("record", source.relative, line, "record.unexpected", problem, expected)


def _add(log: _Log, line: int, record: Record) -> str | None:
    """Add a record to the tree; returns what is wrong with it (never its text), or None."""
    position = len(log.records)
    own_id = record.get("id")
    if isinstance(own_id, str) and log.by_id.setdefault(own_id, position) != position:
        log.dropped["duplicate_record"] += 1
        return None
    log.parents.append(_parent(log, record))
    log.records.append(record)
    log.lines.append(line)
    kind = text_or_none(record.get("type"))
    if kind == "message":
        problem = _register_message(log, position, record.get("message"))
    elif kind in _BOOKKEEPING:
        log.silent.add(position)
        log.dropped["bookkeeping"] += 1
        return None
    elif kind in _NOTICE_TYPES:
        return None
    else:
        problem = f"a record of type {type_name(record.get('type'))} with {len(record)} keys"
    if problem is not None:
        log.silent.add(position)
    return problem


def _parent(log: _Log, record: Record) -> int:
    previous = len(log.records) - 1
    if "parentId" not in record:
        return previous
    parent = record["parentId"]
    if parent is None:
        return _ROOT
    if not isinstance(parent, str) or parent == record.get("id"):
        return previous
    if parent in log.by_id:
        return log.by_id[parent]
    if parent == log.header.get("id"):
        return _ROOT
    # Some writers name the call's id as the parent of a result, not the message's.
    return log.by_call.get(parent, previous)


def _register_message(log: _Log, position: int, message: object) -> str | None:
    if not isinstance(message, dict):
        return f"a message that is {type(message).__name__}"
    role = text_or_none(message.get("role"))
    if role == "assistant":
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "toolCall":
                log.by_call[plain(block.get("id"))] = position
    elif role == "toolResult":
        log.results.append(position)
        log.silent.add(position)
    elif role not in _OTHER_ROLES:
        return f"a message of role {type_name(message.get('role'))}"
    return None


def _session(source: SourceFile, log: _Log, uids: Uids) -> Session:
    header = log.header
    active = _active_branch(log)
    results = _results(log, set(active))
    turns: list[Turn] = []
    for position in active:
        if position in log.silent:
            continue
        turn = _turn(log.records[position], len(turns), log.lines[position], results)
        if turn is None:
            continue
        if turn.model == _MIRROR and turns and turns[-1].text == turn.text:
            log.dropped["duplicate_event"] += 1
        else:
            turns.append(turn)
    log.dropped["result_without_call"] += results.unclaimed()
    session_id = text_or_none(header.get("id"))
    if not session_id:
        session_id = PurePosixPath(source.relative).name.split(".json")[0]
    started = epoch_seconds(header.get("timestamp"))
    return Session(
        uid=uids.give(session_id),
        session_id=session_id,
        source_format=SourceFormat.OPENCLAW,
        source_path=source.relative,
        turns=tuple(turns),
        format_version=_version(log),
        cwd=text_or_none(header.get("cwd")),
        started_at=started if started is not None else next((t.at for t in turns if t.at), None),
        dropped={reason: count for reason, count in sorted(log.dropped.items()) if count},
        extra={key: header[key] for key in _ORIGINS if isinstance(header.get(key), str)},
    )


def _version(log: _Log) -> str | None:
    version = log.header.get("version")
    if isinstance(version, int | str):
        return plain(version)[:20]
    return None if log.by_id else "1"


def _active_branch(log: _Log) -> list[int]:
    """Positions from the root to the last record that belongs to the conversation."""
    position = len(log.records) - 1
    while position in log.silent:
        position -= 1
    branch = []
    while position > _ROOT:
        branch.append(position)
        position = log.parents[position]
    branch.reverse()
    return branch


def _results(log: _Log, on_branch: set[int]) -> ToolResults:
    """The results of the active branch's calls; other records off the branch count as dropped.

    A result belongs to its call even if it is off the branch, as those of parallel calls are in
    some logs. Results on the branch take precedence.
    """
    results = ToolResults()
    abandoned = len(log.records) - len(on_branch | log.silent)
    beside = []
    for position in log.results:
        message = log.records[position]["message"]
        if position in on_branch:
            _add_result(results, message)
        elif log.by_call.get(plain(message.get("toolCallId"))) in on_branch:
            beside.append(message)
        else:
            abandoned += 1
    for message in beside:
        _add_result(results, message)
    log.dropped["abandoned_branch"] += abandoned
    return results


def _add_result(results: ToolResults, message: Record) -> None:
    text = block_text(message.get("content"))
    results.add(plain(message.get("toolCallId")), text, message.get("isError") is True)
