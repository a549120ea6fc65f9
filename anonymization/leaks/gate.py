"""The leak gate: is a private value left in a candidate, or a file that nobody could search?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymization.leaks.contracts import Leak, LeakConfig
from data.contracts import Bound, Gate, GateReason, Limit


class LeakReason(GateReason):
    PRIVATE_VALUE = "leaks.private_value", "A private value was found."
    NOT_SCANNABLE = "leaks.not_scannable", "A file could not be searched for private values."


@dataclass(frozen=True, slots=True)
class Leaks:
    """Private values that were found, and files that could not be searched."""

    values: int
    not_scannable: int


def measure(leaks: Sequence[Leak]) -> Leaks:
    """Count what the scan of one candidate found."""
    unsearched = sum(not leak.digest for leak in leaks)
    return Leaks(values=len(leaks) - unsearched, not_scannable=unsearched)


GATE = Gate(
    name="leaks",
    stage="leak-check",
    section="masking.leaks",
    meaning="Does it still contain a private value from its own or another session?",
    config=LeakConfig,
    reasons=LeakReason,
    measure=measure,
    limits=(
        Limit(
            "private values",
            Bound.MAX,
            "values and files",
            "No private values are left in the candidate or its files.",
            LeakReason.PRIVATE_VALUE,
            lambda seen: seen["values"] + seen["not_scannable"],
            when=lambda seen: seen["values"] > 0,
            at=0,
            movable=False,
        ),
        Limit(
            "files not searched",
            Bound.MAX,
            "files",
            "Every file in the candidate could be searched.",
            LeakReason.NOT_SCANNABLE,
            lambda seen: seen["not_scannable"],
            at=0,
            movable=False,
        ),
    ),
)
