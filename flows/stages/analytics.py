"""The stages of the analytics lane: an environment, anonymized and attacked, and whether all of it
may leave; tasks over it, and what others answer to them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from anonymization.tables.seal import Kept, keep, require_unchanged, sealed_output
from construction.analytics.annotation import STAGE as ANNOTATION_STAGE
from construction.analytics.annotation import Consented, Subject, annotate
from construction.analytics.archive import Archive
from construction.analytics.config import AnalyticsRecipe, market_quotas
from construction.analytics.contracts import STAGE
from construction.analytics.environment.declaration import Declaration, read_declaration
from construction.analytics.environment.variants import (
    noise_inventory,
    paths_of,
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
    write_worlds,
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
from data.canonical import canonical_json, digest, file_digest, pretty_json
from data.contracts import Disclosure, Outcome, StageKind
from data.ledger import gated_row
from data.pool import read_pool, write_pool
from data.snapshot import layout
from data.stage_tables import (
    read_records,
    write_records,
    write_stage_tables,
)
from data.stages import Folders, Observed, Stage, Unit
from data.tables import write_frame
from flows.environments import (
    Environment,
    bench_of,
    open_environment,
    source_digests,
    tables_recipe,
)
from flows.run import Run, Work

_ENVIRONMENT_STAGE, _FILE_UNIT = "environment", "environment_file"
_PRIVACY, _IDENTIFIERS, _REPLACED = "privacy.json", "originals.json", "replaced"


def is_given(run: Run) -> bool:
    """Is there a declared environment?"""
    return run.runtime.environment is not None


def _declared(run: Run) -> tuple[Declaration, Path]:
    """The declaration, and the folder that its paths count from."""
    path = run.runtime.environment
    assert path is not None
    return read_declaration(path), run.runtime.environment_files or path.parent


def _environment_inputs(work: Work) -> Mapping[str, str]:
    """The declaration and every file."""
    declaration, root = _declared(work.run)
    path = work.run.runtime.environment
    assert path is not None
    numbered = enumerate(source_digests(declaration, root).values(), start=1)
    return {"environment": file_digest(path)} | {
        f"environment-{number:04d}": sha256 for number, sha256 in numbered
    }


def _open(work: Work, out: Path) -> None:
    """Anonymize and attack; keep the released rows, and everything that was measured."""
    run = work.run
    declaration, root = _declared(run)
    environment = open_environment(declaration, root, run.key, run.recipe.release.seed)
    (out / _REPLACED).mkdir()
    for name, frame in environment.replaced.items():
        write_frame(out / _REPLACED / f"{name}.parquet", frame)
    for name, content in (
        (_PRIVACY, pretty_json(environment.privacy)),
        (_IDENTIFIERS, canonical_json(list(environment.identifiers))),
    ):
        write_bytes(out / name, content, mode=PRIVATE_FILE)
    _record_files(environment, out)


def _record_files(environment: Environment, out: Path) -> None:
    """A row for each file; that of a refused one has the reason and figures of the tables lane.

    Where one is refused nothing of the environment leaves, since tasks join its files. The limits
    are the declaration's, so that no verdict is recorded beside those by the limits of the recipe.
    """
    refused = {table.name: table.refused[0] for table in environment.judged if table.refused}
    declaration = environment.declaration
    # A path, since a bare name may also stand in public texts, which private ids must not.
    ids = {f"{layout.ENVIRONMENTS}/{declaration.name}/{f}": f for f in sorted(declaration.files)}
    rows = [
        replace(gated_row(_ENVIRONMENT_STAGE, _FILE_UNIT, item, refused.get(name), {}), gate=None)
        for item, name in ids.items()
    ]
    ids_in_order = list(ids)
    write_stage_tables(
        out, StageKind.FILTER, ids_in_order, rows, stage=_ENVIRONMENT_STAGE, unit=_FILE_UNIT
    )


def _kept(declaration: Declaration) -> Kept:
    """What a build keeps of an environment's anonymized files for a rebuild after sealing."""
    made_from = declaration.model_dump(mode="json", include={"name", "files", "anonymize"})
    return Kept("pseudonymized-environment", "the environment", digest(made_from))


def _digests(declaration: Declaration, root: Path) -> dict[str, str]:
    """Digests of the originals of its anonymized files, by path."""
    anonymized = {
        file.path for file in declaration.files.values() if file.disclosure is Disclosure.ANONYMIZED
    }
    digests = source_digests(declaration, root)
    return {path: sha256 for path, sha256 in digests.items() if path in anonymized}


def _sealed_output(run: Run) -> Path | None:
    declaration, root = _declared(run)
    kept = _kept(declaration)
    folder = sealed_output(run.out, kept, run.key_id)
    if folder is not None:
        require_unchanged(run.out, kept, _digests(declaration, root))
    return folder


def keep_environment(run: Run, opened: Folders) -> None:
    """Keep the files under pseudonyms outside the run store, for a rebuild after sealing."""
    for folder in opened:
        declaration, root = _declared(run)
        kept = _kept(declaration)
        if tables_recipe(declaration) is not None and not _is_sealed(run, kept):
            keep(run.private, folder, kept, run.key_id, _digests(declaration, root))


