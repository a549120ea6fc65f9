"""The limits of a gate, applied anew to its recorded verdicts.

A page offers another limit only if the recorded ones reproduce every recorded verdict first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from data.audit_page.reading import Judged
from data.contracts import Bound, Gate, Limit, Scalar, StageConfig, Status
from data.contracts.gate import OBSERVED, Number

_UNITS = 1e9  # comparisons are made in units of 1e-9 (law 5)
Gates = Mapping[str, tuple[Gate[Any, Any], StageConfig]]  # by name, with the settings of the run


@dataclass(frozen=True, slots=True)
class Check:
    """A limit with its value, and what each recorded verdict compares with it (null: nothing)."""

    limit: Limit
    allowed: Number
    values: pl.Series

    def broken(self) -> pl.Series:
        """Per verdict: is the compared value on the wrong side?"""
        distance = (self.values * _UNITS + 0.5).floor() - (float(self.allowed) * _UNITS + 0.5) // 1
        wrong = distance < 0 if self.limit.bound is Bound.MIN else distance > 0
        return wrong.fill_null(value=False)


def checks_of(gate: Gate[Any, Any], config: StageConfig, judged: Judged) -> tuple[Check, ...]:
    """The checks that let an item fail; none where no limit may be moved, or where the verdicts
    do not hold what the limits compare.
    """
    limits = [limit for limit in gate.limits_under(config) if limit.status is Status.FAILED]
    if not gate.replayable or not any(limit.movable for limit in limits):
        return ()
    rows = _recorded(judged)
    try:
        return tuple(Check(limit, limit.allowed(config), _values(limit, rows)) for limit in limits)
    except (KeyError, TypeError):  # verdicts of another version
        return ()


def contradictions(gate: Gate[Any, Any], checks: Sequence[Check], status: pl.Series) -> int:
    """Recorded verdicts that do not follow from the checks: their limits were other ones."""
    if not checks:
        return 0
    broken = pl.DataFrame([check.broken().alias(f"{i}") for i, check in enumerate(checks)])
    frame = broken.select(broken=pl.any_horizontal(pl.all())).with_columns(status.alias("status"))
    failed = pl.col("status") == Status.FAILED
    unfounded = failed & ~pl.col("broken") if gate.complete else pl.lit(value=False)
    wrong = (pl.col("broken") & ~failed) | unfounded
    return int(frame.select((wrong & (pl.col("status") != Status.NOT_MEASURED)).sum()).item())


def _recorded(judged: Judged) -> list[dict[str, Scalar] | None]:
    """What each verdict recorded, by name; None where nothing was measured."""
    names = tuple(judged.measures) or (OBSERVED,)
    columns = tuple(judged.measures.values()) or (judged.observed,)
    measured = (judged.status != Status.NOT_MEASURED).to_list()
    return [
        dict(zip(names, row, strict=True)) if is_measured else None
        for row, is_measured in zip(zip(*columns, strict=True), measured, strict=True)
    ]


def _values(limit: Limit, rows: Sequence[Mapping[str, Scalar] | None]) -> pl.Series:
    compared = [None if row is None else limit.compared(row) for row in rows]
    if not {type(value) for value in compared} <= {int, float, bool, type(None)}:
        raise TypeError(limit.name)
    return pl.Series(
        [None if value is None else float(value) for value in compared], dtype=pl.Float64
    )
