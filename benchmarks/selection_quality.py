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

from benchmarks.heldout import (
    CONFIGURATIONS,
    DRAWS,
    ESTIMATED,
    SHARES,
    WEAK_TO_STRONG,
    Cell,
    config_of,
    evaluate,
    splits_of,
)
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
            cells += evaluate(name, matrix, split, seeds["random_draws"])
        print(f"{name}: {sum(cell.matrix == name for cell in cells)} cells", flush=True)
    summaries = {
        name: summarise([cell for cell in cells if cell.configuration == name], seeds["bootstrap"])
        for name in CONFIGURATIONS
    }
    RESULTS.mkdir(exist_ok=True)
    rounded = [
        _rounded({key: value for key, value in asdict(cell).items() if key != "draw_gains"})
        for cell in cells
        if cell.configuration == "default"
    ]
    settings = {"config": config_of(1).model_dump(mode="json", exclude={"size"}), "seeds": seeds}
    content = pretty_json(settings | {"summary": summaries, "cells": rounded})
    (RESULTS / "selection_quality.json").write_bytes(content)
    text = _markdown(cells, summaries) + "\n" + (HERE / "selection_notes.md").read_text()
    (RESULTS / "selection_quality.md").write_text(text)


def summarise(cells: Sequence[Cell], key: int) -> dict[str, Any]:
    """Per size: means over matrices, intervals, shares of cells won, errors; and the verdicts."""
    summary: dict[str, Any] = {}
    for share in SHARES:
        part = [cell for cell in cells if cell.share == share]
        halves = [cell for cell in part if not cell.split.startswith(WEAK_TO_STRONG)]
        strong = [cell for cell in part if cell.split.startswith(WEAK_TO_STRONG)]
        figures = _of_share(halves, share, key) | {WEAK_TO_STRONG: _of_share(strong, share, key)}
        summary[f"{share:.2f}"] = _rounded(figures)
    names = sorted({cell.matrix for cell in cells})
    halves = [cell for cell in cells if not cell.split.startswith(WEAK_TO_STRONG)]
    by_matrix = {name: _mean([c for c in halves if c.matrix == name], _gain) for name in names}
    return summary | {"gain_by_matrix": _rounded(by_matrix)}


def _of_share(cells: list[Cell], share: float, key: int) -> dict[str, Any]:
    by_splits, by_matrices = intervals(gain_table(cells), cells[0].share, key)
    figures: dict[str, Any] = {
        name: over_matrices(cells, attrgetter(name))
        for name in (
            *("tau", "random_tau", "gain", "won", "chance"),
            *("chosen.raw", "chosen.estimated", "chosen.ridge", "chosen.took_responses"),
            *("random.raw", "random.estimated", "random.ridge"),
        )
    }
    return figures | {
        "target": TARGETS[share],
        "by_chance": _by_chance(cells, share, key),
        "interval_over_splits": by_splits,
        "interval_over_matrices_and_splits": by_matrices,
        "worst_matrix": min(_by_matrix(cells, _gain).values()),
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
        ],
        dtype=np.float64,
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


def _markdown(cells: Sequence[Cell], summaries: dict[str, Any]) -> str:
    default = [cell for cell in cells if cell.configuration == "default"]
    summary = summaries["default"]
    covers, drops = (
        str(flag).lower()
        for flag in (config_of(1).cover_families, config_of(1).drop_zero_discrimination)
    )
    lines = [
        "# Held-out quality of the subset selection",
        "",
        f"{len(default)} cells: {len(summary['gain_by_matrix'])} matrices, twelve seeded splits "
        "of the models in halves and twelve from a weak half to a strong one, three sizes. Chosen "
        f"on one half, judged on the other, beside {DRAWS} random draws proportional per family. "
        f"The settings are the default ones but for two: cover_families = {covers} "
        "(a tenth of a pool may have fewer items than families) and drop_zero_discrimination = "
        f"{drops} (few pilots that agree say little about "
        "an item). Gains are in Kendall's tau-b over the mean of the draws; each matrix counts "
        "once; errors are in score points (100 = all). Random items are estimated by the same "
        f"estimator as the chosen ones (the first {ESTIMATED} draws).",
        "",
        "| | " + " | ".join(f"K = {share:.0%}" for share in SHARES) + " |",
        "|---|" + "---|" * len(SHARES),
    ]
    lines += [_row(label, [read(summary[f"{s:.2f}"]) for s in SHARES]) for label, read in _ROWS]
    lines += ["", "## Weak to strong", "", *lines[4:6]]
    lines += [
        _row(label, [read(summary[f"{s:.2f}"][WEAK_TO_STRONG]) for s in SHARES])
        for label, read in _ROWS
        if label != "bars"
    ]
    lines += ["", "## Configurations", "", *_configurations(summaries), "", *_by_name(default)]
    slowest = max(cell.solve_seconds for cell in cells)
    certified = sum("certified" in cell.method for cell in cells)
    lines += [
        "",
        f"{certified} of {len(cells)} programmes were solved by the certified relaxation; the "
        f"slowest took {slowest:.2f} s of solver time.",
        "",
    ]
    return "\n".join(lines)


