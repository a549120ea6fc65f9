"""Figures that papers print, computed again with the measures and intervals of this project.

Claw-Eval-Live: pass counts, overall scores and slices from its matrix of scores (threshold .80);
needs the material. FinRetrieval: z and Wald intervals from its printed counts. DataClawBench: the
overall accuracy of eight models from the printed accuracies and numbers of tasks of seven
categories, and beside it EE, GPR and TPE, whose weights (how many attempts of a category were
right) are not printed and are taken from its accuracy. EnterpriseClawBench: the scores of Table 2
from its text and visual scores. Where the printed figures are from stands in
`published_figures.toml`.

    python -m benchmarks.published_figures      writes benchmarks/results/published_figures.md
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from benchmarks.report import table, write_result
from selection.evaluation.intervals import LEVEL, wilson
from selection.evaluation.measures import process_table

MATERIAL = Path(
    os.environ.get("BENCHMINT_MATERIAL", Path(__file__).parents[2] / "shared" / "material")
)
CLAW_MATRIX = MATERIAL / "scores" / "claw_eval_live_105x14.csv"
PRINTED: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
THRESHOLD = 0.80
MEASURES = ("acc", "ee", "gpr", "tpe")


def claw_eval_live() -> list[dict[str, Any]]:
    """Passes, Wilson interval and overall score of each model of the matrix."""
    matrix = pl.read_csv(CLAW_MATRIX)
    rows = []
    for (model,), own in matrix.group_by("model", maintain_order=True):
        scores = own["score"].to_numpy()
        passed = int((np.round(scores, 9) >= THRESHOLD).sum())
        interval = wilson(passed, len(scores))
        rows.append(
            {
                "model": model,
                "passed": passed,
                "n": len(scores),
                "pass rate": round(100 * passed / len(scores), 1),
                "low": round(100 * float(interval.low or 0), 1),
                "high": round(100 * float(interval.high or 0), 1),
                "overall": round(100 * float(scores.mean()), 1),
            }
        )
    return sorted(rows, key=lambda row: (-row["passed"], -row["overall"]))


def slices() -> dict[str, float]:
    """Tasks that all printed models pass or fail, and pass rates of families."""
    printed = PRINTED["claw_eval_live"]
    passed = pl.col("score").round(9) >= THRESHOLD
    matrix = pl.read_csv(CLAW_MATRIX).filter(~pl.col("model").is_in(printed["not_printed"]))
    matrix = matrix.with_columns(passed=passed)
    items = matrix.group_by("item").agg(pl.col("passed").mean())["passed"]
    families: dict[str, float] = dict(
        matrix.group_by("family").agg(pl.col("passed").mean()).iter_rows()
    )
    own = {name: round(100 * families[name], 1) for name in printed["slices"] if name in families}
    return {"all pass": int((items == 1).sum()), "all fail": int((items == 0).sum()), **own}


def wald(passed: int, n: int) -> tuple[float, float]:
    """The normal interval of a share, as FinRetrieval prints it; it is too short near 0 and 1."""
    share = passed / n
    reach = float(stats.norm.ppf((1 + LEVEL) / 2)) * float(np.sqrt(share * (1 - share) / n))
    return share - reach, share + reach


def two_proportions(passed: tuple[int, int], n: tuple[int, int]) -> float | None:
    """The pooled z of two shares of unpaired tasks (FinRetrieval); None if it is undefined."""
    pooled = sum(passed) / sum(n) if all(n) else 0.0
    error = float(np.sqrt(pooled * (1 - pooled) * (1 / n[0] + 1 / n[1]))) if all(n) else 0.0
    return (passed[0] / n[0] - passed[1] / n[1]) / error if error else None


def fin_retrieval() -> list[dict[str, Any]]:
    """z of two shares as if unpaired, as it is printed, and the Wald interval of each."""
    rows = []
    for pair in PRINTED["fin_retrieval"]["pairs"]:
        passed, n = tuple(pair["passed"]), tuple(pair["n"])
        ends = [wald(own, of) for own, of in zip(passed, n, strict=True)]
        shown = [f"{100 * low:.1f} to {100 * high:.1f}" for low, high in ends]
        z = round(float(two_proportions(passed, n) or 0), 2)
        rows.append({"pair": pair["name"], "z": z, "printed": pair["z"], "Wald": "; ".join(shown)})
    return rows


def data_claw_bench() -> list[dict[str, Any]]:
    """Per model and measure: the figure over all tasks from those of the categories, and printed.

    A category of n tasks is n attempts with its mean accuracy.
    """
    bench = PRINTED["data_claw_bench"]
    rows = []
    for model, printed in bench["models"].items():
        frames = _category_attempts(bench["tasks"], printed)
        (own,) = process_table(*frames).to_dicts()
        right = np.asarray(printed["acc"]) * np.asarray(bench["tasks"])
        weights = {"ee": right, "gpr": np.asarray(bench["tasks"]) - right}
        weights["tpe"] = weights["gpr"]
        computed = {"acc": float(own["acc"])} | {
            name: float(np.average(printed[name], weights=weights[name])) for name in weights
        }
        rows += [
            {"model": model, "measure": name, "computed": computed[name],
             "printed": printed["overall"][name]}
            for name in MEASURES
        ]  # fmt: skip
    return rows


def _category_attempts(
    tasks: Sequence[int], printed: Mapping[str, Any]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    acc = np.repeat(printed["acc"], tasks)
    ids = [str(n) for n in range(len(acc))]
    nothing = dict.fromkeys(("ee", "gpr_direct", "gpr_inferred", "tpe"), pl.Float64)
    scores = pl.DataFrame({"attempt_id": ids, "acc": acc}).with_columns(
        configuration=pl.lit("model"),
        passed=pl.lit(None, dtype=pl.Boolean),
        operation=pl.lit(None, dtype=pl.String),
        **{name: pl.lit(None, dtype=kind) for name, kind in nothing.items()},
    )
    attempts = pl.DataFrame({"attempt_id": ids}).with_columns(
        termination=pl.lit(None, dtype=pl.String), steps=pl.lit(None, dtype=pl.Int64)
    )
    return attempts, scores


def enterprise_claw_bench() -> list[dict[str, Any]]:
    """The scores of Table 2 from its text and visual scores; rules are not part of the score."""
    bench = PRINTED["enterprise_claw_bench"]
    return [
        {"model": model, "printed": row["score"],
         "computed": sum(weight * row[name] for name, weight in bench["weights"].items())}
        for model, row in bench["models"].items()
    ]  # fmt: skip


def _data_claw_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row per model, each measure as computed and printed in per cent."""
    by_model: dict[str, list[str]] = {}
    for row in rows:
        shown = f"{100 * row['computed']:.2f} / {100 * row['printed']:.2f}"
        by_model.setdefault(row["model"], []).append(shown)
    worst = {
        name: max(abs(r["computed"] - r["printed"]) for r in rows if r["measure"] == name)
        for name in MEASURES
    }
    largest = ["largest difference", *(f"{100 * worst[name]:.2f}" for name in MEASURES)]
    return table(
        ["computed / printed", *MEASURES], [*([m, *own] for m, own in by_model.items()), largest]
    )


