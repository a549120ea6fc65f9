"""The held-out quality of the subset selection, as a table.

`python -m benchmarks.selection_quality [FOLDER]`; without a folder the score matrices are looked
for in `$BENCHMINT_MATERIAL/scores`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.heldout import DRAWS, SHARES, Cell, config_of, evaluate, splits_of
from data.canonical import pretty_json
from data.randomness import keyed_generator
from selection.scores import Floats, read_scores

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
RESAMPLES = 10_000
TARGETS = {0.10: 0.02, 0.25: 0.01, 0.67: 0.0}
LOWER_BOUND, WORST_MATRIX = -0.01, -0.02
Value = Callable[[Cell], float]


def main() -> None:
    """Evaluate every matrix and write selection_quality.json and .md into results."""
    default = Path(os.environ.get("BENCHMINT_MATERIAL", HERE.parent.parent / "shared/material"))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default / "scores"
    seeds = orjson.loads((HERE / "heldout_seeds.json").read_bytes())
    cells: list[Cell] = []
    for path in sorted(folder.iterdir()):
        name, (matrix, _) = path.name.split(".")[0], read_scores(path)
        for split in splits_of(matrix, tuple(seeds["evaluation"])):
            cells += [evaluate(name, matrix, split, s, seeds["random_draws"]) for s in SHARES]
        print(f"{name}: {sum(cell.matrix == name for cell in cells)} cells", flush=True)
    summary = summarise(cells, seeds["bootstrap"])
    RESULTS.mkdir(exist_ok=True)
    rounded = [_rounded({k: v for k, v in asdict(c).items() if k != "draw_gains"}) for c in cells]
    settings = {"config": config_of(1).model_dump(mode="json", exclude={"size"}), "seeds": seeds}
    content = pretty_json(settings | {"summary": summary, "cells": rounded})
    (RESULTS / "selection_quality.json").write_bytes(content)
    text = _markdown(cells, summary) + "\n" + (HERE / "selection_notes.md").read_text()
    (RESULTS / "selection_quality.md").write_text(text)


def summarise(cells: Sequence[Cell], key: int) -> dict[str, Any]:
    """Per size: means over matrices, intervals, shares of cells won, errors; and the verdicts."""
    summary: dict[str, Any] = {}
    for share in SHARES:
        part = [cell for cell in cells if cell.share == share]
        summary[f"{share:.2f}"] = _rounded(_of_share(part, share, key))
    names = sorted({cell.matrix for cell in cells})
    by_matrix = {name: _mean([c for c in cells if c.matrix == name], _gain) for name in names}
    return summary | {"gain_by_matrix": _rounded(by_matrix)}


def _of_share(cells: list[Cell], share: float, key: int) -> dict[str, Any]:
    by_splits, by_matrices = intervals(gain_table(cells), cells[0].share, key)
    figures: dict[str, Any] = {
        name: over_matrices(cells, attrgetter(name))
        for name in (
            *("tau", "random_tau", "gain", "won", "chance"),
            *("raw", "calibrated", "ridge"),
            *("random_raw", "random_calibrated", "random_ridge"),
        )
    }
    return figures | {
        "target": TARGETS[share],
        "by_chance": _by_chance(cells, share, key),
        "interval_over_splits": by_splits,
        "interval_over_matrices_and_splits": by_matrices,
        "worst_matrix": min(_by_matrix(cells, _gain).values()),
        "weak_to_strong": over_matrices([c for c in cells if not c.split.isdigit()], _gain),
    }


def _by_chance(cells: Sequence[Cell], share: float, key: int) -> dict[str, float]:
    """Each random draw taken as the method: the share of them that reaches each bar."""
    tables = [gain_table(cells, draw) for draw in range(DRAWS)]
    means = [table.mean() >= TARGETS[share] for table in tables]
    bounds = [intervals(table, share, key)[0][0] >= LOWER_BOUND for table in tables]
    worst = [table.mean(axis=1).min() >= WORST_MATRIX for table in tables]
    reached = np.array([means, bounds, worst])
    names = ("mean", "lower_bound", "worst_matrix")
    rates = {name: float(row.mean()) for name, row in zip(names, reached, strict=True)}
    return rates | {"all": float(reached.all(axis=0).mean())}


def gain_table(cells: Sequence[Cell], draw: int | None = None) -> Floats:
    """Gains as matrices × splits: of the method, or of one of the random draws."""
    names = sorted({cell.matrix for cell in cells})
    return np.array(
        [
            [c.gain if draw is None else c.draw_gains[draw] for c in cells if c.matrix == name]
            for name in names
        ]
    )


def intervals(gains: Floats, share: float, key: int) -> tuple[list[float], list[float]]:
    """Bootstrap 95 % intervals of the mean gain: splits resampled within each matrix, and
    matrices resampled too."""
    generator = keyed_generator(key, "heldout-bootstrap", f"{share}")
    n_matrices, n_splits = gains.shape
    column = generator.integers(0, n_splits, (RESAMPLES, n_matrices, n_splits))
    fixed = np.broadcast_to(np.arange(n_matrices), (RESAMPLES, n_matrices))
    drawn = generator.integers(0, n_matrices, (RESAMPLES, n_matrices))
    bounds = []
    for row in (fixed, drawn):
        means = gains[row[:, :, None], column].mean(axis=(1, 2))
        bounds.append(np.quantile(means, [0.025, 0.975]).tolist())
    return bounds[0], bounds[1]


def over_matrices(cells: Sequence[Cell], value: Value) -> float:
    """The mean over matrices of the mean over their cells: each matrix counts once."""
    return float(np.mean(list(_by_matrix(cells, value).values())))


def _by_matrix(cells: Sequence[Cell], value: Value) -> dict[str, float]:
    names = sorted({cell.matrix for cell in cells})
    return {name: _mean([c for c in cells if c.matrix == name], value) for name in names}


def _mean(cells: Sequence[Cell], value: Value) -> float:
    return float(np.mean([value(cell) for cell in cells]))


def _gain(cell: Cell) -> float:
    return cell.gain


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    rounded: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, float):
            rounded[name] = round(value, 5)
        elif isinstance(value, dict):
            rounded[name] = _rounded(value)
        elif isinstance(value, list):
            rounded[name] = [round(each, 5) for each in value]
        else:
            rounded[name] = value
    return rounded


def _markdown(cells: Sequence[Cell], summary: dict[str, Any]) -> str:
    lines = [
        "# Held-out quality of the subset selection",
        "",
        f"{len(cells)} cells: {len(summary['gain_by_matrix'])} matrices, five seeded splits of the "
        "models in halves plus weak half to strong half, three sizes, one configuration. Chosen on "
        f"one half, judged on the other, beside {DRAWS} random draws proportional per family. "
        "Gains are in Kendall's tau-b over the mean of the draws; each matrix counts once; "
        "errors are in score points (100 = all).",
        "",
        "| | " + " | ".join(f"K = {share:.0%}" for share in SHARES) + " |",
        "|---|" + "---|" * len(SHARES),
    ]
    lines += [_row(label, [read(summary[f"{s:.2f}"]) for s in SHARES]) for label, read in _ROWS]
    lines += [
        *("", "## Mean gain per matrix", ""),
        "| matrix | all sizes | " + " | ".join(f"K = {share:.0%}" for share in SHARES) + " |",
        "|---|" + "---|" * (len(SHARES) + 1),
    ]
    for name, gain in summary["gain_by_matrix"].items():
        parts = [[c for c in cells if c.matrix == name and c.share == share] for share in SHARES]
        lines.append(_row(name, [f"{gain:+.3f}", *(f"{_mean(p, _gain):+.3f}" for p in parts)]))
    slowest = max(cell.solve_seconds for cell in cells)
    certified = sum("certified" in cell.method for cell in cells)
    lines += [
        "",
        f"{certified} of {len(cells)} programmes were solved by the certified relaxation; the "
        f"slowest took {slowest:.2f} s of solver time.",
        "",
    ]
    return "\n".join(lines)


def _row(label: str, values: Sequence[str]) -> str:
    return f"| {label} | " + " | ".join(values) + " |"


def _interval(bounds: Sequence[float]) -> str:
    return f"{bounds[0]:+.3f} … {bounds[1]:+.3f}"


def _met(figures: dict[str, Any]) -> str:
    mean = figures["gain"] >= figures["target"]
    bound = figures["interval_over_splits"][0] >= LOWER_BOUND
    worst = figures["worst_matrix"] >= WORST_MATRIX
    error = figures["calibrated"] <= figures["random_ridge"]
    parts = {"mean": mean, "bound": bound, "worst matrix": worst, "error": error}
    missed = [name for name, holds in parts.items() if not holds]
    return "all met" if not missed else "missed: " + ", ".join(missed)


_ROWS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("tau, random draws", lambda f: f"{f['random_tau']:.3f}"),
    ("tau, chosen", lambda f: f"{f['tau']:.3f}"),
    ("**mean gain** (target)", lambda f: f"**{f['gain']:+.3f}** ({f['target']:+.2f})"),
    ("95 % interval, splits resampled", lambda f: _interval(f["interval_over_splits"])),
    (
        "95 % interval, matrices and splits resampled",
        lambda f: _interval(f["interval_over_matrices_and_splits"]),
    ),
    ("weak to strong alone", lambda f: f"{f['weak_to_strong']:+.3f}"),
    ("worst matrix at this size", lambda f: f"{f['worst_matrix']:+.3f}"),
    (
        "another random draw as the method reaches mean / bound / worst / all three",
        lambda f: " / ".join(f"{share:.0%}" for share in f["by_chance"].values()),
    ),
    ("cells won (chance level)", lambda f: f"{f['won']:.0%} ({f['chance']:.0%})"),
    ("error of the raw mean: chosen", lambda f: f"{100 * f['raw']:.2f}"),
    ("error of the raw mean: random", lambda f: f"{100 * f['random_raw']:.2f}"),
    ("error, calibrated: chosen", lambda f: f"**{100 * f['calibrated']:.2f}**"),
    ("error, random + ridge", lambda f: f"{100 * f['random_ridge']:.2f}"),
    ("error, random + our calibration", lambda f: f"{100 * f['random_calibrated']:.2f}"),
    ("error, chosen + ridge", lambda f: f"{100 * f['ridge']:.2f}"),
    ("bars", _met),
)


if __name__ == "__main__":
    main()
