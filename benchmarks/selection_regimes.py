"""Which subset orders new models best, by the number of pilots; and how exact its estimator is.

`python -m benchmarks.selection_regimes [--scores FOLDER …] [--seeds N]` reads the score matrices of
the folders (default: `$BENCHMINT_MATERIAL/scores`) and writes results/selection_regimes.md, .json
and .svg. Models are split at random: so many pilots, all others held out. Large matrices are cut to
800 items, drawn by a fixed seed.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.heldout import random_draws
from benchmarks.report import RESULTS, table
from data.canonical import pretty_json
from data.figures import amount
from selection.config import Objective, SelectionConfig
from selection.estimator import (
    Estimator,
    PilotFits,
    _fit_responses,
    _ResponseModel,
    calibrate,
    kendall_tau,
    pool_means,
    subset_means,
)
from selection.pool import filled, pool_of_matrix, resolved, resolved_picks
from selection.scores import Floats, ScoreMatrix, read_scores
from selection.select import select_subset

SHARES = (0.05, 0.10, 0.25)
PILOTS = (6, 12, 20, 56, 100)  # of matrices with twenty models or more; half of smaller ones
REGIMES = {
    "under 10": (2, 9),
    "10 to 25": (10, 25),
    "26 to 99": (26, 99),
    "100 and more": (100, 10**6),
}
FIRST_SEED, LEAST_TEST, LARGEST = 7000, 4, 800
RIDGED = 4  # of the random draws, whose scores are estimated by ridge too
Subset = NDArray[np.bool_]
_GRID = np.linspace(-1.5, 1.5, 7)  # abilities at which items inform
PLAIN: dict[str, Any] = {"cover_families": False, "drop_zero_discrimination": False}


NOTES = Path(__file__).with_name("selection_regimes_notes.md")


@dataclass(frozen=True, slots=True)
class Pilots:
    """What a method may see: the pilots' scores, as a matrix and fitted."""

    matrix: ScoreMatrix
    fit: _ResponseModel
    ties: NDArray[np.int64]

    def best(self, gains: Floats, size: int) -> Subset:
        order = np.lexsort((self.ties, -gains.round(9)))[:size]
        return np.isin(np.arange(len(gains)), order)


Method = Callable[[Pilots, int], Subset]


def _solved(**settings: Any) -> Method:
    def choose(pilots: Pilots, size: int) -> Subset:
        config = SelectionConfig(size=size, **PLAIN, **settings)
        solved = select_subset(pool_of_matrix(pilots.matrix, config), config)
        assert solved.solution.chosen is not None
        return np.asarray(solved.solution.chosen)

    return choose


def variance(pilots: Pilots, size: int) -> Subset:
    """The items whose scores vary most."""
    return pilots.best(filled(pilots.matrix.scores).var(axis=1), size)


def information(pilots: Pilots, size: int) -> Subset:
    """The items that inform most about abilities, by the response model, one after the other."""
    fit = pilots.fit
    chance = 1 / (1 + np.exp(-(fit.slopes[:, None] * _GRID + fit.intercepts[:, None])))
    each = fit.slopes[:, None] ** 2 * chance * (1 - chance)
    weights, total = np.exp(-(_GRID**2) / 2), np.full(len(_GRID), 0.2)
    chosen = np.zeros(len(each), dtype=bool)
    for _ in range(size):
        gain = np.log(total + each) @ weights
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        chosen[best], total = True, total + each[best]
    return chosen


def anchors(pilots: Pilots, size: int) -> Subset:
    """The items nearest to the centres of clusters of response profiles (k-means)."""
    from scipy.cluster.vq import kmeans2

    profiles = filled(pilots.matrix.scores)
    seed = int(pilots.ties[0])
    distinct = len(np.unique(profiles, axis=0))
    centres, _ = kmeans2(profiles, min(size, distinct), minit="++", seed=seed, iter=8)
    chosen = np.zeros(len(profiles), dtype=bool)
    for centre in centres:
        distance = ((profiles - centre) ** 2).sum(axis=1)
        distance[chosen] = np.inf
        chosen[int(np.argmin(distance))] = True
    rest = np.flatnonzero(~chosen)
    fewer = size - int(chosen.sum())
    chosen[rest[np.argsort(pilots.ties[rest])[:fewer]]] = True
    return chosen


DEFAULT = "default (by pilots)"
CHOSEN: dict[str, Method] = {
    "covariance, 1 pick": _solved(objective=Objective.COVARIANCE, stratum_picks=1),
    "margins, 1 pick": _solved(objective=Objective.MARGINS, stratum_picks=1),
    "margins, 2 picks": _solved(objective=Objective.MARGINS, stratum_picks=2),
    "strata (balanced)": _solved(objective=Objective.BALANCED),
    "highest variance": variance,
    "anchors": anchors,
    "IRT information": information,
}
METHODS = (DEFAULT, *CHOSEN)


