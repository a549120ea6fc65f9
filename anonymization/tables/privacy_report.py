"""A table's part of `audit/privacy.json`, and its charts: re-identification risk and utility.

It holds no names, codes or values of companies: only rates, counts and settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anonymization.tables.attacks.plots import (
    Dot,
    RateRow,
    Scatter,
    frontier_chart,
    rates_chart,
)
from anonymization.tables.attacks.report import AttackReport
from anonymization.tables.attacks.result import LIMITED, AttackResult, Risk
from anonymization.tables.attacks.utility import Utility
from anonymization.tables.frontier import (
    CONFIGURED,
    FrontierPoint,
    keeps,
)
from anonymization.tables.settings import RiskLimits, UtilityLimits
from data.contracts import Status, Verdict

_PLOTTED = (Risk.WHOLE_INDUSTRY, Risk.HISTORY)
_ACROSS = "Spearman within industries, least column"


@dataclass(frozen=True, slots=True)
class TablePrivacy:
    """Everything measured about one released table."""

    name: str
    attacks: AttackReport
    pseudonyms: Sequence[AttackResult]
    utility: Utility
    frontier: Sequence[FrontierPoint]
    limits: RiskLimits
    worth: UtilityLimits
    verdict: Verdict


def privacy_json(table: TablePrivacy) -> dict[str, Any]:
    """The attacks on a table, for `audit/privacy.json`."""
    attacks = asdict(table.attacks)
    results = attacks.pop("results")
    return {
        "verdict": asdict(table.verdict) | {"measures": dict(table.verdict.measures)},
        "statement": statement(table),
        "attacked": attacks,
        "attacks": [*results, *(asdict(result) for result in table.pseudonyms)],
        "utility": asdict(table.utility),
        "frontier": [
            {
                "setting": point.setting,
                "utility": asdict(point.utility),
                "risks": {risk.value: asdict(result) for risk, result in point.risks.items()},
                "fidelity": {"status": point.fidelity.status, "beyond": point.fidelity.observed},
            }
            for point in table.frontier
        ],
        "limits": table.limits.model_dump(mode="json"),
        "utility_limits": table.worth.model_dump(mode="json"),
        "method": {
            "interval": "Clopper-Pearson, 95 %, targets taken as independent",
            "ties": "a tie among k records counts 1/k",
            "chance": "mean over targets of 1 / records in the scope",
            "rates": "perturbation of the measures only: identifiers are taken as useless",
        },
    }


def statement(table: TablePrivacy) -> str:
    """The result in sentences: measured rates, without any further claim."""
    sentences = [f"Attackers who know up to {table.limits.columns} columns:"]
    for risk in LIMITED:
        worst = table.attacks.worst(risk, table.limits.columns)
        if worst is not None:
            sentences.append(
                f"{risk.value.capitalize()}: {_percent(worst.rate)} found by {worst.name} "
                f"(guessing {_percent(worst.chance)}, limit {_percent(table.limits.of(risk))})."
            )
    measures = table.verdict.measures
    if table.verdict.status is not Status.PASSED:
        sentences.append(f"Settings that would pass: {measures['would_pass']}.")
    elif not keeps(table.utility, table.worth):
        sentences.append("The release does not keep the declared utility; no gate requires it.")
    both = measures["would_pass_and_keep_utility"]
    sentences.append(f"Settings tried that would pass and keep the declared utility: {both}.")
    sentences.append("Other attackers may do better: these rates are what these attacks found.")
    return " ".join(sentences)


def rates_picture(table: TablePrivacy, *, standalone: bool = False) -> str:
    """The best attack per risk and number of known columns, as an `<svg>`."""
    counts = sorted({len(result.columns) for result in table.attacks.results})
    rows = []
    for risk in LIMITED:
        for n in counts:
            attacks = [r for r in table.attacks.results if r.risk is risk and len(r.columns) == n]
            best = max(attacks, key=lambda r: r.rate, default=None)
            if best is not None and (risk is not Risk.LARGEST or n == 1):
                limit = table.limits.of(risk) if n <= table.limits.columns else None
                rows.append(_row(best, n, limit))
    title = f"{table.name}: companies found again by the best attack"
    return rates_chart(rows, title, standalone=standalone)


def _row(best: AttackResult, n: int, limit: float | None) -> RateRow:
    name = best.name.removeprefix(best.risk.value).removeprefix(", ")
    known = f", {n} column{'' if n == 1 else 's'}" if n else ""
    label = f"{best.risk.value}{known}{': ' if name else ''}{name}"
    return RateRow(label, best.rate, best.ci_low, best.ci_high, best.chance, limit)


def frontier_picture(table: TablePrivacy, *, standalone: bool = False) -> str:
    """Risk against utility of the settings tried, as an `<svg>`; in the green area both hold.

    The gate judges only the risk: the released setting may lie outside the green area.
    """
    plots = []
    for risk in _PLOTTED:
        dots = tuple(
            Dot(
                p.setting, max(p.utility.spearman, 0.0), p.risks[risk].rate, p.setting == CONFIGURED
            )
            for p in table.frontier
            if risk in p.risks
        )
        if dots:
            heading = f"{risk.value}: share found, up to {table.limits.columns} columns"
            limit = table.limits.of(risk)
            plots.append(Scatter(heading, dots, table.worth.min_spearman, limit))
    title = f"{table.name}: risk and utility of the settings tried"
    return frontier_chart(plots, _ACROSS, title, standalone=standalone)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
