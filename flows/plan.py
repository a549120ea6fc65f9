"""`benchmint build --dry-run`: the pipeline walked without computing it.

The walk sees a copy of what it would write to, in a folder that is removed; no server is started,
no address probed, no sandbox started and no model asked.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from anonymization.tables.seal import RECORD
from construction.grading.sandbox_trials import Boxes
from construction.judging.calls.contracts import Mode
from construction.judging.model.asking import UnansweredError
from construction.sessions.network.transport import Wire
from data.atomic import private_dir
from data.builds import code_version, copy_if_there, stand_in
from data.demo.generate import CONFIG
from data.errors import BenchmintError
from data.run_store import RunStore
from data.sharding import Runner
from data.stage_plan import PlannedStage, PlanWalk
from flows import ROOT
from flows.build_snapshot import PIPELINE
from flows.prefect_adapter import without_prefect
from flows.recipe import Recipe, Runtime
from flows.run import PLANNED, Planned, open_run
from flows.source import with_source


class ProbeNeeded(BenchmintError):
    """A stage would have to probe an address, which a plan does not."""


class TrialNeeded(BenchmintError):
    """A stage would have to try a candidate in a sandbox, which a plan does not."""


class _NoBoxes(Boxes):
    def problem(self) -> NoReturn:
        raise TrialNeeded()


_REASONS: dict[type[BenchmintError], str] = {
    ProbeNeeded: "addresses have to be probed",
    TrialNeeded: "candidates have to be tried in a sandbox",
    UnansweredError: "the model has not answered all questions",
}


def plan_build(recipe: Recipe, runtime: Runtime) -> list[PlannedStage]:
    """The stages of a build in their order. Raises what a build would raise before it computes."""
    stages = runtime.out / "private" / "stages"
    with TemporaryDirectory(prefix="benchmint-plan-") as folder, without_prefect():
        scratch = Path(folder)
        recipe, given, _ = with_source(recipe, aside(recipe, runtime, scratch / "out"))
        store = RunStore(stages, code_version(ROOT))
        with _planning(store):
            aside_store = RunStore(scratch / "stages", code_version(ROOT))
            walk = PlanWalk(open_run(recipe, given), aside_store, _REASONS)
            for lane in PIPELINE:
                for stage in lane.stages_for(walk.run):
                    walk.plan(lane, stage)
        return walk.planned


@contextmanager
def _planning(store: RunStore) -> Iterator[None]:
    wire = Wire(resolve=_no_network, connect=_no_network)
    token = PLANNED.set(Planned(store, wire, _NoBoxes()))
    try:
        yield
    finally:
        PLANNED.reset(token)


async def _no_network(*_: Any) -> NoReturn:
    raise ProbeNeeded()


def aside(recipe: Recipe, runtime: Runtime, out: Path) -> Runtime:
    """The runtime with `out` in the place of its own, which holds what a build reads there.

    Folders that a build only reads are links, files that it writes anew are copies.
    """
    own = runtime.out
    private_dir(out / "private" / "captures")
    for demo in own.glob("demo-*"):
        if (demo / CONFIG).is_file():
            (out / demo.name).symlink_to(demo.resolve())
    if (own / "snapshots").is_dir():
        (out / "snapshots").symlink_to((own / "snapshots").resolve())
    copy_if_there(own / RECORD, out / RECORD)
    private = own / "private"
    for name in ("review", "captures/llm") if recipe.judging.model.name else ("review",):
        if (private / name).is_dir():
            shutil.copytree(private / name, out / "private" / name)
    for part in ("captures", "pseudonymized"):
        stand_in(private / part, out / "private" / part)
    key = runtime.key_file or private / "release.key"
    changed: dict[str, Any] = {
        "out": out,
        "key_file": key if key.exists() else None,
        "quiet": True,
        "workers": 1,
        "runner": Runner.PROCESSES,
        "cluster": None,
        "shared": None,
        "model_calls": runtime.model_calls.model_copy(update={"mode": Mode.REPLAY}),
    }
    return runtime.model_copy(update=changed)
