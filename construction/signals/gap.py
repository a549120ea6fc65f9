"""Coverage gap: the market's weights compared with the tasks of a pool or the last release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from construction.signals.config import GapConfig
from data.apportion import apportion, total_variation
from data.contracts import Candidate


class Action(StrEnum):
    """The action for a family: more tasks (PRIORITY, ADD), fewer (TRIM, REDUCE), or none (OK)."""

    PRIORITY = "PRIORITY"
    ADD = "ADD"
    OK = "OK"
    TRIM = "TRIM"
    REDUCE = "REDUCE"


@dataclass(frozen=True, slots=True)
class GapRow:
    """A family: its weight, its share of the tasks, and weight minus share in percentage points.

    `suggested` is its number of tasks in a release of the requested size.
    """

    family: str
    weight: float
    share: float
    gap: float
    tasks: int
    suggested: int
    action: Action


@dataclass(frozen=True, slots=True)
class CoverageGap:
    """The gap by family, largest first.

    `distance` is the total variation distance of the tasks from the weights.
    `suggested_distance` is that of the suggested release: the effect of whole numbers and bounds.
    """

    rows: tuple[GapRow, ...]
    tasks: int
    size: int
    distance: float
    suggested_distance: float


def coverage_gap(
    weights: Mapping[str, float],
    tasks: Mapping[str, int],
    size: int,
    config: GapConfig,
    *,
    least: Mapping[str, int] | None = None,
    most: Mapping[str, int] | None = None,
) -> CoverageGap:
    """Compare task counts by family with weights, and apportion a release of `size` tasks.

    A family of the pool without weight has weight 0. Suggested numbers follow the largest
    remainder method within `least` and `most`; raises ConfigError if these bounds admit no release
    of `size`. An empty pool has share 0 everywhere, and distance 1.
    """
    families = sorted(weights.keys() | tasks.keys())
    held = sum(tasks.values())
    full = {family: weights.get(family, 0.0) for family in families}
    suggested = _suggested(full, size, least or {}, most)
    rows = [
        _row(family, full[family], tasks.get(family, 0), held, suggested[family], config)
        for family in families
    ]
    rows.sort(key=lambda row: (-row.gap, row.family))
    return CoverageGap(
        tuple(rows),
        held,
        size,
        round(total_variation(full, tasks), 9) if held else 1.0,
        round(total_variation(full, suggested), 9) if size else 1.0,
    )


def _suggested(
    weights: Mapping[str, float],
    size: int,
    least: Mapping[str, int],
    most: Mapping[str, int] | None,
) -> dict[str, int]:
    """Suggested numbers of tasks; a family without weight gets exactly its `least`."""
    bounds = dict(most or {}) | {name: least.get(name, 0) for name, w in weights.items() if w <= 0}
    return apportion(weights, size, least=least, most=bounds) if weights else {}


def _row(
    family: str, weight: float, tasks: int, held: int, suggested: int, config: GapConfig
) -> GapRow:
    share = round(tasks / held, 9) if held else 0.0
    gap = round(100.0 * (weight - share), 9)
    return GapRow(family, weight, share, gap, tasks, suggested, action(gap, config))


def action(gap: float, config: GapConfig) -> Action:
    """The action for a gap in percentage points; a gap equal to a limit triggers its action."""
    if gap >= config.act:
        return Action.PRIORITY
    if gap >= config.mind:
        return Action.ADD
    if gap <= -config.act:
        return Action.REDUCE
    if gap <= -config.mind:
        return Action.TRIM
    return Action.OK


def gap_of_pool(
    weights: Mapping[str, float], pool: Iterable[Candidate], size: int, config: GapConfig
) -> dict[str, Any]:
    """The coverage gap of a pool for a release of `size`, as the report of a selection has it."""
    families = Counter(task.task_family.value for task in pool if task.task_family is not None)
    return asdict(coverage_gap(weights, families, size, config))
