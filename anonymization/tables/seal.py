"""Sealing: key and mapping of a release are destroyed, and it is written down that they were."""

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
    """Key and mapping, as far as they are there. Raises InputError if neither is."""
    private = directory / "private"
    found = tuple(private / name for name in (KEY, MAPPING) if (private / name).is_file())
    if not found:
        expected = f"private/{KEY} or private/{MAPPING}"
        raise InputError(str(directory), "neither key nor mapping", expected, "Check the folder.")
    return found


def seal(directory: Path) -> Sealed:
    """Overwrite and remove the key and the mapping in `directory`/private, and record it.

    The record stands before the first of them goes: without one, a build would make a new key and
    perturb the originals anew. After a kill, sealing again finishes the work. The caller keeps
    builds out meanwhile. Overwriting is done as well as a file system allows: journals, snapshots,
    backups and flash memory may keep copies, and the record says so. Errors: `InputError` if there
    is nothing.
    """
    found = to_destroy(directory)
    names = {path.name for path in found} | _recorded(directory)
    _record(directory, "being destroyed", names)
    for path in found:
        destroy(path)
    _record(directory, "destroyed", names)
    return Sealed(tuple(path.name for path in found))


def _recorded(directory: Path) -> set[str]:
    """What a killed or an earlier sealing has destroyed already."""
    path = directory / RECORD
    told = orjson.loads(path.read_bytes()) if path.is_file() else {}
    return {*told.get("being destroyed", ()), *told.get("destroyed", ())}


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
    left = path.stat().st_size
    with path.open("r+b") as handle:
        while left > 0:
            handle.write(secrets.token_bytes(min(left, _CHUNK)))
            left -= _CHUNK
        handle.flush()
        os.fsync(handle.fileno())
    path.unlink()
