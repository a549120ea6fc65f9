"""The store of replies: a reply that is in it is never paid for again.

SQLite with a write-ahead log. A file per reply would cost two syncs each, JSON lines an index read
at every start; here many replies share one sync, and 100,000 are found at once (measured in
benchmarks/results/llm_client.md). The folder is private: replies are made from session text. Old
replies are removed on request, except those that releases were made of.

Of all that share a store, only one at a time asks: it holds the lock of a file, which the system
releases however its process ends. Whoever comes next finds the answers stored.
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import itertools
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import TRIES, Reply
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import canonical_json
from data.errors import BenchmintError, InputError
from data.releases.retention import REPLIES as REPLIES_FOLDER
from data.releases.retention import Kind, Plan, Removal

REPLIES, _LOCK, SHAPES = "replies.sqlite", "claims.lock", "shapes.json"
_SETTINGS = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;"
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
  key TEXT NOT NULL, turn INTEGER NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL,
  refused INTEGER NOT NULL, model TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, at REAL NOT NULL, left_out TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (key, turn)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
  name TEXT PRIMARY KEY, batch TEXT NOT NULL, worst_prompt INTEGER NOT NULL,
  worst_completion INTEGER NOT NULL, at REAL NOT NULL, model TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (
  digest TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (digest, key)
) WITHOUT ROWID;
"""
_ADDED = {"replies": "left_out", "batches": "model"}  # columns that older stores have not
_FIND = (
    "SELECT turn, text, finish, refused, model, prompt_tokens, completion_tokens, left_out"
    " FROM replies WHERE key = ? ORDER BY turn"
)
_KEEP = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_OLD = """
SELECT coalesce(sum(n), 0), coalesce(sum(size), 0), min(first), needed FROM (
  SELECT key, count(*) AS n, max(at) AS at, min(at) AS first,
    sum(length(CAST(text AS BLOB))) AS size,
    key IN (SELECT key FROM uses WHERE digest IN (SELECT value FROM json_each(:needed))) AS needed
  FROM replies GROUP BY key
) WHERE at < :before GROUP BY needed
"""
_DELETE = """
DELETE FROM replies
WHERE key IN (SELECT key FROM replies GROUP BY key HAVING max(at) < :before) AND key NOT IN
  (SELECT key FROM uses WHERE digest IN (SELECT value FROM json_each(:needed)))
"""


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
    """A batch to be collected: our name for it, the endpoint's id, its worst case, its model.

    An empty `batch`: it was about to be submitted, and it is unknown whether it was.
    """

    name: str
    batch: str
    worst: Usage
    model: str


