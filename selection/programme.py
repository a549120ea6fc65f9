"""The integer programme: gains, rows and bounds. `constraints` builds it, `solve` solves it.

Everything is an integer (scores and costs in units of 1/SCALE), so that objective and rows can be
recomputed without rounding, and equal solutions are equal to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SCALE = 10_000


class RowKind(StrEnum):
    SIZE = "size"
    COVERAGE = "coverage"  # a family has at least one item
    QUOTA = "quota"  # a family's apportioned number, at a price
    STRATUM = "stratum"  # the share of a group of like profiles in its family's quota, at a price
    LANE = "lane"
    DIFFICULTY = "difficulty"
    RATE = "pass_rate"
    SPLIT = "split"
    CLUSTER = "cluster"  # near-duplicates
    GENERATOR = "generator"  # tasks that one generator made
    CHURN = "churn"
    BUDGET = "budget"
    ORDER = "order"
    FORCED = "must_include"  # only where it is asked whether it can be left out


# Rows with coefficients other than one make the relaxation fractional; they are added
# only if the solution without them breaks them.
WEIGHTED = frozenset({RowKind.BUDGET, RowKind.ORDER})
# Rows of shares: the kind names the attribute of an item, `<kind>_shares` the setting.
SHARED = (RowKind.LANE, RowKind.DIFFICULTY, RowKind.RATE, RowKind.SPLIT)


@dataclass(frozen=True, slots=True)
class Row:
    """low ≤ Σ coefficients·x over `members` ≤ high; with a price, each unit outside costs that
    much.

    `members` are positions in the programme's items; `coefficients` None means all ones.
    """

    name: str
    kind: RowKind
    members: NDArray[np.intp]
    low: int | None = None
    high: int | None = None
    coefficients: Ints | None = None
    price: int | None = None

    def value(self, chosen: NDArray[np.bool_]) -> int:
        """The row's sum for a subset."""
        picked = chosen[self.members]
        if self.coefficients is None:
            return int(picked.sum())
        return int(self.coefficients[picked].sum())

    def excess(self, chosen: NDArray[np.bool_]) -> int:
        """How far the row is outside its bounds; 0 inside."""
        value = self.value(chosen)
        below = max(0, self.low - value) if self.low is not None else 0
        above = max(0, value - self.high) if self.high is not None else 0
        return below + above


@dataclass(frozen=True, slots=True)
class Programme:
    """Maximise Σ gains·x − Σ price·excess over x in {0, 1} subject to the unpriced rows.

    `allowed` is false for items that may not be chosen (not eligible, excluded), `forced` is true
    for must-include items. `items` are sorted by id. `tie_breaks` are keyed positive integers;
    maximising them among the optima makes the optimum unique.
    """

    items: tuple[str, ...]
    gains: Ints
    rows: tuple[Row, ...]
    allowed: NDArray[np.bool_]
    forced: NDArray[np.bool_]
    tie_breaks: Ints

    def objective(self, chosen: NDArray[np.bool_]) -> int:
        """Gains minus the price of broken quotas."""
        gain = int(self.gains[chosen].sum())
        return gain - sum(row.price * row.excess(chosen) for row in self.rows if row.price)

    def broken(self, chosen: NDArray[np.bool_]) -> list[Row]:
        """Unpriced rows that a subset breaks."""
        return [row for row in self.rows if row.price is None and row.excess(chosen)]


def scaled(values: NDArray[np.float64]) -> Ints:
    """Scores or costs as integers; a missing value counts as zero."""
    return np.rint(np.nan_to_num(values) * SCALE).astype(np.int64)
