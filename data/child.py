"""A process of its own for work on untrusted data, with limits on memory, time and rights.

Parent and child exchange frames (a length of eight bytes, then the content) over the child's
standard input and output. The child calls `confine` before it reads anything.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

_LENGTH = 8
_DENIED = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "shutil.")
_DENIED_EXACTLY = frozenset(
    {"os.system", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink"}
)


class ChildFailed(Exception):
    """The child ended, ran out of its limits, or answered with nonsense."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Seconds of processor and wall time, bytes of memory, bytes of one answer."""

    seconds: int = 60
    memory_bytes: int = 2 << 30
    answer_bytes: int = 1 << 30


class Child:
    """`python -m module` with its limits as first arguments; killed at the end in any case."""

    def __init__(self, module: str, limits: ChildLimits) -> None:
        self._limits = limits
        self._process = subprocess.Popen(  # noqa: S603 — this interpreter and a fixed module
            [sys.executable, "-m", module, str(limits.seconds), str(limits.memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._timer = threading.Timer(2 * limits.seconds, self._process.kill)
        self._timer.start()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    def send(self, content: bytes) -> None:
        """Send one frame. Raises ChildFailed if nobody reads."""
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, content)
        except (BrokenPipeError, OSError) as error:
            raise ChildFailed(type(error).__name__) from None

    def receive(self) -> bytes:
        """The next frame. Raises ChildFailed if there is none, or it is too large."""
        assert self._process.stdout is not None
        return read_frame(self._process.stdout, self._limits.answer_bytes)


def write_frame(stream: BinaryIO | Any, content: bytes) -> None:
    """Write one frame and flush it."""
    stream.write(len(content).to_bytes(_LENGTH, "big"))
    stream.write(content)
    stream.flush()


def read_frame(stream: BinaryIO | Any, most: int) -> bytes:
    """Read one frame. Raises ChildFailed at the end of the stream or above `most` bytes."""
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    if len(head) < _LENGTH or size > most:
        raise ChildFailed("no frame")
    content = stream.read(size)
    if len(content) < size:
        raise ChildFailed("half a frame")
    return bytes(content)


def confine(seconds: int, memory_bytes: int) -> BinaryIO:
    """Limit this process for good; returns where to write answers.

    Whatever a library prints goes nowhere; files are read only, and neither network nor
    processes can be had.
    """
    answer = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    for which, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, seconds + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(which, (value, value))
    sys.addaudithook(_deny)
    return answer


def _deny(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & os.O_ACCMODE:
            raise PermissionError("writing is denied")
    elif event.startswith(_DENIED) or event in _DENIED_EXACTLY:
        raise PermissionError(f"{event} is denied")
