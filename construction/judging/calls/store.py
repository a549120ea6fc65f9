"""The store of replies: a reply that is in it is never paid for again.

SQLite with a write-ahead log. A file per reply would cost two syncs each, JSON lines an index read
at every start; here many replies share one sync, and 100,000 are found at once (measured in
benchmarks/results/llm_client.md). The folder is private: replies are made from session text.

Of all processes that share a store, only one at a time asks a question: it claims its key,
one byte of a lock file. The system releases the claim of a process that ends in any way.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import struct
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import TRIES, Reply
from data.atomic import PRIVATE_FILE, private_dir
from data.errors import BenchmintError

_POLL = (
    0.02,
    0.5,
)  # seconds between attempts at a claim that another process holds: first, longest


class Claims:
    """The claims of one client, used from one event loop.

    On Linux a lock belongs to the open file, so two clients of one process exclude each other too.
    Elsewhere it belongs to the process, which may then have one client only.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        self._held: set[str] = set()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Wait until no one else holds `key` (hexadecimal), then hold it."""
        pause, longest = _POLL
        while not self.take(key):
            await asyncio.sleep(pause)
            pause = min(pause * 2, longest)
        try:
            yield
        finally:
            self.give(key)

    def take(self, key: str) -> bool:
        """Hold `key` if no one does; whether it is held now."""
        if key in self._held or not _lock(self._handle, _offset(key)):
            return False
        self._held.add(key)
        return True

    def give(self, key: str) -> None:
        """Release `key`."""
        _unlock(self._handle, _offset(key))
        self._held.discard(key)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude every other process while the body runs; claims are not affected."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release all claims."""
        os.close(self._handle)


def _offset(key: str) -> int:
    return int(key[:15], 16)  # 60 bits: no two keys meet


def _lock(handle: int, offset: int) -> bool:
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _flock(fcntl.F_WRLCK, offset))
        else:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
    except BlockingIOError:
        return False
    return True


def _unlock(handle: int, offset: int) -> None:
    if hasattr(fcntl, "F_OFD_SETLK"):
        fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _flock(fcntl.F_UNLCK, offset))
    else:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, offset)


def _flock(kind: int, offset: int) -> bytes:
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0)  # struct flock, 64-bit Linux


REPLIES, _LOCKS, SHAPES = "replies.sqlite", "claims.lock", "shapes.json"
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
  key TEXT NOT NULL, turn INTEGER NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL,
  refused INTEGER NOT NULL, model TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (key, turn)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
  name TEXT PRIMARY KEY, batch TEXT NOT NULL, worst_prompt INTEGER NOT NULL,
  worst_completion INTEGER NOT NULL, at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (
  digest TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (digest, key)
) WITHOUT ROWID;
"""
_FIND = (
    "SELECT turn, text, finish, refused, model, prompt_tokens, completion_tokens"
    " FROM replies WHERE key = ? ORDER BY turn"
)
_KEEP = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class StoreError(BenchmintError):
    """The store of replies cannot be read or written."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One reply, the key of its question, and its turn: 0 the first, 1 the repair."""

    key: str
    turn: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class NotedBatch:
    """A batch to be collected: our name for it, the endpoint's id, its worst case.

    An empty `batch`: it was about to be submitted, and it is unknown whether it was.
    """

    name: str
    batch: str
    worst: Usage


class Store:
    """Replies by key. Several processes may use one folder at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = private_dir(folder)
        self._path = folder / REPLIES
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._pending: list[tuple[Stored, asyncio.Future[None]]] = []
        self._drain: asyncio.Task[None] | None = None
        self.claims = Claims(folder / _LOCKS)
        # SQLite's busy timeout does not cover switching to the write-ahead log.
        with self._guarded(), self.claims.alone():
            self._reader, self._writer = self._connect(), self._connect()
            self._writer.executescript(_TABLES)

    def replies(self, key: str) -> list[Reply]:
        """The replies kept under a key: none, the first, or the first and its repair."""
        with self._guarded(), self._reading:
            rows = self._reader.execute(_FIND, (key,)).fetchall()
        kept = [
            Reply(text, finish, bool(refused), model, Usage(prompt, completion))
            for turn, text, finish, refused, model, prompt, completion in rows
            if turn < TRIES
        ]
        return kept if [row[0] for row in rows] == list(range(len(rows))) else []

    async def keep(self, stored: Stored) -> None:
        """Return when the reply is on the disk. Replies that come together share one sync."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((stored, done))
        if self._drain is None:
            self._drain = asyncio.create_task(self._write_pending())
        await done

    def keep_all(self, rows: Sequence[Stored]) -> None:
        """As `keep`, for many replies and from any thread."""
        values = [
            (
                row.key,
                row.turn,
                row.reply.text,
                row.reply.finish,
                row.reply.refused,
                row.reply.model,
                row.reply.usage.prompt_tokens,
                row.reply.usage.completion_tokens,
                time.time(),
            )
            for row in rows
        ]
        with self._transaction() as writer:
            writer.executemany(_KEEP, values)

    def batches(self) -> list[NotedBatch]:
        """Batches not yet collected, the oldest first."""
        with self._guarded(), self._reading:
            rows = self._reader.execute("SELECT * FROM batches ORDER BY at, name").fetchall()
        return [NotedBatch(row[0], row[1], Usage(row[2], row[3])) for row in rows]

    def note_batch(self, noted: NotedBatch) -> None:
        """Record that a batch is about to be submitted, or that it was."""
        worst = noted.worst
        tokens = (worst.prompt_tokens, worst.completion_tokens)
        row = (noted.name, noted.batch, *tokens, time.time())
        with self._transaction() as writer:
            writer.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?)", row)

    def drop_batch(self, name: str) -> None:
        """Forget a batch whose replies are kept."""
        with self._transaction() as writer:
            writer.execute("DELETE FROM batches WHERE name = ?", (name,))

    def note_use(self, digest: str, keys: Iterable[str]) -> None:
        """Record the replies behind a digest that a release has as input, for `benchmint purge`."""
        with self._transaction() as writer:
            rows = [(digest, key) for key in sorted(keys) or [""]]
            writer.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?)", rows)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The reading connection, for one thread at a time. Raises StoreError."""
        with self._guarded(), self._reading:
            yield self._reader

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The writing connection, outside any transaction. Raises StoreError."""
        with self._guarded(), self._writing:
            yield self._writer

    def close(self) -> None:
        """Close files and release claims."""
        self.claims.close()
        with self._reading, self._writing:
            self._reader.close()
            self._writer.close()

    async def _write_pending(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                try:
                    await asyncio.to_thread(self.keep_all, [stored for stored, _ in batch])
                except Exception as error:  # whatever it is, the waiting callers must get it
                    for _, done in batch:
                        if not done.done():
                            done.set_exception(error)
                    continue
                for _, done in batch:
                    if not done.done():
                        done.set_result(None)
        finally:
            self._drain = None

    def _connect(self) -> sqlite3.Connection:
        link = sqlite3.connect(
            self._path, timeout=60, isolation_level=None, check_same_thread=False
        )
        link.execute("PRAGMA journal_mode = WAL")
        link.execute("PRAGMA synchronous = FULL")
        link.execute("PRAGMA trusted_schema = OFF")
        return link

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._guarded(), self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            kind = type(error).__name__
            raise StoreError(f"{self._path}: {kind}; expected a store of replies.") from None