def _configurations(summaries: dict[str, Any]) -> list[str]:
    """Gains and errors of each configuration, at the three sizes."""
    head = ("gain in tau", "worst matrix", "error, estimated")
    lines = [_row("split, configuration", head), "|---" * (1 + len(head)) + "|"]
    for split in ("halves", WEAK_TO_STRONG):
        for name, summary in summaries.items():
            parts = [summary[f"{share:.2f}"] for share in SHARES]
            parts = [part.get(split, part) for part in parts]
            cells = [
                " / ".join(f"{part[key]:+.3f}" for part in parts)
                for key in ("gain", "worst_matrix")
            ]
            cells.append(" / ".join(_points(part, "chosen.estimated") for part in parts))
            lines.append(_row(f"{split}, {name}", cells))
    return lines


def _by_name(cells: Sequence[Cell]) -> list[str]:
    lines = [
        *("## Mean gain per matrix, halves", ""),
        "| matrix | all sizes | " + " | ".join(f"K = {share:.0%}" for share in SHARES) + " |",
        "|---|" + "---|" * (len(SHARES) + 1),
    ]
    halves = [cell for cell in cells if not cell.split.startswith(WEAK_TO_STRONG)]
    for name, gain in _by_matrix(halves, _gain).items():
        parts = [[c for c in halves if c.matrix == name and c.share == share] for share in SHARES]
        lines.append(_row(name, [f"{gain:+.3f}", *(f"{_mean(p, _gain):+.3f}" for p in parts)]))
    return lines


def _row(label: str, values: Sequence[str]) -> str:
    return f"| {label} | " + " | ".join(values) + " |"


def _interval(bounds: Sequence[float]) -> str:
    return f"{bounds[0]:+.3f} … {bounds[1]:+.3f}"


def _points(figures: dict[str, Any], name: str) -> str:
    return f"{100 * figures[name]:.2f}"


def _met(figures: dict[str, Any]) -> str:
    mean = figures["gain"] >= figures["target"]
    bound = figures["interval_over_splits"][0] >= LOWER_BOUND
    worst = figures["worst_matrix"] >= WORST_MATRIX
    error = figures["chosen.estimated"] <= figures["random.ridge"]
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
    ("worst matrix at this size", lambda f: f"{f['worst_matrix']:+.3f}"),
    (
        "another random draw as the method reaches mean / bound / worst / all three",
        lambda f: " / ".join(f"{share:.0%}" for share in f["by_chance"].values()),
    ),
    ("cells won (chance level)", lambda f: f"{f['won']:.0%} ({f['chance']:.0%})"),
    ("error of the raw mean: chosen", lambda f: _points(f, "chosen.raw")),
    ("error of the raw mean: random", lambda f: _points(f, "random.raw")),
    ("**error, estimated: chosen**", lambda f: _points(f, "chosen.estimated")),
    ("error, estimated: random", lambda f: _points(f, "random.estimated")),
    ("error, textbook ridge: chosen", lambda f: _points(f, "chosen.ridge")),
    ("error, textbook ridge: random", lambda f: _points(f, "random.ridge")),
    ("response model taken, share of cells", lambda f: f"{f['chosen.took_responses']:.0%}"),
    ("bars", _met),
)


if __name__ == "__main__":
    main()
