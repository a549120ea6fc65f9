"""The fidelity gate: did perturbation leave the distributions of a table as they were?

Apart from the figures, since whoever lists the gates computes none and loads no libraries for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymization.tables.config import FidelityConfig
from data.contracts import Bound, Gate, GateReason, Limit, Status, share

if TYPE_CHECKING:
    import polars as pl


class FidelityReason(GateReason):
    DRIFTED = "fidelity.drifted", "The distribution changed in too many columns and industries."
    NOTHING_ASSESSABLE = (
        "fidelity.nothing_assessable",
        "No column has enough rows to be compared in any industry.",
    )


@dataclass(frozen=True, slots=True)
class Drift:
    """Pairs of column and group: assessable ones, those beyond their limits, and the rest; the
    largest Kolmogorov-Smirnov and Wasserstein distances (None without an assessable pair).
    """

    assessable: int
    not_assessable: int
    beyond: int
    max_d: float | None
    max_wasserstein: float | None


def measure(cells: pl.DataFrame) -> Drift:
    """Count the pairs of `anonymization.tables.fidelity.assess`."""
    assessed = cells.filter("assessable")
    return Drift(
        assessable=assessed.height,
        not_assessable=cells.height - assessed.height,
        beyond=int((~assessed["within"]).sum()),
        max_d=_largest(assessed["d"]),
        max_wasserstein=_largest(assessed["wasserstein"]),
    )


def _largest(values: pl.Series) -> float | None:
    largest = values.max()
    return largest if isinstance(largest, int | float) else None


GATE = Gate(
    name="fidelity",
    stage="judge-tables",
    section="tables.fidelity",
    meaning="Do the released measures preserve the original distributions?",
    config=FidelityConfig,
    reasons=FidelityReason,
    measure=measure,
    limits=(
        Limit(
            "assessable pairs",
            Bound.MIN,
            "pairs of column and industry",
            "At least one column has enough rows to be compared, in one industry or across all.",
            FidelityReason.NOTHING_ASSESSABLE,
            lambda seen: seen["assessable"],
            at=1,
            movable=False,
            status=Status.UNVERIFIED,
        ),
        Limit(
            "max_beyond",
            Bound.MAX,
            "share of assessable pairs",
            "The distribution changed in at most this share of comparable columns and industries.",
            FidelityReason.DRIFTED,
            lambda seen: share(seen["beyond"], seen["assessable"]),
        ),
    ),
)
