"""The leaderboard of a release: a row per configuration, with what the data do and do not say.

Attempts that the infrastructure ended are counted and left out. Attempts whose unjudged parts could
decide count as not passed where a judge was asked (`counted`), so that none gains by keeping its
judge from a verdict; without a judge they are left out. A task counts once: the mean of its epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from data.contracts.attempt import OWN_RUNNER
from data.errors import InputError
from data.text.scripts import SMALL_LETTERS
from selection.estimator import ShippedEstimator
from selection.evaluation.comparisons import Difference, compare, rank_ranges, tie_groups
from selection.evaluation.intervals import FEWEST_CLUSTERS, Estimate, Floats, clustered, wilson

_FAMILIES = {"chatgpt": "gpt", "o": "gpt", "codestral": "mistral", "mixtral": "mistral"}
INFRA = "infra_error"
GROUPINGS = (
    "family", "role", "difficulty", "lane", "surface", "deliverable", "category", "region",
)  # fmt: skip

# The columns of the table and what they mean; the page and the docs show both.
COLUMNS = {
    "configuration": "the agent with its model, tools and settings",
    "tasks": "tasks with a result; “6 of 40”: it could attempt only 6 of the release's 40 tasks "
    "(an agent for questions does only questions), or only a judge could decide the "
    "others",
    "passed": "share of epochs that passed, averaged over tasks, in per cent",
    "interval": "95 %: with ten clusters (task families) or more, Student's t over clusters, or "
    "Wilson's with each cluster as one task if all results are the same; otherwise "
    "Wilson's, or Student's t for epochs",
    "ranks": "best and worst rank supported by the comparisons",
    "group": "tie group: a new one begins where a configuration is significantly worse than the "
    "group's best",
    "overall": "mean score in per cent; a task that is not passed can still earn partial credit. "
    "If the release ships a more precise estimate of the mean over its whole pool, that estimate",
    "cost": "US dollars per attempt; empty if a price or a call's usage is unknown",
    "seconds": "mean duration of an attempt",
    "infrastructure": "attempts ended by infrastructure errors, which are not graded",
    "unjudged": "attempts that would pass if their parts without a verdict were met",
    "bounds": "pass rate if all unjudged attempts fail and if all pass; empty if there are none",
    "judge": "who scored the parts that only a judge can; marked if it is the evaluated model "
    "itself or from the same family",
    "runner": "what ran the agent, if not Benchmint",
}


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What a task is grouped by; `cluster`: tasks of one cluster are not independent.

    `is_lite`: it is of the subset that people audit.
    """

    task_id: str
    cluster: str
    family: str = "none"
    role: str = "none"
    difficulty: str = "none"
    lane: str = "none"
    surface: str = "none"
    deliverable: str = "none"
    category: str = "none"
    region: str = "none"
    is_lite: bool = False


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One configuration on the tasks that it was graded on; rates from 0 to 1.

    `passed` and `low` to `high`: the pass rate with its interval, `method` which; `error`: its
    standard error by cluster, None with too few clusters. `ranks`: the best and the worst rank that
    the comparisons support. `n_unjudged` attempts have parts without a verdict that could decide;
    `passed_at_least` and `passed_at_most` are the pass rate if all of them fail and if all of them
    pass. `cost`, `seconds`, `steps`: means per attempt, None where unknown.
    `overall` is the mean score on the tasks, or, where the release ships an estimator that is more
    exact, the estimated mean on the whole pool; `overall_raw` is then the mean on the tasks.
    `judge`: who judged what graders cannot, None: nobody has; `judged_by_kin`: the judge is of the
    family of the model that is judged; `judged_by_itself`: it is that model. `runner`: what let the
    agent work.
    """

    configuration: str
    harness: str
    model: str
    condition: str
    tasks: int
    attempts: int
    n_infra: int
    n_unjudged: int
    passed: float | None
    low: float | None
    high: float | None
    method: str
    error: float | None
    overall: float | None
    acc: float | None
    tie_group: int | None
    ranks: tuple[int, int] | None
    cost: float | None
    seconds: float | None
    steps: float | None
    overall_raw: float | None = None
    judge: str | None = None
    judged_by_kin: bool = False
    judged_by_itself: bool = False
    runner: str = OWN_RUNNER
    passed_at_least: float | None = None
    passed_at_most: float | None = None


@dataclass(frozen=True, slots=True)
class _LiteRanking:
    """Whether the tasks of the Lite subset rank configurations as all tasks do.

    `tau` is Kendall's τ-b of the pass rates, None where all are equal. Of `separated` pairs, which
    the comparisons tell apart on all tasks, `turned` are in the other order and `tied` in none.
    """

    tasks: int
    configurations: int
    tau: float | None
    separated: int
    turned: int
    tied: int


@dataclass(frozen=True, slots=True)
class Board:
    """Rows by falling pass rate, the comparisons of all pairs, and the pass rates of groups.

    `cells`: grouping, group, configuration, tasks, pass rate. `failures`: configuration, what a
    failed attempt missed first or how it ended, and how often. `estimator`: what the overall
    scores are estimated by, None: they are the means on the tasks. `lite`: None without a subset.
    """

    rows: tuple[LeaderboardRow, ...]
    differences: tuple[Difference, ...]
    cells: tuple[Mapping[str, Any], ...]
    failures: tuple[Mapping[str, Any], ...]
    clusters: int
    release_tasks: int
    estimator: ShippedEstimator | None = None
    lite: _LiteRanking | None = None


def board(
    attempts: pl.DataFrame,
    scores: pl.DataFrame,
    tasks: Sequence[TaskFacts],
    estimator: ShippedEstimator | None = None,
) -> Board:
    """The leaderboard of graded attempts; tables as `data.schemas` has them.

    `estimator` is the one that the release ships, taken where it beats the mean on the tasks.

    Errors: `InputError` if attempts are of several releases, graders or judges, or of tasks that
    are not known.
    """
    facts = {task.task_id: task for task in tasks}
    _require_comparable(attempts, scores, facts)
    names = sorted(attempts["configuration"].unique())
    scores = counted(scores)
    per_task = (
        scores.drop_nulls("passed")
        .group_by("configuration", "task_id")
        .agg(pl.col("passed").mean())
    )
    done = sorted(set(per_task["task_id"]))
    matrix = {name: _passes(per_task, name, done) for name in names}
    labels = [facts[task_id].cluster for task_id in done]
    differences = compare(matrix, labels)
    used = estimator if estimator is not None and estimator.is_better else None
    rows = _rows(attempts, scores, matrix, labels, differences)
    estimated = [_estimated(row, scores, used) for row in rows]
    return Board(
        tuple(sorted(estimated, key=_rate, reverse=True)),
        differences,
        tuple(_cells(per_task, facts)),
        tuple(_failures(attempts, scores)),
        len(set(labels)),
        len(facts),
        used,
        _lite(matrix, [facts[task_id].is_lite for task_id in done], differences),
    )


def _rows(
    attempts: pl.DataFrame,
    scores: pl.DataFrame,
    matrix: Mapping[str, Floats],
    labels: Sequence[str],
    differences: Sequence[Difference],
) -> list[LeaderboardRow]:
    """A row per configuration. Of equal rates the one over more tasks says more: it comes first."""
    tried = sorted(matrix, key=lambda name: int(np.isnan(matrix[name]).sum()))
    means = {n: float(np.nanmean(matrix[n])) for n in tried if not np.isnan(matrix[n]).all()}
    groups, ranges = tie_groups(means, differences), rank_ranges(means, differences)
    return [
        _row(name, attempts, scores, matrix[name], labels, groups.get(name), ranges.get(name))
        for name in tried
    ]


def _lite(
    matrix: Mapping[str, Floats], is_lite: Sequence[bool], differences: Sequence[Difference]
) -> _LiteRanking | None:
    """How the Lite subset ranks the configurations that have a result on some task of it."""
    at = np.flatnonzero(is_lite)
    own = {name: row for name, row in matrix.items() if not np.isnan(row[at]).all()}
    if len(own) < 2:
        return None
    whole = [float(np.nanmean(row)) for row in own.values()]
    part = {name: float(np.nanmean(row[at])) for name, row in own.items()}
    tau = float(stats.kendalltau(whole, list(part.values())).statistic)
    real = [pair for pair in differences if pair.is_real and {pair.first, pair.second} <= set(own)]
    signs = [(part[pair.first] - part[pair.second]) * (pair.estimate.mean or 0.0) for pair in real]
    return _LiteRanking(
        len(at), len(own), None if np.isnan(tau) else tau, len(real),
        turned=sum(sign < 0 for sign in signs), tied=sum(sign == 0 for sign in signs),
    )  # fmt: skip


def _require_comparable(
    attempts: pl.DataFrame, scores: pl.DataFrame, facts: Mapping[str, TaskFacts]
) -> None:
    """Raise InputError for attempts that no one board can hold."""
    _require_one(attempts, "release_digest", "attempts at one release")
    _require_one(scores, "grader", "scores from one grader; regrade all attempts")
    if scores["judge"].drop_nulls().n_unique() > 1:
        actual, todo = (
            f"{scores['judge'].n_unique()} judges",
            "Rejudge all attempts with one of them.",
        )
        raise InputError("attempts", actual, "one judge for the whole leaderboard", todo)
    if strange := sorted(set(attempts["task_id"]) - set(facts)):
        todo = "Pass the release that was run."
        raise InputError("attempts", f"task {strange[0]}", "tasks in the release", todo)


def _estimated(
    row: LeaderboardRow, scores: pl.DataFrame, estimator: ShippedEstimator | None
) -> LeaderboardRow:
    """The row with its overall score as estimated for the whole pool, if it is."""
    if estimator is None:
        return row
    graded = scores.filter(configuration=row.configuration).drop_nulls("overall")
    means = graded.group_by("task_id").agg(pl.col("overall").mean()).iter_rows()
    estimate = estimator.estimate(dict(means))
    return replace(row, overall=estimate, overall_raw=row.overall)


def _rate(row: LeaderboardRow) -> float:
    """The pass rate by which rows are in order; below all others without one."""
    return -1.0 if row.passed is None else row.passed


def counted(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores as they count: undecided attempts have not passed where a judge was asked.

    `passed_at_best` is filled for all: whether the attempt passes if parts without a verdict are
    met. Idempotent.
    """
    if "passed_at_best" not in scores.columns:  # graded before there was such a column
        scores = scores.with_columns(passed_at_best=pl.lit(None, pl.Boolean))
    scores = scores.with_columns(pl.coalesce("passed_at_best", "passed", pl.lit(True)))
    if scores["judge"].is_null().all():
        return scores
    return scores.with_columns(
        pl.col("passed").fill_null(value=False), pl.col("overall").fill_null(0.0)
    )