@dataclass(frozen=True, slots=True)
class Cell:
    """One matrix, split, size and method on the held-out models; errors in score points."""

    matrix: str
    pilots: int
    share: float
    method: str
    gain: float
    raw: float
    estimated: float
    random_raw: float
    random_ridge: float


def cells_of(name: str, matrix: ScoreMatrix, pilots: int, seed: int) -> Iterator[Cell]:
    """All methods at all sizes on one split."""
    order = np.random.default_rng([seed, pilots]).permutation(len(matrix.models))
    seen = matrix.of_models([matrix.models[at] for at in np.sort(order[:pilots])])
    test = matrix.scores[:, np.sort(order[pilots:])]
    full, fits = pool_means(test), PilotFits(seen.scores)
    ties = np.random.default_rng(seed).integers(1, 2**24, len(matrix.items))
    given = Pilots(seen, _fit_responses(seen.scores), ties)
    for share in SHARES:
        size = max(2, round(share * len(matrix.items)))
        draws = random_draws(matrix.families, size, seed, f"{name} {pilots} {share}")
        means = subset_means(test, draws)
        random_tau = float(kendall_tau(means, full).mean())
        random_raw = float(np.abs(means - full).mean())
        ridge = [calibrate(seen.scores, one).estimate(test[one]) for one in draws[:RIDGED]]
        random_ridge = float(np.abs(np.array(ridge) - full).mean())
        for method, choose in CHOSEN.items():
            chosen = choose(given, size)
            here = subset_means(test, chosen[None, :])
            estimator: Estimator = fits.estimator(chosen)
            estimated = float(np.abs(estimator.estimate(test[chosen]) - full).mean())
            cell = Cell(
                name, pilots, share, method, float(kendall_tau(here, full)[0]) - random_tau,
                float(np.abs(here - full).mean()), estimated, random_raw, random_ridge,
            )  # fmt: skip
            yield cell
            if method == default_of(pilots):
                yield replace(cell, method=DEFAULT)


def default_of(pilots: int) -> str:
    """The method that the default is with so many pilots."""
    picks = resolved_picks("by_pilots", pilots)
    return f"{resolved(Objective.BY_PILOTS, pilots)}, {amount(picks or 0, 'pick')}"


