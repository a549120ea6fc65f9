"""The stages of the workflows lane: demand for tasks, and the drafts that pass their screening."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from construction.ideas.candidate_ideas import IDEAS_FILE
from construction.sandbox.presence import Presence
from construction.signals.mixture import pattern_needs, task_weights
from construction.workflows.demand import REPORT, demanded, write_demand
from construction.workflows.demand import STAGE as DEMAND
from construction.workflows.pool import (
    UNIT,
    GeneratorJob,
    ProposalsJob,
    make_proposals,
    make_shard,
)
from construction.workflows.proposals import read_proposals
from construction.workflows.repair.catalogue import BY_NAME as REPAIRS
from construction.workflows.screening import STAGE as SCREENING
from data.apportion import total_variation
from data.canonical import file_digest
from data.contracts import StageKind
from data.stages import Observed, Shard, Stage, Unit
from flows.run import Run, Work
from flows.stages.signals import CANDIDATE_IDEAS, SIGNALS


def is_given(run: Run) -> bool:
    """Is there a mixture, and are drafts wanted?"""
    return bool(run.runtime.signals) and run.recipe.workflows.drafts > 0


def _demand(work: Work, out: Path) -> None:
    recipe = work.run.recipe
    (ideas,) = work.folders(CANDIDATE_IDEAS.name)
    signals = work.folders(SIGNALS.name)
    weights, needs = task_weights(signals), pattern_needs(signals)
    write_demand(ideas / IDEAS_FILE, weights, recipe.workflows, recipe.release.seed, out, needs)


WORKFLOW_DEMAND = Stage(
    name=DEMAND,
    meaning="Which scenarios can serve an idea, and how many tasks does each make?",
    units=(Unit("idea", StageKind.DERIVE),),
    settings=("workflows", "release.seed"),
    reads=(SIGNALS.name, CANDIDATE_IDEAS.name),
    compute=_demand,
)


def _look_for_sandbox(work: Work) -> Observed:
    """Is there a sandbox for the drafts that need one? None where no draft does."""
    needed = not REPAIRS.keys().isdisjoint(demanded(work.folder(WORKFLOW_DEMAND.name)))
    sandbox = work.run.sandbox() if needed else None
    return Observed(sandbox, sandbox)


def _sandbox_input(work: Work) -> dict[str, str]:
    sandbox: Presence | None = work.observed
    return {} if sandbox is None else sandbox.inputs


def _shards(work: Work) -> list[Shard]:
    """The drafts of each generator, and what somebody proposes."""
    run, is_absent = work.run, work.observed is Presence.ABSENT
    config, seed = run.recipe.workflows.screening, run.recipe.release.seed
    shards = []
    for name, count in demanded(work.folder(WORKFLOW_DEMAND.name)).items():
        ids = tuple(run.opaque("w", f"{name}-{number}") for number in range(1, count + 1))
        left_out = is_absent and name in REPAIRS
        job = GeneratorJob(name, ids, seed, config, has_sandbox=not left_out)
        made_from = [name, count, *[str(Presence.ABSENT)][: int(left_out)]]
        shards.append(Shard(made_from, partial(make_shard, job)))
    if (path := run.runtime.proposals) is not None:
        names = {proposed.name for proposed in read_proposals(path)}
        proposals = ProposalsJob(path, {name: run.opaque("w", name) for name in names}, config)
        shards.append(Shard([file_digest(path)], partial(make_proposals, proposals)))
    return shards


WORKFLOWS = Stage(
    name=SCREENING,
    meaning="Does the reference solve it, does nothing else, and do agents differ on it?",
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=("workflows.screening", "release.seed"),
    reads=(WORKFLOW_DEMAND.name,),
    observe=_look_for_sandbox,
    inputs=_sandbox_input,
    shards=_shards,
    uses_key=True,
)


def workflows_report(folders: Sequence[Path]) -> dict[str, Any] | None:
    """What the lane tells the auditor: drafts by generator, and ideas that no scenario serves."""
    for folder in folders:
        report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
        return report
    return None


def released_lines(snapshot: Path) -> list[str]:
    """Lines about a release of workflow tasks: families, distance from demand, unserved ideas."""
    report = orjson.loads((snapshot / "public/audit/selection.json").read_bytes())
    rows = (snapshot / "public/tasks.jsonl").read_bytes().splitlines()
    named = [orjson.loads(row)["task_family"]["value"] for row in rows]
    families = Counter(name for name in named if name)
    lines = [f"{n:4} {family}" for family, n in sorted(families.items(), key=lambda x: -x[1])]
    weights = report["family_weights"]
    if weights:
        distance = total_variation(weights, families)
        lines.append(f"{len(families)} families, total variation distance {distance:.3f}")
    demand = report["workflows"] or {"no_scenario": [], "unbuildable": {}, "ideas": 0}
    missing = Counter(idea["seed"] for idea in demand["no_scenario"])
    lines.append(
        f"{len(demand['no_scenario'])} of {demand['ideas']} ideas have no scenario"
        + (f": {', '.join(f'{seed} {n}' for seed, n in missing.most_common())}" if missing else "")
    )
    whys = Counter(demand["unbuildable"].values())
    lines += [f"{n} ideas can have none: {why}" for why, n in whys.most_common()]
    return lines
