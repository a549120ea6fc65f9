"""Writes the release from what the stages left: snapshot, staging file, verification, `latest`.

A release that is there already is verified, not written again: to write one and see that it equals
the one that is there takes as long as writing it. Its key holds all that it is made of: the keys
and contents of the stages' outputs, recipe, code, locked packages, release key, and the release
before. The record lies with the snapshots' owner, in `private/`, and says which snapshot the key
led to, with which digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from anonymization.leaks.candidate_leaks import guard_release, masking_report
from anonymization.tables import judged_tables
from construction.grading.preflight import grading_facts
from construction.judging.model.asking import model_costs, model_replies
from construction.signals.mixture import pictures_of, public_mixture
from construction.workflows.candidate_ideas import IDEAS_FILE
from construction.workflows.world_file import worlds_of
from data.atomic import PRIVATE_FILE, write_bytes
from data.builds import PUBLISHED, architecture, host_and_tools, lock_digest
from data.canonical import digest, file_digest, pretty_json
from data.contracts import Candidate
from data.pool import fixture_files
from data.reasons import ReasonWords
from data.releases.diff import with_changes
from data.run_store import content_digest
from data.snapshot import layout
from data.snapshot.release import (
    DEMO_LICENCE,
    Authorization,
    BuildFacts,
    CardConfig,
    LedgerTables,
    PrivacyStamp,
    Release,
    SnapshotRef,
)
from data.snapshot.verification import verify
from data.snapshot.writer import mark_latest, write_snapshot
from data.stage_tables import StageRecords, read_records
from data.stages import Folders, Results
from data.staging.runs import RunFacts, stage_run
from flows import ROOT
from flows.gates import GATE_ORDER, GATES
from flows.label_words import all_labels
from flows.run import Run
from flows.stages.analytics import (
    ANALYTICS,
    ENVIRONMENT,
    analytics_report,
    environment_identifiers,
    environment_privacy,
    given_as_public,
    keep_environment,
    private_files,
)
from flows.stages.questions import questions_report, questions_tables
from flows.stages.repositories import TASKS as REPOSITORY_TASKS
from flows.stages.selection import FILE_STAGES, chosen_candidates, selection_report
from flows.stages.sessions import READ_PRIVATE, recogniser_report, release_targets
from flows.stages.tables import keep_pseudonymized, sealed
from flows.stages.workflows import WORKFLOW_DEMAND, WORKFLOWS, workflows_report


def publish(
    run: Run,
    results: Results,
    privacy: PrivacyStamp,
    run_info: Mapping[str, Any],
    out: Path | None = None,
) -> SnapshotRef:
    """Write the snapshot and verify it; only then does `latest` point to it.

    `out` is the folder of snapshots, that of the build unless another is given.

    Raises ReleaseError if it does not verify: it then stays, for `benchmint verify` to explain.
    """
    tables = _anonymized_tables(run, results)
    masked = results.outputs.get("masking", ())
    opened = results.outputs.get(ENVIRONMENT.name, ())
    originals = [*tables.identifiers, *environment_identifiers(opened)]
    trees = results.outputs.get(REPOSITORY_TASKS.name, ())
    targets = release_targets(run, (*masked, *trees), originals)
    release = _release(run, results, tables, privacy, run_info)
    masking = masking_report(masked, targets)
    if masking is not None:
        masking |= recogniser_report(run, results.outputs.get(READ_PRIVATE.name, ()))
    report: dict[str, Any] = {"masking": masking}
    report |= {} if tables.report is None else {"tables": tables.report}
    report |= {"environments": environment_privacy(run, opened)} if opened else {}
    last = run.runtime.release_before(run.recipe)
    release = with_changes(replace(release, privacy_report=report), last)
    given = given_as_public(run, results.outputs.get(ANALYTICS.name, ()))
    guard = partial(guard_release, candidates=release.candidates, targets=targets, given=given)
    for tables_folder in results.outputs.get("anonymize-tables", ()):
        keep_pseudonymized(run, tables_folder)
    keep_environment(run, opened)
    folder = out or run.snapshots
    ref = write_snapshot(release, folder, revision=run.runtime.revision, guard=guard)
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
        inputs=_inputs_of(results),
        privacy=str(privacy),
    )
    return stage_run(run.out, facts, results.folders, model_costs(results.folders))


def released_candidates(results: Results) -> Sequence[Candidate]:
    """The candidates that the release takes."""
    return chosen_candidates(results.outputs["select"][0])


def _inputs_of(results: Results) -> dict[str, str]:
    """The digests of all that went in, by public name."""
    return results.inputs | model_replies(results.folders)


def _anonymized_tables(run: Run, results: Results) -> judged_tables.AnonymizedTables:
    """The tables that the lane left, with their description for the auditor."""
    folders: Sequence[Path] = results.outputs.get("anonymize-tables", ())
    if not folders:
        return judged_tables.AnonymizedTables()
    (folder,) = folders
    is_sealed = sealed(run) is not None
    return judged_tables.anonymized_tables(folder, run.recipe.tables, is_sealed=is_sealed)


def _card(card: CardConfig, privacy: PrivacyStamp) -> CardConfig:
    is_own = privacy is PrivacyStamp.GENERATED and card.licence is None
    return card.model_copy(update=DEMO_LICENCE) if is_own else card


def _release(
    run: Run,
    results: Results,
    tables: judged_tables.AnonymizedTables,
    privacy: PrivacyStamp,
    run_info: Mapping[str, Any],
) -> Release:
    recipe, source, outputs = run.recipe, run.recipe.source, results.outputs
    selected = selection_report(outputs["select"][0])
    signals, phrased = outputs.get("signals", ()), outputs.get("question_phrasing", ())
    ideas = outputs.get("candidate_ideas", ())
    return Release(
        name=recipe.release.name,
        released=recipe.release.release_date,
        version=recipe.release.version,
        card=_card(recipe.release.card, privacy),
        candidates=released_candidates(results),
        fixture_file=fixture_files(_made_by(results, *FILE_STAGES)).__getitem__,
        opaque=lambda item_id: run.opaque("x", item_id),
        build=_build_facts(run, results),
        ledger_tables=_ledger_tables(read_records(results.folders)),
        labels=all_labels(),
        privacy=privacy,
        authorization=Authorization(
            source.name, source.authorization, source.reviewer, source.reviewed, source.retention
        ),
        grading=grading_facts(recipe.grading, outputs["preflight"], released_candidates(results)),
        selection={
            **selected,
            "mixture": public_mixture(signals[0], ideas[0] / IDEAS_FILE) if signals else None,
            **_lane_reports(results),
        },
        tables={**tables.released, **questions_tables(outputs.get("statements", ()), phrased)},
        answers=phrased[0] / "private/answers.parquet" if phrased else None,
        private_files=private_files(run, _made_by(results, ANALYTICS.name)),
        worlds=worlds_of(_made_by(results, WORKFLOWS.name, ANALYTICS.name)),
        pictures={**pictures_of(signals, selected), **tables.pictures},
        run_info={**run_info, "judging": model_costs(results.folders), **host_and_tools()},
    )


def _lane_reports(results: Results) -> dict[str, Any]:
    """What each lane says of itself, None for one that did not run."""
    questions, phrased = (_made_by(results, name) for name in ("questions", "question_phrasing"))
    return {
        "questions": questions_report(questions, phrased) or None,
        "analytics": analytics_report(_made_by(results, ANALYTICS.name)),
        "workflows": workflows_report(_made_by(results, WORKFLOW_DEMAND.name)),
    }


def _ledger_tables(records: StageRecords) -> LedgerTables:
    return LedgerTables(
        records.ledger,
        records.verdicts,
        records.lineage,
        records.tallies,
        GATE_ORDER,
        ReasonWords.of(GATES),
    )


def _made_by(results: Results, *stages: str) -> Folders:
    """The outputs of these stages; none for one that did not apply."""
    return tuple(part for stage in stages for part in results.outputs.get(stage, ()))


def _build_facts(run: Run, results: Results) -> BuildFacts:
    return BuildFacts(
        recipe=run.recipe.model_dump(mode="json"),
        inputs=_inputs_of(results),
        code_version=run.store.code_version,
        lock_digest=lock_digest(ROOT),
        architecture=architecture(),
        release_key_digest=run.key_id,
        seed=run.recipe.release.seed,
    )


def release_key_of(run: Run, results: Results, privacy: PrivacyStamp) -> str | None:
    """What the release is made of, digested; None where an output has no key of its own."""
    if any(not folder.is_relative_to(run.store.root) for folder in results.folders):
        return None  # sealed: it stands in for a stage
    before = run.runtime.release_before(run.recipe)
    return digest(
        {
            "outputs": [[folder.name, content_digest(folder)] for folder in results.folders],
            "inputs": results.inputs,
            "recipe": run.recipe.digest(),
            "release": [run.runtime.revision, str(privacy)],
            "before": _digest_of(before) if before is not None else None,
            "made_with": [run.store.code_version, lock_digest(ROOT), architecture(), run.key_id],
        }
    )


def published_before(run: Run, key: str | None) -> SnapshotRef | None:
    """The snapshot that the key led to, verified and marked as the latest; None if there is none.

    Raises ReleaseError if it does not verify.
    """
    try:
        known = orjson.loads((run.private / PUBLISHED).read_bytes())
    except (OSError, ValueError):
        return None
    if key is None or known.get("key") != key:
        return None
    path = run.snapshots / known["snapshot"]
    if not path.is_dir() or _digest_of(path) != known["sums"]:
        return None
    ref = SnapshotRef(known["snapshot"], path, known["digest"], written=False)
    mark_latest(ref, verify(path))
    return ref


def remember(run: Run, key: str | None, ref: SnapshotRef) -> None:
    """Keep which snapshot a key led to."""
    row = {"key": key, "snapshot": ref.snapshot, "digest": ref.digest, "sums": _digest_of(ref.path)}
    write_bytes(run.private / PUBLISHED, pretty_json(row), mode=PRIVATE_FILE)


def _digest_of(snapshot: Path) -> str | None:
    """Of the sums of both halves; None where one is away."""
    files = [snapshot / half / layout.SUMS for half in (layout.PUBLIC, layout.PRIVATE)]
    return digest([file_digest(file) for file in files if file.is_file()])
