"""Sealing: key and mapping of a release are destroyed, and this is recorded."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import orjson

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.errors import InputError

KEY, MAPPING, RECORD = "release.key", "pseudonyms.json", "sealed.json"
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sealed:
    """`destroyed`: names of the files that are gone."""

    destroyed: tuple[str, ...]


def to_destroy(directory: Path) -> tuple[Path, ...]:
    """Key and mapping, as far as they exist. Raises InputError if neither does."""
    private = directory / "private"
    files = tuple(private / name for name in (KEY, MAPPING) if (private / name).is_file())
    if not files:
        expected = f"private/{KEY} or private/{MAPPING}"
        raise InputError(str(directory), "neither key nor mapping", expected, "Check the folder.")
    return files


def seal(directory: Path) -> Sealed:
    """Overwrite and remove the key and the mapping in `directory`/private, and record it.

    The record is written before the first file is destroyed: without it, a build would make a new
    key and perturb the originals again. After a kill, sealing again finishes the work. The caller
    prevents builds meanwhile. Overwriting is as thorough as the file system allows: journals,
    snapshots, backups and flash memory may keep copies, and the record says so. Errors:
    `InputError` if there is nothing to destroy.
    """
    files = to_destroy(directory)
    names = {path.name for path in files} | _recorded(directory)
    _record(directory, "being destroyed", names)
    for path in files:
        destroy(path)
    _record(directory, "destroyed", names)
    return Sealed(tuple(path.name for path in files))


def _recorded(directory: Path) -> set[str]:
    """The files that an interrupted or earlier sealing has destroyed."""
    path = directory / RECORD
    record = orjson.loads(path.read_bytes()) if path.is_file() else {}
    return {*record.get("being destroyed", ()), *record.get("destroyed", ())}


def _record(directory: Path, state: str, names: set[str]) -> None:
    record = {
        state: sorted(names),
        "how": "overwritten once with random bytes, synced, unlinked",
        "caveat": "copies in journals, snapshots, backups or flash memory are out of reach",
        "since": "a rebuild starts at the pseudonymized tables",
    }
    write_bytes(directory / RECORD, pretty_json(record))


def destroy(path: Path) -> None:
    """Overwrite a file with random bytes, sync, and unlink it. Links are unlinked only."""
    if path.is_symlink():
        path.unlink()
        return
    remaining = path.stat().st_size
    with path.open("r+b") as handle:
        while remaining > 0:
            handle.write(secrets.token_bytes(min(remaining, _CHUNK)))
            remaining -= _CHUNK
        handle.flush()
        os.fsync(handle.fileno())
    path.unlink()
