"""Limits on the memory and the processes of a sandbox as a whole.

A cgroup (v2 or v1) where one can be written; elsewhere a watchdog that adds up the processes below
the sandbox and kills it, with limits on the address space of each process and on the number of
the user's processes in the sandbox. Which of them holds is stated
with each run: a watchdog sees what has happened already.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_CGROUPS = Path("/sys/fs/cgroup")
_PREFIX = "benchmint-"
_WATCH_SECONDS = 0.2
_V2_FILES = {"memory.max": "memory_bytes", "pids.max": "processes"}
_V1_FILES = {
    ("memory", "memory.limit_in_bytes"): "memory_bytes",
    ("pids", "pids.max"): "processes",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one attempt may use: bytes of memory and disk, processes, bytes of one output."""

    memory_bytes: int = 4 << 30
    disk_bytes: int = 2 << 30
    processes: int = 256
    output_bytes: int = 10 << 20
    file_bytes: int = 100 << 20
    files: int = 2000


class _Enforcer(Protocol):
    """What holds a sandbox to its limits; `name` is stated with the run."""

    name: str

    def enter(self) -> None:
        """Called in the child before it becomes the sandbox."""

    def watch(self, pid: int) -> None:
        """Called in the parent once the sandbox runs."""

    def kill(self) -> None:
        """Kill every process that is held."""

    def close(self) -> None:
        """Called when the sandbox has ended."""


def enforcer(limits: Limits, root: Path = _CGROUPS) -> _Enforcer:
    """A cgroup of its own where one can be made, else a watchdog."""
    _remove_leftovers(root)
    label = f"{_PREFIX}{os.getpid()}-{uuid.uuid4().hex}"
    for make in (_cgroup_v2, _cgroup_v1):
        with suppress(OSError):
            if (group := make(limits, label, root)) is not None:
                return group
    return _Watchdog(limits)


class _Cgroup:
    """Folders of the cgroup file system that hold one sandbox."""

    def __init__(self, name: str, folders: tuple[Path, ...]) -> None:
        self.name = name
        self.folders = folders

    def enter(self) -> None:
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def watch(self, pid: int) -> None:
        """The kernel watches."""

    def kill(self) -> None:
        for folder in self.folders[:1]:  # all of them hold the same processes
            with suppress(OSError):
                _kill_all(map(int, (folder / "cgroup.procs").read_text("ascii").split()))

    def close(self) -> None:
        for folder in self.folders:
            _remove(folder)


class _Watchdog:
    """Adds up memory and processes below the sandbox, and kills it over the limit."""

    name = "watchdog"

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._ended = threading.Event()
        self._pid: int | None = None

    def enter(self) -> None:
        """Nothing to enter."""

    def watch(self, pid: int) -> None:
        self._pid = pid
        threading.Thread(target=self._run, args=(pid,), daemon=True).start()

    def kill(self) -> None:
        if self._pid is not None:
            _kill_all(list(_descendants(self._pid)))

    def close(self) -> None:
        self._ended.set()

    def _run(self, pid: int) -> None:
        while not self._ended.wait(_WATCH_SECONDS):
            family = list(_descendants(pid))
            memory = sum(map(_resident_bytes, family))
            if memory > self.limits.memory_bytes or len(family) > self.limits.processes:
                _kill_all(family)
                return


def _remove_leftovers(root: Path) -> None:
    """Remove the cgroups of runs that were killed; their names hold the process."""
    for folder in [*root.glob(f"{_PREFIX}*"), *root.glob(f"*/{_PREFIX}*")]:
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            with suppress(OSError):
                folder.rmdir()


def _kill_all(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _descendants(root: int) -> Iterator[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    pending = [root]
    while pending:
        pid = pending.pop()
        yield pid
        pending += children.get(pid, [])


def _resident_bytes(pid: int) -> int:
    """The resident memory of a process; 0 once it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        for line in status.splitlines():
            if line.startswith("VmRSS:"):  # so many kB
                return int(line.split()[1]) * 1024
    return 0


def _cgroup_v2(limits: Limits, label: str, root: Path) -> _Cgroup | None:
    controllers = root / "cgroup.controllers"
    if not controllers.is_file() or not {"memory", "pids"} <= set(controllers.read_text().split()):
        return None
    folder = root / label
    folder.mkdir()
    return _filled("cgroup v2", {folder / file: name for file, name in _V2_FILES.items()}, limits)


def _cgroup_v1(limits: Limits, label: str, root: Path) -> _Cgroup | None:
    if not all((root / controller).is_dir() for controller, _ in _V1_FILES):
        return None
    files = {}
    for (controller, file), name in _V1_FILES.items():
        folder = root / controller / label
        folder.mkdir()
        files[folder / file] = name
    return _filled("cgroup v1", files, limits)


def _filled(name: str, files: dict[Path, str], limits: Limits) -> _Cgroup:
    """The cgroup with its limits written. Raises OSError, leaving no folder behind."""
    group = _Cgroup(name, tuple(dict.fromkeys(path.parent for path in files)))
    try:
        for path, limit in files.items():
            path.write_text(str(getattr(limits, limit)), encoding="ascii")
    except OSError:
        group.close()
        raise
    return group


def _remove(folder: Path) -> None:
    """Remove a cgroup once its last process is gone, which takes the kernel a moment."""
    for _ in range(50):
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.02)
