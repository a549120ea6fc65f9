"""The tables in which the choice of a release is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any

from data.contracts import Candidate, LedgerRow, Outcome, Scalar, StageKind
from data.pool import write_pool
from data.schemas import CANDIDATES
from data.stage_tables import write_stage_tables
from data.staging.tables import SCORES
from data.tables import write_table
from selection.release import Choice, Known, family_of
from selection.scores import ScoreMatrix

STAGE = "select"


def write_choice(
    candidates: Sequence[Candidate],
    choice: Choice,
    known: Known,
    out: Path,
    alike: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the chosen candidates, and what became of every one of the pool.

    `alike` names for a candidate another one that means about the same.
    """
    write_stage_tables(
        out,
        StageKind.CHOOSE,
        [candidate.task_id for candidate in candidates],
        [_ledger_row(candidate, choice, alike) for candidate in candidates],
        stage=STAGE,
        unit="candidate",
    )
    records = (_record(candidate, candidate.task_id in choice.chosen) for candidate in candidates)
    write_table(out / "candidates.parquet", records, CANDIDATES.schema)
    if known.pilots is not None:
        write_table(out / "scores.parquet", _score_records(known.pilots), SCORES.schema)
    write_pool(out, [task for task in candidates if task.task_id in choice.chosen], {})


def _score_records(pilots: ScoreMatrix) -> Iterator[dict[str, Any]]:
    for item, scores in zip(pilots.items, pilots.scores.tolist(), strict=True):
        for model, score in zip(pilots.models, scores, strict=True):
            yield {"task_id": item, "model": model, "score": None if isnan(score) else score}


def _ledger_row(candidate: Candidate, choice: Choice, alike: Mapping[str, str]) -> LedgerRow:
    task_id = candidate.task_id
    is_chosen = task_id in choice.chosen
    evidence: dict[str, Scalar] = {}
    if task_id in choice.same_as:
        evidence["same_as"] = choice.same_as[task_id]
    elif task_id in alike:
        evidence["similar_to"] = alike[task_id]
    return LedgerRow(
        STAGE,
        "candidate",
        task_id,
        Outcome.CHOSEN if is_chosen else Outcome.NOT_CHOSEN,
        reason=choice.reasons.get(task_id),
        stratum=f"{candidate.lane}/{family_of(candidate)}",
        evidence=evidence,
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
