"""The integer programme (gains, rows and bounds), and the only place that knows the solvers: it
passes them a programme and reads the answer back. `constraints` builds the rows.

Everything is an integer (scores and costs in units of 1/SCALE), so that objective and rows can be
recomputed without rounding, and equal solutions are equal to the byte. Solvers take it as the
arrays of a sparse model: all columns and rows at once, without objects. Columns are the items that
may be chosen, then the slack of each bound of a priced row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pulp
from numpy.typing import NDArray

from selection.scores import Floats

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


@dataclass(frozen=True, slots=True)
class _Arrays:
    """Maximise gains·x subject to row_low ≤ A·x ≤ row_high and lower ≤ x ≤ upper.

    `starts`, `columns` and `values` are A row by row; `items` are the positions of the first
    columns in the programme, the whole numbers of the model; `origins` are the numbers of the
    programme's rows, of which a priced one with two bounds gives two.
    """

    items: NDArray[np.intp]
    origins: NDArray[np.intp]
    gains: Floats
    lower: Floats
    upper: Floats
    row_low: Floats
    row_high: Floats
    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: Floats


def _arrays_of(programme: Programme, at_least: int | None = None) -> _Arrays:
    """With `at_least`, the objective becomes the last row, and the tie-breaks are maximised.

    A column fixed to zero ends the columns, so that no model is without any.
    """
    items, (rows, origins) = np.flatnonzero(programme.allowed), _one_sided(programme.rows)
    below, above = _priced(rows, "low"), _priced(rows, "high")
    slack = len(items) + np.arange(len(below) + len(above))
    prices = [-(rows[number].price or 0) for number in (*below, *above)]
    gains = np.array([*programme.gains[items], *prices, 0], dtype=np.float64)
    low, high = _bounds(rows, "low", -np.inf), _bounds(rows, "high", np.inf)
    number, column, value = _entries(rows, items, len(programme.items))
    number = np.concatenate([number, below, above])
    column = np.concatenate([column, slack])
    value = np.concatenate([value, np.ones(len(below)), -np.ones(len(above))])
    if at_least is not None:
        number = np.concatenate([number, np.full(len(gains), len(rows))])
        column = np.concatenate([column, np.arange(len(gains))])
        value = np.concatenate([value, gains])
        low, high = np.append(low, at_least), np.append(high, np.inf)
        gains = np.zeros(len(gains))
        gains[: len(items)] = programme.tie_breaks[items]
    upper = np.full(len(gains), np.inf)
    upper[: len(items)], upper[-1] = 1.0, 0.0
    lower = np.zeros(len(gains))
    lower[: len(items)] = programme.forced[items]
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(low) + 1)).astype(np.int32)
    return _Arrays(
        *(items, origins, gains, lower, upper, low, high, starts),
        *(column[order].astype(np.int32), value[order]),
    )


def _priced(rows: tuple[Row, ...], side: str) -> NDArray[np.intp]:
    numbers = [
        number
        for number, row in enumerate(rows)
        if row.price is not None and getattr(row, side) is not None
    ]
    return np.array(numbers, dtype=np.intp)


def _one_sided(rows: tuple[Row, ...]) -> tuple[tuple[Row, ...], NDArray[np.intp]]:
    """The rows with each priced one as one row per bound, and the number of each one's origin.

    A priced row may ask for more than it admits and then pays for both; and branch and bound takes
    up to seven times as long with one row for both bounds.
    """
    sides: list[tuple[Row, int]] = []
    for number, row in enumerate(rows):
        if row.price is None or row.low is None or row.high is None:
            sides.append((row, number))
        else:
            sides += [(replace(row, high=None), number), (replace(row, low=None), number)]
    return tuple(row for row, _ in sides), np.array([number for _, number in sides], dtype=np.intp)


def _bounds(rows: tuple[Row, ...], side: str, without: float) -> Floats:
    stated = [getattr(row, side) for row in rows]
    return np.array([without if bound is None else bound for bound in stated], dtype=np.float64)


def _entries(
    rows: tuple[Row, ...], items: NDArray[np.intp], n_items: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Row number, column and coefficient of each item in each row."""
    if not rows:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    column_of = np.full(n_items, -1, dtype=np.intp)
    column_of[items] = np.arange(len(items))
    column = column_of[np.concatenate([row.members for row in rows])]
    number = np.repeat(np.arange(len(rows)), [len(row.members) for row in rows])
    value = np.concatenate([_coefficients(row) for row in rows]).astype(np.float64)
    kept = (column >= 0) & (value != 0)
    return number[kept], column[kept], value[kept]


