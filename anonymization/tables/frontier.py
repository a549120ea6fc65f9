"""The risk–utility frontier: methods and strengths side by side, and the gate on the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import polars as pl
from pydantic import Field

from anonymization.tables.attacks.linked import link
from anonymization.tables.attacks.report import AttackConfig, AttackReport, attack
from anonymization.tables.attacks.result import AttackResult, Risk
from anonymization.tables.attacks.utility import Utility, utility
from anonymization.tables.config import PerturbMethod, Step, TableConfig
from anonymization.tables.perturb.run import perturb_table
from data.contracts import StageConfig, Verdict
from data.contracts.verdict import Scalar

NAME = "re-identification"
CONFIGURED = "as configured"
Share = Annotated[float, Field(ge=0, le=1)]

_STRENGTHS = (
    (PerturbMethod.LSD, (1, 2, 3)),
    (PerturbMethod.LOG_NOISE, (0.1, 0.3, 1.0)),
    (PerturbMethod.RANK_SWAP, (0.05, 0.1, 0.2)),
    (PerturbMethod.MICROAGGREGATION, (3, 10)),
    (PerturbMethod.LEVEL_SWAP, (0.06, 0.12, 0.3)),
)
_LIMITED = (Risk.ONE_COMPANY, Risk.WHOLE_INDUSTRY, Risk.HISTORY, Risk.LARGEST)


class RiskReason(StrEnum):
    ABOVE_LIMIT = "risk.above_limit"
    NOT_ATTACKED = "risk.not_attacked"


class RiskLimits(StageConfig):
    """Hit rates that a release may not exceed, for attackers who know up to `columns` columns.

    A limit of 1 accepts a risk: it is reported all the same. `history` binds tables with several
    years under one pseudonym; releasing a year alone, or new pseudonyms per year, takes it away.
    """

    columns: Annotated[int, Field(ge=1)] = 3
    one_company: Share = 0.2
    whole_industry: Share = 0.2
    history: Share = 0.2
    largest: Share = 0.5

    def of(self, risk: Risk) -> float:
        """The limit of a risk; pseudonyms have none here."""
        return {
            Risk.ONE_COMPANY: self.one_company,
            Risk.WHOLE_INDUSTRY: self.whole_industry,
            Risk.HISTORY: self.history,
            Risk.LARGEST: self.largest,
        }.get(risk, 1.0)


class UtilityLimits(StageConfig):
    """What a setting must keep to be worth naming, see `Utility` for the figures."""

    min_spearman: Share = 0.94
    max_flips: Share = 0.10
    max_sums: Annotated[float, Field(ge=0)] = 0.01
    max_broken: Annotated[int, Field(ge=0)] = 0

    def kept(self, found: Utility) -> bool:
        """Whether a release keeps all of it."""
        return (
            found.spearman >= self.min_spearman
            and found.flips <= self.max_flips
            and found.sums <= self.max_sums
            and found.broken <= self.max_broken
        )


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A setting with its utility and, per risk, the attack that finds most companies."""

    setting: str
    utility: Utility
    risks: Mapping[Risk, AttackResult]


def grid(config: TableConfig) -> dict[str, TableConfig]:
    """The setting as configured, and every plain method at a few strengths, by name."""
    plain = {
        f"{method} {strength:g}": config.with_steps([Step(method=method, strength=strength)])
        for method, strengths in _STRENGTHS
        for strength in strengths
    }
    return {CONFIGURED: config} | plain


def frontier(
    original: pl.DataFrame,
    settings: Mapping[str, TableConfig],
    key: bytes,
    attacks: AttackConfig,
    columns: int,
) -> tuple[FrontierPoint, ...]:
    """Perturb, attack and measure under every setting, in the order given.

    `key` is the release key, or another one: only rates leave this function.
    """
    points = []
    for name, config in settings.items():
        released = perturb_table(original, config, key).frame
        report = attack(original, released, config, attacks)
        kept = utility(link(original, released, config), config.relations)
        points.append(FrontierPoint(name, kept, worst_risks(report, columns)))
    return tuple(points)


def worst_risks(report: AttackReport, columns: int) -> dict[Risk, AttackResult]:
    """Per risk the attack with the highest rate, knowing up to `columns` columns."""
    found = {risk: report.worst(risk, columns) for risk in _LIMITED}
    return {risk: result for risk, result in found.items() if result is not None}


def passes(risks: Mapping[Risk, AttackResult], limits: RiskLimits) -> bool:
    """Whether no measured risk is above its limit."""
    return all(result.rate <= limits.of(risk) for risk, result in risks.items())


def judge(
    report: AttackReport,
    limits: RiskLimits,
    worth: UtilityLimits,
    points: Sequence[FrontierPoint],
) -> Verdict:
    """The gate: refuses a release with a risk above its limit, and says what would pass.

    `observed` is the rate that is farthest above its limit, or nearest to it. If nothing is above
    and the attacks on whole industries did not run, the release is unverified.
    """
    risks = worst_risks(report, limits.columns)
    safe = [point.setting for point in points if passes(point.risks, limits)]
    useful = [p.setting for p in points if p.setting in safe and worth.kept(p.utility)]
    told: dict[str, Scalar] = {risk.value: found.rate for risk, found in risks.items()}
    told |= {"settings_tried": len(points)}
    told |= {"would_pass": _named(safe), "would_pass_and_keep_utility": _named(useful)}
    worst = max(risks, key=lambda risk: (risks[risk].rate - limits.of(risk), risk.value))
    seen, limit = risks[worst].rate, limits.of(worst)
    told |= {"worst": worst.value, "attack": risks[worst].name}
    if seen > limit:
        return Verdict.failing(NAME, RiskReason.ABOVE_LIMIT, seen, limit, told)
    if Risk.WHOLE_INDUSTRY not in risks and limits.whole_industry < 1:
        reason = RiskReason.NOT_ATTACKED
        return Verdict.unverified(NAME, reason, None, limits.whole_industry, told)
    return Verdict.passing(NAME, seen, limit, told)


def _named(settings: Sequence[str]) -> str:
    return "; ".join(settings) if settings else "none of those tried"
