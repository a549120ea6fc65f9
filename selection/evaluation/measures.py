"""Tables beside the leaderboard: the measures that published benchmarks report of an agent.

A measure that is undefined is null, never zero. Each table has its numbers of attempts or tasks.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl

from data.atomic import PRIVATE_FILE, write_bytes
from data.errors import InputError
from data.neutralise import csv_cell
from data.randomness import keyed_order
from selection.evaluation.board import INFRA, TaskFacts
from selection.evaluation.comparisons import Difference
from selection.evaluation.intervals import (
    Estimate,
    clustered,
    pass_hat_combinations,
    pass_hat_power,
    wilson,
)

_RUBRIC = "rubric."
_PAIRS = {
    "first": pl.String, "second": pl.String, "tasks": pl.Int64, "units": pl.Int64,
    "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64, "p": pl.Float64,
    "p_holm": pl.Float64, "separated": pl.Boolean,
}  # fmt: skip
_RELIABILITY = {
    "configuration": pl.String, "k": pl.Int64, "tasks": pl.Int64, "power": pl.Float64,
    "combinations": pl.Float64,
}  # fmt: skip
_LISTS = ("rights", "weights", "indices")
_ENDS = ("accuracy", "low", "high", "weighted", "weighted_low", "weighted_high")


def process_table(attempts: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """DataClawBench: a row per configuration, micro averages over its graded attempts.

    `acc` of all with answer parts, `ee` of the passed, `gpr_*` and `tpe` of the failed that have
    milestones; `first_unreached.*` and `termination.*` count the failed attempts by the operation
    of the first milestone missed and by how they ended. `failed_requests` are the model's
    inferences per failed attempt that has milestones, and `exploration` places them and the GPR
    by the medians of all configurations: more requests need not mean more progress.
    """
    known = attempts.select("attempt_id", "termination", "steps")
    joined = scores.join(known, on="attempt_id", how="left")
    failed, has_milestones = joined.filter(~pl.col("passed")), pl.col("gpr_direct").is_not_null()
    means = joined.group_by("configuration").agg(
        attempts=pl.len(),
        passed=pl.col("passed").sum().cast(pl.Int64),
        failed=(~pl.col("passed")).sum().cast(pl.Int64),
        acc=pl.col("acc").mean(),
        ee=pl.col("ee").mean(),
        gpr_direct=pl.col("gpr_direct").mean(),
        gpr_inferred=pl.col("gpr_inferred").mean(),
        tpe=pl.col("tpe").mean(),
        failed_requests=pl.col("steps").filter(~pl.col("passed"), has_milestones).mean(),
    )
    means = means.with_columns(exploration=_exploration())
    for column, prefix in (("operation", "first_unreached."), ("termination", "termination.")):
        counts = failed.drop_nulls(column).group_by("configuration", column).len()
        if counts.height:
            wide = counts.pivot(column, index="configuration", values="len")
            names = sorted(name for name in wide.columns if name != "configuration")
            wide = wide.select("configuration", *(pl.col(n).alias(f"{prefix}{n}") for n in names))
            means = means.join(wide, on="configuration", how="left")
    counted = pl.selectors.starts_with("first_unreached.", "termination.")
    return means.with_columns(counted.fill_null(0)).sort("configuration")


def _exploration() -> pl.Expr:
    """Many or few requests and much or little progress on failed tasks; null without both."""
    requests, progress = pl.col("failed_requests"), pl.col("gpr_inferred")
    many = pl.when(requests > requests.median()).then(pl.lit("many")).otherwise(pl.lit("few"))
    much = pl.when(progress > progress.median()).then(pl.lit("much")).otherwise(pl.lit("little"))
    words = pl.format("{} requests, {} progress", many, much)
    return pl.when(requests.is_not_null(), progress.is_not_null()).then(words)


def cells_table(
    attempts: pl.DataFrame, parts: pl.DataFrame, tasks: Sequence[TaskFacts]
) -> pl.DataFrame:
    """EnterpriseClawBench: harness × model × role × deliverable × dimension.

    `value` is the mean of the judged parts of a dimension, null where none is; `parts` counts the
    judged ones, `unsupported` those of them that count as 0 for want of a supported verdict, and
    `unjudged` the others; `cost` and `seconds` are means per attempt, the cost null where one is
    not known.
    """
    facts = pl.DataFrame(
        [(task.task_id, task.role, task.deliverable) for task in tasks],
        schema=["task_id", "role", "deliverable"],
        orient="row",
    )
    rubric = parts.filter(pl.col("name").str.starts_with(_RUBRIC)).with_columns(
        dimension=pl.col("name").str.split(".").list.get(1)
    )
    known = attempts.filter(pl.col("status") != INFRA).select(
        "attempt_id", "task_id", "harness", "model", "cost", "seconds"
    )
    keys = ["harness", "model", "role", "deliverable", "dimension"]
    cells = rubric.join(known, on="attempt_id").join(facts, on="task_id", how="left")
    per_attempt = cells.unique([*keys, "attempt_id"]).group_by(keys).agg(
        attempts=pl.len(),
        cost=pl.when(pl.col("cost").null_count() == 0).then(pl.col("cost").mean()),
        seconds=pl.col("seconds").mean(),
    )  # fmt: skip
    values = cells.group_by(keys).agg(
        value=pl.col("value").mean(),
        parts=pl.col("value").count().cast(pl.Int64),
        unsupported=pl.col("detail").str.json_path_match("$.supported").eq("false").sum(),
        unjudged=pl.col("value").null_count().cast(pl.Int64),
    )
    return values.join(per_attempt, on=keys).sort(keys)


def task_table(scores: pl.DataFrame, tasks: Sequence[TaskFacts]) -> pl.DataFrame:
    """Claw-Eval-Live: a row per task with the share of configurations that pass it.

    `discrimination` is the standard deviation of the configurations' mean scores, null for one.
    """
    families = pl.DataFrame(
        [(task.task_id, task.family) for task in tasks], schema=["task_id", "family"], orient="row"
    )
    means = scores.group_by("task_id", "configuration").agg(
        pl.col("overall").mean(), pl.col("passed").mean()
    )
    return (
        means.group_by("task_id")
        .agg(
            configurations=pl.len(),
            pass_share=pl.col("passed").mean(),
            overall=pl.col("overall").mean(),
            discrimination=pl.col("overall").std(ddof=0).round(9)
            if means["configuration"].n_unique() > 1
            else pl.lit(None, dtype=pl.Float64),
        )
        .join(families, on="task_id", how="left")
        .sort("task_id")
    )


def pairs_table(differences: Sequence[Difference]) -> pl.DataFrame:
    """A row per pair of configurations: first minus second on the tasks of both.

    `units` are the clusters whose signs the test changes, or the tasks where clusters are too few;
    `low` to `high` is null where all tasks differ by the same; `p_holm` is `p` corrected over all
    pairs, `separated` what follows.
    """
    return pl.DataFrame(
        [
            {"first": d.first, "second": d.second, "tasks": d.estimate.n,
             "units": d.estimate.clusters, "difference": d.estimate.mean,
             "low": _with_spread(d.estimate).low, "high": _with_spread(d.estimate).high,
             "p": d.p, "p_holm": d.p_corrected, "separated": d.is_real}
            for d in differences
        ],
        schema=_PAIRS,
    )  # fmt: skip


def reliability_table(scores: pl.DataFrame) -> pl.DataFrame:
    """pass^k in both conventions, by name, for each configuration and k up to its epochs.

    `power` is the mean of (c/n)^k, `combinations` that of C(c, k)/C(n, k), over `tasks` tasks that
    have k graded epochs or more.
    """
    counted = scores.drop_nulls("passed").group_by("configuration", "task_id").agg(
        epochs=pl.len(), passed=pl.col("passed").sum()
    )  # fmt: skip
    rows = []
    for (name,), own in counted.sort("configuration", "task_id").group_by(
        "configuration", maintain_order=True
    ):
        for k in range(1, max(own["epochs"], default=0) + 1):
            enough = own.filter(pl.col("epochs") >= k)
            passed, epochs = enough["passed"].to_list(), enough["epochs"].to_list()
            rows.append((name, k, enough.height, pass_hat_power(passed, epochs, k),
                         pass_hat_combinations(passed, epochs, k)))  # fmt: skip
    return pl.DataFrame(rows, schema=_RELIABILITY, orient="row")


def retrieval_table(
    frames: Mapping[str, pl.DataFrame],
    regions: Mapping[int, str],
    inclusion: Mapping[int, float] | None = None,
) -> pl.DataFrame:
    """FinRetrieval: a row per configuration and group (all, category, region).

    `frames` are the tables of `construction.grading.retrieval_tables`, `regions` the region of each
    question by its index, `inclusion` the probability with which it was sampled. `accuracy` has
    Wilson's interval; `weighted` estimates it for all points that could have been asked (weights
    1/π, errors by question), null without probabilities; `calls` is the mean per attempt;
    `first_query` the share whose first search returned the series, of those that searched, and
    `accuracy_after` the accuracy of those that it did; `gave_up` and `error.*` count wrong answers.
    """
    questions = frames["questions"].select("index", "category").unique("index")
    rows = (
        frames["scores"]
        .join(frames["tool_traces"].select("index", "configuration", "epoch", "num_tool_calls"),
              on=["index", "configuration", "epoch"], how="left")
        .join(questions, on="index", how="left")
        .with_columns(
            region=pl.col("index").replace_strict(regions, default="none", return_dtype=pl.String),
            all=pl.lit("all"),
            weight=1 / pl.col("index").replace_strict(
                inclusion or {}, default=None, return_dtype=pl.Float64
            ),
        )
    )  # fmt: skip
    kinds = sorted(rows["error_kind"].drop_nulls().unique())
    tables = [_retrieval(rows, grouping, kinds) for grouping in ("all", "category", "region")]
    return pl.concat(tables).sort("configuration", "grouping", "group")


def _retrieval(rows: pl.DataFrame, grouping: str, kinds: Sequence[str]) -> pl.DataFrame:
    right, first, error = pl.col("is_correct"), pl.col("first_query"), pl.col("error_kind")
    counted = (
        rows.rename({grouping: "group"})
        .with_columns(pl.col("group").fill_null("none"))
        .group_by("configuration", "group")
        .agg(
            attempts=pl.len(),
            right=right.sum().cast(pl.Int64),
            calls=pl.col("num_tool_calls").mean(),
            first_query=first.mean(),
            accuracy_after=right.filter(first).mean(),
            rights=right,
            weights=pl.col("weight"),
            indices=pl.col("index"),
            **{f"error.{kind}": (error == kind).sum().cast(pl.Int64) for kind in kinds},
        )
    )
    intervals = [wilson(n, of) for n, of in counted.select("right", "attempts").iter_rows()]
    weighted = [_weighted(*own) for own in counted.select(*_LISTS).iter_rows()]
    ends = pl.DataFrame(
        [
            (i.mean, i.low, i.high, w.mean, w.low, w.high)
            for i, w in zip(intervals, weighted, strict=True)
        ],
        schema=dict.fromkeys(_ENDS, pl.Float64),
        orient="row",
    )
    wide = counted.drop(_LISTS).hstack(ends)
    order = ["configuration", "grouping", "group", "attempts", "right", *_ENDS]
    others = [name for name in wide.columns if name not in order]
    return wide.with_columns(grouping=pl.lit(grouping)).select(*order, *others)


def _weighted(
    rights: Sequence[bool], weights: Sequence[float | None], indices: Sequence[int]
) -> Estimate:
    """The Hájek mean with errors by question; undefined where a probability is not known.

    Where all are right, or all wrong, there is no spread to estimate an error from.
    """
    known = [weight for weight in weights if weight is not None]
    values = np.asarray(rights if len(known) == len(rights) else [], dtype=np.float64)
    made = clustered(values, indices[: len(values)], np.asarray(known[: len(values)]))
    return _with_spread(made)


def _with_spread(estimate: Estimate) -> Estimate:
    """An estimate without an interval where the error is nought."""
    return estimate if estimate.error else replace(estimate, error=None, low=None, high=None)


_PER_CONFIGURATION = 20
_RIGHT, _WRONG = "right", "wrong"
_COLUMNS = ("attempt_id", "configuration", "task_id", "epoch", "page", "verdict")


@dataclass(frozen=True, slots=True)
class _Checked:
    """How many answers are in the sheet, and what people say of those that they checked."""

    drawn: int
    right: Estimate


def write_sheet(path: Path, scores: pl.DataFrame, tasks: Collection[str], digest: str) -> _Checked:
    """Write the sheet of passed attempts at `tasks` with the verdicts that it has already.

    Of each configuration 20 are drawn; rows with a verdict stay. Raises InputError for a verdict
    that is neither right nor wrong.
    """
    verdicts = _verdicts(path)
    passed = scores.filter(pl.col("passed"), pl.col("task_id").is_in(list(tasks)))
    rows = []
    for (name,), own in sorted(passed.group_by("configuration"), key=lambda group: str(group[0])):
        ids = own["attempt_id"].to_list()
        drawn = {
            ids[at] for at in keyed_order(digest.encode(), "checked", ids)[:_PER_CONFIGURATION]
        }
        kept = own.filter(pl.col("attempt_id").is_in([*drawn, *verdicts])).sort("task_id", "epoch")
        for row in kept.iter_rows(named=True):
            page = f"attempts/{quote(str(name))}/{quote(row['task_id'])}-{row['epoch']}.html"
            verdict = verdicts.get(row["attempt_id"])
            rows.append([row["attempt_id"], name, row["task_id"], row["epoch"], page, verdict])
    frame = pl.DataFrame(
        [[csv_cell(cell) for cell in row] for row in rows],
        schema={name: pl.Int64 if name == "epoch" else pl.String for name in _COLUMNS},
        orient="row",
    )
    if rows:
        write_bytes(path, frame.write_csv().encode(), mode=PRIVATE_FILE)
    said = [row[-1] for row in rows if row[-1]]
    return _Checked(len(rows), wilson(said.count(_RIGHT), len(said)))


def _verdicts(path: Path) -> dict[str, str]:
    """What people wrote, by attempt."""
    if not path.is_file():
        return {}
    verdicts = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            verdict = (row.get("verdict") or "").strip().lower()
            if verdict not in ("", _RIGHT, _WRONG):
                expected = f"{_RIGHT}, {_WRONG} or nothing"
                raise InputError(
                    f"{path}: line {line}", repr(verdict[:40]), expected, "Correct it."
                )
            if verdict and row.get("attempt_id"):
                verdicts[row["attempt_id"]] = verdict
    return verdicts
