"""Linked scores on simulated pairs of snapshots with known truth.

    python -m benchmarks.linking

Four agents run on one snapshot of 150 tasks, four others on a later one; 60 tasks are in both, and
the other 90 of the later one are harder by 0.8 logits. Errors are in points (per cent of the tasks
of the first snapshot), over the agents of the later one; coverage is over all agents.
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import table, write_result
from tests.selection.evaluation.test_comparisons import simulated

PAIRS = 200


def main() -> None:
    covered, linked, raw = [], [], []
    for seed in range(PAIRS):
        scores, truth = simulated(seed)
        for row in scores:
            covered.append(row.low <= truth[row.configuration] <= row.high)
            if not row.on_reference:
                linked.append(100 * (row.score - truth[row.configuration]))
                raw.append(100 * (row.raw - truth[row.configuration]))
    figures = {
        "pairs of snapshots": float(PAIRS),
        "coverage of 95 % intervals": round(float(np.mean(covered)), 4),
        "mean error, linked": round(float(np.mean(linked)), 2),
        "mean error, raw": round(float(np.mean(raw)), 2),
        "mean absolute error, linked": round(float(np.mean(np.abs(linked))), 2),
        "mean absolute error, raw": round(float(np.mean(np.abs(raw))), 2),
    }
    text = table(["figure", "value"], [[name, f"{value:g}"] for name, value in figures.items()])
    print(text)
    write_result("linking", str(__doc__), text, figures)


if __name__ == "__main__":
    main()
