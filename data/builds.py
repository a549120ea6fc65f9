"""What a build is made with (code, locked packages, machine), its folders, and its lock."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from data.atomic import PRIVATE_FILE, private_dir, remove_leftovers
from data.canonical import digest, file_digest
from data.errors import BenchmintError, ConfigError, InputError, NoSpaceError
from data.progress import FLOW_RUN, logged

_PACKAGES = ("flows", "construction", "anonymization", "selection", "data")
_TOOLS = ("prefect", "polars", "duckdb", "pydantic", "numpy", "scipy", "pulp")


class BuildRunning(BenchmintError):
    """Another process builds into the same directory."""


PUBLISHED = "published.json"  # in `private`: the release that a build led to, and by which key
RUN_SECONDS = 3600.0  # that a build waits for a run of the service, and a run for any build
_STEP = 0.5
_OF_A_RUN = b"run"  # what the lock says while a run of the service holds it
_HELD: set[int] = set()  # the descriptors of the locks that this process holds


def _leave_to_parent() -> None:
    """A process that is forked while a lock is held does not hold it."""
    for handle in _HELD:
        os.close(handle)
    _HELD.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


@contextmanager
def building(out: Path, wait_seconds: float = 0) -> Iterator[None]:
    """Hold the lock of an output directory, and log what is done there.

    Whoever finds a run of the service at work waits for it, up to an hour; another build is waited
    for as long as `wait_seconds`. Raises BuildRunning after that.
    """
    lock = private_dir(out / "private") / "build.lock"
    handle = os.open(lock, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
    try:
        _take(handle, out, wait_seconds)
        _HELD.add(handle)
        os.ftruncate(handle, 0)
        os.pwrite(handle, _OF_A_RUN if FLOW_RUN in os.environ else b"build", 0)
        for folder in (out, out / "private", out / "private" / "captures"):
            remove_leftovers(folder)
        with logged(out):
            yield
    finally:
        _HELD.discard(handle)
        os.close(handle)


def _take(handle: int, out: Path, wait_seconds: float) -> None:
    """Take the lock, waiting for its holder. Raises BuildRunning."""
    began, is_told = time.monotonic(), False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_run = os.pread(handle, len(_OF_A_RUN), 0) == _OF_A_RUN
        else:
            return
        if time.monotonic() - began >= max(wait_seconds, RUN_SECONDS if is_run else 0):
            what = "a run of the service" if is_run else "another build"
            raise BuildRunning(
                f"{out}: {what} is running here. Wait for it, or build with another --out."
            )
        if not is_told:
            who = "a service run is building" if is_run else "another build is running"
            print(f"benchmint: {who} here; waiting for it to finish", file=sys.stderr, flush=True)
            is_told = True
        time.sleep(_STEP)


@cache
def code_version(root: Path) -> str:
    """SHA-256 over the packages' source files, shortened: part of every stage's key.

    Without the demo generator: no stage runs it, and what it writes is input like any other.
    """
    demo = root / "data" / "demo"
    files = sorted(
        path
        for package in _PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.is_relative_to(demo)
    )
    return digest([[path.relative_to(root).as_posix(), file_digest(path)] for path in files])[:16]


def lock_digest(root: Path) -> str:
    """SHA-256 of the lock file that the environment is installed from."""
    return file_digest(root / "requirements.lock")


def architecture() -> str:
    """The CPU architecture: floats may differ in the last place from one to another."""
    return platform.machine()


def host_and_tools() -> dict[str, Any]:
    """The machine, and the versions of the libraries that a build uses."""
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "python": sys.version.split()[0],
        "tools": {name: version(name) for name in _TOOLS},
    }


def require_apart(material: Sequence[Path], out: Path) -> None:
    """Raise ConfigError where a build would read what it writes: its key, its private half."""
    folder = Path(os.path.realpath(out))  # as `resolve`, which raises where links lead in circles
    written = (folder, folder / "private", folder / "snapshots")
    for given in material:
        source = Path(os.path.realpath(given))
        if any(path.is_relative_to(source) for path in written) or any(
            source.is_relative_to(path) for path in written[1:]
        ):
            raise ConfigError(
                f"{given}: found input and output directory {out} nested in each other; expected "
                "separate ones. Choose another --out."
            )


def require_there(paths: Iterable[Path | None]) -> None:
    """Raise InputError for a path that leads nowhere, before anything is started."""
    for path in paths:
        if path is not None and not path.exists():
            raise InputError(str(path), "nothing", "a file or folder", "Check the path.")


_LEAST_SPACE = 256 << 20  # bytes: the demo with its tables, and what Prefect writes
_LEAST_TEMPORARY = 64 << 20
_PER_INPUT_BYTE = 3  # a masked copy in the store, one in the snapshot, tables and text


def require_space(out: Path, material: Iterable[Path]) -> None:
    """Raise NoSpaceError where the output or temporary files would not fit, before anything starts.

    What is needed is estimated from the size of the input; a disk may still fill up later.
    """
    needed = _LEAST_SPACE + _PER_INPUT_BYTE * sum(map(_bytes_of, material))
    for folder, least in ((out, needed), (_temporary(), _LEAST_TEMPORARY)):
        free = shutil.disk_usage(nearest(folder)).free
        if free < least:
            raise NoSpaceError(folder, free, least)


def _temporary() -> Path:
    """Where temporary files go. Raises InputError where no folder for them can be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise InputError(
            "temporary files", "no writable folder", "a writable folder in TMPDIR, " "or /tmp",
            "Set TMPDIR to a folder that you own.",
        ) from error  # fmt: skip


def _bytes_of(path: Path) -> int:
    files = [path] if path.is_file() else (file for file in path.rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in files)


def nearest(path: Path) -> Path:
    """The path itself, or the first of its parents that is there."""
    absolute = path.absolute()
    return next(folder for folder in (absolute, *absolute.parents) if folder.exists())


def stand_in(folder: Path, target: Path) -> None:
    """The files of a folder as copies, its folders as links unless they are there."""
    target.mkdir(exist_ok=True)
    for entry in folder.glob("*"):
        if entry.is_file():
            copy_if_there(entry, target / entry.name)
        elif not (target / entry.name).exists():
            (target / entry.name).symlink_to(entry.resolve())


def copy_if_there(source: Path, target: Path) -> None:
    """Copy a file, if there is one."""
    if source.is_file():
        shutil.copyfile(source, target)
