"""An append-only, hash-chained log of looks at private evidence (law 8).

Each entry holds the SHA-256 of the one before it: a removed or altered entry breaks the chain.
"""

from __future__ import annotations

import fcntl
import getpass
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from data.atomic import PRIVATE_FILE
from data.canonical import canonical_json, digest
from data.errors import BenchmintError

_FIRST = "0" * 64


class BrokenChain(BenchmintError):
    """An entry of the access log does not follow from the one before it."""


def record(path: Path, action: str, item_id: str) -> None:
    """Append one entry: who looked at what, when. Raises BrokenChain if the log was altered."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
    with os.fdopen(handle, "a+b") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        previous = _FIRST
        log.seek(0)
        for entry in _entries(log.read(), path):
            previous = entry["hash"]
        body = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "who": getpass.getuser(),
            "action": action,
            "item_id": item_id,
            "previous": previous,
        }
        log.write(canonical_json(body | {"hash": digest(body)}) + b"\n")
        log.flush()
        os.fsync(log.fileno())


def check(path: Path) -> int:
    """Verify the chain; returns the number of entries."""
    return sum(1 for _ in _entries(path.read_bytes(), path)) if path.exists() else 0


def _entries(content: bytes, path: Path) -> Iterator[dict[str, Any]]:
    previous = _FIRST
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            entry: dict[str, Any] = orjson.loads(line)
            claimed = entry.pop("hash")
            intact = entry["previous"] == previous and claimed == digest(entry)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            intact = False
        if not intact:
            raise BrokenChain(f"{path}:{number}: this entry was altered, or one before it removed.")
        previous = claimed
        yield entry | {"hash": claimed}
