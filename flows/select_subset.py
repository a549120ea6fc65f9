"""From the pool of all lanes to the tasks of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import orjson

from construction.signals.analyse import with_families
from construction.signals.mixture import MixtureRef
from data.atomic import write_bytes
from data.canonical import canonical_json, file_digest, pretty_json
from data.contracts import Candidate, LedgerRow, Outcome, StageKind
from data.run_store import StageOutput
from data.schemas import CANDIDATES
from data.stage_tables import write_stage_tables
from data.staging.tables import SCORES
from data.tables import write_table
from flows.prefect_adapter import lane, stage
from flows.recipe import FlowRecipe, FlowRuntime, Runtime
from flows.run import Run, open_run
from selection.release import Choice, Known, choose, family_of, last_release
from selection.scores import ScoreMatrix, read_scores

STAGE = "select"
_CHOSEN, _REPORT = "chosen.jsonl", "selection.json"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The released candidates, how they were chosen, and where the stage's tables lie."""

    candidates: Sequence[Candidate]
    report: Mapping[str, Any]
    folder: Path
    inputs: Mapping[str, str]


@lane("select-subset")
def select_subset(
    recipe: FlowRecipe, runtime: FlowRuntime, pool: Sequence[Candidate], mixture: MixtureRef | None
) -> Chosen:
    """Give each candidate its family, then choose."""
    run = open_run(recipe, runtime)
    output = choose_tasks(run, pool, mixture.task_weights if mixture else {})
    lines = (output.path / _CHOSEN).read_bytes().splitlines()
    report = orjson.loads((output.path / _REPORT).read_bytes())
    scores = scores_digest(runtime)
    return Chosen(
        [Candidate.model_validate_json(line) for line in lines],
        report,
        output.path,
        {"scores": scores} if scores else {},
    )


@stage("select")
def choose_tasks(run: Run, pool: Sequence[Candidate], weights: Mapping[str, float]) -> StageOutput:
    """Choose, unless this pool was chosen from already."""
    pool = sorted(pool, key=lambda candidate: candidate.task_id)
    recipe, runtime = run.recipe, run.runtime
    known = Known(
        opaque=partial(run.opaque, "x"),
        pilots=read_scores(runtime.scores)[0] if runtime.scores else None,
        released=last_release(runtime.last_release) if runtime.last_release else frozenset(),
    )
    told = (weights, recipe.selection, recipe.signals, recipe.release.seed, run.key_id)
    outside = (scores_digest(runtime), sorted(known.released))
    key = run.store.key(STAGE, pool, *told, *outside)
    return run.store.run(STAGE, key, partial(_choose, run, pool, weights, known))


def scores_digest(runtime: Runtime) -> str | None:
    """SHA-256 of the pilot scores, an input of the release; None if there are none."""
    return file_digest(runtime.scores) if runtime.scores else None


def _choose(
    run: Run, pool: Sequence[Candidate], weights: Mapping[str, float], known: Known, out: Path
) -> None:
    pool = with_families(pool, run.recipe.signals.analysis)
    choice = choose(pool, weights, run.recipe, known)
    chosen = [candidate for candidate in pool if candidate.task_id in choice.taken]
    rows = [_row(candidate, choice) for candidate in pool]
    ids = [candidate.task_id for candidate in pool]
    write_stage_tables(out, StageKind.CHOOSE, ids, rows, stage=STAGE, unit="candidate")
    records = (_record(candidate, candidate.task_id in choice.taken) for candidate in pool)
    write_table(out / "candidates.parquet", records, CANDIDATES.schema)
    if known.pilots is not None:
        write_table(out / "scores.parquet", _score_records(known.pilots), SCORES.schema)
    write_bytes(out / _CHOSEN, b"".join(canonical_json(one) + b"\n" for one in chosen))
    write_bytes(out / _REPORT, pretty_json(choice.report))


def _score_records(pilots: ScoreMatrix) -> Iterator[dict[str, Any]]:
    for item, scores in zip(pilots.items, pilots.scores.tolist(), strict=True):
        for model, score in zip(pilots.models, scores, strict=True):
            yield {"task_id": item, "model": model, "score": None if isnan(score) else score}


def _row(candidate: Candidate, choice: Choice) -> LedgerRow:
    taken = candidate.task_id in choice.taken
    return LedgerRow(
        STAGE,
        "candidate",
        candidate.task_id,
        Outcome.CHOSEN if taken else Outcome.NOT_CHOSEN,
        reason=choice.reasons.get(candidate.task_id),
        stratum=f"{candidate.lane}/{family_of(candidate)}",
    )


def _record(candidate: Candidate, taken: bool) -> dict[str, Any]:
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
        "outcome": str(Outcome.CHOSEN if taken else Outcome.NOT_CHOSEN),
    }
