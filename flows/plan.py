"""The pipeline walked without computing: a dry run (`build --dry-run`), and an unchanged build.

A dry run sees a copy of what it would write to, in a folder that is removed. Neither starts a
server or a sandbox, probes an address, or asks a model.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from anonymization.tables.seal import RECORD
from construction.grading.trial import Boxes
from construction.judging.calls.contracts import FORECASTS, Forecast, Mode
from construction.judging.model.asking import UnansweredError
from construction.sessions.network.transport import Wire
from data.atomic import private_dir
from data.builds import code_version, copy_if_there, stand_in
from data.demo.generate import CONFIG
from data.errors import BenchmintError
from data.run_store import RunStore
from data.sharding import Runner
from data.stages import PlannedStage, PlanWalk, Would
from flows import ROOT
from flows.build_snapshot import PIPELINE, Built, build
from flows.prefect_adapter import without_prefect
from flows.recipe import Recipe, Runtime
from flows.run import PLANNED, Planned, TrialNeeded, open_run
from flows.source import with_source


class _ProbeNeeded(BenchmintError):
    """A stage would have to probe an address, which a plan does not."""


class _Uncomputed(BenchmintError):
    """An output is not there, or not as it was written."""


class _Kept(RunStore):
    """A store that computes nothing."""

    def is_done(self, stage: str, key: str) -> bool:
        if not RunStore.is_done(self, stage, key):
            raise _Uncomputed(stage)
        return True


class _NoBoxes(Boxes):
    def problem(self) -> NoReturn:
        raise TrialNeeded()


_REASONS: dict[type[BenchmintError], str] = {
    _ProbeNeeded: "URLs have to be probed",
    TrialNeeded: "candidates have to be tried in a sandbox",
    UnansweredError: "the model has not answered every question",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages of a build in their order, and what asking models would cost.

    `unknown` are stages that ask a model about what earlier stages leave.
    """

    stages: list[PlannedStage]
    forecasts: list[Forecast]
    unknown: list[str]


def plan_build(recipe: Recipe, runtime: Runtime) -> Plan:
    """What a build would do. Raises what a build would raise before it computes."""
    kept = runtime.out / "private" / "stages"
    with TemporaryDirectory(prefix="benchmint-plan-") as folder, without_prefect():
        scratch = Path(folder)
        recipe, given, _ = with_source(recipe, _aside(recipe, runtime, scratch / "out"))
        store = RunStore(kept, code_version(ROOT))
        with _planning(store) as forecasts:
            aside_store = RunStore(scratch / "stages", code_version(ROOT))
            walk = PlanWalk(open_run(recipe, given), aside_store, _REASONS)
            stages = [(lane, stage) for lane in PIPELINE for stage in lane.stages_for(walk.run)]
            for lane, stage in stages:
                walk.plan(lane, stage)
            follow = {one.stage for one in walk.planned if one.would is Would.FOLLOW}
            asking = [stage.name for _, stage in stages if stage.asks(walk.run)]
        return Plan(walk.planned, forecasts, [name for name in asking if name in follow])


def kept_build(recipe: Recipe, runtime: Runtime) -> Built | None:
    """The build, if all of it is there already and verifies; None if anything is to do.

    What is wrong with the input is not said here either: the build that follows says it.
    """
    if runtime.revision:  # it looks at the machine anew, not at what is captured of it
        return None
    store = _Kept(runtime.out / "private" / "stages", code_version(ROOT))
    with without_prefect(), _planning(store), suppress(OSError, BenchmintError):
        return build(recipe, runtime)
    return None


@contextmanager
def _planning(store: RunStore) -> Iterator[list[Forecast]]:
    wire = Wire(resolve=_no_network, connect=_no_network)
    token = PLANNED.set(Planned(store, wire, _NoBoxes()))
    forecasts: list[Forecast] = []
    counting = FORECASTS.set(forecasts)
    try:
        yield forecasts
    finally:
        PLANNED.reset(token)
        FORECASTS.reset(counting)


async def _no_network(*_: Any) -> NoReturn:
    raise _ProbeNeeded()


def _aside(recipe: Recipe, runtime: Runtime, out: Path) -> Runtime:
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
    own_key, key = runtime.key_file, private / "release.key"
    if key.exists():  # a link: a plan leaves no copy of it
        (out / "private" / key.name).symlink_to(key.resolve())
    changed: dict[str, Any] = {
        "out": out,
        "key_file": own_key if own_key is not None and own_key.exists() else None,
        "quiet": True,
        "workers": 1,
        "runner": Runner.PROCESSES,
        "cluster": None,
        "shared": None,
        "model_calls": runtime.model_calls.model_copy(update={"mode": Mode.REPLAY}),
    }
    return runtime.model_copy(update=changed)
