"""What a build would compute, and why, without computing it (`benchmint build --dry-run`).

The pipeline itself is walked: each stage's key is derived as in a build and looked up. A stage
whose output is there is read on, one that is not ends what depends on it. Cheap stages are computed
aside. The walk sees a copy of what it would write to, in a folder that is removed; no server is
started, no address probed and no model asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from construction.judging.model.asking import UnansweredError
from construction.sessions.network.transport import Wire
from data.errors import BenchmintError
from data.run_store import RunStore
from data.stage_key import change_reason
from flows.build_snapshot import PIPELINE
from flows.plan_aside import aside
from flows.prefect_adapter import without_prefect
from flows.recipe import Recipe, Runtime
from flows.run import PLANNED, Planned, Run, code_version, open_run
from flows.source import with_source
from flows.stage import Folders, Lane, Prepared, Stage, prepare


class Would(StrEnum):
    """What a build would do with a stage."""

    REUSE = "reuse"
    RUN = "run"
    FOLLOW = "follow"  # a stage that it reads runs: reused only if that comes out as before


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage of one lane: how many outputs (shards) it has, how many are there, and why not."""

    lane: str
    stage: str
    would: Would
    outputs: int = 0
    present: int = 0
    why: str = ""


class ProbeNeeded(BenchmintError):
    """A stage would have to probe an address, which a plan does not."""


@dataclass(slots=True)
class _Walk:
    """A walk over the pipeline: outputs so far, stages without output, and what was planned."""

    run: Run
    aside: RunStore
    outputs: dict[str, Folders] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    planned: list[PlannedStage] = field(default_factory=list)

    def plan(self, lane: Lane, stage: Stage) -> None:
        """Note what a build would do with a stage."""
        planned = self._planned(lane.name, stage)
        self.planned.append(planned)
        if stage.name not in self.outputs:
            self.missing.add(stage.name)

    def _planned(self, lane: str, stage: Stage) -> PlannedStage:
        if self.missing.intersection(stage.reads):
            return PlannedStage(lane, stage.name, Would.FOLLOW)
        kept = stage.stand_in(self.run) if stage.stand_in is not None else None
        if kept is not None:
            self.outputs[stage.name] = (kept,)
            return PlannedStage(lane, stage.name, Would.REUSE, 1, 1)
        try:
            prepared = prepare(self.run, stage, self.outputs)
        except ProbeNeeded:
            return PlannedStage(lane, stage.name, Would.RUN, why="addresses have to be probed")
        except UnansweredError:
            why = "the model has not answered all questions"
            return PlannedStage(lane, stage.name, Would.RUN, why=why)
        return self._looked_up(lane, stage, prepared)

    def _looked_up(self, lane: str, stage: Stage, prepared: Prepared) -> PlannedStage:
        store, parts = self.run.store, prepared.parts
        absent = [key for key, _ in parts if not store.is_done(stage.name, key)]
        n = len(parts)
        if not absent:
            self.outputs[stage.name] = tuple(store.path(stage.name, key) for key, _ in parts)
        elif stage.is_cheap:
            self.outputs[stage.name] = tuple(
                self.aside.run(stage.name, key, compute).path for key, compute in parts
            )
        if stage.name in self.outputs and stage.is_cheap and stage.deliver is not None:
            stage.deliver(prepared.work, self.outputs[stage.name])
        would = Would.RUN if absent else Would.REUSE
        why = change_reason(store.root, stage.name, absent[0]) if absent else ""
        return PlannedStage(lane, stage.name, would, n, n - len(absent), why)


def plan_build(recipe: Recipe, runtime: Runtime) -> list[PlannedStage]:
    """The stages of a build in their order. Raises what a build would raise before it computes."""
    stages = runtime.out / "private" / "stages"
    with TemporaryDirectory(prefix="benchmint-plan-") as folder, without_prefect():
        scratch = Path(folder)
        recipe, given, _ = with_source(recipe, aside(recipe, runtime, scratch / "out"))
        store = RunStore(stages, code_version())
        with _planning(store):
            walk = _Walk(open_run(recipe, given), RunStore(scratch / "stages", code_version()))
            for lane in PIPELINE:
                for stage in lane.stages_for(walk.run):
                    walk.plan(lane, stage)
        return walk.planned


@contextmanager
def _planning(store: RunStore) -> Iterator[None]:
    token = PLANNED.set(Planned(store, Wire(resolve=_no_network, connect=_no_network)))
    try:
        yield
    finally:
        PLANNED.reset(token)


async def _no_network(*_: Any) -> NoReturn:
    raise ProbeNeeded()