def _is_sealed(run: Run, kept: Kept) -> bool:
    return sealed_output(run.out, kept, run.key_id) is not None


ENVIRONMENT = Stage(
    name=_ENVIRONMENT_STAGE,
    meaning="May the environment's files be released, after attacks on the anonymized ones?",
    units=(Unit(_FILE_UNIT, StageKind.FILTER),),
    settings=("release.seed",),
    inputs=_environment_inputs,
    compute=_open,
    stand_in=_sealed_output,
    uses_key=True,
)


def environment_identifiers(environment: Folders) -> list[str]:
    """The original codes and names of anonymized files, which a release is searched for."""
    return [
        value
        for folder in environment
        for value in orjson.loads((folder / _IDENTIFIERS).read_bytes())
    ]


def given_as_public(run: Run, made: Folders) -> set[str]:
    """The files of a release's environment that are declared public and leave as they were."""
    if not made:
        return set()
    declaration, _ = _declared(run)
    public = {name for name, f in declaration.files.items() if f.disclosure is Disclosure.PUBLIC}
    paths = paths_of(declaration, public, run.recipe.analytics.variant)
    return {f"{layout.ENVIRONMENTS}/{declaration.name}/{path}" for path in paths}


def environment_privacy(run: Run, environment: Folders) -> dict[str, Any]:
    """What attacks found in the anonymized files, by environment, and where a build starts."""
    privacy = {}
    for folder in environment:
        report = orjson.loads((folder / _PRIVACY).read_bytes())
        if report and _sealed_output(run) is not None:
            report["starts_at"] = "pseudonymized tables"
        privacy[_declared(run)[0].name] = report
    return privacy


_SIGNALS, _REPORT = "signals", "report.json"


def _is_refused(folder: Path) -> bool:
    return any(row.outcome is Outcome.REJECTED for row in read_records([folder]).ledger)


def _make(work: Work, out: Path) -> None:
    """Draw and judge tasks; none where the environment must not leave."""
    folder, run = work.folder(_ENVIRONMENT_STAGE), work.run
    declaration, root = _declared(run)
    if _is_refused(folder):
        write_pool(out, [], {})
        write_stage_tables(out, StageKind.FILTER, [], [], stage=STAGE, unit="candidate")
        write_bytes(out / _REPORT, pretty_json({"refused": True, "tasks": 0}))
        return
    replaced = {path.stem: pl.read_parquet(path) for path in (folder / _REPLACED).glob("*.parquet")}
    original = read_files(root, declaration)
    recipe: AnalyticsRecipe = run.recipe.analytics
    if recipe.quotas == "signals":
        wanted = {
            str(category): {str(level): n for level, n in levels.items()}
            for category, levels in declaration.quotas.items()
        }
        quotas = market_quotas(wanted, task_weights(work.folders(_SIGNALS)))
        declaration = declaration.model_copy(update={"quotas": quotas})
    archive = Archive.of(declaration, original) if recipe.papers == "archive" else None
    environment = Environment(declaration, root, original, replaced)
    with bench_of(environment, archive) as bench:
        minted = mint(bench, read_templates(), run.recipe.release.seed, recipe=recipe)
        tables, left_out = bench.tables, archive.file if archive else None
        write_variant(recipe.variant, declaration, root, replaced, tables, out / FILES, left_out)
    fixtures = fixtures_of(out / FILES, declaration.name)
    candidate_id = partial(run.opaque, "a")
    candidates = [candidate_of(task, declaration, fixtures, candidate_id) for task in minted.tasks]
    inputs = {fixture.sha256: Path(FILES, fixture.path) for fixture in fixtures}
    write_pool(out, candidates, inputs)
    write_gold(out, minted.tasks)
    if archive is not None:
        write_worlds(out, minted.tasks, archive, candidate_id)
    write_declaration(out, raw_declaration(declaration, replaced), recipe.variant, archive)
    noise = pretty_json(noise_inventory(declaration, environment.inventory))
    write_bytes(out / NOISE, noise, mode=PRIVATE_FILE)
    write_bytes(out / _REPORT, pretty_json({"refused": False} | report_of(minted)))
    write_records(out, minted.records(candidate_id))


ANALYTICS = Stage(
    name=STAGE,
    meaning="Which step programs are fair tasks over its files?",
    units=(Unit("candidate", StageKind.FILTER),),
    settings=("analytics", "release.seed"),
    reads=(_ENVIRONMENT_STAGE, _SIGNALS),
    inputs=_environment_inputs,
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
        report: dict[str, Any] = orjson.loads((folder / _REPORT).read_bytes())
        return report
    return None


def private_files(run: Run, made: Folders) -> dict[str, Path]:
    """What the private half holds of an environment, by path: its declaration and its noise."""
    return {
        f"{layout.ENVIRONMENTS}/{_declared(run)[0].name}/{name}": folder / name
        for folder in made
        for name in (DECLARATION, NOISE)
        if (folder / name).is_file()
    }
