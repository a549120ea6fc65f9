"""Child processes: those for untrusted data, with limits, and those that outlive their command.

Parent and child exchange frames (a length of eight bytes, then the content) over the child's
standard input and output. The child calls `confine` before it reads anything.

A process that outlives its command is known by a mark and ended for good: every process of a group,
and what those start in turn, carries the group's folder in one variable of its environment. So none
is missed, and a process number that was given anew is not taken.
"""

from __future__ import annotations

import atexit
import fcntl
import importlib
import json
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NoReturn

from data.errors import BenchmintError

_LENGTH, _MESSAGE = 8, 4096
_CLOSING_SECONDS = 5.0
_HANGING = 5.0  # seconds of the clock for each that it may work: on a busy machine they are many
_WORD = 64
_DENIED = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "shutil.")
_DENIED_EXACTLY = frozenset(
    {"os.system", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink"}
)


class ChildFailed(Exception):
    """The child ended, exceeded a limit, or sent an answer that is not a frame."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Seconds of processor time, bytes of memory, bytes of one answer."""

    seconds: int = 60
    memory_bytes: int = 2 << 30
    answer_bytes: int = 1 << 30


class _ForkServer:
    """Starts this process's children of one module, through a server of them."""

    def __init__(self, module: str) -> None:
        self._ours, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 — this interpreter and a fixed module
                [sys.executable, "-m", "data.child", module],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl+C reaches the parent, which ends its children
            )

        atexit.register(self._close)

    def _close(self) -> None:
        """End the server at the end of this process; one that hangs ends with it anyway."""
        self._ours.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSING_SECONDS)

    def spawn(self, arguments: Sequence[str], descriptors: Sequence[int]) -> int:
        """Start a child with its standard input and output; returns its process id."""
        message = json.dumps({"spawn": arguments}).encode()
        with self._lock:
            socket.send_fds(self._ours, [message], descriptors)
            return self._answer()

    def end(self, pid: int) -> None:
        """Kill a child and wait until it is gone."""
        with self._lock:
            self._ours.sendall(json.dumps({"end": pid}).encode())
            self._answer()

    def _answer(self) -> int:
        answer = self._ours.recv(_WORD)
        if not answer:
            raise ChildFailed("the fork server ended")
        return int(answer)


@cache
def _fork_server(module: str, _process: int) -> _ForkServer:
    """One per module and process: a fork of this process needs its own."""
    return _ForkServer(module)


class Child:
    """`module.main()` in a child process, with its limits as arguments.

    The child is always killed at the end, and at the latest when it was waited for for so long that
    it must hang: the limit of its own time ends one that works. What the parent does in between may
    take any time.
    """

    def __init__(self, module: str, limits: ChildLimits) -> None:
        self._limits = limits
        self._fork_server = _fork_server(module, os.getpid())
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self._in, self._out = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        arguments = [str(limits.seconds), str(limits.memory_bytes)]
        try:
            self._pid = self._fork_server.spawn(arguments, [theirs_in, theirs_out])
        except (ChildFailed, OSError) as error:
            self._close()
            _fork_server.cache_clear()  # the next child gets a new one
            raise ChildFailed(type(error).__name__) from None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._left = _HANGING * limits.seconds

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        self._close()

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """End the child where what the parent waits for takes longer than is left."""
        began = time.monotonic()
        timer = threading.Timer(self._left, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self._left = max(0.0, self._left - (time.monotonic() - began))

    def _end(self) -> None:
        with suppress(ChildFailed, OSError):
            self._fork_server.end(self._pid)

    def _close(self) -> None:
        for stream in (self._in, self._out):
            with suppress(BrokenPipeError):
                stream.close()

    def send(self, content: bytes) -> None:
        """Send one frame. Raises ChildFailed if the child does not read it."""
        try:
            with self._waiting():
                write_frame(self._in, content)
        except (BrokenPipeError, OSError) as error:
            raise ChildFailed(type(error).__name__) from None

    def receive(self) -> bytes:
        """The next frame. Raises ChildFailed if there is none, or it is too large."""
        with self._waiting():
            return read_frame(self._out, self._limits.answer_bytes)


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


def confine(seconds: int, memory_bytes: int, answer_bytes: int = 0) -> BinaryIO:
    """Limit this process irrevocably; returns the stream for answers.

    What libraries print is discarded; files can only be read; network access and new processes
    are denied. `answer_bytes`: the largest size of an answer that goes to a file.
    """
    answer = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    for which, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, seconds + 1),
        (resource.RLIMIT_FSIZE, answer_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(which)  # what is limited already stays so
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (limit, limit))
    sys.addaudithook(_deny)
    return answer


