"""The effect of perturbation on each column, per sub-industry and overall, and the utility that a
release keeps for analysts, in few figures.

KS p is reported because the source paper states it, but it decides nothing: original and perturbed
samples are paired, which inflates it, and not rejecting is the desired outcome. The gate is an
equivalence limit on effect sizes instead: did perturbation leave the distributions of a table as
they were?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.attacks.linked import Linked, ranks
from anonymization.tables.cells import Floats, numbers, trailing_unit
from anonymization.tables.config import FidelityConfig, Relations, TableConfig
from anonymization.tables.gates import FIDELITY, measure
from anonymization.tables.keystream import Ints
from data.contracts import Verdict

ALL = "(all)"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SEED_P = 0.05


@dataclass(frozen=True, slots=True)
class Fidelity:
    """`cells`: a row per column and group (`(all)`: the whole table), see `_measured` for fields.

    `below_p`: pairs with an uncorrected KS p below .05 (descriptive: the samples are paired).
    """

    cells: pl.DataFrame
    verdict: Verdict
    below_p: int


def assess(
    before: pl.DataFrame, after: pl.DataFrame, config: TableConfig, limits: FidelityConfig
) -> Fidelity:
    """Compare the measures of a table before and after; rows are in the same order."""
    groups = _groups(before, config)
    rows = [
        {"column": name, "group": label, **_measured(old[at], new[at]), "rows": len(at)}
        for name in config.measures
        for old, new in [(numbers(before[name]), numbers(after[name]))]
        for label, at in [(ALL, np.arange(before.height)), *groups]
    ]
    cells = pl.DataFrame(rows, infer_schema_length=None)
    cells = cells.with_columns(
        assessable=pl.col("n") >= limits.min_rows,
        within=(pl.col("d") <= limits.max_d) & (pl.col("wasserstein") <= limits.max_wasserstein),
    )
    below = cells.filter("assessable", pl.col("p") < _SEED_P).height
    return Fidelity(cells, FIDELITY.judge(measure(cells), limits), below)


def _measured(old: Floats, new: Floats) -> dict[str, float | int | None]:
    """The figures of one paired sample (NaN: missing, left out).

    `d`, `p` (asymptotic, uncorrected), `wasserstein` (over the original IQR), `spearman`;
    relative drift of mean, variance and the quantiles of `QUANTILES`, and the change of
    skewness and kurtosis relative to max(1, |original|). None where it is not defined.
    """

    from scipy.special import kolmogorov

    known = np.isfinite(old) & np.isfinite(new)
    x, y = old[known], new[known]
    n = len(x)
    if n < 2:
        return {"n": n, **dict.fromkeys(_FIELDS)}
    xs, ys = np.sort(x), np.sort(y)
    d = _distance(xs, ys)
    iqr = float(np.subtract(*np.quantile(xs, (0.75, 0.25))))
    figures: dict[str, float | None] = {
        "d": d,
        "p": float(kolmogorov(d * np.sqrt(n / 2))),
        "wasserstein": float(np.abs(xs - ys).mean()) / iqr if iqr > 0 else None,
        "spearman": spearman(x, y),
    }
    for name, before, after in zip(_MOMENTS, _moments(xs), _moments(ys), strict=True):
        floor = 1.0 if name in ("skewness", "kurtosis") else 0.0
        figures[f"drift_{name}"] = _drift(before, after, floor)
    for q, before, after in zip(
        QUANTILES, np.quantile(xs, QUANTILES), np.quantile(ys, QUANTILES), strict=True
    ):
        figures[f"drift_q{round(q * 100):02d}"] = _drift(float(before), float(after), 0.0)
    rounded = {name: None if v is None else round(v, 9) for name, v in figures.items()}
    return {"n": n, **rounded}


_MOMENTS = ("mean", "variance", "skewness", "kurtosis")
_FIELDS = (
    *("d", "p", "wasserstein", "spearman"),
    *(f"drift_{name}" for name in _MOMENTS),
    *(f"drift_q{round(q * 100):02d}" for q in QUANTILES),
)


_LEAST_PUBLISHED = 30  # values, also where `min_rows` lets smaller groups be assessed
_COUNTED = ("column", "group", "n", "rows", "assessable")
_SHARES, _PERCENTS = 3, 2  # decimals of what is published about moments, and about quantiles


def publishable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `Fidelity.cells` without what would give original values away.

    Whoever has the released values computes the original quantiles and mean from their drifts, and
    so every original value of a group of two to five. Groups of fewer than thirty values are only
    counted, as are all that are not assessed. Of the others drifts are rounded, so that what is not
    published does not follow from the whole less the rest.
    """
    if row["n"] < _LEAST_PUBLISHED or not row["assessable"]:
        return {name: row[name] if name in _COUNTED else None for name in row}
    decimals = {name: _PERCENTS for name in row if name.startswith("drift_q")}
    decimals |= dict.fromkeys((*map("drift_{}".format, _MOMENTS), "wasserstein"), _SHARES)
    return {
        name: round(value, decimals[name]) if name in decimals and value is not None else value
        for name, value in row.items()
    }


