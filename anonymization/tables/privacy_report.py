"""`audit/privacy.json`, its pictures and its page: who could be found again, and what it cost.

No names, codes or values of companies: rates, counts and settings only.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anonymization.tables.attacks.plots import (
    STYLE,
    Dot,
    RateRow,
    Scatter,
    frontier_chart,
    rates_chart,
)
from anonymization.tables.attacks.report import AttackReport
from anonymization.tables.attacks.result import AttackResult, Risk
from anonymization.tables.attacks.utility import Utility
from anonymization.tables.frontier import (
    CONFIGURED,
    FrontierPoint,
    RiskLimits,
    UtilityLimits,
)
from data.contracts import Status, Verdict
from data.snapshot.neutralise import one_line
from data.snapshot.pages import policy

_LIMITED = (Risk.ONE_COMPANY, Risk.WHOLE_INDUSTRY, Risk.HISTORY, Risk.LARGEST)
_PLOTTED = (Risk.WHOLE_INDUSTRY, Risk.HISTORY)
_ACROSS = "Spearman within industries, least column"
PAGE_STYLE = (
    STYLE
    + """
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;
color-scheme:light dark}
table{border-collapse:collapse;font-size:14px}
th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8886}
.num{text-align:right;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
.verdict{border-left:4px solid #8888;padding-left:.75rem}
.failed{border-color:#b8452d}.passed{border-color:#2f8f5b}
"""
)


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


def privacy_json(tables: Sequence[TablePrivacy]) -> dict[str, Any]:
    """What `audit/privacy.json` holds, per table."""
    return {table.name: _table_json(table) for table in tables}


def _table_json(table: TablePrivacy) -> dict[str, Any]:
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
                "risks": {risk.value: asdict(found) for risk, found in point.risks.items()},
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
    """The result in sentences: measured rates, and no claim beyond them."""
    told = [f"Attackers who know up to {table.limits.columns} columns:"]
    for risk in _LIMITED:
        worst = table.attacks.worst(risk, table.limits.columns)
        if worst is not None:
            told.append(
                f"{risk.value.capitalize()}: {_percent(worst.rate)} found by {worst.name} "
                f"(guessing {_percent(worst.chance)}, limit {_percent(table.limits.of(risk))})."
            )
    if table.verdict.status is not Status.PASSED:
        told.append(f"Settings that would pass: {table.verdict.measures['would_pass']}.")
        both = table.verdict.measures["would_pass_and_keep_utility"]
        told.append(f"Those that also keep the declared utility: {both}.")
    told.append("Other attackers may do better: these rates are what these attacks found.")
    return " ".join(told)


def rates_picture(table: TablePrivacy, *, standalone: bool = False) -> str:
    """Per risk and number of known columns the best attack, as an `<svg>`."""
    counts = sorted({len(result.columns) for result in table.attacks.results})
    rows = []
    for risk in _LIMITED:
        for n in counts:
            found = [r for r in table.attacks.results if r.risk is risk and len(r.columns) == n]
            best = max(found, key=lambda r: r.rate, default=None)
            if best is not None and (risk is not Risk.LARGEST or n == 1):
                limit = table.limits.of(risk) if n <= table.limits.columns else None
                rows.append(_row(best, n, limit))
    title = f"{table.name}: companies found again by the best attack"
    return rates_chart(rows, title, standalone=standalone)


def _row(best: AttackResult, n: int, limit: float | None) -> RateRow:
    name = best.name.removeprefix(best.risk.value).removeprefix(", ")
    label = f"{best.risk.value}, {n} column{'' if n == 1 else 's'}{': ' if name else ''}{name}"
    return RateRow(label, best.rate, best.ci_low, best.ci_high, best.chance, limit)


def frontier_picture(table: TablePrivacy, *, standalone: bool = False) -> str:
    """Risk against utility over the settings tried, as an `<svg>`; green is where both hold."""
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


def privacy_section(table: TablePrivacy) -> str:
    """A `<section>` of HTML; the page brings `PAGE_STYLE`."""
    verdict = table.verdict
    asked = f"{verdict.gate}: {verdict.status.value}"
    if verdict.reason is not None:
        asked += f" ({verdict.reason})"
    parts = [
        f"<section><h2>{_escape(table.name)}</h2>",
        f'<p class="verdict {verdict.status.value}"><strong>{_escape(asked)}</strong> '
        f"{_escape(statement(table))}</p>",
        f"<figure>{rates_picture(table)}</figure>",
    ]
    if table.frontier:
        parts += [f"<figure>{frontier_picture(table)}</figure>", _frontier_table(table)]
    parts += [_attack_table([*table.attacks.results, *table.pseudonyms]), _k_table(table)]
    return "".join([*parts, "</section>"])


def privacy_page(tables: Sequence[TablePrivacy]) -> str:
    """A page of its own, under a policy that allows its style and nothing else."""
    body = "".join(privacy_section(table) for table in tables)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_escape(policy(PAGE_STYLE))}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Attack report</title><style>{PAGE_STYLE}</style></head>"
        f"<body><h1>Attack report</h1>{body}</body></html>\n"
    )


def _attack_table(results: Sequence[AttackResult]) -> str:
    rows = [
        (
            *(r.risk.value, r.name, ", ".join(r.columns), r.scope, r.knows.value, f"{r.n:,}"),
            *(_percent(r.rate), f"{_percent(r.ci_low)} to {_percent(r.ci_high)}"),
            _percent(r.chance),
        )
        for r in results
    ]
    head = ("risk", "attack", "columns", "scope", "attacker knows", "n", "found", "95 %", "chance")
    return f"<details><summary>All attacks</summary>{_html_table(head, rows, 5)}</details>"


def _frontier_table(table: TablePrivacy) -> str:
    rows = [
        (
            *(p.setting, f"{p.utility.spearman:.3f}", _percent(p.utility.flips)),
            *(_percent(p.utility.sums), str(p.utility.broken), f"{p.utility.d:.3f}"),
            *(_percent(p.risks[risk].rate) if risk in p.risks else "not run" for risk in _LIMITED),
        )
        for p in table.frontier
    ]
    head = (
        *("setting", "Spearman", "signs turned", "sums moved", "relations broken", "D"),
        *(risk.value for risk in _LIMITED),
    )
    return f"<details><summary>All settings</summary>{_html_table(head, rows, 1)}</details>"


def _k_table(table: TablePrivacy) -> str:
    rows = [
        (
            ", ".join([*k.columns, *(f"{name} in classes" for name in k.binned)]),
            *(f"{k.rows:,}", str(k.k_min), _percent(k.at_most[1]), _percent(k.at_most[5])),
            _percent(k.unmatched),
        )
        for k in table.attacks.k_maps
    ]
    head = ("kept columns", "rows", "least k", "alone", "at most 5", "no such original")
    return f"<h3>Rows that share what is kept</h3>{_html_table(head, rows, 1)}"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """`words` leading columns are text, the others figures."""
    kinds: Mapping[bool, str] = {True: "", False: ' class="num"'}
    top = "".join(f"<th{kinds[at < words]}>{_escape(text)}</th>" for at, text in enumerate(head))
    lines = "".join(
        "<tr>"
        + "".join(f"<td{kinds[at < words]}>{_escape(text)}</td>" for at, text in enumerate(row))
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _escape(text: str) -> str:
    """Names come from files that anyone may edit: no markup, no control characters."""
    return html.escape(one_line(text))
