"""The stages of the analytics lane: tasks over an environment, and what others answer to them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from construction.analytics.annotation import STAGE as ANNOTATION_STAGE
from construction.analytics.annotation import Consented, Subject, annotate
from construction.analytics.config import AnalyticsRecipe, market_quotas
from construction.analytics.contracts import STAGE
from construction.analytics.environment.variants import (
    noise_inventory,
    raw_declaration,
    read_files,
    write_variant,
)
from construction.analytics.make import mint, report_of
from construction.analytics.task_files import (
    DECLARATION,
    FILES,
    NOISE,
    candidate_of,
    fixtures_of,
    read_environment,
    write_declaration,
    write_gold,
)
from construction.analytics.templates import read_templates
from construction.judging.consensus import ConsensusConfig
from construction.judging.contracts import Asker
from construction.judging.model.asking import write_model_use
from construction.judging.review import (
    Topic,
    answers_decided,
    queued,
    recorded,
    write_items,
)
from construction.signals.mixture import task_weights
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import digest, pretty_json
from data.contracts import Outcome, StageKind
from data.pool import read_pool, write_pool
from data.snapshot import layout
from data.stage_tables import (
    read_records,
    write_records,
    write_stage_tables,
)
from data.stages import Folders, Observed, Stage, Unit
from flows.environments import (
    Environment,
    bench_of,
)
from flows.run import Run, Work
from flows.stages.environment import (
    ENVIRONMENT_STAGE,
    REPLACED,
    declared,
    environment_inputs,
)

SIGNALS, REPORT = "signals", "report.json"


def _is_refused(folder: Path) -> bool:
    return any(row.outcome is Outcome.REJECTED for row in read_records([folder]).ledger)


def _make(work: Work, out: Path) -> None:
    """Draw and judge tasks; none where the environment must not leave."""
    folder, run = work.folder(ENVIRONMENT_STAGE), work.run
    declaration, root = declared(run)
    if _is_refused(folder):
        write_pool(out, [], {})
        write_stage_tables(out, StageKind.FILTER, [], [], stage=STAGE, unit="candidate")
        write_bytes(out / REPORT, pretty_json({"refused": True, "tasks": 0}))
        return
    replaced = {path.stem: pl.read_parquet(path) for path in (folder / REPLACED).glob("*.parquet")}
    original = read_files(root, declaration)
    recipe: AnalyticsRecipe = run.recipe.analytics
    if recipe.quotas == "signals":
        wanted = {
            str(category): {str(level): n for level, n in levels.items()}
            for category, levels in declaration.quotas.items()
        }
        quotas = market_quotas(wanted, task_weights(work.folders(SIGNALS)))
        declaration = declaration.model_copy(update={"quotas": quotas})
    environment = Environment(declaration, root, original, replaced)
    with bench_of(environment) as bench:
        minted = mint(bench, read_templates(), run.recipe.release.seed, recipe=recipe)
        write_variant(recipe.variant, declaration, root, replaced, bench.tables, out / FILES)
    fixtures = fixtures_of(out / FILES, declaration.name)
    candidate_id = partial(run.opaque, "a")
    candidates = [candidate_of(task, declaration, fixtures, candidate_id) for task in minted.tasks]
    inputs = {fixture.sha256: Path(FILES, fixture.path) for fixture in fixtures}
    write_pool(out, candidates, inputs)
    write_gold(out, minted.tasks)
    write_declaration(out, raw_declaration(declaration, replaced), recipe.variant)
    noise = pretty_json(noise_inventory(declaration, environment.inventory))
    write_bytes(out / NOISE, noise, mode=PRIVATE_FILE)
    write_bytes(out / REPORT, pretty_json({"refused": False} | report_of(minted)))
    write_records(out, minted.records(candidate_id))


ANALYTICS = Stage(
    name=STAGE,
    meaning="Which step programs are fair tasks over its files?",
    units=(Unit("candidate", StageKind.FILTER),),
    settings=("analytics", "release.seed"),
    reads=(ENVIRONMENT_STAGE, SIGNALS),
    inputs=environment_inputs,
    compute=_make,
    uses_key=True,
)


def _has_annotators(run: Run) -> bool:
    return bool(run.recipe.analytics.consensus.annotators)


def _annotate(work: Work) -> Observed:
    """Hold the rounds that are due, and queue what people have to answer."""
    run, folder = work.run, work.folder(STAGE)
    consensus: ConsensusConfig = run.recipe.analytics.consensus
    candidates = read_pool([folder]).candidates
    subjects: list[Subject] = []
    if candidates:
        opened = read_environment(folder / DECLARATION, folder / FILES)
        subjects = [Subject(task, opened.declaration, opened.tables) for task in candidates]

    def open_model(name: str) -> AbstractContextManager[Asker]:
        return run.judges.with_model(name).client(masked=True)

    decided = answers_decided(recorded(run.review), Topic.ANSWER)
    consented = annotate(run.review, run.release, subjects, decided, consensus, open_model)
    others = [item for item in queued(run.review) if item.topic is not Topic.ANSWER]
    write_items(run.review, [*others, *consented.disputed])
    return Observed([list(consented.routed.ledger), digest(consented.rounds)], consented)


def _write_annotated(work: Work, out: Path) -> None:
    """The pool of the tasks that were agreed on."""
    consented: Consented = work.observed
    candidates = read_pool([work.folder(STAGE)]).candidates
    admitted = {item.item_id for item in consented.routed.admitted}
    rows = [replace(row, stage=ANNOTATION_STAGE) for row in consented.routed.ledger]
    ids = [task.task_id for task in candidates]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=ANNOTATION_STAGE, unit="candidate")
    write_pool(out, [task for task in candidates if task.task_id in admitted], {})
    judges = work.run.judges
    costs = [
        row
        for model, judged in consented.by_model.items()
        for row in judges.with_model(model).costs({ANNOTATION_STAGE: judged})
    ]
    write_model_use(out, costs)


def _rounds(work: Work) -> Mapping[str, str]:
    return {"analytics-rounds": digest(work.observed.rounds)}


ANNOTATION = Stage(
    name=ANNOTATION_STAGE,
    meaning="Do the executor, models and people agree on its answer?",
    units=(Unit("candidate", StageKind.FILTER),),
    settings=("analytics.consensus", "judging.model"),
    reads=(STAGE,),
    observe=_annotate,
    inputs=_rounds,
    compute=_write_annotated,
    applies=_has_annotators,
)


def analytics_report(made: Folders) -> dict[str, Any] | None:
    """What the lane tells the auditor: the funnel, noise, guessers; None without the lane."""
    for folder in made:
        report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
        return report
    return None


def private_files(run: Run, made: Folders) -> dict[str, Path]:
    """What the private half holds of an environment, by path: its declaration and its noise."""
    return {
        f"{layout.ENVIRONMENTS}/{declared(run)[0].name}/{name}": folder / name
        for folder in made
        for name in (DECLARATION, NOISE)
        if (folder / name).is_file()
    }
