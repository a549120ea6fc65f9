"""Attacks on the EDINET table: speed, the risk–utility frontier, and whether the bar is reached.

python -m benchmarks.anonymization_attacks [FOLDER OF MATERIAL]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anonymization.tables.attacks import measures, report
from anonymization.tables.attacks.linked import Knowledge, Linked, Risk, link
from anonymization.tables.attacks.report import attack
from anonymization.tables.config import (
    AttackConfig,
    ColumnConfig,
    PerturbMethod,
    RiskLimits,
    Step,
    TableConfig,
    UtilityLimits,
)
from anonymization.tables.files import read_table
from anonymization.tables.perturb_table import perturb_table
from anonymization.tables.privacy_report import (
    CONFIGURED,
    FrontierPoint,
    frontier,
    grid,
    keeps,
    passes,
)
from anonymization.tables.pseudonym_mapping import permuted_codes
from benchmarks.anonymization_tables import edinet_config
from benchmarks.report import table, write_result

KEY = bytes(range(32))
KNOWN = ("revenue", "total_assets", "net_income")
EXACT_ROWS = 2_000
CODES = 1_000_000
FLIPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.44)
_RISKS = (Risk.ONE_COMPANY, Risk.WHOLE_INDUSTRY, Risk.HISTORY, Risk.LARGEST)


def settings(config: TableConfig) -> dict[str, TableConfig]:
    """The plain methods, and the composed setting with more and less of each of its parts."""
    changes = {
        "composed, levels moved 30 % more": (1.3, 1.0),
        "composed, levels moved 60 % more": (1.6, 1.0),
        "composed, levels moved 30 % less": (0.7, 1.0),
        "composed, yearly noise × 3": (1.0, 3.0),
        "composed, no yearly noise": (1.0, 0.0),
    }
    return grid(config) | {name: _scaled(config, *by) for name, by in changes.items()}


def _scaled(config: TableConfig, levels: float, noise: float) -> TableConfig:
    by = {PerturbMethod.LEVEL_SWAP: levels, PerturbMethod.LOG_NOISE: noise}
    columns: dict[str, ColumnConfig] = {}
    for name, column in config.columns.items():
        steps = [
            Step(method=s.method, strength=s.strength * by.get(s.method, 1.0), scope=s.scope)
            for s in column.steps
        ]
        columns[name] = column.model_copy(update={"steps": tuple(steps)})
    return config.model_copy(update={"columns": columns})


def speed(frame: pl.DataFrame, config: TableConfig) -> dict[str, float]:
    """Seconds of the attack report, the attacker's own runs of the method included."""
    released = perturb_table(frame, config, KEY).frame
    output = {}
    for name, slow in (("without assignment", False), ("with assignment", True)):
        started, cpu = time.perf_counter(), time.process_time()
        attack(frame, released, config, AttackConfig(known=KNOWN, assignment=slow))
        output[f"{name}, wall s"] = round(time.perf_counter() - started, 2)
        output[f"{name}, processor s"] = round(time.process_time() - cpu, 2)
    return output


def triples(frame: pl.DataFrame, config: TableConfig) -> dict[str, Any]:
    """Method-aware assignment on the fullest year for every three columns."""
    linked = link(frame, perturb_table(frame, config, KEY).frame, config)
    keys = [measures.seed_key(0, str(turn)) for turn in range(2)]
    runs = [measures.rerun(linked, frame, config, key) for key in keys]
    year = linked.fullest_year()
    rates = {
        ", ".join(three): measures.aware_assignment(
            year.knowing(three), [run.knowing(three) for run in runs], EXACT_ROWS
        ).rate
        for three in combinations(linked.columns, 3)
    }
    actual = np.array(list(rates.values()))
    worst = max(rates, key=lambda name: rates[name])
    requests = ", ".join(n for n in linked.columns if n in KNOWN)
    return {
        "companies": len(year),
        "triples": len(rates),
        "mean": round(float(actual.mean()), 4),
        "median": round(float(np.median(actual)), 4),
        "share_at_most_20_percent": round(float((actual <= 0.2).mean()), 4),
        "worst": [worst, rates[worst]],
        "revenue_assets_income": rates[requests],
        "rates": rates,
    }