def _coefficients(row: Row) -> Ints:
    return np.ones(len(row.members), np.int64) if row.coefficients is None else row.coefficients


LONGEST_SECONDS = 600  # per solve; a run that needs more fails with a message instead of hanging


class SolverName(StrEnum):
    HIGHS = "HiGHS"
    CBC = "PULP_CBC_CMD"


class SolveStatus(StrEnum):
    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNFINISHED = "unfinished"


_MANY_ROWS = 500
_HIGHS = {
    "output_flag": False,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "threads": 1,
    "time_limit": float(LONGEST_SECONDS),
}


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the solver returned. `values` has one number per item of the programme.

    `row_duals` (per row, summed over its two sides) are those of the relaxation, with the sign
    convention gain = Σ dual·coefficient + reduced cost; None after branching.
    """

    status: SolveStatus
    values: NDArray[np.float64]
    row_duals: NDArray[np.float64] | None
    build_seconds: float
    solve_seconds: float


def available(preferred: SolverName | None = None) -> SolverName:
    """The preferred solver, else HiGHS, else CBC: the first that is installed."""
    installed = pulp.listSolvers(onlyAvailable=True)
    order = [preferred] if preferred else []
    for name in [*order, SolverName.HIGHS, SolverName.CBC]:
        if name in installed:
            return name
    raise RuntimeError("neither HiGHS nor CBC is installed: run `make install`")


def solve_model(
    programme: Programme, solver: SolverName, *, whole: bool, at_least: int | None = None
) -> ModelAnswer:
    """Solve the relaxation, or with `whole` the integer programme, to gap 0 with one thread.

    With `at_least` the objective becomes a row, and the tie-breaks are maximised instead.
    """
    if solver is SolverName.HIGHS:
        return _by_highs(programme, whole=whole, at_least=at_least)
    started = time.perf_counter()
    model = _Model(programme, whole=whole, at_least=at_least)
    engine = _TimedCbc(
        msg=False, mip=whole, gapRel=0, gapAbs=0, threads=1, timeLimit=LONGEST_SECONDS
    )
    model.problem.solve(engine)
    total = time.perf_counter() - started
    return ModelAnswer(
        # Not `status`: there PuLP calls the best solution at the time limit optimal.
        status={
            pulp.LpSolutionOptimal: SolveStatus.OPTIMAL,
            pulp.LpSolutionInfeasible: SolveStatus.INFEASIBLE,
        }.get(model.problem.sol_status, SolveStatus.UNFINISHED),
        values=model.values(),
        row_duals=None if whole else model.row_duals(),
        build_seconds=total - engine.seconds,
        solve_seconds=engine.seconds,
    )


def _by_highs(programme: Programme, *, whole: bool, at_least: int | None) -> ModelAnswer:
    """HiGHS gets the model as arrays: PuLP takes ten times as long to pass it as HiGHS to solve."""
    import highspy

    started = time.perf_counter()
    arrays = _arrays_of(programme, at_least)
    engine: Any = highspy.Highs()
    for name, value in _HIGHS.items():
        engine.setOptionValue(name, value)
    # On a relaxation with few rows, presolve takes seven times as long as the simplex itself; with
    # thousands of strata the simplex takes three times as long without it.
    presolve = whole or len(programme.rows) > _MANY_ROWS
    engine.setOptionValue("presolve", "choose" if presolve else "off")
    engine.passModel(_highs_model(arrays, whole=whole))
    built = time.perf_counter()
    engine.run()
    solved = time.perf_counter()
    answer, n_items = engine.getSolution(), len(arrays.items)
    values = np.zeros(len(programme.items))
    values[arrays.items] = np.array(answer.col_value or np.zeros(n_items))[:n_items]
    n_sides, n_rows = len(arrays.origins), len(programme.rows)
    sides = np.array(answer.row_dual or np.zeros(n_sides))[:n_sides]
    duals = np.bincount(arrays.origins, weights=sides, minlength=n_rows).astype(np.float64)
    return ModelAnswer(
        status={
            highspy.HighsModelStatus.kOptimal: SolveStatus.OPTIMAL,
            highspy.HighsModelStatus.kInfeasible: SolveStatus.INFEASIBLE,
            highspy.HighsModelStatus.kUnboundedOrInfeasible: SolveStatus.INFEASIBLE,  # all bounded
        }.get(engine.getModelStatus(), SolveStatus.UNFINISHED),
        values=values,
        row_duals=None if whole else duals,
        build_seconds=built - started,
        solve_seconds=solved - built,
    )


def _highs_model(arrays: _Arrays, *, whole: bool) -> Any:
    import highspy

    model = highspy.HighsLp()
    model.sense_ = highspy.ObjSense.kMaximize
    model.num_col_, model.num_row_ = len(arrays.gains), len(arrays.row_low)
    model.col_cost_, model.col_lower_, model.col_upper_ = arrays.gains, arrays.lower, arrays.upper
    model.row_lower_, model.row_upper_ = arrays.row_low, arrays.row_high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.num_col_, model.a_matrix_.num_row_ = model.num_col_, model.num_row_
    model.a_matrix_.start_ = arrays.starts
    model.a_matrix_.index_, model.a_matrix_.value_ = arrays.columns, arrays.values
    if whole:
        kinds = [highspy.HighsVarType.kInteger] * len(arrays.items)
        slacks = [highspy.HighsVarType.kContinuous] * (len(arrays.gains) - len(arrays.items))
        model.integrality_ = [*kinds, *slacks]
    return model


def write_model(programme: Programme, path: Path) -> None:
    """Write the integer programme in the LP format, so that it can be solved elsewhere."""
    _Model(programme, whole=True, at_least=None).problem.writeLP(str(path))


class _TimedCbc(pulp.PULP_CBC_CMD):  # type: ignore[misc]
    """CBC with its seconds, including the files through which the model is passed."""

    seconds = 0.0

    def actualSolve(self, lp: Any, **options: Any) -> int:
        started = time.perf_counter()
        status: int = super().actualSolve(lp, **options)
        self.seconds = time.perf_counter() - started
        return status


class _Model:
    """A PuLP problem, and how its variables and constraints map to items and rows.

    Items that may not be chosen have no variable. Variables are named by position, because ids are
    untrusted text.
    """

    def __init__(self, programme: Programme, *, whole: bool, at_least: int | None) -> None:
        category = pulp.LpInteger if whole else pulp.LpContinuous
        self._programme = programme
        self.problem = pulp.LpProblem("selection", pulp.LpMaximize)
        self._items = {
            int(i): self.problem.add_variable(f"x{i}", int(programme.forced[i]), 1, category)
            for i in np.flatnonzero(programme.allowed)
        }
        self._sides: list[list[Any]] = []
        gains = self._weighted(programme.gains)
        penalties: list[tuple[Any, int]] = []
        for number, row in enumerate(programme.rows):
            self._sides.append(list(self._add(number, row, penalties)))
        objective = [*gains, *penalties]
        if at_least is not None:
            self._side(objective, pulp.LpConstraintGE, "objective", at_least)
            objective = self._weighted(programme.tie_breaks)
        self.problem.setObjective(pulp.LpAffineExpression(objective))

    def _weighted(self, weights: Ints) -> list[tuple[Any, int]]:
        return [(x, int(weights[i])) for i, x in self._items.items()]

    def _add(self, number: int, row: Row, penalties: list[tuple[Any, int]]) -> Iterator[Any]:
        ones = np.ones(len(row.members), dtype=np.int64)
        weights = ones if row.coefficients is None else row.coefficients
        terms = [
            (self._items[int(i)], int(w))
            for i, w in zip(row.members, weights, strict=True)
            if int(i) in self._items
        ]
        if row.low is not None and row.low == row.high and row.price is None:
            yield self._side(terms, pulp.LpConstraintEQ, f"r{number}", row.low)
            return
        for bound, sense, side in (
            (row.low, pulp.LpConstraintGE, "low"),
            (row.high, pulp.LpConstraintLE, "high"),
        ):
            if bound is None:
                continue
            slack = []
            if row.price is not None:
                spare = self.problem.add_variable(f"s{number}{side}", 0)
                slack = [(spare, 1 if side == "low" else -1)]
                penalties.append((spare, -row.price))
            yield self._side([*terms, *slack], sense, f"r{number}{side}", bound)

    def _side(self, terms: list[tuple[Any, int]], sense: int, name: str, bound: int) -> Any:
        if not terms:  # PuLP drops empty rows; 0·anchor keeps an infeasible one infeasible
            terms = [(self.problem.add_variable(f"{name}anchor", 0, 0), 1)]
        side = pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, name, bound)
        self.problem += side
        return side

    def values(self) -> NDArray[np.float64]:
        values = np.zeros(len(self._programme.items))
        for i, x in self._items.items():
            values[i] = x.varValue or 0.0
        return values

    def row_duals(self) -> NDArray[np.float64]:
        duals = [sum(side.pi or 0.0 for side in sides) for sides in self._sides]
        return np.array(duals, dtype=np.float64)
