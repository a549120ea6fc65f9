"""The risk–utility frontier: methods and strengths side by side, and the gate on the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from anonymization.tables.attacks.linked import link
from anonymization.tables.attacks.report import AttackReport, attack
from anonymization.tables.attacks.result import LIMITED, AttackResult, Risk
from anonymization.tables.attacks.utility import Utility, utility
from anonymization.tables.config import (
    AttackConfig,
    FidelityConfig,
    FrontierConfig,
    RiskLimits,
    TableConfig,
    UtilityLimits,
)
from anonymization.tables.fidelity import assess
from anonymization.tables.perturb.perturb_table import perturb_table
from anonymization.tables.re_identification import GATE, RiskRates
from data.contracts import Status, Verdict
from data.contracts.gate import Scalar

CONFIGURED = "as configured"


@dataclass(frozen=True, slots=True)
class Tried:
    """Everything measured about one setting."""

    setting: str
    utility: Utility
    attacks: AttackReport
    fidelity: Verdict

    def point(self, columns: int) -> FrontierPoint:
        """Its point on the frontier for attackers who know up to `columns` columns."""
        risks = _worst_risks(self.attacks, columns)
        return FrontierPoint(self.setting, self.utility, risks, self.fidelity)


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A setting with its utility, per risk the attack that finds most companies, and the verdict
    of the fidelity gate."""

    setting: str
    utility: Utility
    risks: Mapping[Risk, AttackResult]
    fidelity: Verdict


_EVERY_METHOD, _FIDELITY = FrontierConfig(), FidelityConfig()


def grid(config: TableConfig, settings: FrontierConfig = _EVERY_METHOD) -> dict[str, TableConfig]:
    """The setting as configured, and every plain method at a few strengths, by name."""
    plain = {name: config.with_steps([step]) for name, step in settings.steps().items()}
    return {CONFIGURED: config} | plain


def measure(
    setting: str,
    original: pl.DataFrame,
    released: pl.DataFrame,
    config: TableConfig,
    attacks: AttackConfig,
    limits: FidelityConfig,
) -> Tried:
    """Attack a release, and measure what it keeps. Rows of the frames correspond by position."""
    linked = link(original, released, config)
    return Tried(
        setting,
        utility(linked, config.relations),
        attack(original, released, config, attacks, linked),
        assess(original, released, config, limits).verdict,
    )


def frontier(
    original: pl.DataFrame,
    settings: Mapping[str, TableConfig],
    key: bytes,
    attacks: AttackConfig,
    columns: int,
    limits: FidelityConfig = _FIDELITY,
) -> tuple[FrontierPoint, ...]:
    """Perturb, attack and measure with every setting, in the given order.

    `key` is the release key or another one: this function returns only rates.
    """
    points = []
    for name, config in settings.items():
        released = perturb_table(original, config, key).frame
        points.append(measure(name, original, released, config, attacks, limits).point(columns))
    return tuple(points)


def _worst_risks(report: AttackReport, columns: int) -> dict[Risk, AttackResult]:
    """Per risk the attack with the highest rate, knowing up to `columns` columns."""
    worst = {risk: report.worst(risk, columns) for risk in LIMITED}
    return {risk: result for risk, result in worst.items() if result is not None}


def passes(risks: Mapping[Risk, AttackResult], limits: RiskLimits) -> bool:
    """Is no risk above its limit, and were whole industries attacked, or their risk accepted?"""
    return _attacked(risks, limits) and all(
        result.rate <= limits.of(risk) for risk, result in risks.items()
    )


def _attacked(risks: Mapping[Risk, AttackResult], limits: RiskLimits) -> bool:
    """Did the slow attacks on whole industries run, or is their risk accepted?"""
    return Risk.WHOLE_INDUSTRY in risks or limits.whole_industry == 1


def keeps(utility_kept: Utility, worth: UtilityLimits) -> bool:
    """Does a release keep the declared utility?"""
    return (
        utility_kept.spearman >= worth.min_spearman
        and utility_kept.flips <= worth.max_flips
        and utility_kept.sums <= worth.max_sums
        and utility_kept.broken <= worth.max_broken
    )


def would_pass(
    points: Sequence[FrontierPoint], limits: RiskLimits, worth: UtilityLimits
) -> dict[str, Scalar]:
    """Which of the settings tried would pass both gates, and which also keep the utility."""
    faithful = [point for point in points if point.fidelity.status is not Status.FAILED]
    safe = [point for point in faithful if passes(point.risks, limits)]
    useful = [point for point in safe if keeps(point.utility, worth)]
    return {
        "settings_tried": len(points),
        "would_pass": _named(safe),
        "would_pass_and_keep_utility": _named(useful),
    }


def judge(
    report: AttackReport,
    limits: RiskLimits,
    worth: UtilityLimits,
    points: Sequence[FrontierPoint],
) -> Verdict:
    """The gate: refuses a release with a risk above its limit, and lists settings that would pass.

    `observed` is the rate that is farthest above its limit, or nearest to it. If none is above and
    the attacks on whole industries did not run, the release is unverified.
    """
    risks = _worst_risks(report, limits.columns)
    fields = {risk.name.lower(): result for risk, result in risks.items()}
    seen = RiskRates(
        rates={name: result.rate for name, result in fields.items()},
        risks={name: str(result.risk) for name, result in fields.items()},
        attacks={name: result.name for name, result in fields.items()},
        details=would_pass(points, limits, worth),
    )
    return GATE.judge(seen, limits)


def _named(points: Sequence[FrontierPoint]) -> str:
    return "; ".join(point.setting for point in points) or "none of those tried"
