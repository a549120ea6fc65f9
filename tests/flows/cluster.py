"""Clusters of two machines, as far as one can play them: no folder in common with the build.

Each worker has a working folder and a folder for temporary files of its own, and the folders of the
build are hidden from it: in its mount namespace something empty lies over them. What it shares with
the build are the installed code, the loopback, and the storage that is named to it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from construction.sandbox.resources import _descendants
from tests.flows.command import environment

BINARIES = Path(sys.executable).parent
_HIDING = ("unshare", "-m", "sh", "-c")
_HIDE = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1" || exit 9; shift; done; shift; exec "$@"'
_PATIENCE = 120.0  # seconds for a cluster to be there
TOKEN = "7c" * 32


@dataclass(frozen=True, slots=True)
class Machine:
    """A worker's process, and the folder where it works."""

    folder: Path
    process: subprocess.Popen[bytes]

    def is_computing(self, stage: str) -> bool:
        """Is it writing the output of a shard of this stage right now?"""
        pattern = f"tmp/benchmint-shards-*/tmp*/out/{stage}/.*.part"
        return any(self.folder.glob(pattern))

    def kill(self) -> None:
        """End its processes as a power cut would."""
        for pid in [*_descendants(self.process.pid), self.process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where its scheduler is, its workers, and what a build needs in its environment."""

    runner: str
    address: str
    machines: tuple[Machine, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def require_hiding(folder: Path) -> None:
    """Skip where folders cannot be hidden from a process."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seen").touch()
    listed = subprocess.run(hidden([folder], ["ls", str(folder)]), capture_output=True, check=False)
    (folder / "seen").unlink()
    if listed.returncode or listed.stdout:
        pytest.skip("no right to hide a folder from a process (unshare -m)")


def hidden(folders: Sequence[Path], command: Sequence[str]) -> list[str]:
    """The command as one that finds these folders empty."""
    return [*_HIDING, _HIDE, "sh", *map(str, folders), "--", *command]


@contextmanager
def dask_cluster(folder: Path, hide: Sequence[Path], more: Mapping[str, str]) -> Iterator[Cluster]:
    """A scheduler and two workers, which are not started again when they end."""
    address = f"tcp://127.0.0.1:{_free_port()}"
    listen = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard"]
    command = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    with ExitStack() as stack:
        stack.enter_context(_started(folder / "scheduler", ["dask", "scheduler", *listen], (), {}))
        _wait_for(address)
        machines = tuple(
            stack.enter_context(
                _started(folder / name, ["dask", "worker", address, *command], hide, more)
            )
            for name in ("first", "second")
        )
        yield Cluster("dask", address, machines)


@contextmanager
def ray_cluster(folder: Path, hide: Sequence[Path], more: Mapping[str, str]) -> Iterator[Cluster]:
    """A head that computes nothing, and two nodes."""
    address = f"127.0.0.1:{_free_port()}"
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
    node = ["--node-ip-address", "127.0.0.1", "--block", "--object-store-memory", "100000000"]
    sessions = Path("/tmp") / f"ray-{os.getpid()}"  # its sockets need short paths
    head = ["--head", "--port", address.rpartition(":")[2], "--num-cpus", "0"]
    head += ["--include-dashboard", "false", "--temp-dir", str(sessions)]
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, sessions, ignore_errors=True)
        stack.enter_context(_started(folder / "head", ["ray", "start", *head, *node], (), secret))
        _wait_for(address)
        machines = []
        join = ["ray", "start", "--address", address, "--num-cpus", "1", *node]
        for name in ("first", "second"):
            started = _started(folder / name, join, hide, {**more, **secret})
            machines.append(stack.enter_context(started))
            _wait_for_ray(machines[-1])  # two that join at once may take one socket for both
        yield Cluster("ray", address, tuple(machines), secret)


@contextmanager
def _started(
    folder: Path, command: Sequence[str], hide: Sequence[Path], more: Mapping[str, str]
) -> Iterator[Machine]:
    """A process with working folder and temporary files of its own; it and its children end."""
    (folder / "tmp").mkdir(parents=True)
    program = [str(BINARIES / command[0]), *command[1:]]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            hidden(hide, program) if hide else program,
            cwd=folder,
            env={**environment(), "TMPDIR": str(folder / "tmp"), **more},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    machine = Machine(folder, process)
    try:
        yield machine
    finally:
        machine.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _wait_for_ray(machine: Machine) -> None:
    """Until the node has joined its head."""
    log = machine.folder / "log"
    until = time.monotonic() + _PATIENCE
    while b"Ray runtime started" not in log.read_bytes():
        if time.monotonic() > until or machine.process.poll() is not None:
            pytest.fail(f"the node did not join: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)


def _wait_for(address: str) -> None:
    """Until somebody listens there."""
    host, _, port = address.rpartition("/")[2].partition(":")
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.2)
    pytest.fail(f"nobody listens at {address}")
