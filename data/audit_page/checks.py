"""What a gate asks of an observation, said as comparisons that can be repeated.

A gate fails exactly if one of its checks is broken. Whether that reproduces what was recorded is
tested on every recorded verdict before a page offers another limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from data.contracts import Scalar

_PLACES = 9


class Bound(StrEnum):
    """Which side of its limit a value has to stay on; the limit itself is allowed."""

    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Seen:
    """One recorded verdict: the scalar compared, the measures, and the reason of a failure."""

    observed: Scalar
    reason: str | None
    measures: Mapping[str, Scalar]

    def number(self, name: str) -> float:
        """A measure as a number; 0 where the record has none."""
        value = self.measures.get(name)
        return float(value) if isinstance(value, int | float) else 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison. `value` gives None where the check does not apply, and so holds.

    A `fixed` check has no limit that anyone may move.
    """

    name: str
    meaning: str
    bound: Bound
    limit: float
    value: Callable[[Seen], float | None] = field(repr=False)
    fixed: bool = False

    def broken(self, value: float | None) -> bool:
        return breaks(self.bound, value, self.limit)


@dataclass(frozen=True, slots=True)
class GateChecks:
    """All checks of one gate. A gate that is not `complete` may fail for other reasons too."""

    gate: str
    checks: tuple[Check, ...]
    complete: bool = True


def breaks(bound: str, value: float | None, limit: float) -> bool:
    """Is the value on the wrong side? Both are rounded to 1e-9 (law 5)."""
    if value is None:
        return False
    value, limit = round(value, _PLACES), round(limit, _PLACES)
    return value < limit if bound == Bound.MIN else value > limit
