"""Append-only files of hash-chained entries: a removed or altered entry breaks the chain.

Each line is one JSON object that holds the SHA-256 of the one before it. A last line that an
interrupted writer did not finish is no entry; the next writer removes it.
"""

from __future__ import annotations

import fcntl
import getpass
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from data.atomic import PRIVATE_FILE
from data.canonical import canonical_json, digest
from data.errors import BenchmintError

_FIRST = "0" * 64  # what the first entry follows


class BrokenChain(BenchmintError):
    """An entry does not follow from the one before it."""


def append(path: Path, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Append one entry with the time and the user's name; returns it as written.

    Raises BrokenChain if the file was altered.
    """
    now, who = datetime.now(UTC).isoformat(timespec="seconds"), getpass.getuser()
    (written,) = extend(path, lambda known: [{"at": now, "who": who, **fields}])
    return written


def extend(
    path: Path, bodies: Callable[[Sequence[dict[str, Any]]], Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Append what `bodies` makes of the entries so far, as written; no other process is between.

    An entry that was not written to its end goes first: whoever wrote it was never given a receipt.
    Raises BrokenChain if the file was altered.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, PRIVATE_FILE)
    with os.fdopen(handle, "a+b") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        whole = _whole(log.read())
        log.truncate(len(whole))
        known = list(_entries(whole, path))
        previous, written = known[-1]["hash"] if known else _FIRST, []
        for body in bodies(known):
            written.append(linked(previous, body))
            previous = written[-1]["hash"]
        log.write(b"".join(canonical_json(entry) + b"\n" for entry in written))
        log.flush()
        os.fsync(log.fileno())
    return written


def linked(previous: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """An entry that follows the one with the hash `previous`: `fields` with both hashes."""
    body = {"previous": previous, **fields}
    return body | {"hash": digest(body)}


def follows(entry: Mapping[str, Any], previous: str) -> bool:
    """Does an entry follow the one with the hash `previous`, and is it as it was written?"""
    body = {name: value for name, value in entry.items() if name != "hash"}
    return entry.get("previous") == previous and entry.get("hash") == digest(body)


def entries(path: Path) -> list[dict[str, Any]]:
    """All whole entries, oldest first; none if there is no file. Raises BrokenChain."""
    return list(_entries(_whole(path.read_bytes()), path)) if path.exists() else []


def _whole(content: bytes) -> bytes:
    """Without a last line that has no end: its writer was interrupted."""
    return content[: content.rfind(b"\n") + 1]


def _entries(content: bytes, path: Path) -> Iterator[dict[str, Any]]:
    previous = _FIRST
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            entry: dict[str, Any] = orjson.loads(line)
            intact = follows(entry, previous)
        except (orjson.JSONDecodeError, TypeError, AttributeError):
            intact = False
        if not intact:
            raise BrokenChain(
                f"{path}:{number}: this entry was altered, or an earlier one was removed."
            )
        previous = entry["hash"]
        yield entry


def record_access(path: Path, action: str, item_id: str) -> None:
    """Append to the log of looks at private evidence (law 8): who looked at what, when.

    Raises BrokenChain if the log was altered.
    """
    append(path, {"action": action, "item_id": item_id})
