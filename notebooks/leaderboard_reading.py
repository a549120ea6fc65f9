"""Which agents can be told apart, how they fail, and which tasks tell them apart."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Reading a leaderboard")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from notebooks.workspace import bars, board_table, listing

    return bars, board_table, listing, mo, pl


@app.cell
def _(bars, board_table, listing, mo):
    given = mo.cli_args().get("board")
    rows = board_table(given, "leaderboard")
    groups = rows.group_by("tie_group").len().sort("tie_group")
    _bars = [
        (
            row["configuration"],
            row["passed"] or 0.0,
            f"{100 * (row['passed'] or 0.0):.0f} %, group {row['tie_group']}",
        )
        for row in rows.iter_rows(named=True)
    ]
    _text = (
        f"# Reading a leaderboard\n{rows.height} configurations in {groups.height} tie groups: "
        "members of a group cannot be distinguished from its best. Read groups, not ranks: two "
        "agents in the same group may swap ranks in the next run. `benchmint agents plan` "
        "computes how many tasks it would take to separate them."
    )
    mo.vstack([mo.md(_text), mo.Html(bars(_bars, "pass rate")), listing(rows, "None.")])
    return given, groups, rows


@app.cell
def _(board_table, given, listing, mo, pl):
    pairs = board_table(given, "pairs")
    mo.stop(pairs.is_empty(), mo.md("## Pairs\nThere is only one configuration."))
    separated = pairs.filter("separated").sort(-pl.col("difference").abs())
    mo.vstack(
        [
            mo.md(
                f"## Which pairs differ\n{separated.height} of {pairs.height} pairs (first minus "
                "second on the tasks that both attempted, Holm-corrected over all pairs)."
            ),
            listing(separated, "No pair differs by more than chance; more tasks are needed."),
            mo.md("## How often all k epochs pass"),
            listing(board_table(given, "reliability"), "No graded attempts."),
        ]
    )
    return pairs, separated


@app.cell
def _(board_table, given, listing, mo):
    process = board_table(given, "process")
    retrieval = board_table(given, "retrieval")
    mo.vstack(
        [
            mo.md(
                "## How they work and fail\nAgents with equal pass rates can behave differently: "
                "compare steps, time and the way attempts end before you prefer one. Cells are "
                "empty where a measure is undefined."
            ),
            listing(process, "There is no process table."),
            listing(retrieval, "There are no questions about tables."),
        ]
    )
    return process, retrieval


@app.cell
def _(bars, board_table, given, listing, mo, pl):
    tasks = board_table(given, "tasks")
    mo.stop(tasks.is_empty(), mo.md("## Tasks\nThere is no task table."))
    hardest = tasks.sort("pass_share", "task_id").head(20)
    telling = tasks.sort(-pl.col("discrimination"), "task_id").head(20)
    tenths = [((tasks["pass_share"] * 10).floor().clip(0, 9) == n).sum() for n in range(10)]
    _rows = [(f"{n * 10} to {n * 10 + 10} %", float(t), str(t)) for n, t in enumerate(tenths)]
    mo.vstack(
        [
            mo.md(
                "## Tasks\nTasks that no agent solves and tasks that every agent solves cannot "
                "tell agents apart. If most tasks are at either end, select different ones with "
                "`[selection]` and pilots."
            ),
            mo.Html(bars(_rows, "Tasks by share of attempts that pass")),
            mo.md(
                "## The hardest tasks\nRead their instructions: is the work hard, or is it unclear?"
            ),
            listing(hardest, "None."),
            mo.md(
                "## The tasks that best tell agents apart\nStrong agents pass these tasks and "
                "weak agents fail them; a task with a negative value rewards weak agents, so "
                "check its grader."
            ),
            listing(telling, "None."),
        ]
    )
    return hardest, tasks, telling


if __name__ == "__main__":
    app.run()
