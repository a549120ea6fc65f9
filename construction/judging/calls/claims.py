"""Claims on keys: of all processes that share a store, only one at a time asks a question.

Each key is one byte of a lock file. The operating system releases a claim when its process ends,
however it ends, so no claim is ever stale.
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