def _require_one(frame: pl.DataFrame, column: str, expected: str) -> None:
    if frame[column].n_unique() > 1:
        actual, todo = f"{frame[column].n_unique()} values of {column}", "Choose a single folder."
        raise InputError("attempts", actual, expected, todo)
    if not frame.height:
        raise InputError("attempts", "none", expected, "Run `benchmint evaluate` first.")


def _passes(per_task: pl.DataFrame, name: str, tasks: Sequence[str]) -> Floats:
    """The pass rate of each task, NaN where there is none."""
    own: dict[str, float] = dict(
        per_task.filter(configuration=name).select("task_id", "passed").iter_rows()
    )
    return np.array([own.get(task, np.nan) for task in tasks], dtype=np.float64)


def _row(
    name: str,
    attempts: pl.DataFrame,
    scores: pl.DataFrame,
    passes: Floats,
    labels: Sequence[str],
    group: int | None,
    ranks: tuple[int, int] | None,
) -> LeaderboardRow:
    own = attempts.filter(configuration=name)
    graded = scores.filter(configuration=name)
    known = ~np.isnan(passes)
    rate = _pass_rate(passes[known], [labels[int(at)] for at in np.flatnonzero(known)])
    first = own.row(0, named=True)
    ran = own.filter(pl.col("status") != INFRA)
    return LeaderboardRow(
        name,
        first["harness"],
        first["model"],
        first["condition"],
        tasks=int(known.sum()),
        attempts=own.height,
        n_infra=own.height - ran.height,
        passed=rate.mean,
        low=rate.low,
        high=rate.high,
        method=rate.method,
        error=rate.error if rate.method.startswith("clustered") else None,
        overall=_mean(graded["overall"]),
        acc=_mean(graded["acc"]),
        tie_group=group,
        ranks=ranks,
        cost=_mean(ran["cost"]) if ran["cost"].null_count() == 0 else None,
        seconds=_mean(ran["seconds"]),
        steps=_mean(ran["steps"]),
        **_judged(next(iter(graded["judge"].drop_nulls()), None), first["model"]),
        runner=first.get("runner") or OWN_RUNNER,
        **_bounds(graded),
    )


