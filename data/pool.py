"""What is still in a lane and what has come out of it, on disk.

Survivors are the task instances that the stages of the sessions lane hand on: private originals.
The pool holds the candidates of all lanes: each lane writes one part, a release is selected from
all. A part is `pool.parquet` (a row per candidate) and `fixture_files.json`, which leads from the
SHA-256 of each input file to the file with that content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BufferedWriter
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import polars as pl
from pydantic import TypeAdapter

from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import (
    Attachment,
    Candidate,
    Fixture,
    Scalar,
    TaskInstance,
    UserTurn,
    dump_instance,
    load_instance,
)
from data.tables import Schema, read_table, write_rows

POOL_FILE, _FIXTURES_FILE = "pool.parquet", "fixture_files.json"
_POOL: Schema = {"task_id": pl.String, "lane": pl.String, "candidate": pl.String}


@dataclass(frozen=True, slots=True)
class _Pool:
    """Candidates in the order of their ids; `fixtures` maps SHA-256 to the file's path."""

    candidates: tuple[Candidate, ...]
    fixtures: Mapping[str, Path]


def write_pool(out: Path, candidates: Iterable[Candidate], fixtures: Mapping[str, Path]) -> None:
    """Write a part of the pool into a stage's output.

    Paths of `fixtures` count from `out` or are absolute.
    """
    rows = [
        (candidate.task_id, str(candidate.lane), canonical_json(candidate).decode())
        for candidate in sorted(candidates, key=lambda candidate: candidate.task_id)
    ]
    write_rows(out / POOL_FILE, rows, _POOL)
    write_bytes(out / _FIXTURES_FILE, canonical_json(fixtures))


def read_pool(parts: Sequence[Path]) -> _Pool:
    """The candidates of all parts as one pool, sorted by id."""
    candidates = tuple(map(Candidate.model_validate_json, pool_rows(parts)))
    return _Pool(candidates, fixture_files(parts))


def pool_rows(parts: Sequence[Path]) -> list[str]:
    """The candidates of all parts as JSON, sorted by id."""
    table = read_table([part / POOL_FILE for part in parts], _POOL).sort("task_id")
    return table["candidate"].to_list()


def fixture_files(parts: Sequence[Path]) -> dict[str, Path]:
    """The files of all parts by SHA-256."""
    return {
        sha256: part / path
        for part in parts
        for sha256, path in orjson.loads((part / _FIXTURES_FILE).read_bytes()).items()
    }


# File contents of a stage in one file: each content once, however many tasks name it.
#
# Thousands of small files would each have to be created and synced. The contents are written one
# after the other; an index gives the offset and the size of each by SHA-256.

_CONTENTS, _INDEX = "contents.bin", "index.json"
_CHUNK = 1 << 20


