"""Simulated leaderboards with known truth.

Eight agents on the same tasks, two of them equal, one ten points behind another; tasks
independent (200), or in 40 clusters of 5 that share half of their difficulty. Per board: do the
95 % intervals hold the truth, are the equal agents separated, is the gap found? Beside it the
usual practice: ranks by bare means. Then small boards of two equal agents, as releases have them:
how often does each test at 5 % separate them?

    python -m benchmarks.boards      writes benchmarks/results/boards.md and .json
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.report import table, write_result
from selection.evaluation.comparisons import compare
from selection.evaluation.intervals import Floats, clustered, usable, wilson

BOARDS = 2_000
TASKS, CLUSTERS = 200, 40
ABILITIES = (0.75, 0.70, 0.65, 0.60, 0.60, 0.50, 0.45, 0.40)  # 3 and 4 are equal, 3 and 5 apart
EQUAL, APART = (3, 4), (3, 5)
SHARED = 0.5  # of the variance of a task's difficulty, within its cluster
SPREAD = 1.0  # standard deviation of difficulty, in probits
SMALL = ((9, 1, 0.0), (30, 10, 0.0), (60, 12, 0.0), (60, 12, 1.0), (60, 6, 1.0))


def simulate(boards: int, clusters: int, seed: int) -> dict[str, Any]:
    """Coverage, false separations and power over `boards` boards of passes and fails."""
    draw = np.random.default_rng(seed)
    labels = np.repeat(np.arange(clusters), TASKS // clusters).tolist()
    covered, plain_covered = np.zeros(len(ABILITIES)), np.zeros(len(ABILITIES))
    counts = dict.fromkeys(("equal", "equal_corrected", "apart", "apart_corrected", "ordered"), 0)
    errors = []
    for _ in range(boards):
        scores = _board(draw, clusters)
        for at, ability in enumerate(ABILITIES):
            own = clustered(scores[at], labels)
            bare = wilson(int(scores[at].sum()), TASKS)
            covered[at] += float(own.low or 0) <= ability <= float(own.high or 0)
            plain_covered[at] += float(bare.low or 0) <= ability <= float(bare.high or 0)
        pairs = compare({str(at): scores[at] for at in range(len(ABILITIES))}, labels)
        compared = {(int(p.first), int(p.second)): p for p in pairs}
        for name, pair in (("equal", EQUAL), ("apart", APART)):
            p = compared[pair].p
            counts[name] += p is not None and p < 0.05
            counts[f"{name}_corrected"] += compared[pair].is_real
        errors.append(float(compared[APART].estimate.error or 0.0))
        means = scores.mean(axis=1)
        counts["ordered"] += bool(means[EQUAL[0]] != means[EQUAL[1]])
    return _figures(boards, clusters, covered, plain_covered, counts, float(np.mean(errors)))


def _board(draw: np.random.Generator, clusters: int) -> Floats:
    """Agents × tasks: 1 where ability beats the task's difficulty and the attempt's chance."""
    common = np.repeat(draw.normal(size=clusters), TASKS // clusters)
    own = draw.normal(size=TASKS)
    is_clustered = clusters < TASKS
    share = SHARED if is_clustered else 0.0
    difficulty = SPREAD * (np.sqrt(share) * common + np.sqrt(1 - share) * own)
    threshold = stats.norm.ppf(ABILITIES) * np.sqrt(1 + SPREAD**2)
    noise = draw.normal(size=(len(ABILITIES), TASKS))
    return np.asarray(threshold[:, None] - difficulty + noise > 0, dtype=np.float64)


def small_boards(boards: int, seed: int) -> list[dict[str, Any]]:
    """False separations of two equal agents on few tasks, by the exact test and by Student's.

    Of `tasks` in `clusters`; `own`: standard deviation, in probits, of what an agent is better at
    in one cluster than in another.
    """
    draw = np.random.default_rng(seed)
    rows = []
    for tasks, clusters, own in SMALL:
        labels = np.repeat(np.arange(clusters), tasks // clusters)
        rejected = {"exact": 0, "Student": 0, "McNemar": 0}
        for _ in range(boards):
            hard = draw.normal(size=tasks)
            skill = own * draw.normal(size=(2, clusters))[:, labels]
            passed = (1 + skill - hard + draw.normal(size=(2, tasks)) > 0).astype(np.float64)
            (pair,) = compare({"a": passed[0], "b": passed[1]}, labels.tolist())
            student = clustered(passed[0] - passed[1], usable(labels.tolist()))
            reach = stats.t.ppf(0.975, student.clusters - 1) * float(student.error or 0)
            only = int((passed[0] > passed[1]).sum()), int((passed[0] < passed[1]).sum())
            rejected["exact"] += pair.is_real
            rejected["Student"] += abs(float(student.mean or 0)) > reach
            rejected["McNemar"] += bool(sum(only)) and (
                stats.binomtest(only[0], sum(only)).pvalue < 0.05
            )
        shares = {name: round(float(n) / boards, 4) for name, n in rejected.items()}
        rows.append({"tasks": tasks, "clusters": clusters, "own": own} | shares)
    return rows


def _figures(
    boards: int,
    clusters: int,
    covered: Floats,
    plain: Floats,
    counts: Mapping[str, int],
    error: float,
) -> dict[str, Any]:
    gap = ABILITIES[APART[0]] - ABILITIES[APART[1]]
    pairs = len(ABILITIES) * (len(ABILITIES) - 1) // 2
    powers = {
        name: _power(gap / error, clusters - 1, 0.05 / n) for name, n in (("", 1), ("c", pairs))
    }
    return {
        "coverage, clustered t": round(float(covered.mean()) / boards, 4),
        "coverage, Wilson": round(float(plain.mean()) / boards, 4),
        "equal agents separated, one test": round(counts["equal"] / boards, 4),
        "equal agents separated, of all pairs": round(counts["equal_corrected"] / boards, 4),
        "equal agents ranked apart by bare means": round(counts["ordered"] / boards, 4),
        "gap found, one test": round(counts["apart"] / boards, 4),
        "gap found, of all pairs": round(counts["apart_corrected"] / boards, 4),
        "theoretical power, one test": round(powers[""], 4),
        "theoretical power, Bonferroni over all pairs": round(powers["c"], 4),
    }


def _power(effect: float, freedom: int, level: float) -> float:
    reach = stats.t.ppf(1 - level / 2, freedom)
    law = stats.nct(freedom, effect)
    return float(law.sf(reach) + law.cdf(-reach))


def main() -> None:
    started = time.perf_counter()
    simulated = {
        "independent": simulate(BOARDS, TASKS, 20_261_124),
        "clustered": simulate(BOARDS, CLUSTERS, 20_261_125),
    }
    figures = list(simulated["independent"])
    rows = [[n, *(f"{own[n]:.4f}" for own in simulated.values())] for n in figures]
    text = ["## Simulated boards\n", table(["figure", "200 independent", "40 clusters of 5"], rows)]
    small = small_boards(BOARDS, 20_261_126)
    heads = ("tasks", "clusters", "agents differ by cluster", "exact", "Student", "McNemar")
    text += [
        "\n## Small boards: equal agents separated\n",
        table(heads, [[str(value) for value in row.values()] for row in small]),
    ]
    content: dict[str, Any] = {"boards": BOARDS, "simulated": simulated, "small": small}
    content["seconds"] = round(time.perf_counter() - started, 1)
    print("\n".join(text))
    write_result("boards", str(__doc__), "\n".join(text), content)


if __name__ == "__main__":
    main()
