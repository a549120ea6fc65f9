"""Grading attempts on disk: the same bytes every time, with every denominator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from construction.grading.logs import grade_attempts, print_summaries, summaries
from data.attempts import (
    AttemptRecord,
    attempt_id_of,
    attempts_database,
    read_attempts,
    write_attempt,
    write_tables,
)
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    Configuration,
    Submission,
    Termination,
    Usage,
)
from data.errors import InputError, error_line
from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot.writer import write_snapshot
from data.tables import write_frame
from tests.conftest import REPO
from tests.data.snapshot.sample import release

CONFIGURATION = Configuration("agent", "react", "model")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> ReleasedTasks:
    root = tmp_path_factory.mktemp("release")
    return read_tasks(write_snapshot(release(root), root / "out").path)


def attempt(
    tasks: ReleasedTasks, task_id: str, status: AttemptStatus = AttemptStatus.COMPLETED
) -> Attempt:
    return Attempt(
        attempt_id=attempt_id_of(tasks.digest, task_id, CONFIGURATION.name, 1),
        release_digest=tasks.digest,
        task_id=task_id,
        configuration=CONFIGURATION,
        epoch=1,
        status=status,
        termination=None,
        steps=2,
        usage=Usage(10, 0, 5, 0, 0.25),
        seconds=1.5,
        retries=0,
        log_digest="d",
    )


def gold(tasks: ReleasedTasks, task_id: str) -> str:
    return str(tasks.grading(task_id)["answers"][0]["value"])


@pytest.fixture
def logs(tasks: ReleasedTasks, tmp_path: Path) -> Path:
    """Right answers, but for one wrong, one missing and two that infrastructure ended."""
    ids = list(tasks.tasks)
    for number, task_id in enumerate(ids):
        answer = {0: "123456789", 1: None}.get(number, gold(tasks, task_id))
        status = AttemptStatus.INFRA_ERROR if number in (2, 3) else AttemptStatus.COMPLETED
        record = AttemptRecord(attempt(tasks, task_id, status), Submission(answer=answer, steps=2))
        write_attempt(tmp_path / "logs/agent", record)
    return tmp_path / "logs"


def test_every_denominator_is_shown(tasks: ReleasedTasks, logs: Path) -> None:
    (row,) = summaries(grade_attempts(tasks, logs))
    n = len(tasks.tasks)
    assert (row.n, row.n_infra) == (n, 2)
    assert row.n_passed + row.n_failed + row.n_undecided == n - 2
    assert row.n_overall <= n - 2
    assert row.cost == 0.25 * n


def test_failed_attempts_say_how_they_ended(tasks: ReleasedTasks, logs: Path) -> None:
    ends = Counter(record.attempt.termination for record in grade_attempts(tasks, logs).attempts)
    assert ends[Termination.SILENT_STOP] == 1
    assert ends[Termination.WRONG_ANSWER] >= 1
    assert ends[None] >= 2  # ended by infrastructure, or passed


def test_long_names_of_configurations_are_printed_whole(
    tasks: ReleasedTasks, logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = summaries(grade_attempts(tasks, logs))
    names = [f"harness-openai-api-local-{end}-{'x' * 80}" for end in ("a", "b")]
    print_summaries(replace(row, configuration=name) for name in names)
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_infrastructure_errors_leave_the_other_scores_alone(
    tasks: ReleasedTasks, logs: Path
) -> None:
    before = {a.task_id: score for a, score in grade_attempts(tasks, logs).scores}
    path, record = next(
        (path, record)
        for path, record in read_attempts(logs)
        if record.attempt.status is AttemptStatus.COMPLETED
    )
    broken = replace(record.attempt, status=AttemptStatus.INFRA_ERROR)
    write_attempt(path, replace(record, attempt=broken))
    run = grade_attempts(tasks, logs)
    after = {a.task_id: score for a, score in run.scores}
    assert before.pop(record.attempt.task_id) is not None
    assert after == before
    assert summaries(run)[0].n_infra == 3


def test_the_tables_are_the_same_bytes_with_any_number_of_processes(
    tasks: ReleasedTasks, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("construction.grading.logs._ATTEMPTS_AT_ONCE", 2)
    contents = []
    for workers in (1, 2):
        out = tmp_path / f"tables-{workers}"
        run = grade_attempts(tasks, logs, workers=workers)
        write_tables(out, run.attempts, run.scores)
        contents.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert contents[0] == contents[1]
    assert sorted(contents[0]) == [
        "attempts.parquet",
        "score_parts.parquet",
        "scores.parquet",
        "tool_calls.parquet",
    ]


_KILLED = """
import os, pathlib, sys
from data import tables
from data.attempts import write_tables

write = tables.write_frame

def killed(path, frame):
    if "attempts" in path.name:
        path.write_bytes(b"PAR1")
        os._exit(9)
    write(path, frame)

