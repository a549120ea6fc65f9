"""The re-identification gate: how many companies do the attacks find in a released table?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymization.tables.config import RiskLimits
from data.contracts import Bound, Gate, GateReason, Limit, Scalar, Verdict


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


def decide(seen: RiskRates, limits: RiskLimits) -> Verdict:
    """Fails with the rate that is farthest above its limit; a passing one shows the nearest.

    If nothing is above and the attacks on whole industries did not run, it is unverified.
    """
    rates = {name: (rate, getattr(limits, name)) for name, rate in seen.rates.items()}
    worst = max(rates, key=lambda name: (rates[name][0] - rates[name][1], seen.risks[name]))
    rate, limit = rates[worst]
    recorded = _counts(seen) | {"worst": seen.risks[worst], "attack": seen.attacks[worst]}
    if rate > limit:
        return Verdict.failing(GATE.name, RiskReason.ABOVE_LIMIT, rate, limit, recorded)
    if "whole_industry" not in rates and limits.whole_industry != 1:
        reason, limit = RiskReason.NOT_ATTACKED, limits.whole_industry
        return Verdict.unverified(GATE.name, reason, None, limit, recorded)
    return Verdict.passing(GATE.name, rate, limit, recorded)


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


GATE = Gate(
    name="re-identification",
    stage="judge-tables",
    section="tables.risk",
    meaning="Can companies or people be re-identified in the released table?",
    config=RiskLimits,
    reasons=RiskReason,
    measure=RiskRates,
    measures=_counts,
    decide=decide,
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
