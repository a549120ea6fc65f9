"""Atomic writes: a kill at any moment leaves the old file or the new one, never a partial file."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600
_AT_ONCE, _BATCH = 8, 1000
_LOG = ".wal"  # DuckDB's log beside a database that it could not finish


@contextmanager
def replacing(path: Path, *, mode: int | None = None, aside: Path | None = None) -> Iterator[Path]:
    """Yield a temporary file; on success fsync it and move it to `path`.

    It is a sibling of `path`, or in `aside`, a folder of the same disk, where a kill may leave it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = aside or path.parent
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=folder)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(mode if mode is not None else 0o644)
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
        part.with_name(f"{part.name}{_LOG}").unlink(missing_ok=True)


def write_bytes(
    path: Path, content: bytes, *, mode: int | None = None, aside: Path | None = None
) -> None:
    """Atomically write `content` to `path`; `aside` as for `replacing`."""
    with replacing(path, mode=mode, aside=aside) as part:
        part.write_bytes(content)


def write_once(path: Path, content: bytes, *, mode: int) -> None:
    """Write `content` to `path` unless it exists. Of several writers at once one is heard."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        part.chmod(mode)
        _sync(part)
        with suppress(FileExistsError):
            path.hardlink_to(part)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


def private_dir(path: Path) -> Path:
    """Create `path` (and parents) so that only its owner can enter it."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(PRIVATE_DIR)
    return path


@contextmanager
def replacing_dir(path: Path) -> Iterator[Path]:
    """Yield a fresh sibling directory; on success move it to `path`, which must not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        yield part
        part.chmod(0o755)
        _sync_all(part)
        part.rename(path)
        _sync(path.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what killed writers left in `folder`, or of `name` alone.

    Call it under a lock that excludes these writers.
    """
    own = "*" if name is None else f"{glob.escape(name)}.{'[a-z0-9_]' * 8}"  # by tempfile
    for part in (*folder.glob(f".{own}.part"), *folder.glob(f".{own}.part{_LOG}")):
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def _sync_all(folder: Path) -> None:
    """Sync all files, and folders too: without their entries a moved directory is incomplete."""
    items = (item for item in folder.rglob("*") if item.is_file() or item.is_dir())
    with ThreadPoolExecutor(_AT_ONCE) as pool:  # a disk syncs several files in the time of one
        while batch := list(islice(items, _BATCH)):  # there may be hundreds of thousands
            list(pool.map(_sync, batch))
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