def sign_bound(linked: Linked) -> list[dict[str, Any]]:
    """Hits of the attack on rises and falls if nothing is released but signs, evenly turned.

    The released table of this experiment rises or falls by 1 a year as the original does, except
    for a share of changes, drawn independently, that go the other way.
    """
    draw = np.random.default_rng(20_261_122)
    first = np.append(True, linked.entity[1:] != linked.entity[:-1])
    sign = np.sign(np.diff(linked.original, axis=0, prepend=0.0))
    rows = []
    for share in FLIPS:
        turned = np.where(draw.random(sign.shape) < share, -sign, sign)
        level = _walk(np.where(first[:, None], 0.0, turned), first)
        made = replace(linked, released=np.where(np.isnan(linked.original), np.nan, level))
        output: dict[str, Any] = {"turned": share}
        for count in (1, 2, 3):
            output[f"{count} columns"] = measures.sign_history(made.knowing(KNOWN[:count])).rate
        output["all columns"] = measures.sign_history(made).rate
        rows.append(output)
    return rows


def _walk(steps: np.ndarray[Any, Any], first: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Levels whose yearly logarithms differ by one step; large enough to have no zero."""
    run = np.cumsum(np.nan_to_num(steps), axis=0)
    start = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    return np.asarray(10.0 ** (50 + run - run[start]))


def published_seed(frame: pl.DataFrame, config: TableConfig) -> list[tuple[str, str, float]]:
    """Rerun and match: with noise from the public seed, and from a key that is not published."""
    noisy = config.with_steps([Step(method=PerturbMethod.LOG_NOISE, strength=0.3)])
    plain = link(frame, frame, noisy)
    again = measures.rerun(plain, frame, noisy, measures.seed_key(0))
    rows = []
    for source, key in (("release key", KEY), ("published seed", measures.seed_key(0))):
        linked = measures.rerun(plain, frame, noisy, key)
        for columns in (KNOWN[:1], KNOWN):
            actual = measures.rerun_match(
                linked.knowing(columns), again.knowing(columns), Knowledge.PUBLISHED
            )
            rows.append((source, ", ".join(columns), actual.rate))
    return rows


def codes(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The pseudonyms of the EDINET codes, widened to six digits, under a million candidates."""
    real = [f"{int(code[1:]):06d}" for code in frame["edinet_code"].unique().sort()]
    mapping = permuted_codes(real, KEY, "six", "").new
    million = [f"{number:06d}" for number in range(CODES)]
    actual = [
        report.dictionary_attack(mapping, real, KEY, "six", "", Knowledge.KEY),
        report.dictionary_attack(mapping, million, KEY, "six", "", Knowledge.KEY),
        report.dictionary_attack(
            mapping, real, measures.seed_key(0), "six", "", Knowledge.PUBLISHED
        ),
        report.order_attack(mapping, "six"),
        report.likeness_attack(mapping, "six"),
    ]
    return [asdict(result) for result in actual]


def tried(frame: pl.DataFrame, name: str, config: TableConfig, columns: int) -> FrontierPoint:
    """One point of the frontier, printed as it is found."""
    (point,) = frontier(frame, {name: config}, KEY, AttackConfig(known=KNOWN), columns)
    rates = {risk.value: actual.rate for risk, actual in point.risks.items()}
    print(name, point.utility, rates, flush=True)
    return point


def main() -> None:
    """Measure and write `results/anonymization_attacks.md` and `.json`."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/material")
    frame = read_table(folder / "tables" / "edinet" / "edinet_enterprise_annual.csv.gz")
    config = edinet_config()
    swapped = config.with_steps([Step(method=PerturbMethod.RANK_SWAP, strength=0.1)])
    figures: dict[str, Any] = {"speed": speed(frame, config), "codes": codes(frame)}
    figures["seed"] = published_seed(frame, config)
    figures["signs"] = sign_bound(link(frame, frame, config))
    limits, worth = RiskLimits(largest=1.0), UtilityLimits()
    points = [tried(frame, *pair, limits.columns) for pair in settings(config).items()]
    figures["frontier"] = [
        asdict(p) | {"risks": {r.value: asdict(f) for r, f in p.risks.items()}} for p in points
    ]
    figures["triples"] = {
        CONFIGURED: triples(frame, config),
        "rank_swap 0.1": triples(frame, swapped),
    }
    page = _page(figures, points, limits, worth)
    write_result("anonymization_attacks", __doc__ or "", page, figures)


def _page(
    figures: Mapping[str, Any],
    points: Sequence[FrontierPoint],
    limits: RiskLimits,
    worth: UtilityLimits,
) -> str:
    both = [p.setting for p in points if passes(p.risks, limits) and keeps(p.utility, worth)]
    answer = "; ".join(both) if both else "none of those tried"
    return (
        f"## Settings that keep the utility of the bar and every risk at most 20 %: {answer}\n\n"
        f"{_frontier_table(points)}\n"
        "Spearman within industries, signs of yearly changes turned, largest change of an "
        "industry's yearly sum and share of these sums beyond 1 %, rows with a relation newly "
        "broken: the worst column counts. Then the best attack with up to three columns "
        "(revenue, total assets, net income): shares of companies found.\n\n"
        f"{_more(figures)}"
    )


def _frontier_table(points: Sequence[FrontierPoint]) -> str:
    head = ("setting", "Spearman", "turned", "sums", "sums > 1 %", "broken")
    rows = []
    for p in points:
        u = p.utility
        kept = (f"{u.spearman:.3f}", f"{u.flips:.3f}", f"{u.sums:.3f}", f"{u.sums_beyond:.3f}")
        actual = [f"{p.risks[risk].rate:.3f}" for risk in _RISKS]
        rows.append((p.setting, *kept, str(u.broken), *actual))
    return table((*head, *(risk.value for risk in _RISKS)), rows)


def _more(figures: Mapping[str, Any]) -> str:
    three = [
        (
            *(name, f"{t['mean']:.3f}", f"{t['median']:.3f}", f"{t['worst'][1]:.3f}"),
            *(f"{t['revenue_assets_income']:.3f}", f"{t['share_at_most_20_percent']:.2f}"),
        )
        for name, t in figures["triples"].items()
    ]
    signs = [[f"{value:.3f}" for value in row.values()] for row in figures["signs"]]
    seed = [(source, columns, f"{rate:.3f}") for source, columns, rate in figures["seed"]]
    keys = [
        (c["name"], c["knows"], f"{c['rate']:.4f}", f"{c['chance']:.5f}") for c in figures["codes"]
    ]
    times = [(name, str(value)) for name, value in figures["speed"].items()]
    heads = ("setting", "mean", "median", "worst", "revenue, assets, income", "share ≤ .20")
    return (
        "## Method-aware assignment in one year, all 84 choices of three columns\n\n"
        f"{table(heads, three)}\n"
        "## Only rises and falls released, turned evenly: companies found over all years\n\n"
        f"{table(list(figures['signs'][0]), signs)}\n"
        f"## Rerun with the public seed (log-noise .3)\n\n"
        f"{table(('noise from', 'columns', 'found'), seed)}\n"
        "## Pseudonyms of codes\n\n"
        f"{table(('attack', 'attacker knows', 'found', 'chance'), keys)}\n"
        f"## Speed on the whole table\n\n{table(('measure', 'figure'), times)}"
    )


if __name__ == "__main__":
    main()
