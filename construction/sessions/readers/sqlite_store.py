"""Reads sessions that programs keep in SQLite, each by its tables, in limits."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from construction.sessions.readers import (
    coding_agents,
    cursor,
    frameworks,
    goose,
    openai_responses,
    opencode,
    pieces,
)
from construction.sessions.readers.chat import chat_session
from construction.sessions.readers.source import (
    LARGEST_LINE,
    Sample,
    SourceFile,
    epoch_seconds,
)
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
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_SECONDS = 600.0  # of all queries of a file
_STEPS = 1_000  # of SQLite's machine between two looks at the clock
_LARGEST_COPY = 4 * 2**30  # bytes
_MOST_SESSIONS = 100_000
_MOST_ROWS = 5_000_000
_Row = dict[str, Any]
_Query = Callable[..., Iterator[_Row]]

_Shape = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Store:
    """A program's database: the tables with columns that it has, and the reader of its rows.

    A table of any name is named `*`. `holds` asks the database where tables do not tell.
    """

    format: SourceFormat
    shape: _Shape
    rows: Callable[[SourceFile, _Query, Uids], Iterator[Session | ReadIssue]]
    holds: Callable[[_Query], bool] | None = None

    @property
    def signature(self) -> str:
        """What the database must have."""
        named = [f"`{name}`" for name in self.shape if name != "*"]
        columns = ", ".join(f"`{column}`" for column in sorted(self.shape.get("*", ())))
        tables = f"the table{'s' * (len(named) > 1)} {' and '.join(named)}"
        kept = f"{tables} containing conversations" if self.holds is not None else tables
        return f"A SQLite database with {kept if named else f'a table of {columns}'}"

    def fits(self, sample: Sample) -> bool:
        """Whether a database has the tables and columns of this program."""
        if not sample.tables or not all(
            columns <= sample.tables.get(table, frozenset())
            or (table == "*" and _table_with(sample.tables, columns) is not None)
            for table, columns in self.shape.items()
        ):
            return False
        if self.holds is None:
            return True
        with suppress(sqlite3.Error), _opened(sample.source.path) as link:
            return self.holds(_query(link))
        return False

    def read(self, source: SourceFile) -> Iterator[Session | ReadIssue]:
        """A session for each of the program's sessions."""
        uids = Uids(source.relative)
        try:
            with _opened(source.path) as link:
                yield from self.rows(source, _query(link), uids)
        except (sqlite3.Error, OverflowError) as error:
            actual = f"{type(error).__name__} in the database"
            expected = "a whole database with rows within the limits"
            unit = "record" if uids.any_given else "file"
            yield ReadIssue(unit, source.relative, 0, "file.broken_database", actual, expected)
            return
        if not uids.any_given:
            expected = f"sessions of {self.format}"
            yield ReadIssue("file", source.relative, 0, "file.no_records", "0 messages", expected)


def _table_with(tables: _Shape, columns: frozenset[str]) -> str | None:
    """The first table with these columns, whose name SQL can quote."""
    return next((name for name in sorted(tables) if columns <= tables[name]), None)


def parts(path: Path) -> list[Path]:
    """A database and its write-ahead log, where one holds what is not yet in the database."""
    log = _log_of(path)
    return [path, log] if log is not None else []


def _log_of(path: Path) -> Path | None:
    log = path.with_name(f"{path.name}-wal")
    try:
        is_log = stat.S_ISREG(log.lstat().st_mode) and log.stat().st_size > 0
    except OSError:
        return None
    return log if is_log else None


def tables_of(path: Path) -> dict[str, frozenset[str]]:
    """The columns of each table, without views. Raises sqlite3.Error."""
    with _opened(path) as link:
        return _tables(_query(link))