def _judged(judge: str | None, model: str) -> dict[str, Any]:
    """Who judged, and whether judge and judged are of one family, or one model."""
    if judge is None:
        return {"judge": None}
    is_kin = _model_family(judge) == _model_family(model)
    is_same = _last_part(judge) == _last_part(model)
    return {"judge": judge, "judged_by_kin": is_kin, "judged_by_itself": is_same}


def _last_part(name: str) -> str:
    """The name of a model without that of its provider."""
    return name.lower().replace(":", "/").rpartition("/")[2]


def _bounds(scores: pl.DataFrame) -> dict[str, Any]:
    """How many attempts parts without a verdict could decide; the rate if all fail, if all pass."""
    fails = scores.with_columns(pl.col("passed").fill_null(value=False))
    tasks = fails.group_by("task_id").agg(pl.col("passed", "passed_at_best").mean())
    return {
        "n_unjudged": fails.filter("passed_at_best", ~pl.col("passed")).height,
        "passed_at_least": _mean(tasks["passed"]),
        "passed_at_most": _mean(tasks["passed_at_best"]),
    }


def _model_family(name: str) -> str:
    """The family of a model by its name: the last part of the path, up to its first number."""
    last = _last_part(name)
    word = SMALL_LETTERS.match(last)
    return _FAMILIES.get(word[0], word[0]) if word else last


