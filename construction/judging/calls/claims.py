"""Claims on keys: of all processes that share a store, one at a time asks a question.

One byte of a lock file stands for each key. The operating system gives a claim back when its
process ends, however it ends, so none is ever stale.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from data.atomic import PRIVATE_FILE

_POLL = (0.02, 0.5)  # seconds between looks at a claim that another holds: first, at most


class Claims:
    """Used from one event loop. Locks belong to the open file, so two clients of one process
    exclude each other too (Linux; elsewhere they belong to the process: one client each)."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        self._held: set[str] = set()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Wait until nobody holds `key` (hex), then hold it."""
        pause, longest = _POLL
        while not self.take(key):
            await asyncio.sleep(pause)
            pause = min(pause * 2, longest)
        try:
            yield
        finally:
            self.give(key)

    def take(self, key: str) -> bool:
        """Hold `key` if nobody does."""
        if key in self._held or not _lock(self._handle, _offset(key)):
            return False
        self._held.add(key)
        return True

    def give(self, key: str) -> None:
        """Give `key` back."""
        _unlock(self._handle, _offset(key))
        self._held.discard(key)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process out of what is done within; claims are not concerned."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give everything back."""
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
