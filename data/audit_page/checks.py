"""What a gate asks of an observation, said as comparisons that can be repeated.

A gate fails exactly if one of its checks is broken. Whether that reproduces what was recorded is
tested on every recorded verdict before a page offers another limit.

Checks are expressions over the verdicts of a gate, a row each: `OBSERVED`, `REASON` and what
`measure` names. So 100,000 verdicts are tested in one pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from data.contracts import Scalar

_UNITS = 1e9  # comparisons are made in units of 1e-9 (law 5)
_MEASURE = "measure "
_NUMBER = (int, float)
_KINDS = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean}

OBSERVED = pl.col("observed")  # null unless a number
REASON = pl.col("reason")  # null unless it failed


class Bound(StrEnum):
    """Which side of its limit a value has to stay on; the limit itself is allowed."""

    MIN = "min"
    MAX = "max"


def measure(name: str) -> pl.Expr:
    """A measure as a number, truth values as 0 and 1; 0 where the record has no number."""
    return pl.col(f"{_MEASURE}{name}")


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison. `value` is null where the check does not apply, and so holds.

    A `fixed` check has no limit that anyone may move.
    """

    name: str
    meaning: str
    bound: Bound
    limit: float
    value: pl.Expr = field(repr=False, compare=False)
    fixed: bool = False

    def broken(self) -> pl.Expr:
        """Is the value on the wrong side?"""
        value, limit = _units(self.value), _units(pl.lit(float(self.limit)))
        wrong = value < limit if self.bound is Bound.MIN else value > limit
        return wrong.fill_null(value=False)


@dataclass(frozen=True, slots=True)
class GateChecks:
    """All checks of one gate. A gate that is not `complete` may fail for other reasons too."""

    gate: str
    checks: tuple[Check, ...]
    complete: bool = True


def seen(
    observed: Sequence[Scalar],
    reasons: pl.Series,
    measures: Mapping[str, Sequence[Scalar]],
    checks: Sequence[Check],
) -> pl.DataFrame:
    """Recorded verdicts of one gate as the frame that `checks` are asked of."""
    asked = {name for check in checks for name in check.value.meta.root_names()}
    columns = [reasons.alias("reason"), _numbers("observed", observed, None)]
    columns += [
        _numbers(name, measures.get(name.removeprefix(_MEASURE), [None] * len(observed)), 0.0)
        for name in sorted(asked)
        if name.startswith(_MEASURE)
    ]
    return pl.DataFrame(columns)


def breaks(bound: str, value: float | None, limit: float) -> bool:
    """As `Check.broken`, of one value."""
    if value is None:
        return False
    far = math.floor(value * _UNITS + 0.5) - math.floor(limit * _UNITS + 0.5)
    return far < 0 if bound == Bound.MIN else far > 0


def _units(value: pl.Expr) -> pl.Expr:
    return (value * _UNITS + 0.5).floor()


def _numbers(name: str, values: Sequence[Scalar], missing: float | None) -> pl.Series:
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= _KINDS.keys():
        return pl.Series(name, values, dtype=_KINDS[kinds.pop()]).cast(pl.Float64)
    plain = [float(value) if isinstance(value, _NUMBER) else missing for value in values]
    return pl.Series(name, plain, dtype=pl.Float64)
