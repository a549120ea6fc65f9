"""The sampler: exact probabilities and draws at a million series, and the fit of its draws.

    python -m benchmarks.sampler [--names NAMES.csv] [--separator '|']

Peers in the same run: a plain recursive implementation over nested dicts, and
numpy.random.Generator.choice. `--names` takes a table with the columns name and kind (headline or
breakdown) for the fit and the report of dampings; without it a generated one of 10,000 is used.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from benchmarks.report import table, write_result
from benchmarks.sampler_fit import Fit, fit_of_samples
from data.figures import percent
from data.randomness import keyed_generator
from selection.config import SEPARATOR
from selection.sampling.stages import _compare_dampings, _DampingReport
from selection.sampling.systematic import draw_with_replacement, leaf_probabilities

SERIES = DRAWS = 1_000_000
BARS = {"probabilities": 0.6, "draws": 0.03, "largest_z": 5.2, "p": 0.001}
SAMPLES, SIZE = 2_000, 500
REPEATS = 15
_WIDTHS = (6, 30, 5, 40, 60)  # distinct components of the first five levels
T = TypeVar("T")


SEED_FALL = (28, 39)  # percentage points by which the seed's breakdown share falls under √log


def dampings_page(report: _DampingReport) -> str:
    """The report as a section of a page: a table of shares and a table by depth."""
    low, high = SEED_FALL
    lines = [
        f"{report.breakdown_series:,} of {report.series:,} series are breakdowns. `none` draws "
        "all series in a hierarchy equally; the fall is in percentage points relative to it "
        f"(the seed's under sqrtlog: {low} to {high}).",
        "",
        "| damping | breakdown share | fall, points | effective series |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row['damping']} | {percent(row['breakdown'])} | {row['fall_points']:.1f} "
        f"| {row['effective_series']:,.0f} |"
        for row in report.shares.iter_rows(named=True)
    ]
    wide = report.by_depth.pivot("depth", index="damping", values="share")
    lines += [
        "",
        "| damping | " + " | ".join(f"depth {depth}" for depth in wide.columns[1:]) + " |",
        "|---|" + "---|" * (wide.width - 1),
    ]
    lines += [
        f"| {damping} | " + " | ".join(map(percent, shares)) + " |"
        for damping, *shares in wide.iter_rows()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write `results/sampler.md` and `.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=Path, help="table with the columns name and kind")
    parser.add_argument("--separator", default=SEPARATOR)
    options = parser.parse_args()
    times = _speed()
    load = os.getloadavg()[0]
    listed, origin = _listed(options.names)
    breakdown = (listed["kind"] == "breakdown").to_numpy()
    dampings = _compare_dampings(listed["name"], breakdown=breakdown, separator=options.separator)
    weights = leaf_probabilities(listed["name"], separator=options.separator)
    fit = fit_of_samples(listed["name"].to_list(), weights, SIZE, range(SAMPLES))
    about = (
        "Hierarchical sampling: exact probabilities of every series in closed form, draws with "
        "replacement, and the fit of keyed systematic samples of fixed size. Least of "
        f"{REPEATS} runs (the recursion: one). Wall and processor seconds (all threads) grow where "
        f"other work shares the machine; its load was {load:.1f} after the timing."
    )
    write_result(
        "sampler",
        about,
        _page(times, fit, dampings, origin),
        {
            "bars": BARS,
            "seconds": times,
            "load": round(load, 1),
            "fit": fit.figures(),
            "dampings": dampings.shares.to_dicts(),
            "names": origin,
        },
    )


def generated_names(series: int) -> pl.Series:
    """Distinct names of six levels in shuffled order, as many as asked for."""
    generator = keyed_generator(0, "benchmark", "names")
    columns = {
        f"level{i}": generator.integers(width, size=series) for i, width in enumerate(_WIDTHS)
    }
    columns["level5"] = np.arange(series) // 3
    form = "Category {} | Line {} | By axis {} | Member {} | Sub {} | Item {}"
    names = pl.DataFrame(columns).select(pl.format(form, *columns).alias("name")).to_series()
    return names.unique().sort().gather(generator.permutation(names.n_unique()))


def recursive(names: Sequence[str]) -> list[float]:
    """The plain implementation: nested lists, one call per node."""
    probabilities = [0.0] * len(names)
    _descend([(at, name.split(SEPARATOR)) for at, name in enumerate(names)], 0, 1.0, probabilities)
    return probabilities


def _descend(
    members: list[tuple[int, list[str]]], level: int, share: float, probabilities: list[float]
) -> None:
    children: dict[str | None, list[tuple[int, list[str]]]] = {}
    for member in members:
        path = member[1]
        children.setdefault(path[level] if level < len(path) else None, []).append(member)
    weights = {key: math.sqrt(math.log(len(held) + 1)) for key, held in children.items()}
    total = sum(weights.values())
    for key, held in children.items():
        if key is not None:
            _descend(held, level + 1, share * weights[key] / total, probabilities)
            continue
        for at, _ in held:
            probabilities[at] = share * weights[key] / total / len(held)


def _speed() -> dict[str, list[float]]:
    """Wall and processor seconds of each part at a million series."""
    names = generated_names(SERIES)
    listed = names.to_list()
    times = {}
    times["probabilities"], pi = _timed(lambda: leaf_probabilities(names))
    times["recursive"], plain = _timed(lambda: recursive(listed), repeats=1)
    if not np.allclose(pi, plain, rtol=0, atol=1e-12):
        raise RuntimeError("the two implementations disagree")
    generator = keyed_generator(0, "benchmark", "draws")
    times["draws"], _ = _timed(lambda: draw_with_replacement(pi, DRAWS, generator))
    chances = pi / pi.sum()
    times["choice"], _ = _timed(lambda: generator.choice(len(chances), DRAWS, p=chances))
    return times


def _timed(run: Callable[[], T], repeats: int = REPEATS) -> tuple[list[float], T]:
    """Least wall and least processor seconds, and the last result."""
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        result = run()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return [round(min(walls), 4), round(min(processors), 4)], result


def _listed(path: Path | None) -> tuple[pl.DataFrame, str]:
    """The names of the fit: given, or generated with 120 headlines."""
    if path is not None:
        return pl.read_csv(path), path.name
    heads = [f"Category {i % 6} | Line {i}" for i in range(120)]
    below = [f"{heads[i * i % 120]} | By axis {i % 4} | Member {i}" for i in range(9_880)]
    kinds = ["headline"] * len(heads) + ["breakdown"] * len(below)
    return pl.DataFrame({"name": heads + below, "kind": kinds}), "generated"


def _page(times: dict[str, list[float]], fit: Fit, dampings: _DampingReport, origin: str) -> str:
    labels = {
        "probabilities": f"exact probabilities, {SERIES:,} names of depth 6, from strings",
        "recursive": "the same, plain recursion",
        "draws": f"{DRAWS:,} draws with replacement, keyed",
        "choice": "the same, numpy.random.Generator.choice",
    }
    rows = [
        (label, f"{times[key][0]:.3f}", f"{times[key][1]:.3f}", str(BARS.get(key, "")))
        for key, label in labels.items()
    ]
    speed = table(("", "wall s", "processor s", "bar"), rows)
    checks = table(
        ("samples", "size", "units", "certain", "largest abs(z)", "χ² (cells)", "p"),
        [
            (
                f"{fit.samples:,}",
                f"{fit.size:,}",
                f"{fit.units:,}",
                str(fit.certain),
                f"{fit.largest_z:.2f} (bar {BARS['largest_z']})",
                f"{fit.chi2:,.0f} ({fit.cells:,})",
                f"{fit.p:.3f} (bar {BARS['p']})",
            )
        ],
    )
    return (
        f"## Speed\n\n{speed}\n## Fit of fixed-size samples ({origin})\n\n{checks}\n"
        f"## Dampings ({origin})\n\n{dampings_page(dampings)}"
    )


if __name__ == "__main__":
    main()
