"""Risk and utility of a released table: the frontier of methods and strengths side by side, the
gate on the release, and the table's part of `audit/privacy.json` with its charts.

It holds no names, codes or values of companies: only rates, counts and settings. The charts are
SVG: the same figures give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from anonymization.tables.attacks.linked import LIMITED, AttackResult, Risk, link
from anonymization.tables.attacks.report import AttackReport, attack
from anonymization.tables.config import (
    AttackConfig,
    FidelityConfig,
    FrontierConfig,
    RiskLimits,
    TableConfig,
    UtilityLimits,
)
from anonymization.tables.fidelity import Utility, assess, utility
from anonymization.tables.gates import RE_IDENTIFICATION, RiskRates
from anonymization.tables.perturb_table import perturb_table
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
    return RE_IDENTIFICATION.judge(seen, limits)


def _named(points: Sequence[FrontierPoint]) -> str:
    return "; ".join(point.setting for point in points) or "none of those tried"


_WIDTH = 760
_LABEL, _BAR = 410, 262  # where bars start, and how wide a rate of 1 is
_ROW, _HEAD = 24, 46
_PLOT, _SIDE, _GAP = 270, 54, 90  # side of a scatter plot, margin left of it, space between two
_TICKS = 4
_READ_FRONTIER = (
    "Dashes: declared limit for this risk, which releases stay below. Green: also keeps the "
    "declared rank utility."
)

STYLE = """
.privacy text{font:13px system-ui,sans-serif;fill:#1d2430}
.privacy .big{font-size:15px;font-weight:650}
.privacy .soft{fill:#5b6675}
.privacy .rate{fill:#2f6f8f}
.privacy .above{fill:#b8452d}
.privacy .whisker,.privacy .axis{stroke:#1d2430;stroke-width:1;fill:none}
.privacy .chance{stroke:#5b6675;stroke-width:2;stroke-dasharray:2 2}
.privacy .limit{stroke:#1d2430;stroke-width:3}
.privacy .wanted{fill:#2f8f5b;fill-opacity:.16}
.privacy .dot{fill:#2f6f8f}
.privacy .own{fill:#b8452d}
@media (prefers-color-scheme:dark){
.privacy text{fill:#e6eaf0}
.privacy .soft{fill:#9aa7b6}
.privacy .rate,.privacy .dot{fill:#5fa8cb}
.privacy .above,.privacy .own{fill:#ef7d63}
.privacy .whisker,.privacy .axis{stroke:#e6eaf0}
.privacy .chance{stroke:#9aa7b6}
.privacy .limit{stroke:#e6eaf0}
}
"""


@dataclass(frozen=True, slots=True)
class RateRow:
    """A bar: a rate with its interval, the chance level, and the declared limit if one applies."""

    label: str
    rate: float
    low: float
    high: float
    chance: float
    limit: float | None


@dataclass(frozen=True, slots=True)
class Dot:
    """A setting: the utility it keeps (horizontal) and its risk (vertical), both 0 to 1."""

    label: str
    kept: float
    risk: float
    own: bool = False


@dataclass(frozen=True, slots=True)
class Scatter:
    """A plot of settings: a release passes below `most_risk`; in the green part, right of
    `least_kept`, it also keeps the declared utility."""

    heading: str
    dots: tuple[Dot, ...]
    least_kept: float
    most_risk: float


def rates_chart(rows: Sequence[RateRow], title: str, *, standalone: bool = False) -> str:
    """Horizontal bars, one per row; red where a limit is exceeded."""
    parts = [_text(0, 26, title, "big")]
    for at, row in enumerate(rows):
        parts.append(_rate(row, _HEAD + at * _ROW))
    y = _HEAD + len(rows) * _ROW + 20
    parts.append(
        _text(
            0,
            y,
            "Line: 95 % interval. Dashes: guessing. Thick mark: declared limit, red beyond it.",
            "soft",
        )
    )
    return _framed(parts, y + 12, title, standalone)


def _rate(row: RateRow, y: int) -> str:
    kind = "above" if row.limit is not None and row.rate > row.limit else "rate"
    low, high, chance = (_LABEL + _BAR * v for v in (row.low, row.high, row.chance))
    parts = [
        _text(_LABEL - 8, y + 15, row.label, "name", "end"),
        f'<rect class="{kind}" x="{_LABEL}" y="{y + 4}" width="{_BAR * row.rate:.1f}" '
        'height="13" rx="2"/>',
        f'<path class="whisker" d="M{low:.1f} {y + 10.5}H{high:.1f}"/>',
        f'<path class="chance" d="M{chance:.1f} {y + 1}V{y + 20}"/>',
        _text(_LABEL + _BAR + 14, y + 15, f"{100 * row.rate:.1f} %", "soft"),
    ]
    if row.limit is not None:
        at = _LABEL + _BAR * row.limit
        parts.append(f'<path class="limit" d="M{at:.1f} {y + 1}V{y + 20}"/>')
    return "".join(parts)


def frontier_chart(
    plots: Sequence[Scatter], across: str, title: str, *, standalone: bool = False
) -> str:
    """Up to two plots side by side, with one numbered list of the settings below."""
    parts = [_text(0, 26, title, "big")]
    least = min((dot.kept for plot in plots for dot in plot.dots), default=0.0)
    least_shown = min(int(least * 10) / 10, 0.9)
    for at, plot in enumerate(plots):
        parts.append(_scatter(plot, across, least_shown, _SIDE + at * (_PLOT + _GAP), _HEAD + 24))
    y = _HEAD + 24 + _PLOT + 64
    labels = [(dot.label, dot.own) for dot in plots[0].dots] if plots else []
    for number, (label, own) in enumerate(labels, 1):
        column, line = (number - 1) % 3, (number - 1) // 3
        kind = "own" if own else "name"
        parts.append(_text(column * _WIDTH / 3, y + line * 20, f"{number}  {label}", kind))
    y += (len(labels) + 2) // 3 * 20
    parts.append(_text(0, y + 4, _READ_FRONTIER, "soft"))
    return _framed(parts, y + 16, title, standalone)


def _scatter(plot: Scatter, across: str, least_shown: float, x: float, y: float) -> str:
    def position(kept: float, risk: float) -> tuple[float, float]:
        return x + _PLOT * (kept - least_shown) / (1 - least_shown), y + _PLOT * (1 - risk)

    bottom = y + _PLOT
    wanted_x, wanted_y = position(max(plot.least_kept, least_shown), plot.most_risk)
    parts = [
        _text(x, y - 10, plot.heading, "name"),
        f'<rect class="wanted" x="{wanted_x:.1f}" y="{wanted_y:.1f}" '
        f'width="{x + _PLOT - wanted_x:.1f}" height="{bottom - wanted_y:.1f}"/>',
        f'<path class="chance" d="M{x:.1f} {wanted_y:.1f}H{x + _PLOT:.1f}"/>',
        f'<path class="axis" d="M{x:.1f} {y:.1f}V{bottom:.1f}H{x + _PLOT:.1f}"/>',
        _text(x + _PLOT / 2, bottom + 36, across, "soft", "middle"),
    ]
    for step in range(_TICKS + 1):
        share = step / _TICKS
        kept = least_shown + (1 - least_shown) * share
        parts.append(_text(x + _PLOT * share, bottom + 18, f"{kept:.2f}", "soft", "middle"))
        parts.append(_text(x - 6, bottom - _PLOT * share + 4, f"{share:.2f}", "soft", "end"))
    numbered = sorted(enumerate(plot.dots, 1), key=lambda item: item[1].own)  # own: on top
    for number, dot in numbered:
        at_x, at_y = position(dot.kept, dot.risk)
        kind = "own" if dot.own else "dot"
        parts.append(f'<circle class="{kind}" cx="{at_x:.1f}" cy="{at_y:.1f}" r="4"/>')
        parts.append(_text(at_x + 6, at_y + 4, str(number), "soft"))
    return "".join(parts)


def _framed(parts: Sequence[str], height: float, title: str, standalone: bool) -> str:
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="privacy" role="img" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" aria-label={quoteattr(_plain(title))}>'
    )
    style = f"<style>{STYLE}</style>" if standalone else ""
    return f"{head}{style}{''.join(parts)}</svg>"


def _plain(text: str) -> str:
    """One line of characters allowed in XML: names come from files that anyone may edit."""
    return "".join(char if char.isprintable() else " " for char in text)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(_plain(text))}</text>"
    )


_PLOTTED = (Risk.WHOLE_INDUSTRY, Risk.HISTORY)
_ACROSS = "Spearman within industries, worst column"


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
        "statement": _statement(table),
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
            "interval": "Clopper-Pearson, 95 %, treating targets as independent",
            "ties": "a tie among k records counts as 1/k",
            "chance": "mean over targets of 1 / records in the scope",
            "rates": "perturbation of measures only; identifiers are treated as useless",
        },
    }


def _statement(table: TablePrivacy) -> str:
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
        sentences.append("The release does not keep the declared utility, which no gate requires.")
    both = measures["would_pass_and_keep_utility"]
    sentences.append(f"Settings tried that would pass and keep the declared utility: {both}.")
    sentences.append(
        "Other attackers may do better; these rates are only what these attacks found."
    )
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
    title = f"{table.name}: companies re-identified by the best attack"
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
