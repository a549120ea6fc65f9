"""Processes that outlive the command that started them: known by a mark, ended for good.

Every process of a group, and what those start in turn, carries the group's folder in one variable
of its environment. So none is missed, and a process number that was given anew is not taken.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from data.errors import BenchmintError

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
