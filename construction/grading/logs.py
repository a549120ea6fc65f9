"""Grading the attempts of a run, again and again with the same result.

Nothing is run: the same attempts give the same scores with any number of processes, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

from construction.grading.combine import PASS_THRESHOLD
from construction.grading.grade import grade, termination
from construction.grading.programs_box import ENVIRONMENTS, Boxes
from construction.grading.spec import TaskSpec, spec_of
from construction.statements.tools.agent_tools import BY_NAME, answer
from construction.statements.tools.database import Database
from data.attempts import AttemptRecord, attempt_file, outputs_folder, read_attempts
from data.contracts.attempt import Attempt, AttemptStatus, Call, Score
from data.errors import InputError
from data.figures import percent
from data.neutralise import one_line
from data.releases.tasks import ReleasedTasks
from data.sharding import map_shards

# Are the answers of the data tools in an attempt those that the tools give?
#
# The tools of a release are deterministic: whoever has its tables can repeat every call. An attempt
# that shows another answer was not made with these tools, or was changed afterwards.

_CUT = "… (+"  # how a recorded output ends that was too long to keep


def altered_calls(
    records: Sequence[AttemptRecord], database: Database | None
) -> Iterator[tuple[AttemptRecord, Call]]:
    """Calls of data tools whose recorded answer is not the tool's; none without tables.

    Calls that failed or were cut off are not compared.
    """
    for record in records if database is not None else ():
        assert database is not None
        for call in record.submission.calls:
            if call.name in BY_NAME and not call.is_error and _CUT not in call.output[-40:]:
                given = {name: value for name, value in call.arguments.items() if value is not None}
                if answer(database, call.name, given).text != call.output:
                    yield record, call


_ATTEMPTS_AT_ONCE = 50  # of one process, so that starting it is worth while


@dataclass(frozen=True, slots=True)
class GradedRun:
    """All attempts below a folder, and the scores of those that the infrastructure let end.

    `n_withdrawn` attempts are at tasks that errata withdraw, and in neither.
    """

    attempts: tuple[AttemptRecord, ...]
    scores: tuple[tuple[Attempt, Score], ...]
    n_withdrawn: int = 0


@dataclass(frozen=True, slots=True)
class _Summary:
    """One configuration: every figure has its denominator beside it.

    `n` attempts, of them `n_infra` ended by infrastructure; of the graded ones `n_passed`,
    `n_failed` and `n_undecided`, which a judge must settle. `overall` is the mean of those that
    have an overall score, `n_overall` of them; None without any.
    """

    configuration: str
    n: int
    n_infra: int
    n_passed: int
    n_failed: int
    n_undecided: int
    overall: float | None
    n_overall: int
    cost: float | None


def grade_attempts(
    release: ReleasedTasks, logs: Path, *, workers: int = 1, threshold: float = PASS_THRESHOLD
) -> GradedRun:
    """Grade all attempts below `logs`.

    Raises InputError for attempts on another release, and for two files of the same attempt.
    """
    everything = list(read_attempts(logs))
    _check_distinct(everything)
    for folder, record in everything:
        if record.attempt.release_digest != release.digest:
            raise InputError(
                str(folder), "attempts at another release", f"attempts at {release.snapshot}",
                "Pass the snapshot that was run.",
            )  # fmt: skip
        if record.attempt.task_id not in release.tasks.keys() | release.withdrawn:
            raise InputError(
                str(folder), f"an attempt at {one_line(record.attempt.task_id)}",
                f"attempts at tasks in {release.snapshot}", "Delete it: it cannot be graded.",
            )  # fmt: skip
    withdrawn = release.withdrawn
    recorded = [item for item in everything if item[1].attempt.task_id not in withdrawn]
    graded = [(folder, record) for folder, record in recorded if _is_graded(record)]
    jobs = [
        _Job(release, tuple(graded[start : start + _ATTEMPTS_AT_ONCE]), threshold)
        for start in range(0, len(graded), _ATTEMPTS_AT_ONCE)
    ]
    scores = [score for batch in map_shards(_grade_batch, jobs, workers) for score in batch]
    ended = [_ended(record, score) for (_, record), score in zip(graded, scores, strict=True)]
    remaining = iter(ended)
    attempts = [next(remaining) if _is_graded(record) else record for _, record in recorded]
    pairs = zip((record.attempt for record in ended), scores, strict=True)
    return GradedRun(tuple(attempts), tuple(pairs), len(everything) - len(recorded))


def _check_distinct(everything: Sequence[tuple[Path, AttemptRecord]]) -> None:
    seen: dict[str, Path] = {}
    for folder, record in everything:
        path = attempt_file(folder, record.attempt.task_id, record.attempt.epoch)
        earlier = seen.setdefault(record.attempt.attempt_id, path)
        if earlier is not path:
            raise InputError(
                str(path), f"the same attempt as in {earlier}", "one file per attempt",
                "Delete one of them, or rerun it under another --name.",
            )  # fmt: skip


def _is_graded(record: AttemptRecord) -> bool:
    return record.attempt.status is not AttemptStatus.INFRA_ERROR


def _ended(record: AttemptRecord, score: Score) -> AttemptRecord:
    """The record with how the attempt ended, which its grade decides."""
    attempt = record.attempt
    how = termination(attempt.status, record.submission, score.passed)
    return replace(record, attempt=replace(attempt, termination=how))


def summaries(run: GradedRun) -> list[_Summary]:
    """One row per configuration, by name."""
    names = sorted({record.attempt.configuration.name for record in run.attempts})
    return [_summary(name, run) for name in names]


def print_summaries(rows: Iterable[_Summary]) -> None:
    """Print a row for each configuration, with its whole name however long."""
    rows = list(rows)
    widest = max((cell_len(row.configuration) for row in rows), default=0)
    heads = ("attempts", "infra", "passed", "failed", "undecided", "overall", "of")
    table = Table(Column("configuration", min_width=widest), *heads, box=None)
    for row in rows:
        overall = percent(row.overall)
        counts = (row.n, row.n_infra, row.n_passed, row.n_failed, row.n_undecided)
        table.add_row(row.configuration, *map(str, counts), overall, str(row.n_overall))
    Console(highlight=False, markup=False, soft_wrap=True).print(table)


@dataclass(frozen=True, slots=True)
class _Job:
    release: ReleasedTasks
    attempts: Sequence[tuple[Path, AttemptRecord]]
    threshold: float


def _grade_batch(job: _Job) -> list[Score]:
    specs: dict[str, TaskSpec] = {}
    scores = []
    for folder, record in job.attempts:
        task_id = record.attempt.task_id
        if task_id not in specs:
            specs[task_id] = spec_of(job.release.grading(task_id))
        outputs = outputs_folder(folder, task_id, record.attempt.epoch)
        submission = replace(record.submission, outputs=str(outputs))
        run = _boxes(job.release, task_id)
        scores.append(grade(specs[task_id], submission, threshold=job.threshold, run=run))
    return scores


def _boxes(release: ReleasedTasks, task_id: str) -> Boxes:
    """Where programs are run: with the inputs of the task, and environments of the workspace."""
    task = release.tasks.get(task_id) or release.withdrawn[task_id]
    inputs = {item.sha256: task.inputs[item.path] for item in task.candidate.fixtures}
    workspace = release.public.parent.parent.parent
    return Boxes(inputs, workspace / "private" / ENVIRONMENTS)


def _summary(name: str, run: GradedRun) -> _Summary:
    attempts = [r.attempt for r in run.attempts if r.attempt.configuration.name == name]
    scores = [score for attempt, score in run.scores if attempt.configuration.name == name]
    overall = [score.overall for score in scores if score.overall is not None]
    costs = [attempt.usage.cost for attempt in attempts if attempt.usage.cost is not None]
    return _Summary(
        configuration=name,
        n=len(attempts),
        n_infra=sum(attempt.status is AttemptStatus.INFRA_ERROR for attempt in attempts),
        n_passed=_count(scores, True),
        n_failed=_count(scores, False),
        n_undecided=_count(scores, None),
        overall=round(fmean(overall), 9) if overall else None,
        n_overall=len(overall),
        cost=round(sum(costs), 9) if costs else None,
    )


def _count(scores: Iterable[Score], passed: bool | None) -> int:
    return sum(score.passed is passed for score in scores)
