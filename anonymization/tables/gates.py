"""The gates of released tables: did perturbation leave the distributions as they were, and how many
companies do the attacks find?

Apart from the figures, since whoever lists the gates computes none and loads no libraries for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymization.tables.config import FidelityConfig, RiskLimits
from data.contracts import Bound, Gate, GateReason, Limit, Scalar, Status, Verdict, share

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


FIDELITY = Gate(
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


class RiskReason(GateReason):
    ABOVE_LIMIT = (
        "risk.above_limit",
        "An attack re-identifies more companies than the limit allows.",
    )
    NOT_ATTACKED = "risk.not_attacked", "The attacks on whole industries did not run."


@dataclass(frozen=True, slots=True)
class RiskRates:
    """Per limit of `RiskLimits`, the rate of the attack that finds most, its name and that of the
    risk; `details` is recorded besides.
    """

    rates: Mapping[str, float]
    risks: Mapping[str, str]
    attacks: Mapping[str, str]
    details: Mapping[str, Scalar]


def _decide(seen: RiskRates, limits: RiskLimits) -> Verdict:
    """Fails with the rate that is farthest above its limit; a passing one shows the nearest.

    If nothing is above and the attacks on whole industries did not run, it is unverified.
    """
    rates = {name: (rate, getattr(limits, name)) for name, rate in seen.rates.items()}
    worst = max(rates, key=lambda name: (rates[name][0] - rates[name][1], seen.risks[name]))
    rate, limit = rates[worst]
    recorded = _counts(seen) | {"worst": seen.risks[worst], "attack": seen.attacks[worst]}
    if rate > limit:
        return Verdict.failing(
            RE_IDENTIFICATION.name, RiskReason.ABOVE_LIMIT, rate, limit, recorded
        )
    if "whole_industry" not in rates and limits.whole_industry != 1:
        reason, limit = RiskReason.NOT_ATTACKED, limits.whole_industry
        return Verdict.unverified(RE_IDENTIFICATION.name, reason, None, limit, recorded)
    return Verdict.passing(RE_IDENTIFICATION.name, rate, limit, recorded)


def _counts(seen: RiskRates) -> dict[str, Scalar]:
    """The rate of each risk under its name, and the details."""
    return {seen.risks[name]: rate for name, rate in seen.rates.items()} | dict(seen.details)


def _limit(field: str, measure: str, meaning: str, of: str = "companies") -> Limit:
    return Limit(
        field,
        Bound.MAX,
        f"share of {of}",
        meaning,
        RiskReason.ABOVE_LIMIT,
        lambda seen: seen[measure],
        when=lambda seen: measure in seen,
    )


RE_IDENTIFICATION = Gate(
    name="re-identification",
    stage="judge-tables",
    section="tables.risk",
    meaning="Can companies or people be re-identified in the released table?",
    config=RiskLimits,
    reasons=RiskReason,
    measure=RiskRates,
    measures=_counts,
    decide=_decide,
    limits=(
        _limit(
            "one_company",
            "one company",
            "An attacker looking for a single company finds at most this share.",
        ),
        _limit(
            "whole_industry",
            "whole industry",
            "An attacker matching a whole industry at once finds at most this share.",
        ),
        _limit(
            "history",
            "history",
            "An attacker who knows the figures for all years finds at most this share.",
        ),
        _limit(
            "largest",
            "largest company",
            "At most this share of the largest companies is re-identified.",
        ),
        _limit(
            "unchanged_row",
            "unchanged row",
            "At most this share of rows is released with all figures unchanged.",
        ),
        _limit(
            "unique_person",
            "unique person",
            "At most this share of people is unique in the columns that are kept.",
            "people",
        ),
    ),
)
