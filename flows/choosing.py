"""Which candidates of the pool are released: all, or an optimal subset with its reasons."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from construction.signals.gap import CoverageGap, coverage_gap
from data.contracts import Candidate
from data.errors import InputError, ReleaseError
from data.snapshot.layout import PUBLIC, TASK_LIST
from flows.recipe import Recipe, SelectionRecipe
from selection.config import Objective, SelectionConfig
from selection.lite import LiteItem, choose_lite
from selection.output import describe
from selection.pool import Pool, PoolItem, pool_of_items, pool_of_matrix
from selection.scores import ScoreMatrix
from selection.select import select_subset

NO_FAMILY = "(none)"
NOT_PILOTED, NOT_IN_SUBSET = "select.not_piloted", "select.not_in_subset"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of candidates beside themselves.

    `opaque` names a private source in public; `pilots` are the scores of pilot runs by task id;
    `released` are the ids of the last release.
    """

    opaque: Callable[[str], str]
    pilots: ScoreMatrix | None = None
    released: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Choice:
    """The ids to release, why each other one is not, and the report for the auditor."""

    taken: frozenset[str]
    reasons: Mapping[str, str]
    report: Mapping[str, Any]


def choose(
    pool: Sequence[Candidate], weights: Mapping[str, float], recipe: Recipe, known: Known
) -> Choice:
    """Choose from the pool under the lane shares, the family weights and the pilots' scores.

    Raises ReleaseError naming every blocker if no selection of the size is possible.
    """
    size = _size(pool, recipe.selection)
    report: dict[str, Any] = {"pool": len(pool), "family_weights": dict(weights)}
    if weights and pool:
        report["coverage_gap"] = asdict(_gap(recipe, pool, weights, size))
    if size == len(pool):
        taken = frozenset(candidate.task_id for candidate in pool)
        return Choice(taken, {}, _with_lite(report | {"rule": "all of the pool"}, pool, recipe))
    items = {candidate.task_id: _item(candidate, known) for candidate in pool}
    selectable, missing = _selectable(items, recipe.selection, size, known)
    config = _config(recipe, size, selectable)
    told = select_subset(selectable, config, weights or None)
    if told.chosen is None:
        reasons = "; ".join(blocker.text for blocker in told.blockers)
        raise ReleaseError(f"no selection of {size} tasks is possible: {reasons}.")
    taken = frozenset(told.chosen)
    left = dict.fromkeys(items.keys() - taken, NOT_IN_SUBSET) | dict.fromkeys(missing, NOT_PILOTED)
    report |= {"rule": "subset"} | describe(config, told, weights or None)
    chosen = [candidate for candidate in pool if candidate.task_id in taken]
    return Choice(taken, left, _with_lite(report, chosen, recipe))


def last_release(snapshot: Path) -> frozenset[str]:
    """The task ids of a published snapshot, given as its folder or its public half."""
    for folder in (snapshot / PUBLIC, snapshot):
        if (folder / TASK_LIST).is_file():
            lines = (folder / TASK_LIST).read_text(encoding="utf-8").splitlines()
            return frozenset(json.loads(line)["task_id"] for line in lines)
    raise InputError(str(snapshot), f"no {TASK_LIST}", "a snapshot", "Name the last release.")


def _size(pool: Sequence[Candidate], recipe: SelectionRecipe) -> int:
    """How many tasks: as asked, or the most that the shares of the lanes allow.

    A single lane fills the release whatever its share.
    """
    lanes = Counter(str(candidate.lane) for candidate in pool)
    most = min(recipe.max_tasks or len(pool), len(pool))
    if len(lanes) < 2:
        return most
    highest = {lane: band.high for lane, band in recipe.lane_shares.items()}
    for size in range(most, 0, -1):
        room = {lane: math.floor(highest.get(lane, 1.0) * size + 1e-9) for lane in lanes}
        if sum(min(n, room[lane]) for lane, n in lanes.items()) >= size:
            return size
    return 0


def _selectable(
    items: Mapping[str, PoolItem], recipe: SelectionRecipe, size: int, known: Known
) -> tuple[Pool, list[str]]:
    """The pool, and the candidates that no pilot ran on: scores decide only among those piloted."""
    if known.pilots is None:
        return pool_of_items(list(items.values())), []
    rows = [row for row, item in enumerate(known.pilots.items) if item in items]
    matrix = known.pilots.of_items(np.array(rows, dtype=np.intp))
    missing = sorted(items.keys() - set(matrix.items))
    if len(rows) < size:
        raise InputError(
            "scores",
            f"{len(rows)} of {len(items)} candidates with scores",
            f"at least {size}, as many as are released",
            "Run the pilots on more candidates, or release fewer.",
        )
    config = SelectionConfig(
        size=size, pilots=recipe.pilots, selection_threshold=recipe.selection_threshold
    )
    return pool_of_matrix(matrix, config, items), missing


def _config(recipe: Recipe, size: int, pool: Pool) -> SelectionConfig:
    asked = recipe.selection
    families = {item.family for item in pool.items}
    lanes = {item.lane for item in pool.items}
    return SelectionConfig(
        size=size,
        objective=asked.objective if pool.pilots else Objective.COVERAGE,
        pilots=pool.pilots,
        selection_threshold=asked.selection_threshold,
        cover_families=size >= len(families),
        lane_shares=asked.lane_shares if len(lanes) > 1 else {},
        max_changed=asked.max_changed,
        seed=recipe.release.seed,
    )


def _gap(
    recipe: Recipe, pool: Sequence[Candidate], weights: Mapping[str, float], size: int
) -> CoverageGap:
    held = Counter(c.task_family.value for c in pool if c.task_family is not None)
    return coverage_gap(weights, held, size, recipe.signals.analysis.gap)


def _item(candidate: Candidate, known: Known) -> PoolItem:
    """What the selection may know: it is published, so the session goes by its keyed id."""
    item_id = candidate.provenance.item_id
    return PoolItem(
        item_id=candidate.task_id,
        family=family_of(candidate),
        lane=str(candidate.lane),
        difficulty=candidate.difficulty,
        source=known.opaque(item_id.rpartition("_i")[0] or item_id),
        in_last_release=candidate.task_id in known.released,
    )


def family_of(candidate: Candidate) -> str:
    return candidate.task_family.value if candidate.task_family else NO_FAMILY


def _with_lite(
    report: dict[str, Any], chosen: Sequence[Candidate], recipe: Recipe
) -> dict[str, Any]:
    """The report with the subset for manual audit, by family, role and deliverable type."""
    size = min(recipe.selection.lite_size or 0, len(chosen))
    if not size:
        return report
    items = [
        LiteItem(
            candidate.task_id,
            candidate.task_family.value if candidate.task_family else None,
            candidate.role.value if candidate.role else None,
            candidate.deliverables[0].file_type if candidate.deliverables else None,
        )
        for candidate in chosen
    ]
    return report | {"lite": asdict(choose_lite(items, size, recipe.release.seed))}
