"""Reads opencode: its storage (a folder, or SQLite), exports, and `run --format json`.

In the storage a session's file stands for those of its messages and parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    PLAIN_ID,
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    files_in,
)
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    dicts,
    first_text,
    inner,
    is_failure,
    kind_of,
    plain,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_RUN = frozenset({"step_start", "step_finish", "tool_use", "text", "error", "reasoning"})
_SILENT = frozenset(
    {"step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction"}
)
_NAME = "opencode"


def fits(sample: Sample) -> bool:
    """Session, message or project IDs in opencode's format, or an export with such IDs."""
    for record in sample.records:
        listed = dicts(record.get("messages"))
        if "info" in record and ("parts" in record or any("parts" in entry for entry in listed)):
            return True
        if "info" in record and listed == [] and _is_session(inner(record, "info")):
            return True
        if _is_session(record) or "messageID" in record:
            return True
        if "sessionID" in record and (_is_streamed(record) or "role" in record):
            return True
        # A text part of storage version 2 has no other keys.
        if {"id", "type", "text", "time"} == record.keys():
            return True
    return False


def _is_streamed(record: Record) -> bool:
    has_content = isinstance(record.get("part"), dict) or "error" in record
    return kind_of(record) in _RUN and "sessionID" in record and has_content


def _is_session(record: Record) -> bool:
    return {"id", "projectID"} <= record.keys() or (
        {"id", "directory", "version"} <= record.keys() and isinstance(record.get("time"), dict)
    )


def parts(path: Path) -> list[Path]:
    """A session's file in a storage, then its messages and their parts; else nothing."""
    root = _storage(path)
    if root is None:
        return []
    own = path.stem
    session = document_of(SourceFile(path, path.name))
    if isinstance(session, dict) and isinstance(session.get("id"), str):
        own = session["id"]
    if not PLAIN_ID.fullmatch(own):
        return []
    messages = files_in(root / "message" / own)
    paths = [path, *messages]
    for message in messages:
        record = document_of(SourceFile(message, message.name))
        name = record.get("id") if isinstance(record, dict) else None
        if isinstance(name, str) and PLAIN_ID.fullmatch(name):
            paths += files_in(root / "part" / name) or files_in(root / "part" / own / name)
    loose = [file for file in files_in(root / "part") if _belongs(file, own, paths)]
    return [*paths, *loose]


def _storage(path: Path) -> Path | None:
    """The root of the storage in which a session's file lies."""
    for up in (2, 1):
        if len(path.parents) > up and path.parents[up - 1].name == "session":
            return path.parents[up]
        if path.parent.name == "info" and path.parents[1].name == "session":
            return path.parents[1]
    return None


