"""From the pool of all lanes to the tasks of the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from prefect import flow, task

from construction.signals.families_of_tasks import with_families
from construction.signals.gap import CoverageGap, coverage_gap
from data.atomic import write_bytes
from data.canonical import canonical_json, pretty_json
from data.contracts import Candidate, LedgerRow, Outcome, StageKind
from data.errors import ReleaseError, guarded
from data.run_store import StageOutput
from data.schemas import CANDIDATES
from data.tables import write_table
from flows.mixture import MixtureRef
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from flows.stage_books import write_books
from selection.config import Objective, SelectionConfig
from selection.lite import LiteItem, choose_lite
from selection.output import describe
from selection.pool import PoolItem, pool_of_items
from selection.select import select_subset as solve_selection

STAGE = "select"
_CHOSEN, _REPORT = "chosen.jsonl", "selection.json"
NO_FAMILY = "(none)"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The released candidates, how they were chosen, and where the stage's tables lie."""

    candidates: Sequence[Candidate]
    report: Mapping[str, Any]
    folder: Path


@flow(name="select-subset", validate_parameters=False)
def select_subset(
    recipe: Recipe, runtime: Runtime, pool: Sequence[Candidate], mixture: MixtureRef | None
) -> Chosen:
    """Give each candidate its family, then choose."""
    run = open_run(recipe, runtime)
    output = choose_tasks(run, pool, mixture.task_weights if mixture else {})
    lines = (output.path / _CHOSEN).read_bytes().splitlines()
    report = orjson.loads((output.path / _REPORT).read_bytes())
    return Chosen([Candidate.model_validate_json(line) for line in lines], report, output.path)


@task(name="select")
@guarded("select")
def choose_tasks(run: Run, pool: Sequence[Candidate], weights: Mapping[str, float]) -> StageOutput:
    """Choose, unless this pool was chosen from already."""
    pool = sorted(pool, key=lambda candidate: candidate.task_id)
    recipe = run.recipe
    told = (weights, recipe.selection, recipe.signals, recipe.release.seed, run.key_id)
    key = run.store.key(STAGE, pool, *told)
    return run.store.run(STAGE, key, partial(_choose, run, pool, weights))


def _choose(run: Run, pool: Sequence[Candidate], weights: Mapping[str, float], out: Path) -> None:
    recipe = run.recipe
    pool = with_families(pool, recipe.signals.analysis)
    taken, report = _selected(run, pool, weights)
    chosen = [candidate for candidate in pool if candidate.task_id in taken]
    if recipe.selection.lite_size and chosen:
        report["lite"] = _lite(chosen, recipe.selection.lite_size, recipe.release.seed)
    rows = [_row(candidate, candidate.task_id in taken) for candidate in pool]
    ids = [candidate.task_id for candidate in pool]
    write_books(out, StageKind.CHOOSE, ids, rows, stage=STAGE, unit="candidate")
    records = (_record(candidate, candidate.task_id in taken) for candidate in pool)
    write_table(out / "candidates.parquet", records, CANDIDATES.schema)
    write_bytes(out / _CHOSEN, b"".join(canonical_json(one) + b"\n" for one in chosen))
    write_bytes(out / _REPORT, pretty_json(report))


def _selected(
    run: Run, pool: Sequence[Candidate], weights: Mapping[str, float]
) -> tuple[set[str], dict[str, Any]]:
    """The ids to release, and the report: all of a small pool, else an optimal subset."""
    recipe = run.recipe
    most = recipe.selection.max_tasks
    report: dict[str, Any] = {"pool": len(pool), "family_weights": dict(weights)}
    if weights and pool:
        report["gap"] = asdict(_gap(recipe, pool, weights, most or len(pool)))
    if most is None or len(pool) <= most:
        return {candidate.task_id for candidate in pool}, report | {"rule": "all of the pool"}
    items = [_item(candidate, run) for candidate in pool]
    families = {item.family for item in items}
    config = SelectionConfig(
        size=most,
        objective=Objective.COVERAGE,
        cover_families=most >= len(families),
        lane_shares=recipe.selection.lane_shares,
        max_changed=recipe.selection.max_changed,
        seed=recipe.release.seed,
    )
    told = solve_selection(pool_of_items(items), config, weights or None)
    if told.chosen is None:
        reasons = "; ".join(blocker.text for blocker in told.blockers)
        raise ReleaseError(f"no selection of {most} tasks is possible: {reasons}.")
    return set(told.chosen), report | {"rule": "subset"} | describe(config, told, weights or None)


def _gap(
    recipe: Recipe, pool: Sequence[Candidate], weights: Mapping[str, float], size: int
) -> CoverageGap:
    held = Counter(c.task_family.value for c in pool if c.task_family is not None)
    return coverage_gap(weights, held, size, recipe.signals.analysis.gap)


def _item(candidate: Candidate, run: Run) -> PoolItem:
    """What the selection may know: it is published, so the session goes by its keyed id."""
    item_id = candidate.provenance.item_id
    return PoolItem(
        item_id=candidate.task_id,
        family=candidate.task_family.value if candidate.task_family else NO_FAMILY,
        lane=str(candidate.lane),
        difficulty=candidate.difficulty,
        source=run.opaque("x", item_id.rpartition("_i")[0] or item_id),
    )


def _lite(chosen: Sequence[Candidate], size: int, seed: int) -> dict[str, Any]:
    """The subset for manual audit, by family, role and deliverable type."""
    items = [
        LiteItem(
            candidate.task_id,
            candidate.task_family.value if candidate.task_family else None,
            candidate.role.value if candidate.role else None,
            candidate.deliverables[0].file_type if candidate.deliverables else None,
        )
        for candidate in chosen
    ]
    return asdict(choose_lite(items, min(size, len(items)), seed))


def _row(candidate: Candidate, taken: bool) -> LedgerRow:
    family = candidate.task_family.value if candidate.task_family else NO_FAMILY
    outcome = Outcome.CHOSEN if taken else Outcome.NOT_CHOSEN
    reason = None if taken else "select.not_in_subset"
    stratum = f"{candidate.lane}/{family}"
    return LedgerRow(STAGE, "candidate", candidate.task_id, outcome, reason=reason, stratum=stratum)


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
