"""What a stage and a lane are, and the one way in which every stage runs.

A `Stage` says once what it is: its name, what it counts, which settings, inputs and earlier stages
its output depends on, and how the output is computed. Its key, the cache lookup, ledger checks,
progress, the log line with counts, metrics, the dry run and the docs follow from that record. What
a stage knows of the build that runs it is the type parameter `R`.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial, reduce
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import polars as pl

from data.contracts import StageKind
from data.errors import BenchmintError, InputError, LedgerError, guarded
from data.progress import track, underway
from data.run_store import RunStore, StageKey, change_reason, content_digest
from data.sharding import Sharding, ShardPart, compute_shard, computed_elsewhere, map_shards
from data.stage_tables import TALLIES_FILE, outcome_counts

log = logging.getLogger("benchmint.stages")
Folders = tuple[Path, ...]


class _StageRun(Protocol):
    """A build, as far as every stage depends on it."""

    @property
    def recipe(self) -> Any:
        """The configuration that `Stage.settings` lead into."""

    @property
    def store(self) -> RunStore:
        """Where outputs are kept by their keys."""

    @property
    def key_id(self) -> str:
        """What may be said about the release key."""

    @property
    def sharding(self) -> Sharding:
        """How sharded stages are computed."""


R = TypeVar("R", bound=_StageRun)


@dataclass(frozen=True, slots=True)
class Unit:
    """What a stage counts. `stage` is the name in the ledger, if it is not the stage's own."""

    name: str
    kind: StageKind
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a stage found outside the pipeline before it ran: probe results, files, decisions.

    `made_from` goes into the key; `value` is handed to `compute`, and may hold paths and costs.
    """

    made_from: Any
    value: Any


@dataclass(frozen=True, slots=True)
class Work(Generic[R]):
    """What a stage works with: the run, the outputs of earlier stages, and what it observed."""

    run: R
    outputs: Mapping[str, Folders]
    observed: Any = None

    def folders(self, stage: str) -> Folders:
        """The outputs of an earlier stage: one per shard, none if it did not apply."""
        return self.outputs.get(stage, ())

    def folder(self, stage: str) -> Path:
        """The output of an earlier stage that has exactly one."""
        (only,) = self.outputs[stage]
        return only


@dataclass(frozen=True, slots=True)
class Shard:
    """One output of a sharded stage: what goes into its key, and the picklable `compute`."""

    made_from: Any
    compute: Callable[[Path], None]


def _nothing(_work: Work[Any]) -> dict[str, str]:
    return {}


def _always(_run: object) -> bool:
    return True


def _never(_run: object) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[R]):
    """One step of the pipeline.

    Either `compute` writes the whole output into an empty folder, or `shards` lists its parts.
    `settings` are dotted paths into the recipe, `reads` names of earlier stages, `inputs` digests
    of what comes from outside by the name that the manifest gives them. `observe` looks outside
    (probes, scans, asks for decisions) before the key is known. `deliver` puts an output where
    people look for it, also when it was computed before. `stand_in` is an output that replaces
    computing. `uses_key`: the release key decides about the output. `is_cheap`: a dry run may
    compute it aside to see further. `asks`: it asks a model, and a dry run counts the questions.
    """

    name: str
    meaning: str
    units: tuple[Unit, ...]
    settings: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    compute: Callable[[Work[R], Path], None] | None = None
    shards: Callable[[Work[R]], Sequence[Shard]] | None = None
    inputs: Callable[[Work[R]], Mapping[str, str]] = _nothing
    observe: Callable[[Work[R]], Observed] | None = None
    deliver: Callable[[Work[R], Folders], None] | None = None
    stand_in: Callable[[R], Path | None] | None = None
    applies: Callable[[R], bool] = _always
    uses_key: bool = False
    is_cheap: bool = False
    asks: Callable[[R], bool] = _never

    def __post_init__(self) -> None:
        if (self.compute is None) == (self.shards is None):
            raise ValueError(f"stage {self.name}: expected either `compute` or `shards`")


@dataclass(frozen=True, slots=True)
class Lane(Generic[R]):
    """Stages that run one after the other, if `given` finds material for them."""

    name: str
    meaning: str
    stages: tuple[Stage[R], ...]
    given: Callable[[R], bool] = _always

    def stages_for(self, run: R) -> Iterator[Stage[R]]:
        """The stages that apply to this run, in their order."""
        if self.given(run):
            yield from (stage for stage in self.stages if stage.applies(run))


@dataclass(slots=True)
class Results:
    """What the stages of a build have left so far: outputs by stage, input digests by name."""

    outputs: dict[str, Folders] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)

    @property
    def folders(self) -> list[Path]:
        """All outputs in pipeline order."""
        return [folder for folders in self.outputs.values() for folder in folders]


@dataclass(frozen=True, slots=True)
class _Prepared(Generic[R]):
    """A stage whose keys are known: what it works with, and each output's key and function."""

    work: Work[R]
    inputs: Mapping[str, str]
    parts: Sequence[tuple[StageKey, Callable[[Path], None]]]


@dataclass(frozen=True, slots=True)
class StageEnd:
    """How a stage ended: was all of its output there already, and how many units went where."""

    stage: str
    reused: bool
    counts: Mapping[str, int]

    @property
    def line(self) -> str:
        """The same for people: `labels: 46 kept, done already`."""
        counted = [f"{n:,} {outcome.replace('_', ' ')}" for outcome, n in self.counts.items()]
        parts = [", ".join(counted) or "nothing counted", *["already done"][: self.reused]]
        return f"{self.stage}: {', '.join(parts)}"


