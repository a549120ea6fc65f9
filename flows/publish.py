"""Writes the release from what the stages left: snapshot, staging file, verification, `latest`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from anonymization.leaks.candidate_leaks import guard_release
from anonymization.masking_report import masking_report
from anonymization.tables.judged_tables import (
    judged_tables,
    original_identifiers_of,
    released_tables,
    tables_pictures,
    tables_report,
)
from construction.judging.candidate_ideas import IDEAS_FILE
from construction.judging.model.asking import model_costs, model_replies
from construction.signals.mixture import public_mixture
from construction.signals.pictures import pictures_of
from data.canonical import file_digest
from data.contracts import Candidate
from data.pool import read_pool
from data.releases import changes_between, facts_of_release, previous_release
from data.snapshot import layout, mark_latest, verify, write_snapshot
from data.snapshot.release import (
    Authorization,
    BuildFacts,
    LedgerTables,
    Picture,
    PrivacyStamp,
    Release,
    ReleasedTable,
    SnapshotRef,
)
from data.stage_tables import read_records
from data.stages import Results
from data.staging import RunFacts, stage_run
from flows.gates import GATE_ORDER
from flows.run import Run, architecture, lock_digest
from flows.stages.masking import release_targets
from flows.stages.questions import questions_report, questions_tables
from flows.stages.selection import chosen_candidates, selection_report
from flows.stages.tables import keep_pseudonymized, sealed

TOOLS = ("prefect", "polars", "duckdb", "pydantic", "numpy", "scipy", "pulp")


@dataclass(frozen=True, slots=True)
class AnonymizedTables:
    """The anonymized tables of a release; empty without their lane."""

    released: Mapping[str, ReleasedTable]
    report: Mapping[str, Any] | None
    pictures: Mapping[str, Picture]
    identifiers: Sequence[str]


def publish(
    run: Run, results: Results, privacy: PrivacyStamp, run_info: Mapping[str, Any]
) -> SnapshotRef:
    """Write the snapshot and verify it; only then does `latest` point to it.

    Raises ReleaseError if it does not verify: it then stays, for `benchmint verify` to explain.
    """
    tables = anonymized_tables(run, results)
    masked = results.outputs.get("masking", ())
    targets = release_targets(run, masked, tables.identifiers)
    release = _release(run, results, tables, privacy, run_info)
    report: dict[str, Any] = {"masking": masking_report(masked, targets)}
    report |= {} if tables.report is None else {"tables": tables.report}
    release = _with_changes(run, replace(release, privacy_report=report))
    guard = partial(guard_release, candidates=release.candidates, targets=targets)
    for folder in results.outputs.get("anonymize-tables", ()):
        keep_pseudonymized(run, folder)
    ref = write_snapshot(release, run.snapshots, revision=run.runtime.revision, guard=guard)
    mark_latest(ref, verify(ref.path))
    return ref


def stage_for_analysts(run: Run, results: Results, privacy: PrivacyStamp) -> str:
    """Keep the tables of the stages as a run, swap in `staging.duckdb`, return the run's id."""
    release = run.recipe.release
    facts = RunFacts(
        snapshot=layout.snapshot_id(release.name, release.release_date),
        released=release.release_date,
        recipe_digest=run.recipe.digest(),
        code_version=run.store.code_version,
        release_key_digest=run.key_id,
        inputs=inputs_of(results),
        privacy=str(privacy),
    )
    return stage_run(run.out, facts, results.folders, model_costs(results.folders))


def released_candidates(results: Results) -> Sequence[Candidate]:
    """The candidates that the release takes."""
    return chosen_candidates(results.outputs["select"][0])


def inputs_of(results: Results) -> dict[str, str]:
    """The digests of all that went in, by public name."""
    return results.inputs | model_replies(results.folders)


def anonymized_tables(run: Run, results: Results) -> AnonymizedTables:
    """The tables that the lane left, with what the auditor is told about them."""
    folders = results.outputs.get("anonymize-tables", ())
    if not folders:
        return AnonymizedTables({}, None, {}, ())
    recipe, (folder,) = run.recipe.tables, folders
    judged = judged_tables(folder, recipe)
    return AnonymizedTables(
        released_tables(folder, recipe),
        tables_report(folder, judged, is_sealed=sealed(run) is not None),
        tables_pictures(judged),
        original_identifiers_of(folder),
    )


def _with_changes(run: Run, release: Release) -> Release:
    """The release with its CHANGELOG against the last one, which is an input then (law 5)."""
    last = run.runtime.last_release or previous_release(
        run.snapshots, release.name, release.released
    )
    if last is None:
        return release
    public, _ = layout.halves(last)
    inputs = {**release.build.inputs, "last-release": file_digest(public / layout.SUMS)}
    changes = changes_between(last, facts_of_release(release))
    return replace(release, changes=changes, build=replace(release.build, inputs=inputs))


def _release(
    run: Run,
    results: Results,
    tables: AnonymizedTables,
    privacy: PrivacyStamp,
    run_info: Mapping[str, Any],
) -> Release:
    recipe, source, outputs = run.recipe, run.recipe.source, results.outputs
    selected = selection_report(outputs["select"][0])
    signals, phrased = outputs.get("signals", ()), outputs.get("question_phrasing", ())
    ideas = outputs.get("candidate_ideas", ())
    costs = model_costs(results.folders)
    return Release(
        name=recipe.release.name,
        released=recipe.release.release_date,
        version=recipe.release.version,
        card=recipe.release.card,
        candidates=released_candidates(results),
        fixture_file=dict(read_pool(outputs.get("package", ())).fixtures).__getitem__,
        opaque=lambda item_id: run.opaque("x", item_id),
        build=_build_facts(run, results),
        ledger_tables=_records(results.folders),
        privacy=privacy,
        authorization=Authorization(
            source.name, source.authorization, source.reviewer, source.reviewed, source.retention
        ),
        selection={
            **selected,
            "mixture": public_mixture(signals[0], ideas[0] / IDEAS_FILE) if signals else None,
            "questions": questions_report(outputs.get("questions", ()), phrased) or None,
        },
        tables={**tables.released, **questions_tables(outputs.get("statements", ()), phrased)},
        answers=phrased[0] / "private/answers.parquet" if phrased else None,
        pictures={**pictures_of(signals, selected), **tables.pictures},
        run_info=dict(run_info) | {"judging": costs} | _tools(),
    )


def _build_facts(run: Run, results: Results) -> BuildFacts:
    return BuildFacts(
        recipe=run.recipe.model_dump(mode="json"),
        inputs=inputs_of(results),
        code_version=run.store.code_version,
        lock_digest=lock_digest(),
        architecture=architecture(),
        release_key_digest=run.key_id,
        seed=run.recipe.release.seed,
    )


def _records(folders: Sequence[Path]) -> LedgerTables:
    records = read_records(folders)
    return LedgerTables(
        records.ledger, records.verdicts, records.lineage, records.tallies, GATE_ORDER
    )


def _tools() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "python": sys.version.split()[0],
        "tools": {name: version(name) for name in TOOLS},
    }
