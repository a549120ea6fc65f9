"""The utility that a release keeps for analysts, in few figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymization.tables.attacks.linked import Linked, ranks
from anonymization.tables.cells import Floats, trailing_unit
from anonymization.tables.config import Relations
from anonymization.tables.fidelity import measured
from anonymization.tables.keystream import Ints

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
    paired = [measured(old[:, i], new[:, i]) for i in columns]
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
