"""An opened build: where things lie, the release key, and who judges by which model."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from construction.judging.settings import Judges, ModelStage
from construction.sandbox.presence import Presence, presence
from data import stages
from data.atomic import private_dir
from data.builds import code_version
from data.canonical import digest, keyed_digest
from data.demo.generate import is_untouched
from data.errors import BenchmintError, ReleaseError
from data.randomness import drop_demo_key, release_key
from data.remote_folder import shard_store
from data.run_store import RunStore
from data.sharding import Sharding
from data.snapshot import layout
from flows import ROOT
from flows.recipe import Recipe, Runtime, demo_folder

if TYPE_CHECKING:
    from construction.grading.trial import Boxes
    from construction.sessions.network.transport import Wire


@dataclass(frozen=True, slots=True)
class Run:
    """What every stage needs besides its input. Never serialised: it holds the release key."""

    recipe: Recipe
    runtime: Runtime
    store: RunStore
    key: bytes
    wire: Wire | None = None  # what lies behind the door to the network; None: the network
    boxes: Boxes | None = None  # where candidates are tried; None: boxes of this machine

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
    def review(self) -> Path:
        """Where what people have to decide, and have decided, is kept."""
        return private_dir(self.private / "review")

    @property
    def release(self) -> str:
        release, revision = self.recipe.release, self.runtime.revision
        return layout.release_in(
            self.snapshots, release.name, release.release_date, revision=revision
        )

    @property
    def judges(self) -> Judges:
        return self.runtime.judges(self.recipe)

    @property
    def key_id(self) -> str:
        """SHA-256 of the release key: what the manifest may say about it."""
        return digest(self.key)

    @property
    def sharding(self) -> Sharding:
        runtime = self.runtime
        storage = shard_store(runtime.shared, self.key, self.out) if runtime.shared else None
        return Sharding(
            runtime.workers, runtime.runner, runtime.cluster, quiet=runtime.quiet, storage=storage
        )

    def sandbox(self) -> Presence:
        """Whether the release is built with a sandbox, as captured; `--revision` looks again."""
        from construction.grading.trial import Boxes  # whoever opens a build tries nothing

        release = self.runtime.label(self.recipe)["snapshot"]
        again = self.runtime.revision and PLANNED.get() is None
        problem = (self.boxes or Boxes()).problem
        captured = self.private / "captures" / "sandbox.jsonl"
        return presence(captured, release, problem, look_again=again)

    def require_writing(self) -> None:
        """Raise ReleaseError in a plan, which writes no release."""
        if PLANNED.get() is not None:
            raise ReleaseError(f"{self.release}: a plan writes no release")

    def opaque(self, prefix: str, item_id: str) -> str:
        """A keyed id under which a private item may be named in public."""
        return f"{prefix}-{keyed_digest(self.key, item_id)[:16]}"


Work: TypeAlias = stages.Work[Run]


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan puts in the place of the store that computes, the network, and sandboxes."""

    store: RunStore
    wire: Wire
    boxes: Boxes


class TrialNeeded(BenchmintError):
    """A stage would have to try a candidate in a sandbox, which a plan does not."""


PLANNED: ContextVar[Planned | None] = ContextVar("planned", default=None)


def open_run(recipe: Recipe, runtime: Runtime) -> Run:
    """Create the directories and the release key if they are not there yet."""
    private = private_dir(runtime.out / "private")
    key = _key_of(recipe, runtime, private)
    planned = PLANNED.get()
    if planned is not None:
        return Run(recipe, runtime, planned.store, key, planned.wire, planned.boxes)
    return Run(recipe, runtime, RunStore(private / "stages", code_version(ROOT)), key)


def _key_of(recipe: Recipe, runtime: Runtime, private: Path) -> bytes:
    """The release key; the demo's is published, and what is built after it gets another.

    A demo in which somebody put or changed a file is none: the file may be private, as are the
    values that an owner lists.
    """
    demo, material = demo_folder(recipe, runtime), runtime.material
    is_demo = bool(material) and all(path.is_relative_to(demo) for path in material)
    is_demo = is_demo and runtime.private_values is None and is_untouched(demo)
    if runtime.key_file is not None:
        return release_key(runtime.key_file, demo=is_demo)
    path = private / "release.key"
    if not is_demo:
        drop_demo_key(path)
    return release_key(path, demo=is_demo)


def asking(*stages: ModelStage) -> Callable[[Run], bool]:
    """Whether the recipe has a model do one of these stages."""
    return lambda run: any(map(run.recipe.judging.model.does, stages))