def _prepare(run: R, stage: Stage[R], outputs: Mapping[str, Folders]) -> _Prepared[R]:
    """Look outside, and derive the keys of a stage from all that its output depends on."""
    given = {name: outputs.get(name, ()) for name in stage.reads}
    work = Work(run, given)
    observed = stage.observe(work) if stage.observe is not None else Observed(None, None)
    work = Work(run, given, observed.value)
    inputs = stage.inputs(work)
    named: dict[str, Any] = {path: _setting(run.recipe, path) for path in stage.settings}
    if stage.uses_key:
        named["release key"] = run.key_id
    if stage.shards is not None:
        return _Prepared(work, inputs, _shards(run, stage, work, named))
    named |= {f"output of {name}": _digests(folders) for name, folders in given.items()}
    # Numbered names shift when a file is added: what counts is what each kind of input holds.
    named["input files"] = sorted((name.rstrip("0123456789"), inputs[name]) for name in inputs)
    named["what it observed"] = observed.made_from
    assert stage.compute is not None
    key = run.store.key(stage.name, **named)
    return _Prepared(work, inputs, [(key, partial(stage.compute, work))])


def run_stage(run: R, stage: Stage[R], results: Results) -> StageEnd:
    """Add the outputs of a stage to `results`, computing those that are not there yet."""
    with guarded(stage.name), underway(stage.name):
        kept = stage.stand_in(run) if stage.stand_in is not None else None
        if kept is not None:
            results.outputs[stage.name] = (kept,)
            return StageEnd(stage.name, True, _counts((kept,)))
        prepared = _prepare(run, stage, results.outputs)
        reused = all(run.store.is_done(stage.name, key) for key, _ in prepared.parts)
        folders = _computed(run, stage, prepared)
        if not reused:
            _require_same_input(run, stage, prepared)
        _check_units(stage, folders)
        end = StageEnd(stage.name, reused, _counts(folders))
        log.info("counted", extra={"stage": stage.name, **end.counts})
        if stage.deliver is not None:
            stage.deliver(prepared.work, folders)
        results.outputs[stage.name] = folders
        results.inputs |= prepared.inputs
        return end


def _setting(recipe: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), recipe)


def _digests(folders: Folders) -> list[str]:
    return [content_digest(folder) for folder in folders]


def _shards(
    run: R, stage: Stage[R], work: Work[R], named: Mapping[str, Any]
) -> list[tuple[StageKey, Callable[[Path], None]]]:
    assert stage.shards is not None
    return [
        (run.store.key(stage.name, **named, shard=shard.made_from), shard.compute)
        for shard in stage.shards(work)
    ]


def _computed(run: R, stage: Stage[R], prepared: _Prepared[R]) -> Folders:
    """The outputs in the order of their keys; what is there already is not computed again."""
    store = run.store
    todo = [
        ShardPart(store, stage.name, key, compute)
        for key, compute in prepared.parts
        if not store.is_done(stage.name, key)
    ]
    if stage.shards is None:
        for part in todo:
            compute_shard(part)
    elif todo:
        how = run.sharding
        if how.storage is None:
            computed = map_shards(compute_shard, todo, how.workers, how.runner, how.cluster)
        else:
            computed = computed_elsewhere(todo, how, how.storage)
        for _ in track(computed, stage.name, len(todo), quiet=how.quiet):
            pass
    return tuple(store.path(stage.name, key) for key, _ in prepared.parts)


def _require_same_input(run: R, stage: Stage[R], prepared: _Prepared[R]) -> None:
    """Raise InputError where input changed or went while the stage read it.

    What was made of it goes too: it would be found again under the key of the input that was there.
    """
    try:
        is_same = stage.inputs(prepared.work) == prepared.inputs
    except (OSError, BenchmintError):
        is_same = False
    if not is_same:
        for key, _ in prepared.parts:
            shutil.rmtree(run.store.path(stage.name, key))
        raise InputError(
            f"stage {stage.name}", "input that changed while it was read",
            "the same files as when the stage began", "Leave them unchanged, and build " "again.",
        )  # fmt: skip


def _check_units(stage: Stage[Any], folders: Folders) -> None:
    """Raise LedgerError if an output counts something that the stage does not declare."""
    declared = {(unit.stage or stage.name, unit.name, str(unit.kind)) for unit in stage.units}
    for folder in folders:
        for path in folder.rglob(TALLIES_FILE):
            counted = pl.read_parquet(path, columns=["stage", "unit", "kind"]).rows()
            if undeclared := sorted(set(counted) - declared):
                raise LedgerError(f"stage {stage.name}: counts {undeclared[0]}, not declared")


def _counts(folders: Folders) -> dict[str, int]:
    totals: dict[str, int] = {}
    for folder in folders:
        for outcome, n in outcome_counts(folder).items():
            totals[outcome] = totals.get(outcome, 0) + n
    return totals


# A dry run ---------------------------------------------------------------------------------------
# What a build would do with each stage, and why, without computing it.
#
# Each stage's key is derived as in a build and looked up. A stage whose output is there is read on;
# one that is not there ends what depends on it, unless it is cheap: then it is computed aside.


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
            prepared = _prepare(self.run, stage, self.outputs)
        except tuple(self.reasons) as error:
            why = next(why for kind, why in self.reasons.items() if isinstance(error, kind))
            return PlannedStage(lane, stage.name, Would.RUN, why=why)
        return self._looked_up(lane, stage, prepared)

    def _looked_up(self, lane: str, stage: Stage[R], prepared: _Prepared[R]) -> PlannedStage:
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

    def _compute_aside(self, stage: Stage[R], prepared: _Prepared[R]) -> None:
        self.outputs[stage.name] = tuple(
            self.aside.run(stage.name, key, compute).path for key, compute in prepared.parts
        )