def _tables(query: _Query) -> dict[str, frozenset[str]]:
    rows = query("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1000")
    names = [row["name"] for row in rows if isinstance(row["name"], str)]
    columns = "SELECT name FROM pragma_table_info(?)"
    return {name: frozenset(row["name"] for row in query(columns, name)) for name in names}


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A link to a database, or with its write-ahead log to a copy of both, for SQLite joins them.

    Of a rollback journal no copy is made: it may name files that SQLite would delete.
    """
    log = _log_of(path)
    if log is None:
        if _is_cut_off(path):
            raise sqlite3.DatabaseError("shorter than its header says")
        # `immutable`: no lock is taken, so nothing beside the file is touched.
        with closing(_linked(path, "mode=ro&immutable=1")) as link:
            yield link
        return
    if path.stat().st_size + log.stat().st_size > _LARGEST_COPY:
        raise sqlite3.DatabaseError(f"more than {_LARGEST_COPY:,} bytes with its log")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, f"{copy}-wal")
        with closing(_linked(copy, "mode=rw")) as link:
            yield link


def _is_cut_off(path: Path) -> bool:
    """Is a database shorter than its header says? SQLite would read the rest as empty."""
    with path.open("rb") as handle:
        head = handle.read(_HEADER)
    size, pages = int.from_bytes(head[16:18]), int.from_bytes(head[28:32])
    is_counted = len(head) == _HEADER and head[24:28] == head[92:96]
    return is_counted and path.stat().st_size < (65_536 if size == 1 else size) * pages


_HEADER = 100  # bytes


def _linked(path: Path, how: str) -> sqlite3.Connection:
    link = sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True)
    link.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_LINE)
    link.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    link.execute("PRAGMA trusted_schema = OFF")
    link.execute("PRAGMA query_only = ON")
    link.execute("PRAGMA cell_size_check = ON")
    link.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return link


def _query(link: sqlite3.Connection) -> _Query:
    """What asks the database, for a limited time in all: a computed column may take long."""
    ends = time.monotonic() + _SECONDS
    link.set_progress_handler(lambda: int(time.monotonic() > ends), _STEPS)

    def rows(text: str, *values: object) -> Iterator[_Row]:
        cursor_ = link.execute(text, values)
        names = [column[0] for column in cursor_.description]
        return (dict(zip(names, row, strict=True)) for row in in_time(islice(cursor_, _MOST_ROWS)))

    def in_time(answers: Iterator[Any]) -> Iterator[Any]:
        for row in answers:
            if time.monotonic() > ends:
                raise sqlite3.OperationalError("out of time")
            yield row

    return rows


def _sessions(query: _Query, text: str) -> list[_Row]:
    return list(islice(query(text), _MOST_SESSIONS))


def _opencode(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    for row in _sessions(query, "SELECT * FROM session ORDER BY rowid"):
        head: Record = {
            "id": row.get("id"),
            "directory": row.get("directory"),
            "version": row.get("version"),
            "parentID": row.get("parent_id"),
            "time": {"created": row.get("time_created")},
        }
        talk = Talk(source, SourceFormat.OPENCODE, is_typed=True)
        held: dict[str, list[Record]] = {}
        parts = "SELECT p.id, p.message_id, p.data FROM part p JOIN message m"
        parts += " ON m.id = p.message_id WHERE m.session_id = ? ORDER BY p.id"
        for part in query(parts, row["id"]):
            data = decoded(part["data"])
            if isinstance(data, dict):
                held.setdefault(plain(part["message_id"]), []).append({**data, "id": part["id"]})
        messages = "SELECT * FROM message WHERE session_id = ? ORDER BY id"
        for message in query(messages, row["id"]):
            data = decoded(message["data"])
            if isinstance(data, dict):
                info = {**data, "id": message["id"]}
                opencode.add_message(talk, info, held.get(plain(message["id"]), []), 0, head)
            else:
                talk.unexpected(0, "a message that is not JSON")
        if talk.drafts:
            yield from opencode.session_of(talk, head, uids)


def _goose(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    for row in _sessions(query, "SELECT * FROM sessions ORDER BY rowid"):
        talk = Talk(source, SourceFormat.GOOSE)
        messages = "SELECT * FROM messages WHERE session_id = ? ORDER BY rowid"
        for message in query(messages, row["id"]):
            goose.add_message(
                talk,
                {
                    "role": message["role"],
                    "content": decoded(message["content_json"]),
                    "created": message.get("created_timestamp"),
                    "metadata": decoded(message.get("metadata_json")),
                },
                0,
            )
        if talk.drafts:
            yield from goose.session_of(talk, row, uids)


def _hermes(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    for row in _sessions(query, "SELECT * FROM sessions ORDER BY rowid"):
        records = []
        messages = "SELECT * FROM messages WHERE session_id = ? ORDER BY rowid"
        for message in query(messages, row["id"]):
            calls = decoded(message.get("tool_calls"))
            made = {key: value for key, value in message.items() if value is not None}
            records.append((0, {**made, "tool_calls": calls if isinstance(calls, list) else []}))
        if records:
            yield from chat_session(
                source,
                SourceFormat.HERMES,
                records,
                plain(row["id"]),
                uids=uids,
                channel=first_text(row, "source"),
                model=first_text(row, "model"),
                system_prompt=first_text(row, "system_prompt"),
                started_at=epoch_seconds(row.get("started_at")),
                agent_name="hermes",
            )


def _crush(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    for row in _sessions(query, "SELECT * FROM sessions ORDER BY created_at, rowid"):
        talk = Talk(source, SourceFormat.CRUSH)
        parent = first_text(row, "parent_session_id")
        messages = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"
        for message in query(messages, row["id"]):
            given = pieces.of(talk, decoded(message["parts"]), 0, _crush_piece)
            at = epoch_seconds(message["created_at"])
            origin = Origin.AGENT if parent else None
            if message.get("is_summary_message"):
                talk.notice(pieces.text(given), at=at)
                continue
            model = message.get("model")
            pieces.add(talk, message["role"], given, at=at, model=model, origin=origin)
        if talk.drafts:
            yield from talk.session(
                first_text(row, "id"),
                uids=uids,
                agent_name="crush",
                parent_session_id=parent,
                started_at=epoch_seconds(row.get("created_at")),
            )


def _crush_piece(part: Record) -> pieces.Piece:
    kind, held = kind_of(part), inner(part, "data")
    if kind in ("finish", "shell_command"):
        shown = f"$ {plain(held.get('command'))}\n{plain(held.get('output'))}"
        return pieces.Notice(shown) if kind == "shell_command" else pieces.SILENT
    if kind == "text" and held.get("hidden") is True:
        return pieces.Notice(plain(held.get("text")))
    if kind == "binary":
        return Attachment(first_text(held, "Path"), first_text(held, "MIMEType"))
    if kind == "image_url":
        return Attachment(first_text(held, "url"))
    return pieces.common({**held, "type": kind})


def _adk(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    """Newer versions keep an event as JSON, older ones in columns."""
    for row in _sessions(query, "SELECT * FROM sessions ORDER BY rowid"):
        talk = Talk(source, SourceFormat.ADK)
        owner = (row["app_name"], row["user_id"], row["id"])
        events = "SELECT * FROM events WHERE app_name = ? AND user_id = ? AND session_id = ?"
        for event in query(f"{events} ORDER BY timestamp, rowid", *owner):
            held = decoded(event.get("event_data"))
            held = (
                held
                if isinstance(held, dict)
                else {**event, "content": decoded(event.get("content"))}
            )
            frameworks.add_adk_event(talk, held, 0)
        if talk.drafts or talk.issues:
            yield from talk.session(first_text(row, "id"), uids=uids, agent_name="google-adk")


_HASH = 32  # bytes of the name of a blob
_FIELD = bytes((0x0A, _HASH))  # the first field of a message of Protocol Buffers, with 32 bytes


def _cursor(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    """The messages that the newest root names, in order; a root is a list of hashes."""
    for row in query("SELECT value FROM meta ORDER BY key LIMIT 20"):
        meta = decoded(_unhexed(row["value"]))
        if not isinstance(meta, dict) or "latestRootBlobId" not in meta:
            continue
        newest = query("SELECT data FROM blobs WHERE id = ?", meta["latestRootBlobId"])
        root = next((row["data"] for row in newest), b"")
        log = cursor.Log(Talk(source, SourceFormat.CURSOR), by_agent=False)
        for name in _named(root if isinstance(root, bytes) else b""):
            for blob in query("SELECT data FROM blobs WHERE id = ?", name):
                message = decoded(blob["data"])
                if isinstance(message, dict):
                    cursor.add_message(log, 0, {"message": message})
                else:
                    log.talk.skip()
        if log.talk.drafts:
            yield from log.talk.session(
                first_text(meta, "agentId"),
                uids=uids,
                agent_name="cursor-agent",
                started_at=epoch_seconds(inner({"m": meta}, "m").get("createdAt")),
            )


def _unhexed(value: object) -> object:
    try:
        return bytes.fromhex(plain(value)) if isinstance(value, str) else value
    except ValueError:
        return value


def _named(root: bytes) -> Iterator[str]:
    position = 0
    while root.startswith(_FIELD, position):
        position += len(_FIELD)
        yield root[position : position + _HASH].hex()
        position += _HASH


def _openai_agents(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    """Rows of items of the Responses API; the names of the tables are free."""
    table = _quoted(_table_with(_tables(query), _ITEMS))
    named = f"SELECT session_id FROM {table} GROUP BY session_id ORDER BY MIN(rowid)"  # noqa: S608
    for row in _sessions(query, named):
        talk = Talk(source, SourceFormat.OPENAI_AGENTS)
        items = f"SELECT * FROM {table} WHERE session_id = ? ORDER BY rowid"  # noqa: S608
        for item in query(items, row["session_id"]):
            data = decoded(item["message_data"])
            if isinstance(data, dict):
                openai_responses.add_item(talk, data, 0, epoch_seconds(item.get("created_at")))
            else:
                talk.unexpected(0, "an item that is not JSON")
        yield from talk.session(plain(row["session_id"]), uids=uids, agent_name="openai-agents")


def _agno(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    """The messages of all runs; those of a member of a team are a session of their own."""
    tables = _tables(query)
    table = _table_with(tables, _MEMORY) or _table_with(tables, _RUNS)
    for row in _sessions(query, f"SELECT * FROM {_quoted(table)}"):  # noqa: S608
        memory = decoded(row.get("memory"))
        memory = memory if isinstance(memory, dict) else {}
        runs = dicts(decoded(row.get("runs"))) or dicts(memory.get("runs"))
        own = [run for run in runs if not run.get("parent_run_id")]
        messages = dicts(memory.get("messages")) or [m for run in own for m in _run_messages(run)]
        name = plain(row["session_id"])
        for number, (held, parent) in enumerate(
            [(messages, None), *((_run_messages(run), name) for run in runs if run not in own)]
        ):
            if held:
                yield from chat_session(
                    source,
                    SourceFormat.AGNO,
                    [(0, message) for message in held],
                    f"{name}-{number}" if parent else name,
                    uids=uids,
                    started_at=epoch_seconds(row.get("created_at")),
                    agent_name="agno",
                    parent_session_id=parent,
                )


def _run_messages(run: Record) -> list[Record]:
    """The messages that a run added to those before it."""
    held = dicts(run.get("messages")) or dicts(inner(run, "response").get("messages"))
    return [message for message in held if message.get("from_history") is not True]


def _kiro(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    newer = "conversations_v2" in _tables(query)
    rows = "SELECT * FROM conversations_v2" if newer else "SELECT * FROM conversations"
    for row in _sessions(query, rows):
        held = decoded(row["value"])
        if isinstance(held, dict):
            talk = Talk(source, SourceFormat.KIRO, is_typed=True)
            coding_agents.add_kiro_history(talk, held, 0)
            yield from coding_agents.kiro_session(talk, held, plain(row["key"]), uids)


def _quoted(name: str | None) -> str:
    return '"' + (name or "").replace('"', '""') + '"'


_ITEMS = frozenset({"session_id", "message_data"})
_MEMORY = frozenset({"session_id", "agent_id", "memory"})
_RUNS = frozenset({"session_id", "session_type", "runs"})
_KEYED = frozenset({"key", "value"})
STORES = (
    Store(
        SourceFormat.OPENCODE,
        {
            "session": frozenset({"id", "directory"}),
            "message": frozenset({"id", "session_id", "data"}),
            "part": frozenset({"message_id", "data"}),
        },
        _opencode,
    ),
    Store(
        SourceFormat.GOOSE,
        {
            "sessions": frozenset({"id", "working_dir"}),
            "messages": frozenset({"session_id", "role", "content_json"}),
        },
        _goose,
    ),
    Store(
        SourceFormat.HERMES,
        {
            "sessions": frozenset({"id", "source"}),
            "messages": frozenset({"session_id", "role", "content", "tool_calls"}),
        },
        _hermes,
    ),
    Store(
        SourceFormat.CRUSH,
        {
            "sessions": frozenset({"id", "parent_session_id", "title"}),
            "messages": frozenset({"session_id", "role", "parts", "created_at"}),
        },
        _crush,
    ),
    Store(
        SourceFormat.ADK,
        {
            "sessions": frozenset({"app_name", "user_id", "id"}),
            "events": frozenset({"session_id", "invocation_id"}),
        },
        _adk,
    ),
    Store(
        SourceFormat.CURSOR,
        {"blobs": frozenset({"id", "data"}), "meta": frozenset({"key", "value"})},
        _cursor,
    ),
    Store(SourceFormat.CURSOR, {"ItemTable": _KEYED}, cursor.read_state, cursor.holds),
    Store(SourceFormat.CURSOR, {"cursorDiskKV": _KEYED}, cursor.read_state, cursor.holds),
    Store(SourceFormat.KIRO, {"conversations": _KEYED}, _kiro),
    Store(SourceFormat.KIRO, {"conversations_v2": _KEYED}, _kiro),
    Store(SourceFormat.OPENAI_AGENTS, {"*": _ITEMS}, _openai_agents),
    Store(SourceFormat.AGNO, {"*": _MEMORY}, _agno),
    Store(SourceFormat.AGNO, {"*": _RUNS}, _agno),
)