tables.write_frame = killed
write_tables(pathlib.Path(sys.argv[1]), [], [])
"""


def test_a_killed_grade_leaves_whole_tables_which_others_cannot_read(tmp_path: Path) -> None:
    out = tmp_path / "run" / "scores"
    write_tables(out, [], [])
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = subprocess.run([sys.executable, "-c", _KILLED, out], cwd=REPO, check=False)
    assert done.returncode == 9
    assert {path.name: path.read_bytes() for path in out.glob("*.parquet")} == before
    write_tables(out, [], [])
    files = sorted(out.iterdir())
    assert [path.suffix for path in files] == [".parquet"] * 4
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    shutil.rmtree(out)
    subprocess.run([sys.executable, "-c", _KILLED, out], cwd=REPO, check=False)
    with pytest.raises(InputError, match="Run `benchmint grade`"), attempts_database(tmp_path):
        pass


@pytest.mark.parametrize(
    "changes",
    [
        {"epoch": 2},
        {"task_id": "../../x"},
        {"steps": 10**30},
        {"seconds": 1e308},
        {"usage": Usage(10**19, 0, 5, 0, 0.25)},
        {"configuration": replace(CONFIGURATION, name="\x1b[2J")},
    ],
)
def test_attempts_that_nothing_wrote_are_refused(
    tasks: ReleasedTasks, logs: Path, changes: dict[str, Any]
) -> None:
    folder, record = next(iter(read_attempts(logs)))
    path = folder / "attempts" / f"{record.attempt.task_id}-1.json"
    odd = replace(record, attempt=replace(record.attempt, **changes))
    path.write_text(json.dumps(asdict(odd)))
    # a number that no schema of an attempt admits is found before its plausibility is looked at
    problem = "(another attempt's name or ID, or impossible numbers|ValidationError)"
    with pytest.raises(InputError, match=rf"{path}: found {problem}"):
        grade_attempts(tasks, logs)


def test_two_files_of_an_attempt_are_both_named(tasks: ReleasedTasks, logs: Path) -> None:
    folder, record = next(iter(read_attempts(logs)))
    copy = write_attempt(logs / "copy", record)
    with pytest.raises(InputError, match="the same attempt as in") as refused:
        grade_attempts(tasks, logs)
    assert str(copy) in str(refused.value)
    assert str(folder / "attempts" / copy.name) in str(refused.value)


def test_what_is_no_file_and_what_is_no_task_are_named(tasks: ReleasedTasks, logs: Path) -> None:
    folder, record = next(iter(read_attempts(logs)))
    own = attempt_id_of(tasks.digest, "t-x", CONFIGURATION.name, 1)
    moved = replace(record.attempt, task_id="t-x", attempt_id=own)
    path = write_attempt(folder, replace(record, attempt=moved))
    with pytest.raises(InputError, match="found an attempt at t-x"):
        grade_attempts(tasks, logs)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match=f"{path}: found no regular file"):
        grade_attempts(tasks, logs)


def test_tables_on_a_full_disk_are_told_of_in_one_line() -> None:
    with pytest.raises(OSError) as raised:
        write_frame(Path("/dev/full"), pl.DataFrame({"a": [1]}))
    assert "No space left on device: free some space" in error_line(raised.value)


def test_attempts_on_another_release_are_refused(tasks: ReleasedTasks, logs: Path) -> None:
    with pytest.raises(InputError, match="attempts at another release"):
        grade_attempts(replace(tasks, digest="0" * 64), logs)


def test_a_folder_without_attempts_is_named(tasks: ReleasedTasks, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no attempts"):
        grade_attempts(tasks, tmp_path)


def test_a_broken_attempt_is_named(tasks: ReleasedTasks, logs: Path) -> None:
    path = sorted(logs.glob("agent/attempts/*.json"))[0]
    path.write_text('{"attempt": {}}')
    with pytest.raises(InputError, match=path.name):
        grade_attempts(tasks, logs)


def test_only_who_has_the_private_half_can_grade(tasks: ReleasedTasks, logs: Path) -> None:
    with pytest.raises(InputError, match="the private half is missing"):
        grade_attempts(replace(tasks, private=None), logs)


def test_attempts_that_an_agent_delivers_are_not_graded(tasks: ReleasedTasks, logs: Path) -> None:
    folder, record = next(read_attempts(logs))
    before = len(list(read_attempts(logs)))
    write_attempt(folder / "outputs" / "task-1", record)
    assert len(list(read_attempts(logs))) == before
    assert len(list(read_attempts(folder))) <= before


def test_tables_that_an_agent_delivers_are_not_queried(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text("{}")
    write_tables(tmp_path / "run/outputs/task-1/scores", [], [])
    with pytest.raises(InputError, match="no tables"), attempts_database(tmp_path):
        pass