def pilots_of(n_models: int) -> list[int]:
    """The numbers of pilots to try, which leave models to test on."""
    if n_models < 20:
        return [n_models // 2]
    return [pilots for pilots in PILOTS if pilots <= n_models - LEAST_TEST - 2]


def means(cells: Sequence[Cell], regime: str, share: float, method: str) -> dict[str, float]:
    """Means over matrices (each the mean over its splits), and the worst matrix' gain."""
    low, high = REGIMES[regime]
    by_matrix: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.share == share and cell.method == method and low <= cell.pilots <= high:
            by_matrix[cell.matrix].append(cell)
    fields = ("gain", "raw", "estimated", "random_raw", "random_ridge")
    rows = np.array(
        [[np.mean([getattr(c, f) for c in own]) for f in fields] for own in by_matrix.values()]
    )
    figures = dict(zip(fields, rows.mean(axis=0).tolist(), strict=True))
    return figures | {"worst": float(rows[:, 0].min()), "matrices": len(rows)}


def page(cells: Sequence[Cell], command: str, seconds: float) -> str:
    """The results as Markdown, with bars, command and machine."""
    lines = [
        "# Selection by the number of pilots", "",
        f"`{command}`; {platform.machine()}, {os.cpu_count()} cores, {seconds:.0f} s. Gain: "
        "Kendall's tau on held-out models over the mean of 100 stratified random draws, mean over "
        "matrices (worst matrix). Errors of the score on the whole pool in points: the raw mean, "
        "with the estimator that it ships, and random draws with ridge.",
    ]  # fmt: skip
    for regime in REGIMES:
        if not any(_in(cell, regime) for cell in cells):
            continue
        figures = {(m, s): means(cells, regime, s, m) for m in METHODS for s in SHARES}
        lines += [
            "",
            f"## {regime} pilots ({figures[DEFAULT, SHARES[0]]['matrices']} matrices)",
            "",
        ]
        head = [
            "method",
            *(f"gain at {s:.0%}" for s in SHARES),
            *(f"errors at {s:.0%}" for s in SHARES),
        ]
        rows = [
            [
                method,
                *(_gain(figures[method, s]) for s in SHARES),
                *(_errors(figures[method, s]) for s in SHARES),
            ]
            for method in METHODS
        ]
        lines += [table(head, rows)]
    lines += ["", NOTES.read_text()]
    return "\n".join(
        [*lines, "", *bars(cells), "", "![Error by subset size](selection_regimes.svg)", ""]
    )


def _in(cell: Cell, regime: str) -> bool:
    low, high = REGIMES[regime]
    return low <= cell.pilots <= high


def _gain(row: dict[str, float]) -> str:
    return f"{row['gain']:+.3f} ({row['worst']:+.3f})"


def _errors(row: dict[str, float]) -> str:
    raw, own, ridge = (100 * row[name] for name in ("raw", "estimated", "random_ridge"))
    return f"{raw:.1f} / {own:.1f} / {ridge:.1f}"


def bars(cells: Sequence[Cell]) -> Iterator[str]:
    """Which bars are kept, a line each."""
    yield "## Bars"
    yield ""
    wanted = {"10 to 25": 0.02, "26 to 99": None, "100 and more": 0.04, "under 10": None}
    for regime, least in wanted.items():
        if not any(_in(cell, regime) for cell in cells):
            continue
        rows = [means(cells, regime, share, DEFAULT) for share in SHARES]
        floor = min(row["gain"] for row in rows)
        yield f"- {regime}: lowest mean gain {floor:+.3f} (bar −0.005: {_kept(floor >= -0.005)})"
        if least is not None:
            gain = rows[1]["gain"]
            yield f"- {regime}: gain at 10 % {gain:+.3f} (bar {least:+.2f}: {_kept(gain >= least)})"
        lead = max(row["estimated"] - row["random_ridge"] for row in rows)
        yield (
            f"- {regime}: the estimator's error is below random + ridge by at least "
            f"{-100 * lead:.2f} points ({_kept(lead < 0)})"
        )


def _kept(is_kept: bool) -> str:
    return "kept" if is_kept else "MISSED"


def picture(cells: Sequence[Cell]) -> bytes:
    """Mean errors by subset size over all matrices and numbers of pilots, as SVG."""
    own = [cell for cell in cells if cell.method == DEFAULT]
    series = {
        "random, raw mean": "random_raw", "random, ridge": "random_ridge",
        "default subset, raw mean": "raw", "default subset, its estimator": "estimated",
    }  # fmt: skip
    colours = ("#8a8f98", "#c8553d", "#7fb3d0", "#2a6f97")
    points = {
        title: [
            (s, 100 * float(np.mean([getattr(c, f) for c in own if c.share == s]))) for s in SHARES
        ]
        for title, f in series.items()
    }
    top = 1.1 * max(y for line in points.values() for _, y in line)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 340" role="img" '
        'font-family="sans-serif" font-size="13" fill="#333">'
        '<rect width="620" height="340" fill="#fff"/>'
        '<text x="20" y="24">Mean error of the score on the pool, in points, by subset size</text>'
    ]
    for tick in range(0, int(top) + 1, 2):
        y = 290 - 240 * tick / top
        parts.append(f'<path d="M60 {y:.1f}H400" stroke="#e3e3e3"/>')
        parts.append(f'<text x="34" y="{y + 4:.1f}">{tick}</text>')
    for share in SHARES:
        parts.append(
            f'<text x="{_across(share):.1f}" y="312" text-anchor="middle">{share:.0%}</text>'
        )
    for number, (title, line) in enumerate(points.items()):
        path = "L".join(f"{_across(x):.1f} {290 - 240 * y / top:.1f}" for x, y in line)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colours[number]}" stroke-width="2.5"/>'
        )
        at = 70 + 24 * number
        parts.append(f'<path d="M420 {at}h22" stroke="{colours[number]}" stroke-width="2.5"/>')
        parts.append(f'<text x="448" y="{at + 4}">{title}</text>')
    return ("".join(parts) + "</svg>\n").encode()


def _across(share: float) -> float:
    return 80 + 300 * float(np.log(share / SHARES[0]) / np.log(SHARES[-1] / SHARES[0]))


def main() -> None:
    """Evaluate every matrix and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    given, began = parser.parse_args(), time.perf_counter()
    default = Path(os.environ.get("BENCHMINT_MATERIAL", "../shared/material")) / "scores"
    files = [path for folder in given.scores or [default] for path in sorted(folder.iterdir())]
    cells: list[Cell] = []
    for path in files:
        matrix = read_scores(path)[0]
        if len(matrix.items) > LARGEST:
            drawn = np.random.default_rng(0).choice(len(matrix.items), LARGEST, replace=False)
            matrix = matrix.of_items(np.sort(drawn))
        for pilots in pilots_of(len(matrix.models)):
            for seed in range(FIRST_SEED, FIRST_SEED + given.seeds):
                cells += cells_of(path.name.split(".")[0], matrix, pilots, seed)
        print(f"{path.name}: {time.perf_counter() - began:.0f} s", flush=True)
    command = f"python -m benchmarks.selection_regimes --scores MATRICES --seeds {given.seeds}"
    RESULTS.mkdir(exist_ok=True)
    text = page(cells, command, time.perf_counter() - began)
    (RESULTS / "selection_regimes.md").write_text(text)
    (RESULTS / "selection_regimes.svg").write_bytes(picture(cells))
    figures = {
        regime: {m: {f"{s:.2f}": means(cells, regime, s, m) for s in SHARES} for m in METHODS}
        for regime in REGIMES
        if any(_in(cell, regime) for cell in cells)
    }
    (RESULTS / "selection_regimes.json").write_bytes(pretty_json(figures))
    print("\n".join(bars(cells)))


if __name__ == "__main__":
    main()
