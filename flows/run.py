"""An opened build: where things lie, the release key, the code version, and the lock."""

from __future__ import annotations

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from data import stages
from data.atomic import PRIVATE_FILE, private_dir, remove_leftovers
from data.canonical import digest, file_digest, keyed_digest
from data.errors import BenchmintError
from data.logs import logged
from data.randomness import release_key
from data.run_store import RunStore
from data.sharding import Sharding
from flows import ROOT
from flows.recipe import Recipe, Runtime

if TYPE_CHECKING:
    from construction.sessions.network.transport import Wire

PACKAGES = ("flows", "construction", "anonymization", "selection", "data")


class BuildRunning(BenchmintError):
    """Another process builds into the same directory."""


@dataclass(frozen=True, slots=True)
class Run:
    """What every stage needs besides its input. Never serialised: it holds the release key."""

    recipe: Recipe
    runtime: Runtime
    store: RunStore
    key: bytes
    wire: Wire | None = None  # what lies behind the door to the network; None: the network

    @property
    def out(self) -> Path:
        return self.runtime.out

    @property
    def private(self) -> Path:
        return self.runtime.out / "private"

    @property
    def frozen(self) -> Path:
        return self.private / "captures" / "frozen"

    @property
    def staging(self) -> Path:
        return self.runtime.out / "staging.duckdb"

    @property
    def snapshots(self) -> Path:
        return self.runtime.out / "snapshots"

    @property
    def key_id(self) -> str:
        """SHA-256 of the release key: what the manifest may say about it."""
        return digest(self.key)

    @property
    def sharding(self) -> Sharding:
        return self.runtime.sharding

    def opaque(self, prefix: str, item_id: str) -> str:
        """A keyed id under which a private item may be named in public."""
        return f"{prefix}-{keyed_digest(self.key, item_id)[:16]}"


Work: TypeAlias = stages.Work[Run]


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan puts in the place of the store that computes, and of the network."""

    store: RunStore
    wire: Wire


PLANNED: ContextVar[Planned | None] = ContextVar("planned", default=None)


def open_run(recipe: Recipe, runtime: Runtime) -> Run:
    """Create the directories and the release key if they are not there yet."""
    private = private_dir(runtime.out / "private")
    key = release_key(runtime.key_file or private / "release.key")
    planned = PLANNED.get()
    if planned is not None:
        return Run(recipe, runtime, planned.store, key, planned.wire)
    return Run(recipe, runtime, RunStore(private / "stages", code_version()), key)


@contextmanager
def building(out: Path) -> Iterator[None]:
    """Hold the lock of an output directory, and log what is done there.

    Raises BuildRunning if another build holds the lock.
    """
    lock = private_dir(out / "private") / "build.lock"
    handle = os.open(lock, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BuildRunning(
                f"{out}: another build is running here. Wait for it, or build with another --out."
            ) from None
        for folder in (out, out / "private", out / "private" / "captures"):
            remove_leftovers(folder)
        with logged(out):
            yield
    finally:
        os.close(handle)


@cache
def code_version() -> str:
    """SHA-256 over the packages' source files, shortened: part of every stage's key.

    Without the demo generator: no stage runs it, and what it writes is input like any other.
    """
    demo = ROOT / "data" / "demo"
    files = sorted(
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.is_relative_to(demo)
    )
    return digest([[path.relative_to(ROOT).as_posix(), file_digest(path)] for path in files])[:16]


def lock_digest() -> str:
    """SHA-256 of the lock file that the environment is installed from."""
    return file_digest(ROOT / "requirements.lock")


def architecture() -> str:
    """The CPU architecture: floats may differ in the last place from one to another."""
    return platform.machine()
