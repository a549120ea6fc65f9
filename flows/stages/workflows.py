"""The stages of the workflows lane: demand for tasks, and the drafts that pass their screening."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from construction.judging.model.asking import require_answers, write_model_use
from construction.judging.settings import ModelStage
from construction.sandbox.presence import Presence
from construction.signals.mixture import pattern_needs, task_weights
from construction.workflows.candidate_ideas import IDEAS_FILE
from construction.workflows.demand import STAGE as DEMAND
from construction.workflows.demand import demand_report, demanded, write_demand
from construction.workflows.documents.author import (
    STAGE as AUTHORS,
)
from construction.workflows.documents.author import (
    authored,
    chosen_ideas,
    ledger_row,
    reference_digest,
    write_documents,
    written_documents,
)
from construction.workflows.pool import (
    UNIT,
    DocumentJob,
    GeneratorJob,
    ProposalsJob,
    make_document,
    make_proposals,
    make_shard,
)
from construction.workflows.proposals import read_proposals
from construction.workflows.repair.catalogue import BY_NAME as REPAIRS
from construction.workflows.screening import STAGE as SCREENING
from data.apportion import total_variation
from data.canonical import file_digest
from data.contracts import StageKind
from data.errors import ConfigError
from data.stage_tables import write_stage_tables
from data.stages import Observed, Shard, Stage, Unit
from flows.run import Run, Work, asking
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
    meaning="Which scenarios can serve each idea, and how many tasks does each scenario make?",
    units=(Unit("idea", StageKind.DERIVE),),
    settings=("workflows", "release.seed"),
    reads=(SIGNALS.name, CANDIDATE_IDEAS.name),
    compute=_demand,
)


def _authors(work: Work) -> Observed:
    """Which model writes, and from which page. Raises ConfigError without one."""
    model = work.run.recipe.judging.model
    if not model.does(ModelStage.SCENARIO_DOCUMENTS):
        raise ConfigError(
            "[workflows] authored: found no model; expected one under [judging.model] whose "
            "`stages` include scenario_documents."
        )
    return Observed([reference_digest(), work.run.judges.of(ModelStage.SCENARIO_DOCUMENTS)], None)


def _write_documents(work: Work, out: Path) -> None:
    recipe, judges = work.run.recipe, work.run.judges
    (folder,) = work.folders(CANDIDATE_IDEAS.name)
    ideas = [orjson.loads(line) for line in (folder / IDEAS_FILE).read_bytes().splitlines()]
    unbuildable = demand_report(work.folder(WORKFLOW_DEMAND.name))["unbuildable"]
    chosen = chosen_ideas(
        [idea for idea in ideas if idea["idea_id"] not in unbuildable],
        task_weights(work.folders(SIGNALS.name)),
        recipe.workflows.authored,
        recipe.release.seed,
    )
    with judges.client(masked=True) as client:  # what registries publish is public
        attempts, judged = authored(
            chosen,
            client,
            recipe.workflows.screening,
            recipe.release.seed,
            recipe.workflows.per_generator,
            work.run.runtime.workers,
        )
        require_answers(judged)
        replies = {"model-replies-documents": client.replies_digest()}
    write_documents(attempts, out)
    rows, ids = [ledger_row(each) for each in attempts], [each.idea_id for each in attempts]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=AUTHORS, unit="idea")
    write_model_use(out, judges.costs({"author": judged}), replies)


WORKFLOW_DOCUMENTS = Stage(
    name=AUTHORS,
    meaning="Which ideas does a model turn into proven scenarios?",
    units=(Unit("idea", StageKind.FILTER),),
    settings=("workflows", "release.seed"),
    reads=(SIGNALS.name, CANDIDATE_IDEAS.name, WORKFLOW_DEMAND.name),
    observe=_authors,
    applies=lambda run: run.recipe.workflows.authored > 0,
    asks=asking(ModelStage.SCENARIO_DOCUMENTS),
    compute=_write_documents,
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
    judge = run.recipe.judging.model.judge_of(ModelStage.SCENARIO_DOCUMENTS)
    for document in written_documents(work.folders(WORKFLOW_DOCUMENTS.name)):
        numbers = range(1, run.recipe.workflows.per_generator + 1)
        ids = tuple(run.opaque("w", f"{document.name}-{number}") for number in numbers)
        made = DocumentJob(document, ids, seed, config, judge)
        shards.append(
            Shard([document.model_dump(mode="json"), len(ids)], partial(make_document, made))
        )
    if (path := run.runtime.proposals) is not None:
        names = {proposed.name for proposed in read_proposals(path)}
        proposals = ProposalsJob(path, {name: run.opaque("w", name) for name in names}, config)
        shards.append(Shard([file_digest(path)], partial(make_proposals, proposals)))
    return shards


WORKFLOWS = Stage(
    name=SCREENING,
    meaning="Does the reference solve it, and nothing else, and do agents differ on it?",
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=("workflows.screening", "workflows.per_generator", "release.seed"),
    reads=(WORKFLOW_DEMAND.name, WORKFLOW_DOCUMENTS.name),
    observe=_look_for_sandbox,
    inputs=_sandbox_input,
    shards=_shards,
    uses_key=True,
)


def workflows_report(folders: Sequence[Path]) -> dict[str, Any] | None:
    """What the lane tells the auditor: drafts by generator, and ideas that no scenario serves."""
    for folder in folders:
        return demand_report(folder)
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
    nothing: dict[str, Any] = {"no_scenario": [], "unbuildable": {}, "ideas": 0}
    demand = report["workflows"] or nothing
    missing = Counter(idea["seed"] for idea in demand["no_scenario"])
    lines.append(
        f"{len(demand['no_scenario'])} of {demand['ideas']} ideas have no scenario"
        + (f": {', '.join(f'{seed} {n}' for seed, n in missing.most_common())}" if missing else "")
    )
    whys: Counter[str] = Counter(demand["unbuildable"].values())
    lines += [f"{n} ideas cannot have one: {why}" for why, n in whys.most_common()]
    return lines
