"""The stage that takes a release from the pool of all lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import orjson

from construction.signals.analyse import with_families
from construction.signals.gap import coverage_gap
from data.atomic import write_bytes
from data.canonical import file_digest, pretty_json
from data.contracts import Candidate, LedgerRow, Outcome, StageKind
from data.pool import read_pool, write_pool
from data.schemas import CANDIDATES
from data.stage_tables import write_stage_tables
from data.staging.tables import SCORES
from data.tables import write_table
from flows.stage import Observed, Stage, Unit, Work
from flows.stages.signals import task_weights
from selection.release import Choice, Known, choose, family_of, last_release
from selection.scores import ScoreMatrix, read_scores

REPORT = "selection.json"
POOL_PARTS = ("leak-check", "question_phrasing")  # the last stage of each lane with candidates


def _inputs(work: Work) -> dict[str, str]:
    scores = work.run.runtime.scores
    return {"scores": file_digest(scores)} if scores else {}


def _last_release(work: Work) -> Observed:
    last = work.run.runtime.last_release
    released = last_release(last) if last else frozenset()
    return Observed(sorted(released), released)


def _select(work: Work, out: Path) -> None:
    run, recipe = work.run, work.run.recipe
    pool = read_pool([part for stage in POOL_PARTS for part in work.folders(stage)])
    scores = run.runtime.scores
    known = Known(
        opaque=partial(run.opaque, "x"),
        pilots=read_scores(scores)[0] if scores else None,
        released=work.observed,
    )
    weights = task_weights(work.folders("signals"))
    candidates = with_families(pool.candidates, recipe.signals.analysis)
    choice = choose(candidates, weights, recipe.selection, recipe.release.seed, known)
    chosen = [task for task in candidates if task.task_id in choice.chosen]
    write_stage_tables(
        out,
        StageKind.CHOOSE,
        [candidate.task_id for candidate in candidates],
        [_ledger_row(candidate, choice) for candidate in candidates],
        stage=SELECT.name,
        unit="candidate",
    )
    records = (_record(candidate, candidate.task_id in choice.chosen) for candidate in candidates)
    write_table(out / "candidates.parquet", records, CANDIDATES.schema)
    if known.pilots is not None:
        write_table(out / "scores.parquet", _score_records(known.pilots), SCORES.schema)
    write_pool(out, chosen, {})
    report = dict(choice.report)
    if weights and candidates:
        held = Counter(c.task_family.value for c in candidates if c.task_family is not None)
        gap = coverage_gap(weights, held, choice.size, recipe.signals.analysis.gap)
        report["coverage_gap"] = asdict(gap)
    write_bytes(out / REPORT, pretty_json(report))


SELECT = Stage(
    name="select",
    meaning="Which candidates does the release take?",
    units=(Unit("candidate", StageKind.CHOOSE),),
    settings=("selection", "signals", "release.seed"),
    reads=("signals", *POOL_PARTS),
    inputs=_inputs,
    observe=_last_release,
    compute=_select,
    uses_key=True,
)


def chosen_candidates(folder: Path) -> Sequence[Candidate]:
    """The candidates that the release takes, by task id."""
    return read_pool([folder]).candidates


def selection_report(folder: Path) -> dict[str, Any]:
    """How they were chosen, for the auditor."""
    report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
    return report


def _score_records(pilots: ScoreMatrix) -> Iterator[dict[str, Any]]:
    for item, scores in zip(pilots.items, pilots.scores.tolist(), strict=True):
        for model, score in zip(pilots.models, scores, strict=True):
            yield {"task_id": item, "model": model, "score": None if isnan(score) else score}


def _ledger_row(candidate: Candidate, choice: Choice) -> LedgerRow:
    is_chosen = candidate.task_id in choice.chosen
    return LedgerRow(
        SELECT.name,
        "candidate",
        candidate.task_id,
        Outcome.CHOSEN if is_chosen else Outcome.NOT_CHOSEN,
        reason=choice.reasons.get(candidate.task_id),
        stratum=f"{candidate.lane}/{family_of(candidate)}",
    )


def _record(candidate: Candidate, is_chosen: bool) -> Mapping[str, Any]:
    return {
        "task_id": candidate.task_id,
        "instance_id": candidate.provenance.item_id,
        "lane": str(candidate.lane),
        "task_family": candidate.task_family.value if candidate.task_family else None,
        "language": candidate.language,
        "difficulty": candidate.difficulty,
        "execution_surface": candidate.execution_surface,
        "prompt_chars": len(candidate.prompt),
        "n_fixtures": len(candidate.fixtures),
        "n_deliverables": len(candidate.deliverables),
        "deliverable_types": ",".join(item.file_type for item in candidate.deliverables),
        "n_rules": len(candidate.rules),
        "outcome": str(Outcome.CHOSEN if is_chosen else Outcome.NOT_CHOSEN),
    }
