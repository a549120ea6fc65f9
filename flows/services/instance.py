"""One instance of services: a world in one SQLite file, and the chained log of requests to it.

The file holds the world as it was at the start and every request since. The engine is pure, so that
the log leads to the present world: opening a file makes the requests again and checks how each ends
(answered reads only where the log is looked at for grading: they change nothing).
What a killed process had answered is in the file; what it had not answered never happened. (The
file is synced when it is closed, so that a power cut may cost the last requests, never the chain.)
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import orjson

from construction.workflows.contracts import Request, Response, World
from construction.workflows.engine import OK, changes_of, handle, is_read, read_again
from construction.workflows.world_file import world_bytes, world_of
from data.atomic import PRIVATE_FILE
from data.canonical import canonical_json, digest
from data.contracts.attempt import AuditRow, StateChange
from data.errors import BenchmintError, InputError
from data.hash_chain import BrokenChain, follows, linked

_RUNNING, _CLOSED = "running", "closed"
_PATIENCE = 10.0  # seconds to wait for another connection to the file
_COLUMNS = tuple(column.name for column in fields(AuditRow))
_TODO = "Start a new instance from the task's world."
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE log (number INTEGER PRIMARY KEY, entry BLOB NOT NULL);
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""


class InstanceGone(BenchmintError):
    """An instance can no longer answer: its file is closed, gone or broken. No agent's doing."""


class Instance:
    """Answers requests one after another; several threads may ask.

    `world` is the present one, `audit` the log. `was_killed`: the process that had it open before
    ended without closing it. `step` says which inference of the agent is under way, if that is
    known.
    """

    def __init__(
        self, path: Path, database: sqlite3.Connection, world: World, start: bytes
    ) -> None:
        self.path, self.world = path, world
        self.audit: list[AuditRow] = []
        self.was_killed = False
        self.step: Callable[[], int] | None = None
        self._database: sqlite3.Connection | None = database
        self._last = digest(start)
        self._lock = threading.Lock()

    @classmethod
    def start(cls, path: Path, world: World) -> Instance:
        """A new instance in a new file. Raises InputError if the file is there already."""
        if path.exists():
            raise InputError(str(path), "an existing file", "a new file", "Choose another name.")
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
        database = sqlite3.connect(path, check_same_thread=False, timeout=_PATIENCE)
        _prepare(database)
        database.executescript(_TABLES)
        start = world_bytes(world)
        rows = [("world", start), ("status", _RUNNING.encode())]
        with database:
            database.executemany("INSERT INTO about VALUES (?, ?)", rows)
        return cls(path, database, world, start)

    @classmethod
    def reopen(cls, path: Path, started: World | None = None) -> Instance:
        """The instance in a file, with all that was answered.

        Raises InputError if there is no such file, or if it began with another world than
        `started`; BrokenChain if its log was altered.
        """
        database, about = _opened(path)
        if started is not None and about["world"] != world_bytes(started):
            database.close()
            expected = "an instance that started from this world"
            raise InputError(str(path), "another world", expected, "Choose another --state.")
        start = about["world"]
        instance = cls(path, database, world_of(start, str(path)), start)
        instance.was_killed = about["status"] != _CLOSED.encode()
        try:
            for entry in _entries(database, path, start):
                instance._repeat(entry, all_reads=False)
            _set_status(database, _RUNNING)
        except BaseException:
            database.close()
            raise
        return instance

    def answer(self, request: Request) -> Response:
        """The answer to a request, once it is in the file. Raises InstanceGone."""
        with self._lock:
            if self._database is None:
                raise InstanceGone(f"{self.path}: this instance was closed.")
            handled = handle(self.world, request)
            (row,) = handled.audit
            if self.step is not None:
                row = replace(row, step=self.step())
            entry = linked(self._last, {name: getattr(row, name) for name in _COLUMNS})
            try:
                with self._database:
                    raw = canonical_json(entry)
                    # With its number, so that a second process on the file cannot fork the log.
                    row_number = len(self.audit) + 1
                    self._database.execute("INSERT INTO log VALUES (?, ?)", (row_number, raw))
            except sqlite3.IntegrityError as error:
                raise InstanceGone(f"{self.path}: another process is using it.") from error
            except sqlite3.Error as error:
                raise InstanceGone(f"{self.path}: {type(error).__name__}: {error}") from error
            self.world, self._last = handled.world, entry["hash"]
            self.audit.append(row)
            return handled.response

    @property
    def changes(self) -> tuple[StateChange, ...]:
        """What differs from the state at the start."""
        return changes_of(self.world)

    def close(self) -> None:
        """Write everything to the disk. Further requests raise InstanceGone."""
        with self._lock:
            if self._database is not None:
                with suppress(sqlite3.Error):
                    _set_status(self._database, _CLOSED)
                    self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._database.close()
                self._database = None

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repeat(self, entry: Mapping[str, Any], *, all_reads: bool) -> None:
        """Make a logged request again. Raises BrokenChain if it does not end as it did.

        `all_reads`: make answered reads again too, which takes long on large worlds.
        """
        row = _row_of(entry)
        request = Request(row.service, row.operation, row.arguments)
        if not all_reads and row.status == OK and is_read(request):
            world = read_again(self.world, request)
        else:
            handled = handle(self.world, request)
            if [replace(again, step=row.step) for again in handled.audit] != [row]:
                number = len(self.audit) + 1
                raise BrokenChain(
                    f"{self.path}: request {number} ended differently from what the log says."
                )
            world = handled.world
        self.world, self._last = world, entry["hash"]
        self.audit.append(row)