def main() -> None:
    content: dict[str, Any] = {
        "data_claw_bench": data_claw_bench(),
        "enterprise_claw_bench": enterprise_claw_bench(),
        "fin_retrieval": fin_retrieval(),
    }
    enterprise = [
        [row["model"], f"{row['computed']:.4f}", f"{row['printed']:.3f}"]
        for row in content["enterprise_claw_bench"]
    ]
    pairs = [[str(value) for value in row.values()] for row in content["fin_retrieval"]]
    text = ["## DataClawBench, per cent\n", _data_claw_rows(content["data_claw_bench"])]
    head = ["model", "computed", "printed"]
    text += ["## EnterpriseClawBench, Table 2\n", table(head, enterprise)]
    text += ["## FinRetrieval\n", table(list(content["fin_retrieval"][0]), pairs)]
    if CLAW_MATRIX.is_file():
        claw, part, printed = claw_eval_live(), slices(), PRINTED["claw_eval_live"]["slices"]
        content["claw_eval_live"] = {"models": claw, "slices": part}
        compared = [[name, str(part[name]), str(printed[name])] for name in printed]
        text += ["## Claw-Eval-Live\n", table(["figure", "computed", "printed"], compared)]
        text.append(table(list(claw[0]), [[str(v) for v in row.values()] for row in claw]))
    print("\n".join(text))
    write_result("published_figures", str(__doc__), "\n".join(text), content)


if __name__ == "__main__":
    main()
