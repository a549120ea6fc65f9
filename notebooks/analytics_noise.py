"""Which noise changes the answers to analytics tasks, by difficulty, and what was rejected."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Analytics tasks: noise and difficulty")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from notebooks.workspace import audit_file, bars, listing, workspace

    return audit_file, bars, listing, mo, pl, workspace


@app.cell
def _(audit_file, mo, workspace):
    out = workspace(mo.cli_args().get("out"))
    report = audit_file(out, "selection.json").get("analytics") or {}
    mo.stop(not report.get("tasks"), mo.md("The newest release has no analytics tasks."))
    mo.md(
        "# Noise and difficulty\nFrom `audit/selection.json` of the newest release: all tasks "
        "that passed the lane's gates, whether or not they were selected for the release. The "
        "files that agents get contain deliberate noise (duplicate rows, different units, "
        "missing values); a task is worth more if an agent that ignores the noise gets a "
        "different answer."
    )
    return out, report


@app.cell
def _(bars, listing, mo, pl, report):
    counts = sorted(report["noise"].items(), key=lambda row: (-row[1], row[0]))
    quota = pl.DataFrame(
        [
            {"kind": kind, "wanted": share["wanted"], "reached": share["reached"]}
            for kind, share in report["noise_quota"].items()
        ]
    )
    _rows = [(kind, n / report["tasks"], f"{n} of {report['tasks']}") for kind, n in counts]
    mo.vstack(
        [
            mo.md(
                "## Noise that changes the answer if ignored\nThe table compares the tasks with "
                "the recipe's quota: `reached` below `wanted` means that the environment has too "
                "little of this kind of noise."
            ),
            mo.Html(bars(_rows, "Tasks, by kind of noise")),
            listing(quota, "There is no quota."),
        ]
    )
    return counts, quota


@app.cell
def _(bars, listing, mo, pl, report):
    kinds = sorted(report["noise"])
    by_difficulty = pl.DataFrame(
        [
            {
                "difficulty": row["difficulty"],
                "tasks": row["tasks"],
                "steps_each": row["steps"] / max(row["tasks"], 1),
                "kinds_each": sum(row["kinds"].values()) / max(row["tasks"], 1),
                **{kind: row["kinds"].get(kind, 0) / max(row["tasks"], 1) for kind in kinds},
            }
            for row in report["noise_by_difficulty"]
        ]
    )
    _rows = [
        (row["difficulty"], row["kinds_each"], f"{row['kinds_each']:.1f}")
        for row in by_difficulty.iter_rows(named=True)
    ]
    mo.vstack(
        [
            mo.md(
                "## By difficulty\nThe share of tasks whose answer is changed by each kind of "
                "noise. Harder tasks should encounter more kinds; if the bars are level, "
                "difficulty comes only from the number of steps."
            ),
            mo.Html(bars(_rows, "Mean number of kinds of noise that change an answer")),
            listing(by_difficulty, "There are no tasks."),
        ]
    )
    return by_difficulty, kinds


@app.cell
def _(listing, mo, pl, report):
    rejected = pl.DataFrame(
        [
            {"category": stratum.split("/")[0], "reason": reason, "candidates": n}
            for stratum, counted in report["reasons"].items()
            for reason, n in counted.items()
            if reason != "kept"
        ],
        schema={"category": pl.String, "reason": pl.String, "candidates": pl.Int64},
    )
    rejected = rejected.group_by("category", "reason").agg(pl.col("candidates").sum())
    rejected = rejected.sort("candidates", "category", "reason", descending=[True, False, False])
    guessers = pl.DataFrame([{"answer": name, **row} for name, row in report["guessers"].items()])
    mo.vstack(
        [
            mo.md("## Rejections"),
            listing(rejected, "Nothing was rejected."),
            mo.md(
                "## Guessing without the data\nThe limit is chance + .1. An answer whose rate is "
                "far above chance can be obtained without reading a file."
            ),
            listing(guessers, "No answer can be guessed."),
        ]
    )
    return guessers, rejected


if __name__ == "__main__":
    app.run()