def _row_of(entry: Mapping[str, Any]) -> AuditRow:
    """The audit row of an entry of the log."""
    row = {name: entry[name] for name in _COLUMNS}
    return AuditRow(**{**row, "records": tuple(entry["records"])})


def logged(path: Path) -> list[dict[str, Any]]:
    """The entries of an instance's log, whoever has it open. Raises InputError, BrokenChain."""
    database, about = _opened(path)
    with closing(database):
        return list(_entries(database, path, about["world"]))


def start_of(path: Path) -> bytes:
    """The world with which an instance began. Raises InputError if there is no such file."""
    database, about = _opened(path)
    database.close()
    return about["world"]


def recorded(path: Path) -> tuple[list[AuditRow], tuple[StateChange, ...]]:
    """The log of an instance, and what differs from the state at the start; the file stays as is.

    Raises InputError if there is no such file, BrokenChain if its log was altered.
    """
    database, about = _opened(path)
    with closing(database):
        start = about["world"]
        instance = Instance(path, database, world_of(start, str(path)), start)
        for entry in _entries(database, path, start):
            instance._repeat(entry, all_reads=True)
    return instance.audit, instance.changes


def _prepare(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")


def _opened(path: Path) -> tuple[sqlite3.Connection, dict[str, bytes]]:
    if not path.is_file():
        raise InputError(str(path), "no file", "an instance of services", _TODO)
    database = sqlite3.connect(path, check_same_thread=False, timeout=_PATIENCE)
    try:
        _prepare(database)
        about = dict(database.execute("SELECT name, value FROM about"))
    except sqlite3.Error as error:
        database.close()
        actual = type(error).__name__
        raise InputError(str(path), actual, "an instance of services", _TODO) from error
    if about.keys() != {"world", "status"}:
        database.close()
        raise InputError(str(path), "other content", "an instance of services", _TODO)
    return database, about


def _entries(database: sqlite3.Connection, path: Path, start: bytes) -> Iterator[dict[str, Any]]:
    """The entries in order; the first follows the world at the start, by its digest."""
    previous = digest(start)
    rows = database.execute("SELECT number, entry FROM log ORDER BY number")
    for expected, (number, raw) in enumerate(rows, start=1):
        entry = orjson.loads(raw)
        if number != expected or not follows(entry, previous):
            raise BrokenChain(f"{path}: log entry {expected} or an earlier one was altered.")
        previous = entry["hash"]
        yield entry


def _set_status(database: sqlite3.Connection, status: str) -> None:
    with database:
        database.execute("UPDATE about SET value = ? WHERE name = 'status'", (status.encode(),))
