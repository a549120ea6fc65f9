"""How many rows share what is left untouched: k-map and uniqueness of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymization.tables.cells import Floats, numbers
from anonymization.tables.config import ColumnRole, TableConfig

_KS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class KMap:
    """Released rows and how many original rows agree with each in `columns`.

    `k_min`: the least number (0: no original row agrees, so that the combination misleads);
    `at_most`: share of rows with 1 to k agreeing rows, by k; `unmatched`: share with none.
    """

    columns: tuple[str, ...]
    binned: tuple[str, ...]
    rows: int
    k_min: int
    at_most: Mapping[int, float]
    unmatched: float


def k_maps(
    original: pl.DataFrame,
    released: pl.DataFrame,
    config: TableConfig,
    known: Sequence[str],
    bins: int,
) -> list[KMap]:
    """k-map (Sweeney 2001) of the kept quasi-identifiers, alone and with the `known` measures cut
    into `bins` classes of equally many original rows. The population is the original table."""
    kept = [n for n in config.of_role(ColumnRole.QUASI_IDENTIFIER) if n in released.columns]
    found = [_k_map(original, released, kept, {})] if kept else []
    if known:
        classes = {n: _classes(original[n], released[n], bins) for n in known}
        found.append(_k_map(original, released, kept, classes))
    return found


def _k_map(
    original: pl.DataFrame,
    released: pl.DataFrame,
    kept: Sequence[str],
    classes: Mapping[str, tuple[pl.Series, pl.Series]],
) -> KMap:
    before, after = zip(*classes.values(), strict=True) if classes else ((), ())
    names = [f"class {name}" for name in classes]
    population = _combined(original, kept, names, before)
    rows = _combined(released, kept, names, after)
    counted = population.group_by(pl.all()).len("k")
    k = (
        rows.join(counted, on=rows.columns, how="left", nulls_equal=True)["k"]
        .fill_null(0)
        .to_numpy()
        .astype(np.int64)
    )
    n = max(len(k), 1)
    at_most = {most: round(float(((k > 0) & (k <= most)).sum()) / n, 9) for most in _KS}
    unmatched = round(float((k == 0).sum()) / n, 9)
    return KMap(
        tuple(kept), tuple(classes), len(k), int(k.min()) if len(k) else 0, at_most, unmatched
    )


def _combined(
    frame: pl.DataFrame, kept: Sequence[str], names: Sequence[str], classes: Sequence[pl.Series]
) -> pl.DataFrame:
    text = [frame[name].cast(pl.String) for name in kept]
    return pl.DataFrame([*text, *(s.alias(n) for n, s in zip(names, classes, strict=True))])


def _classes(old: pl.Series, new: pl.Series, bins: int) -> tuple[pl.Series, pl.Series]:
    """Both columns by the quantiles of the first; -1 where there is no number."""
    before, after = numbers(old), numbers(new)
    known = before[~np.isnan(before)]
    edges = np.quantile(known, np.arange(1, bins) / bins) if len(known) else np.zeros(0)
    return _cut(before, edges), _cut(after, edges)


def _cut(values: Floats, edges: Floats) -> pl.Series:
    at = np.searchsorted(edges, np.nan_to_num(values), side="right")
    return pl.Series(np.where(np.isnan(values), -1, at))