class Store:
    """Replies by key. Several processes may use one folder at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = private_dir(folder)
        self._path = folder / REPLIES
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
        self._using = threading.Lock()
        self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        # SQLite's busy timeout does not cover switching to the write-ahead log.
        with self._guarded(), self.alone():
            self._link = sqlite3.connect(
                self._path, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._link.executescript(_SETTINGS + _TABLES)
            for table, column in _ADDED.items():
                names = [row[1] for row in self._link.execute(f"PRAGMA table_info({table})")]
                if column not in names:
                    added = f"ALTER TABLE {table} ADD COLUMN {column} TEXT NOT NULL DEFAULT ''"
                    self._link.execute(added)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude every other store of this folder, in this process and others."""
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def replies(self, key: str) -> list[Reply]:
        """The replies kept under a key: none, the first, or the first and its repair."""
        with self.link() as link:
            rows = link.execute(_FIND, (key,)).fetchall()
        if [row[0] for row in rows] != list(range(len(rows))):
            return []
        return [
            Reply(text, finish, bool(refused), model, Usage(prompt, completion), tuple(out.split()))
            for _, text, finish, refused, model, prompt, completion, out in rows[:TRIES]
        ]

    def all_replies(self) -> list[Stored]:
        """Every reply, in the order of keys and turns."""
        with self.link() as link:
            keys = [row[0] for row in link.execute("SELECT DISTINCT key FROM replies ORDER BY key")]
        turns = [(key, turn, reply) for key in keys for turn, reply in enumerate(self.replies(key))]
        return [Stored(*one) for one in turns]

    def keep(self, rows: Sequence[Stored]) -> None:
        """Return when the replies are on the disk."""
        values = []
        for row in rows:
            reply, usage = row.reply, row.reply.usage
            said = (reply.text, reply.finish, reply.refused, reply.model)
            tokens = (usage.prompt_tokens, usage.completion_tokens)
            rest = (time.time(), " ".join(reply.left_out))
            values.append((row.key, row.turn, *said, *tokens, *rest))
        with self._transaction() as writer:
            writer.executemany(_KEEP, values)

    def batches(self) -> list[NotedBatch]:
        """Batches not yet collected, the oldest first."""
        with self.link() as link:
            rows = link.execute("SELECT * FROM batches ORDER BY at, name").fetchall()
        return [NotedBatch(row[0], row[1], Usage(row[2], row[3]), row[5]) for row in rows]

    def note_batch(self, noted: NotedBatch) -> None:
        """Record that a batch is about to be submitted, or that it was."""
        worst = noted.worst
        tokens = (worst.prompt_tokens, worst.completion_tokens)
        row = (noted.name, noted.batch, *tokens, time.time(), noted.model)
        with self._transaction() as writer:
            writer.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?)", row)

    def drop_batch(self, name: str) -> None:
        """Forget a batch whose replies are kept."""
        with self._transaction() as writer:
            writer.execute("DELETE FROM batches WHERE name = ?", (name,))

    def note_use(self, digest: str, keys: Iterable[str]) -> None:
        """Record the replies behind a digest that a release has as input, for `release purge`."""
        with self._transaction() as writer:
            rows = [(digest, key) for key in sorted(keys) or [""]]
            writer.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?)", rows)

    @contextmanager
    def link(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time, outside any transaction. Raises StoreError."""
        with self._guarded(), self._using:
            yield self._link

    def close(self) -> None:
        """Close the files."""
        os.close(self._lock)
        with self._using:
            self._link.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self.link() as link:
            link.execute("BEGIN IMMEDIATE")
            try:
                yield link
                link.execute("COMMIT")
            finally:
                if link.in_transaction:
                    link.execute("ROLLBACK")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            kind = type(error).__name__
            raise StoreError(f"{self._path}: {kind}; expected a store of replies.") from None


def with_replies(out: Path, plan: Plan, before: date, releases: frozenset[str]) -> Plan:
    """The plan with the replies stored before the date; `releases` are digests of those to keep.

    The last reply to a question decides about its age. A release made from replies that this store
    does not know keeps all. Raises StoreError.
    """
    folder = out / REPLIES_FOLDER
    if any((out / part).is_symlink() for part in ("private/captures", REPLIES_FOLDER)):
        kept = (REPLIES_FOLDER, "a symbolic link is never followed")
        return Plan(plan.removals, (*plan.kept, kept))
    if not (folder / REPLIES).is_file():
        return plan
    with closing(Store(folder)) as store, store.link() as link:
        rows = link.execute(_OLD, _bounds(before, releases)).fetchall()
        known = {row[0] for row in link.execute("SELECT DISTINCT digest FROM uses")}
    by_needed = {bool(row[3]): row for row in rows}
    replies, size, first, _ = by_needed.get(False, (0, 0, 0.0, 0))
    needed = by_needed[True][0] if True in by_needed else 0
    why = f"{needed} replies that releases were made from"
    if not known.issuperset(releases):
        needed, replies = needed + replies, 0
        why = "a release needs replies that the store does not know of: --all-replies removes them"
    stay = [(REPLIES_FOLDER, why)] if needed else []
    since = datetime.fromtimestamp(first, UTC).date()
    go = [Removal(Kind.REPLIES, REPLIES_FOLDER, since, replies, size)] if replies else []
    return Plan((*plan.removals, *go), (*plan.kept, *stay))


def forget_replies(folder: Path, before: date, releases: Collection[str]) -> None:
    """Remove the replies that `with_replies` counts, without a trace. Raises StoreError."""
    with closing(Store(folder)) as store, store.link() as link:
        link.execute(_DELETE, _bounds(before, releases))
        link.execute("VACUUM")
        link.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _bounds(before: date, releases: Collection[str]) -> dict[str, float | str]:
    midnight = datetime(before.year, before.month, before.day, tzinfo=UTC)
    needed = orjson.dumps(sorted(releases)).decode()
    return {"before": midnight.timestamp(), "needed": needed}


_MOST_BYTES = 1 << 30  # of the lines, before a file is refused as a bomb
_LONGEST = 1 << 24  # bytes of a line
_MOST_TOKENS = 1 << 53
_STORED = TypeAdapter(Stored)


def _write_recorded(store: Path, path: Path) -> int:
    """Write all replies of a store to a file; returns how many. Raises StoreError."""
    with closing(Store(store)) as opened:
        stored = opened.all_replies()
    lines = b"".join(canonical_json(asdict(one)) + b"\n" for one in stored)
    write_bytes(path, gzip.compress(lines, 9, mtime=0), mode=PRIVATE_FILE)
    return len(stored)


def _read_recorded(path: Path) -> Iterator[Stored]:
    """The replies of a file. Raises InputError for what `_write_recorded` does not write."""
    known: set[tuple[str, int]] = set()
    bytes_left = _MOST_BYTES
    try:
        with gzip.open(path) as file:
            for number in itertools.count(1):
                line = file.readline(_LONGEST + 1)
                bytes_left -= len(line)
                if not line:
                    break
                if bytes_left < 0 or len(line) > _LONGEST:
                    most = _MOST_BYTES if bytes_left < 0 else _LONGEST
                    raise _unreadable(path, f"more than {most:,} bytes", number)
                stored = _stored(line)
                if stored is None or (stored.key, stored.turn) in known:
                    content = "a second reply" if stored else f"text, {len(line)} bytes"
                    raise _unreadable(path, content, number)
                known.add((stored.key, stored.turn))
                yield stored
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, type(error).__name__) from None
    if not known and not path.stat().st_size:
        raise _unreadable(path, "an empty file")


def _stored(line: bytes) -> Stored | None:
    """The reply of a line, if it is one that a store can hold."""
    try:
        stored = _STORED.validate_json(line, strict=True)
    except ValueError:
        return None
    usage = stored.reply.usage
    numbers = (usage.prompt_tokens, usage.completion_tokens)
    is_kept = stored.turn in range(TRIES) and all(0 <= number < _MOST_TOKENS for number in numbers)
    return stored if is_kept else None


def add_recorded(store: Path, path: Path) -> None:
    """Put the replies of a file into a store, beside those that it has. Raises InputError."""
    replies = list(_read_recorded(path))
    with closing(Store(store)) as opened:
        opened.keep(replies)


def _unreadable(path: Path, actual: str, line: int = 0) -> InputError:
    expected = "recorded replies, as gzip of JSON lines"
    remedy = "Restore the file, or take it out of runtime.model_calls.recorded."
    return InputError(str(path), actual, expected, remedy, line)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    print(f"{given.file}: {_write_recorded(given.store, given.file)} replies")


if __name__ == "__main__":
    main()
