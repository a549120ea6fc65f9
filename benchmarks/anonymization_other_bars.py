"""The bars of anonymization that no masking level changes, or that have pages of their own.

    python -m benchmarks.anonymization_other_bars

reads the figures that the other benchmarks have written, and writes the part `other` of
results/anonymization.json and anonymization.md. It measures nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.anonymization_text_report import write_section
from benchmarks.report import RESULTS, table

_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class OtherBar:
    """What is asked for, the figure, whether it meets that, and the page that it is from."""

    name: str
    wanted: str
    figure: str
    is_met: bool
    page: str


def main() -> None:
    """Collect the bars and write the section."""
    bars = [*_restored(), *_tables(), *_published(), *_attacks(), *_secrets()]
    rows = [
        [bar.name, bar.wanted, bar.figure, "met" if bar.is_met else "missed",
         f"[{bar.page}]({bar.page}.md)"]
        for bar in sorted(bars, key=lambda bar: bar.is_met)
    ]  # fmt: skip
    section = (
        "## Bars of other pages\n\n    python -m benchmarks.anonymization_other_bars\n\n"
        "Collected from the figures of the pages named; misses stand first.\n\n"
        f"{table(('bar', 'asked', 'figure', 'result', 'page'), rows)}"
    )
    write_section("other", {"bars": [asdict(bar) for bar in bars]}, section)
    print(section)


def _figures(page: str) -> Any:
    return json.loads((RESULTS / f"{page}.json").read_text("utf-8"))


def _restored() -> Iterator[OtherBar]:
    for name, row in _figures("restoring").items():
        admitted = row["files"] - row["refused"]
        equal = row["restored byte for byte"]
        wanted = "all admitted, at least 1,000" if name.startswith("generated") else "all admitted"
        is_met = equal == admitted and (equal >= 1_000 or not name.startswith("generated"))
        figure = f"{equal:,} of {admitted:,}"
        yield OtherBar(f"restored byte for byte: {name}", wanted, figure, is_met, "restoring")


def _tables() -> Iterator[OtherBar]:
    page = "anonymization_tables"
    figures = _figures(page)
    seconds = figures["edinet"]["seconds"]
    name = "EDINET annual table, all reports but assignment, wall seconds"
    yield OtherBar(name, "< 10", f"{seconds:.1f}", seconds < 10, page)
    for source, row in figures["large"].items():
        cpu, peak = row["cpu_seconds"], row["peak_over_table"]
        about = f"2,000,000 × 6 cells {source}"
        yield OtherBar(f"{about}, CPU seconds", "< 2", f"{cpu:.2f}", cpu < 2, page)
        yield OtherBar(f"{about}, peak over table", "≤ 3", f"{peak:.2f}", peak <= 3, page)


def _published() -> Iterator[OtherBar]:
    page = "anonymization_attacks"
    figures = _figures(page)
    point = figures["frontier"][0]
    kept, triples = point["utility"], figures["triples"][point["setting"]]
    least = ("Spearman inside industries, least", "≥ .94", kept["spearman"], 0.94, 1)
    rest = (
        ("signs of yearly changes turned, most", "≤ .10", kept["flips"], 0.10, -1),
        ("liabilities newly above assets, rows", "0", kept["broken"], 0, -1),
        ("industry-years off by over 1 %, share, most", "0", kept["sums_beyond"], 0, -1),
        ("method-aware assignment, 3 columns, mean", "≤ .20", triples["mean"], 0.20, -1),
        ("the same, worst 3 columns", "≤ .20", triples["worst"][1], 0.20, -1),
    )
    for what, wanted, value, limit, sign in (least, *rest):
        is_met = sign * value >= sign * limit
        yield OtherBar(f"published setting: {what}", wanted, f"{value:.3f}", is_met, page)


def _attacks() -> Iterator[OtherBar]:
    page = "anonymization_attacker"
    figures = _figures(page)
    every = [row for of in figures.values() for row in of["attacks"]]
    above = sum(row["corrected"] < _LEVEL for row in every)
    name = "attacks by order, codes and names above chance"
    yield OtherBar(name, "0", f"{above} of {len(every)}", above == 0, page)
    for what, of in figures.items():
        risks = [
            reason for reason in of["refused"] if reason.startswith("re-identification: failed")
        ]
        figure = f"refused: {risks[0]}" if risks else "; ".join(of["refused"]) or "released"
        is_met = bool(risks) or not of["refused"]
        about = f"published setting, {what}"
        yield OtherBar(about, "within its limits or refused for them", figure, is_met, page)


def _secrets() -> Iterator[OtherBar]:
    page = "anonymization_secrets"
    every: Mapping[str, float] = _figures("anonymization")["secrets"]["all"]
    limits = {"full macro recall, labels as given": 0.98}
    limits |= {name: 0.97 for name in every if name.startswith("prose, ")}
    for name, limit in limits.items():
        value = every[name]
        yield OtherBar(
            f"secrets, all cases: {name}", f"≥ {limit:g}", f"{value:.3f}", value >= limit, page
        )
    share = every["share flagged"]
    name = "secrets, all cases: negatives flagged"
    yield OtherBar(
        name, "≤ 0.05", f"{share:.3f}", share <= _LEVEL, "anonymization_secrets_negatives"
    )


if __name__ == "__main__":
    main()