def _distance(xs: Floats, ys: Floats) -> float:
    """Kolmogorov-Smirnov D of two sorted samples."""
    both = np.concatenate([xs, ys])
    gap = np.searchsorted(xs, both, "right") / len(xs) - np.searchsorted(ys, both, "right") / len(
        ys
    )
    return float(np.abs(gap).max())


def spearman(x: Floats, y: Floats) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None if one side has no variation."""
    if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        return None
    from scipy.stats import spearmanr  # takes a second to import, unneeded if all is cached

    return round(float(spearmanr(x, y).statistic), 9)


def _moments(values: Floats) -> tuple[float, float, float, float]:
    """Mean, variance, skewness and excess kurtosis (population moments; 0 without spread)."""
    mean = float(values.mean())
    centred = values - mean
    variance = float((centred**2).mean())
    if variance <= 0:
        return mean, 0.0, 0.0, 0.0
    unit = centred / np.sqrt(variance)
    return mean, variance, float((unit**3).mean()), float((unit**4).mean()) - 3


def _drift(before: float, after: float, floor: float) -> float | None:
    size = max(abs(before), floor)
    return (after - before) / size if size > 0 else None


def _groups(frame: pl.DataFrame, config: TableConfig) -> list[tuple[str, np.ndarray]]:
    """Positions of the rows of each sub-industry, by its label."""
    if config.group is None:
        return []
    table = frame.select(group=pl.col(config.group).cast(pl.String).fill_null("")).with_row_index()
    parts = table.group_by("group").agg(pl.col("index")).sort("group")
    return [(label, np.asarray(at)) for label, at in parts.iter_rows()]


_LEAST_ROWS = 30  # of an industry whose ranks are compared
_LEAST_SUM = 5  # numbers of a sum that must stay
_FAR = 0.01  # a sum that changed by more counts as changed
_DECIDING = 9


@dataclass(frozen=True, slots=True)
class Utility:
    """The figures of the worst column, which `of` names.

    `spearman`: least rank correlation within industries (mean weighted by rows, industries of
    30 rows and more, all years); `flips`: share of yearly changes whose sign turned; `sums`:
    largest relative change of the sum of an industry and year of at least five numbers, and
    `sums_beyond`, the share of these sums that changed by more than 1 %; `d`, `wasserstein`:
    Kolmogorov-Smirnov distance and 1-Wasserstein distance over the quartile distance, all rows;
    `broken`: rows in which a declared sum or bound held before and does not now.
    """

    spearman: float
    flips: float
    sums: float
    sums_beyond: float
    d: float
    wasserstein: float
    broken: int
    of: dict[str, str]


def utility(linked: Linked, relations: Relations) -> Utility:
    """The figures of one release."""
    old, new, names = linked.original, linked.released, linked.columns
    columns = range(len(names))
    drifts = [_sum_drifts(old[:, i], new[:, i], linked.cell) for i in columns]
    paired = [_measured(old[:, i], new[:, i]) for i in columns]
    worst = {
        "spearman": _least(_spearman(linked)),
        "flips": _most(_flips(linked)),
        "sums": _most(float(drift.max(initial=0.0)) for drift in drifts),
        "sums_beyond": _most(_share(drift > _FAR) for drift in drifts),
        "d": _most(float(figures["d"] or 0.0) for figures in paired),
        "wasserstein": _most(float(figures["wasserstein"] or 0.0) for figures in paired),
    }
    return Utility(
        **{name: round(value, _DECIDING) for name, (value, _) in worst.items()},
        broken=_broken(linked, relations),
        of={name: names[at] for name, (_, at) in worst.items()},
    )


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if len(which) else 0.0


def _least(values: Iterable[float]) -> tuple[float, int]:
    return min((value, at) for at, value in enumerate(values))


def _most(values: Iterable[float]) -> tuple[float, int]:
    value, at = min((-value, at) for at, value in enumerate(values))
    return -value, at


def _spearman(linked: Linked) -> list[float]:
    """Per column; 1 where no industry is large enough."""
    return [_rank_correlation(linked.of([name])) for name in linked.columns]


def _rank_correlation(column: Linked) -> float:
    known = ~np.isnan(column.original[:, 0]) & ~np.isnan(column.released[:, 0])
    some = column.only(known)
    some = some.only(np.bincount(some.group, minlength=1)[some.group] >= _LEAST_ROWS)
    if not len(some):
        return 1.0
    x, y = (ranks(v, some.group)[:, 0] - 0.5 for v in (some.original, some.released))
    products = [np.bincount(some.group, p) for p in (x * y, x * x, y * y, np.ones_like(x))]
    xy, xx, yy, n = (p[products[3] > 0] for p in products)
    spread = np.sqrt(xx * yy)
    each = np.divide(xy, spread, out=np.ones_like(xy), where=spread > 0)
    return float((each * n).sum() / n.sum())


def _flips(linked: Linked) -> list[float]:
    """Share of changed signs per column. Rows are sorted by entity and year; changes are between
    consecutive rows of an entity."""
    same = linked.entity[1:] == linked.entity[:-1]
    old, new = (np.diff(v, axis=0)[same] for v in (linked.original, linked.released))
    counted = ~np.isnan(old) & ~np.isnan(new) & (old != 0)
    turned = counted & (np.sign(old) != np.sign(new))
    shares: list[float] = (turned.sum(axis=0) / np.maximum(counted.sum(axis=0), 1)).tolist()
    return shares


def _sum_drifts(old: Floats, new: Floats, cell: Ints) -> Floats:
    """Relative changes of the sums of cells with at least five numbers and a sum other than 0."""
    known = ~np.isnan(old) & ~np.isnan(new)
    n, before, after = (np.bincount(cell[known], w) for w in (None, old[known], new[known]))
    enough = (n >= _LEAST_SUM) & (before != 0)
    drift: Floats = np.abs(after[enough] - before[enough]) / np.abs(before[enough])
    return drift


def _broken(linked: Linked, relations: Relations) -> int:
    """Rows in which any declared relation held before and does not hold now."""
    broken = np.zeros(len(linked), dtype=np.bool_)
    for sum_ in relations.sums:
        before, after = (
            _adds_up(linked, v, sum_.total, sum_.parts) for v in (linked.original, linked.released)
        )
        broken |= before & ~after
    for bound in relations.bounds:
        lesser, greater = linked.columns.index(bound.lesser), linked.columns.index(bound.greater)
        was = linked.original[:, lesser] <= linked.original[:, greater]
        broken |= was & (linked.released[:, lesser] > linked.released[:, greater])
    return int(broken.sum())


def _adds_up(
    linked: Linked, values: Floats, total: str, parts: tuple[str, ...]
) -> NDArray[np.bool_]:
    """Does the sum hold, up to a rounding of one reported unit per part?"""
    at = [linked.columns.index(name) for name in (total, *parts)]
    reported = np.nan_to_num(linked.original[:, at])
    unit = np.min([trailing_unit(column) for column in reported.T], axis=0)
    rest = values[:, at[0]] - values[:, at[1:]].sum(axis=1)
    return np.asarray(np.abs(rest) <= len(parts) * unit)