def _belongs(file: Path, session: str, paths: list[Path]) -> bool:
    """Does a part of the oldest layout, without a folder of its own, belong to the session?"""
    part = document_of(SourceFile(file, file.name))
    if not isinstance(part, dict):
        return False
    if "sessionID" in part:
        return bool(part["sessionID"] == session)
    owner = part.get("messageID")
    return any(
        isinstance(record := document_of(SourceFile(entry, entry.name)), dict)
        and record.get("id") == owner
        for entry in paths
        if entry.parent.name == session
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of an export, a stream or a session's file with those that belong to it."""
    members = parts(source.path)
    if members:
        yield from _read_storage(source, members)
        return
    talk = Talk(source, SourceFormat.OPENCODE, is_typed=True)
    head: Record = {}
    for line, record in talk.records():
        if isinstance(record.get("messages"), list) and "info" in record:
            head = inner(record, "info")
            for message in dicts(record["messages"]):
                add_message(talk, inner(message, "info"), dicts(message.get("parts")), line, head)
        elif isinstance(record.get("info"), dict):
            add_message(talk, record["info"], dicts(record.get("parts")), line, head)
        elif _is_streamed(record):
            head = head or {"id": record["sessionID"]}
            _add_streamed(talk, record, line)
        else:
            actual = "a part of opencode's storage without its session's file"
            expected = "the storage's folder, or an export of the session"
            yield ReadIssue("file", source.relative, 0, "file.part_alone", actual, expected)
            return
    yield from session_of(talk, head)


def session_of(talk: Talk, head: Record, uids: Uids | None = None) -> Iterator[Session | ReadIssue]:
    """The session with what its head says."""
    return talk.session(
        first_text(head, "id"),
        uids=uids,
        cwd=first_text(head, "directory"),
        agent_name=_NAME,
        agent_version=first_text(head, "version"),
        parent_session_id=first_text(head, "parentID"),
        started_at=epoch_seconds(inner(head, "time").get("created")),
    )


def _read_storage(source: SourceFile, members: list[Path]) -> Iterator[Session | ReadIssue]:
    records: list[Record] = []
    for file in members:
        record = document_of(SourceFile(file, file.name))
        if isinstance(record, dict):
            records.append(record)
        else:
            actual = f"{type(record).__name__} in {file.parent.name}/{file.name}"
            expected = "a JSON object in each file of the storage"
            yield ReadIssue("record", source.relative, 0, "record.not_object", actual, expected)
    head, *others = records or [{}]
    talk = Talk(source, SourceFormat.OPENCODE, is_typed=True)
    owners = {id(record): file.parent.name for record, file in zip(records, members, strict=False)}
    held: dict[str, list[Record]] = {}
    for record in others:
        if "role" not in record:
            held.setdefault(first_text(record, "messageID") or owners[id(record)], []).append(
                record
            )
    messages = [record for record in others if "role" in record]
    messages.sort(key=lambda entry: (_created(entry), plain(entry.get("id"))))
    for message in messages:
        add_message(talk, message, held.get(plain(message.get("id")), []), 0, head)
    yield from session_of(talk, head)


def _created(message: Record) -> float:
    return epoch_seconds(inner(message, "time").get("created")) or 0.0


def add_message(
    talk: Talk, info: Record, listed: Iterable[Record], line: int, head: Record
) -> None:
    """Add entry message with its parts; a session with a parent was started by an agent."""
    at = epoch_seconds(inner(info, "time").get("created"))
    role = info.get("role")
    model = info.get("modelID") or inner(info, "model").get("modelID")
    origin = Origin.AGENT if first_text(head, "parentID") else None
    given = pieces.of(talk, list(listed), line, lambda part: _piece(part, by_person=role == "user"))
    if role == "assistant" and info.get("summary") is True:
        talk.notice(pieces.text(given), line, at=at)  # of what was said, when it grew too long
        return
    key = first_text(info, "id")
    answer = pieces.add(talk, role, given, line, at=at, key=key, model=model, origin=origin)
    if answer is not None and first_text(inner(info, "error"), "name"):
        answer.stop_reason = "error"


def _piece(part: Record, *, by_person: bool) -> pieces.Piece:
    kind = kind_of(part)
    if by_person and kind == "text" and (part.get("synthetic") or part.get("ignored")) is True:
        return pieces.Notice(plain(part.get("text")))
    if by_person and kind == "subtask":
        return pieces.Text(plain(part.get("prompt")))
    if by_person and kind == "file":
        path = first_text(inner(part, "source"), "path")
        name = path or first_text(part, "filename") or first_text(part, "url")
        return Attachment(name, first_text(part, "mime"))
    if kind == "tool":
        state = inner(part, "state")
        call_id = first_text(part, "callID") or first_text(part, "id")
        code = inner(state, "metadata").get("exit")
        failed = state.get("status") == "error" or is_failure(code)
        is_done = "output" in state or "error" in state
        shown = plain(state.get("output")) or plain(state.get("error")) if is_done else None
        return pieces.Call(call_id, part.get("tool"), state.get("input"), shown, failed)
    if kind in _SILENT or kind in ("file", "subtask"):
        return pieces.SILENT
    return pieces.common(part) if kind in ("text", "reasoning") else pieces.UNKNOWN


def _add_streamed(talk: Talk, record: Record, line: int) -> None:
    kind, part = kind_of(record), inner(record, "part")
    at = epoch_seconds(record.get("timestamp"))
    if kind == "error":
        error = record.get("error")
        named = first_text(inner(record, "error", "data"), "message")
        talk.notice(named or plain(error), line, at=at)
    elif kind in ("step_start", "step_finish"):
        talk.skip()
    else:
        given = pieces.of(talk, [part], line, lambda part: _piece(part, by_person=False))
        key = first_text(part, "messageID")
        pieces.add(talk, "assistant", given, line, at=at, key=key)