def _pass_rate(passes: Floats, labels: Sequence[str]) -> Estimate:
    """By cluster where there are enough; else Wilson's interval, or Student's with epochs.

    Without any spread no error can be estimated: Wilson's then takes each cluster for one task.
    """
    clusters = len(set(labels))
    if FEWEST_CLUSTERS <= clusters < len(labels):
        if np.ptp(passes):
            return clustered(passes, labels)
        alike = wilson(round(clusters * float(passes[0])), clusters)
        return replace(alike, n=len(passes), method="clustered wilson")
    if bool(np.isin(passes, (0.0, 1.0)).all()):
        return wilson(int(passes.sum()), len(passes))
    return clustered(passes, list(range(len(passes))))


def _mean(values: pl.Series) -> float | None:
    mean = values.drop_nulls().mean()
    return float(mean) if isinstance(mean, int | float) else None


def _cells(per_task: pl.DataFrame, facts: Mapping[str, TaskFacts]) -> list[dict[str, Any]]:
    """Pass rates per grouping, group and configuration; groupings of one group say nothing."""
    rows = []
    for grouping in GROUPINGS:
        groups = [getattr(facts[task_id], grouping) for task_id in per_task["task_id"]]
        if len(set(groups)) < 2:
            continue
        labelled = per_task.with_columns(group=pl.Series(groups, dtype=pl.String))
        counted = labelled.group_by("group", "configuration").agg(
            tasks=pl.len(), passed=pl.col("passed").mean()
        )
        for row in counted.sort("group", "configuration").iter_rows(named=True):
            rows.append({"grouping": grouping} | row)
    return rows


def _failures(attempts: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """Per configuration, the operations missed first and how attempts ended that surely failed."""
    failed = scores.filter(~pl.col("passed_at_best")).join(
        attempts.select("attempt_id", "termination"), on="attempt_id", how="left"
    )
    rows = []
    for kind, column in (("operation", "operation"), ("termination", "termination")):
        counted = failed.drop_nulls(column).group_by("configuration", column).len("n")
        for row in counted.sort("configuration", column).iter_rows(named=True):
            rows.append(
                {
                    "configuration": row["configuration"],
                    "kind": kind,
                    "what": row[column],
                    "n": row["n"],
                }
            )
    return rows