class ContentStore:
    """Adds contents to a folder, which is created with the first; `close` writes the index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._out: BufferedWriter | None = None
        self._index: dict[str, tuple[int, int]] = {}

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._index

    def add(self, sha256: str, chunks: Iterable[bytes]) -> bool:
        """Add a content; False, and nothing is kept, if its digest is not `sha256`."""
        if self._out is None:
            self._folder.mkdir()
            self._out = (self._folder / _CONTENTS).open("xb")
        start, size, digest = self._out.tell(), 0, hashlib.sha256()
        for chunk in chunks:
            size += self._out.write(chunk)
            digest.update(chunk)
        if digest.hexdigest() != sha256:
            self._out.seek(start)
            self._out.truncate()
            return False
        self._index[sha256] = (start, size)
        return True

    def close(self) -> None:
        """Without contents there is no folder."""
        if self._out is not None:
            self._out.close()
            (self._folder / _INDEX).write_bytes(canonical_json(self._index))


def _unpack(folder: Path, wanted: Iterable[str], target: Path) -> None:
    """Write the contents of a store that have these digests as files `<target>/<sha256>`."""
    index: dict[str, tuple[int, int]] = orjson.loads((folder / _INDEX).read_bytes())
    with (folder / _CONTENTS).open("rb") as contents:
        for sha256 in wanted:
            start, size = index[sha256]
            contents.seek(start)
            with (target / sha256).open("xb") as out:
                out.writelines(chunks(contents, size))


def chunks(handle: BinaryIO, size: int) -> Iterator[bytes]:
    """The next `size` bytes, or fewer if there are not so many."""
    while size > 0 and (chunk := handle.read(min(_CHUNK, size))):
        size -= len(chunk)
        yield chunk


FIXTURES = "fixtures"  # the content store beside the table
SURVIVORS: Schema = {
    "instance_id": pl.String,
    "fingerprint": pl.String,
    "source_path": pl.String,
    "payload": pl.String,
    "fixtures": pl.String,
}
_FILE = "survivors.parquet"

_FIXTURES = TypeAdapter(tuple[Fixture, ...])


@dataclass(frozen=True, slots=True)
class Survivor:
    """An instance with restored text, its fixtures, and the store with their contents."""

    instance: TaskInstance
    fixtures: tuple[Fixture, ...]
    store: Path

    @property
    def evidence(self) -> dict[str, Scalar]:
        """The pointer to the source log that ledger rows of this instance carry."""
        return {"path": self.instance.source_path, "line": self.instance.user_turns[0].line}


def read_survivors(shards: Sequence[Path]) -> list[Survivor]:
    """The survivors of all shards, sorted by instance id."""
    survivors = [survivor for shard in shards for survivor in _read(shard)]
    return sorted(survivors, key=lambda survivor: survivor.instance.instance_id)


def write_survivors(out: Path, survivors: Sequence[Survivor]) -> None:
    """Write the survivors of a shard whose fixtures are in `out / FIXTURES`."""
    rows = [
        survivor_values(survivor.instance, survivor.fixtures)
        for survivor in sorted(survivors, key=lambda survivor: survivor.instance.instance_id)
    ]
    write_rows(out / _FILE, rows, SURVIVORS)


def _read(shard: Path) -> Iterator[Survivor]:
    for row in pl.read_parquet(shard / _FILE).iter_rows(named=True):
        fixtures = _FIXTURES.validate_json(row["fixtures"])
        yield Survivor(load_instance(row["payload"]), fixtures, shard / FIXTURES)


def unpack_fixtures(survivors: Sequence[Survivor], wanted: set[str], target: Path) -> None:
    """Write each wanted content (by SHA-256) once, as `<target>/<sha256>`."""
    stores: dict[Path, list[str]] = {}
    remaining = set(wanted)
    for survivor in survivors:
        for item in survivor.fixtures:
            if item.sha256 in remaining:
                remaining.discard(item.sha256)
                stores.setdefault(survivor.store, []).append(item.sha256)
    for store, digests in stores.items():
        _unpack(store, digests, target)


def survivor_values(instance: TaskInstance, fixtures: tuple[Fixture, ...]) -> tuple[Any, ...]:
    """A row of SURVIVORS."""
    return (
        instance.instance_id,
        instance.fingerprint,
        instance.source_path,
        dump_instance(instance),
        canonical_json(fixtures).decode(),
    )


def with_texts(instance: TaskInstance, change: Callable[[str], str]) -> TaskInstance:
    """The instance with `change` applied to each text from people, agents or files.

    The order of the texts is fixed. Ids and the log's path stay: they are private and never
    released. Inline media, the URLs of the whole session and the texts of files are removed,
    because only the gates before masking need them.
    """
    return replace(
        instance,
        user_turns=tuple(_turn(turn, change) for turn in instance.user_turns),
        acts=tuple(replace(act, path=change(act.path)) for act in instance.acts),
        session_urls=(),
        reply=change(instance.reply),
        cwd=_maybe(instance.cwd, change),
        said_before=tuple(change(said) for said in instance.said_before),
        answers=tuple(change(answer) for answer in instance.answers),
        made=tuple(change(path) for path in instance.made),
        kept=(),
        in_part=tuple(change(path) for path in instance.in_part),
    )


def texts_of(instance: TaskInstance) -> list[str]:
    """The texts that `with_texts` passes to `change`, in the same order."""
    seen: list[str] = []

    def remember(text: str) -> str:
        seen.append(text)
        return text

    with_texts(instance, remember)
    return seen


def _turn(turn: UserTurn, change: Callable[[str], str]) -> UserTurn:
    return replace(
        turn,
        text=change(turn.text),
        said=change(turn.said),
        sender=_maybe(turn.sender, change),
        attachments=tuple(
            Attachment(_maybe(sent.path, change), sent.mime) for sent in turn.attachments
        ),
    )


def _maybe(text: str | None, change: Callable[[str], str]) -> str | None:
    return None if text is None else change(text)