def _deny(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & os.O_ACCMODE:
            raise PermissionError("writing is denied")
    elif event.startswith(_DENIED) or event in _DENIED_EXACTLY:
        raise PermissionError(f"{event} is denied")


# The server of children --------------------------------------------------------------------------
# `python -m data.child MODULE` forks children whose modules are imported already, so that a start
# costs milliseconds. Standard input is a Unix socket. `{"spawn": [arguments]}`, with two file
# descriptors for the child's standard input and output, is answered with the child's process id;
# `{"end": id}` kills the child and reaps it. The server itself reads nothing untrusted, and ends
# when its parent does.


def _serve() -> None:
    """Serve until the other end of the socket is closed."""
    module = sys.argv[1]
    run: Callable[[], None] = importlib.import_module(module).main
    requests = socket.socket(fileno=os.dup(0))
    children: set[int] = set()
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, _MESSAGE, 2)
        if not message:
            break
        request = json.loads(message)
        if "spawn" in request:
            pid = os.fork()
            if pid == 0:
                requests.close()
                _become(run, [module, *request["spawn"]], descriptors)
            children.add(pid)
            for descriptor in descriptors:
                os.close(descriptor)
            requests.sendall(json.dumps(pid).encode())
        else:
            _reap(request["end"], children)
            requests.sendall(b"0")
    for pid in list(children):
        _reap(pid, children)


def _become(run: Callable[[], None], arguments: list[str], descriptors: list[int]) -> None:
    """Turn this fork into the child; never returns."""
    status = 1
    try:
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
            os.close(descriptor)
        sys.argv = arguments
        run()
        status = 0
    finally:
        os._exit(status)


def _reap(pid: int, children: set[int]) -> None:
    """Until it is reaped a child keeps its process id, so the signal cannot hit another process."""
    if pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        children.discard(pid)


_PROC = Path("/proc")
_STEP = 0.1
_MOMENT = 0.001
_PATIENCE = 180.0  # seconds for a process to be ready, on a machine that is busy


class ServiceError(BenchmintError):
    """The service did not start, or is not there."""


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """Processes by name; `folder` holds their pid files and logs, `mark` names the variable."""

    folder: Path
    mark: str

    def log(self, name: str) -> Path:
        """Where the output of a process goes."""
        return self.folder / "logs" / f"{name}.log"

    def spawn(
        self, name: str, module: Sequence[str], root: Path, environment: Mapping[str, str]
    ) -> int:
        """Start `python -m MODULE…` in `root`, detached from the terminal."""
        self.log(name).parent.mkdir(parents=True, exist_ok=True)
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  (this interpreter, arguments of our own)
                [sys.executable, "-m", *module],
                cwd=root,
                env={**environment, self.mark: str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        # Its environment, by which it is known, shows only a moment after it began.
        while process.poll() is None and not self._is_member(process.pid):
            time.sleep(_MOMENT)
        self._pid_file(name).write_text(f"{process.pid}\n")
        return process.pid

    def running(self, name: str) -> int | None:
        """The process id of `name`, None if it ended."""
        file = self._pid_file(name)
        if not file.is_file():
            return None
        pid = int(file.read_text())
        return pid if self._is_member(pid) else None

    def members(self) -> list[int]:
        """Every process of the group, and what those started, orphans included."""
        if not (_PROC / "self" / "environ").is_file():
            raise ServiceError(
                "the service finds its processes in /proc, which this system does not have. Use "
                "flow.serve instead; see docs/operations.md."
            )
        pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
        return sorted(pid for pid in pids if pid != os.getpid() and self._is_member(pid))

    def end(self, pids: Sequence[int], seconds: float) -> None:
        """Ask the processes to end, wait for `seconds`, then kill what is left."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            remaining = [pid for pid in pids if self._is_member(pid)]
            for pid in remaining:
                _signal(pid, number)
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and any(map(self._is_member, remaining)):
                time.sleep(_STEP)

    def forget(self, name: str) -> None:
        """Remove the pid file of a process that ended."""
        self._pid_file(name).unlink(missing_ok=True)

    def wait(self, name: str, ready: Callable[[], bool], *, ends: bool = False) -> None:
        """Say what is waited for until `ready`.

        Raises ServiceError if the process ends before, or nothing comes of it.
        """
        about = f"waiting for: {name} (at most {_PATIENCE:.0f} s; log: {self.log(name)})"
        print(about, file=sys.stderr, flush=True)
        deadline = time.monotonic() + _PATIENCE
        while not ready():
            if not ends and self.running(name) is None:
                self.fail(name, "it exited")
            if time.monotonic() > deadline:
                self.fail(name, f"not ready after {_PATIENCE:.0f} s")
            time.sleep(_STEP)

    def fail(self, name: str, why: str) -> NoReturn:
        """Raise ServiceError with the log to look at."""
        raise ServiceError(f"the {name} did not start: {why}. See {self.log(name)}")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While nobody else starts or ends the group. Raises ServiceError where somebody does."""
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ServiceError(
                    f"{self.folder}: the service is being started or stopped. Wait for it."
                ) from None
            yield

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"

    def _is_member(self, pid: int) -> bool:
        """A zombie has no environment left, and so counts as ended."""
        try:
            environment = (_PROC / str(pid) / "environ").read_bytes()
        except OSError:
            return False
        return os.fsencode(f"{self.mark}={self.folder}") in environment.split(b"\0")


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def can_have_workers() -> bool:
    """Can processes share a lock here? It takes a /dev/shm that can be written."""
    try:
        multiprocessing.get_context("forkserver").Lock()
    except (OSError, ImportError):
        return False
    return True


if __name__ == "__main__":
    _serve()
