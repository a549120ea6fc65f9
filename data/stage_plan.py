"""What a build would do with each stage, and why, without computing it.

Each stage's key is derived as in a build and looked up. A stage whose output is there is read on;
one that is not there ends what depends on it, unless it is cheap: then it is computed aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic

from data.errors import BenchmintError
from data.run_store import RunStore
from data.stage_key import change_reason
from data.stages import Folders, Lane, Prepared, R, Stage, prepare


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


@dataclass(slots=True)
class PlanWalk(Generic[R]):
    """A walk over the pipeline: outputs so far, stages without output, and what was planned.

    `aside` takes the outputs of cheap stages. `reasons` says, by the error with which a stage asks
    for what a plan does not get, why a build would run it.
    """

    run: R
    aside: RunStore
    reasons: Mapping[type[BenchmintError], str] = field(default_factory=dict)
    outputs: dict[str, Folders] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    planned: list[PlannedStage] = field(default_factory=list)

    def plan(self, lane: Lane[R], stage: Stage[R]) -> None:
        """Note what a build would do with a stage."""
        planned = self._planned(lane.name, stage)
        self.planned.append(planned)
        if stage.name not in self.outputs:
            self.missing.add(stage.name)

    def _planned(self, lane: str, stage: Stage[R]) -> PlannedStage:
        if self.missing.intersection(stage.reads):
            return PlannedStage(lane, stage.name, Would.FOLLOW)
        kept = stage.stand_in(self.run) if stage.stand_in is not None else None
        if kept is not None:
            self.outputs[stage.name] = (kept,)
            return PlannedStage(lane, stage.name, Would.REUSE, 1, 1)
        try:
            prepared = prepare(self.run, stage, self.outputs)
        except tuple(self.reasons) as error:
            why = next(why for kind, why in self.reasons.items() if isinstance(error, kind))
            return PlannedStage(lane, stage.name, Would.RUN, why=why)
        return self._looked_up(lane, stage, prepared)

    def _looked_up(self, lane: str, stage: Stage[R], prepared: Prepared[R]) -> PlannedStage:
        store, parts = self.run.store, prepared.parts
        absent = [key for key, _ in parts if not store.is_done(stage.name, key)]
        n = len(parts)
        if not absent:
            self.outputs[stage.name] = tuple(store.path(stage.name, key) for key, _ in parts)
        elif stage.is_cheap:
            self._compute_aside(stage, prepared)
        elif stage.asks(self.run):
            with suppress(*self.reasons):  # once it has no answer, its questions are counted
                self._compute_aside(stage, prepared)
        if stage.name in self.outputs and stage.is_cheap and stage.deliver is not None:
            stage.deliver(prepared.work, self.outputs[stage.name])
        would = Would.RUN if absent else Would.REUSE
        is_altered = bool(absent) and store.path(stage.name, absent[0]).is_dir()
        why = change_reason(store.root, stage.name, absent[0]) if absent else ""
        why = "its output was altered" if is_altered else why
        return PlannedStage(lane, stage.name, would, n, n - len(absent), why)

    def _compute_aside(self, stage: Stage[R], prepared: Prepared[R]) -> None:
        self.outputs[stage.name] = tuple(
            self.aside.run(stage.name, key, compute).path for key, compute in prepared.parts
        )
