"""Processes of the service: started in sessions of their own, known by a mark, ended for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from data.errors import BenchmintError
from flows.service.settings import MARK, Service, process_environment

_PROC = Path("/proc")
_STEP = 0.1


class ServiceError(BenchmintError):
    """The service did not start, or is not there."""


def spawn(service: Service, name: str, module: Sequence[str], url: str | None = None) -> int:
    """Start `python -m MODULE…` detached from the terminal, its output in the log of `name`."""
    service.log(name).parent.mkdir(parents=True, exist_ok=True)
    with service.log(name).open("ab") as log:
        process = subprocess.Popen(  # noqa: S603  (this interpreter, arguments of our own)
            [sys.executable, "-m", *module],
            cwd=service.root,
            env=process_environment(service, url),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _pid_file(service, name).write_text(f"{process.pid}\n")
    return process.pid


def running(service: Service, name: str) -> int | None:
    """The process id of `name`, None if it ended: a number that was given anew is not taken."""
    file = _pid_file(service, name)
    if not file.is_file():
        return None
    pid = int(file.read_text())
    return pid if _is_marked(pid, service) else None


def marked(service: Service) -> list[int]:
    """Every process the service started, and what those started, orphans included."""
    if not (_PROC / "self" / "environ").is_file():
        raise ServiceError(
            "the service finds its processes in /proc, which this system lacks. "
            "Use flow.serve instead: docs/operations.md."
        )
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return sorted(pid for pid in pids if pid != os.getpid() and _is_marked(pid, service))


def end(service: Service, pids: Sequence[int], seconds: float) -> None:
    """Ask the processes to end, wait for `seconds`, then kill what is left."""
    for number, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, seconds)):
        remaining = [pid for pid in pids if _is_marked(pid, service)]
        for pid in remaining:
            _signal(pid, number)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and any(_is_marked(pid, service) for pid in remaining):
            time.sleep(_STEP)


def forget(service: Service, name: str) -> None:
    """Remove the pid file of a process that ended."""
    _pid_file(service, name).unlink(missing_ok=True)


def _pid_file(service: Service, name: str) -> Path:
    return service.folder / f"{name}.pid"


def _is_marked(pid: int, service: Service) -> bool:
    """A zombie has no environment left, and so counts as ended."""
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return os.fsencode(f"{MARK}={service.folder}") in environment.split(b"\0")


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
