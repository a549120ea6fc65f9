"""Sealing: key and mapping of a release are destroyed, and this is recorded.

The pseudonymized tables are kept, because a rebuild after sealing starts at them (law 4).
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from anonymization.tables.config import TablesRecipe
from data.atomic import (
    PRIVATE_FILE,
    private_dir,
    remove_leftovers,
    replacing_dir,
    write_bytes,
)
from data.canonical import digest, pretty_json
from data.errors import ConfigError, InputError

KEY, MAPPING, RECORD = "release.key", "pseudonyms.json", "sealed.json"
_ONGOING, _DONE = "being destroyed", "destroyed"  # states of the record
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Sealed:
    """`destroyed`: names of the files that are gone."""

    destroyed: tuple[str, ...]


def to_destroy(directory: Path) -> tuple[Path, ...]:
    """Key and mapping, as far as they exist.

    Raises InputError if neither does and no record says that sealing destroyed them.
    """
    private = directory / "private"
    files = tuple(private / name for name in (KEY, MAPPING) if (private / name).is_file())
    if not files and not _recorded(directory):
        expected = f"private/{KEY} or private/{MAPPING}"
        raise InputError(str(directory), "neither key nor mapping", expected, "Check the folder.")
    return files


def seal(directory: Path) -> _Sealed:
    """Overwrite and remove the key and the mapping in `directory`/private, and record it.

    The record is written before the first file is destroyed: without it, a build would make a new
    key and perturb the originals again. After a kill, sealing again finishes the work; after a
    finished sealing it destroys nothing. The caller prevents builds meanwhile. Overwriting is as
    thorough as the file system allows: journals, snapshots, backups and flash memory may keep
    copies, and the record says so. Errors: `InputError` if there is nothing to destroy.
    """
    files = to_destroy(directory)
    remove_leftovers(directory, RECORD)
    names = {path.name for path in files} | _recorded(directory)
    _record(directory, _ONGOING, names)
    for path in files:
        _destroy(path)
    _record(directory, _DONE, names)
    return _Sealed(tuple(path.name for path in files))


def _recorded(directory: Path) -> set[str]:
    """The files that an interrupted or earlier sealing has destroyed."""
    record = _record_of(directory)
    return {*record.get(_ONGOING, ()), *record.get(_DONE, ())}


def _record_of(directory: Path) -> dict[str, Any]:
    path = directory / RECORD
    record: dict[str, Any] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    return record


def _record(directory: Path, state: str, names: set[str]) -> None:
    record = {
        state: sorted(names),
        "how": "overwritten once with random bytes, synced, unlinked",
        "caveat": "copies in journals, snapshots, backups or flash memory are out of reach",
        "since": "a rebuild starts from the pseudonymized tables",
    }
    write_bytes(directory / RECORD, pretty_json(record))


def _destroy(path: Path) -> None:
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


_FACTS = "current.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """Pseudonymized files that a build keeps for a rebuild after sealing, and what made them.

    `folder`: where below `private`. `settings`: the digest of the settings, `what` says which they
    are.
    """

    folder: str
    what: str
    settings: str

    def facts(self, out: Path) -> dict[str, Any] | None:
        """What was kept last; None if nothing was."""
        path = out / "private" / self.folder / _FACTS
        facts: dict[str, Any] | None = orjson.loads(path.read_bytes()) if path.is_file() else None
        return facts


def kept_tables(recipe: TablesRecipe) -> Kept:
    """The tables of the lane of tables."""
    return Kept("pseudonymized", "[tables]", digest(recipe.made_from()))


def keep(private: Path, tables: Path, kept: Kept, key_id: str, inputs: Mapping[str, str]) -> None:
    """Keep pseudonymized tables outside the run store, for a rebuild after the key is destroyed.

    The copy is complete before it becomes the current one and the old one is removed. `inputs` are
    the digests of the original tables, by table; `key_id` is the digest of the release key.
    """
    folder = private_dir(private / kept.folder)
    target = folder / tables.name
    if not target.is_dir():
        with replacing_dir(target) as part:
            shutil.copytree(tables, part, dirs_exist_ok=True)
    facts = {
        "folder": target.name,
        "release_key": key_id,
        "recipe": kept.settings,
        "inputs": dict(inputs),
    }
    write_bytes(folder / _FACTS, pretty_json(facts), mode=PRIVATE_FILE)
    for other in folder.iterdir():
        if other.is_dir() and other != target:
            shutil.rmtree(other, ignore_errors=True)


def sealed_output(out: Path, kept: Kept, key_id: str) -> Path | None:
    """The folder of pseudonymized files to start at; None if the originals are read.

    Errors: `ConfigError` if the settings differ from those of the sealed files: without the key
    they cannot be perturbed in the same way again.
    """
    facts = kept.facts(out)
    if facts is None or not (out / RECORD).is_file():
        return None
    if facts["release_key"] == key_id:
        return None  # the key was kept elsewhere and has been put back
    if facts["recipe"] != kept.settings:
        raise _sealed(out, f"{kept.what} changed")
    return out / "private" / kept.folder / str(facts["folder"])


def require_unchanged(out: Path, kept: Kept, inputs: Mapping[str, str]) -> None:
    """Raise ConfigError if originals that are still given are not those that were sealed."""
    facts = kept.facts(out)
    if facts is not None and facts["inputs"] != inputs:
        raise _sealed(out, "the tables changed")


def _sealed(out: Path, what: str) -> ConfigError:
    return ConfigError(
        f"{out}: sealed, and {what} since. Without the release key a rebuild can only start from "
        "the sealed tables as they are. Undo the change, or build with another --out."
    )
