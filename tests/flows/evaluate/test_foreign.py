"""Results of other runners become attempts that are graded as in place."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate

from construction.grading.exports.harbor import export_harbor
from construction.grading.exports.inspect import export_inspect
from data.attempts import read_attempts
from data.errors import InputError
from data.releases.tasks import read_tasks
from flows.commands.evaluate import grade_command
from flows.evaluate.foreign import runner_of, write_results
from tests.construction.grading.exports.sample import (
    GOLD_TEXT,
    ids,
    sample_export,
    sample_release,
)
from tests.construction.grading.exports.test_harbor_runs import (
    HARBOR,
    HARBOR_SETTINGS,
    needs_harbor,
    run_harbor,
)
from tests.construction.grading.exports.test_inspect import answering, delivering, loaded, score_of
from tests.needs import needs_box

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_release(tmp_path_factory.mktemp("release"))


def scores(folder: Path) -> dict[str, dict[str, Any]]:
    """The scores below a folder by task and epoch."""
    frames = [pl.read_parquet(path) for path in sorted(folder.rglob("scores.parquet"))]
    return {f"{row['task_id']}-{row['epoch']}": row for row in pl.concat(frames).to_dicts()}


def trial(job: Path, name: str, task: str, answer: str | None, **result: Any) -> Path:
    """A trial as Harbor leaves it."""
    folder = job / name
    work = folder / "artifacts" / "work"
    (work / "outputs").mkdir(parents=True)
    if answer is not None:
        (work / "outputs" / "answer.txt").write_text(answer)
    known = {
        "trial_name": name,
        "task_name": task,
        "agent_info": {
            "name": "terminus-2", "version": "2", "model_info": {"provider": "p", "name": "m"}
        },
        "agent_result": {"n_input_tokens": 9, "n_cache_tokens": 4, "n_output_tokens": 2,
                         "cost_usd": 0.5},
        "agent_execution": {"started_at": "2026-11-01T10:00:00Z",
                            "finished_at": "2026-11-01T10:00:02Z"},
        "started_at": f"2026-11-01T10:00:0{len(list(job.iterdir()))}Z",
        "exception_info": None,
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(known | result))
    return folder


def error(kind: str) -> dict[str, Any]:
    return {"exception_info": {"exception_type": kind, "exception_message": "so\nit ended"}}


def test_trials_of_harbor_become_attempts(snapshot: Path, tmp_path: Path) -> None:
    question, _, text = ids(sample_export(snapshot, with_private=True))
    job = tmp_path / "jobs" / "job"
    trial(job, "a", question, "125")
    trial(job, "b", question, "126")
    trial(job, "c", text, None, **error("AgentTimeoutError"))
    trial(job, "d", text, None, **error("ContextWindowExceededError"))
    trial(job, "e", text, GOLD_TEXT, **error("VerifierTimeoutError"))
    link = job / "a" / "artifacts" / "work" / "outputs" / "link.txt"
    link.symlink_to("/etc/passwd")
    out = tmp_path / "attempts"
    grade_command(tmp_path / "jobs", snapshot, out=out)
    records = {path.name + str(r.attempt.epoch) + r.attempt.task_id: r
               for path, r in read_attempts(out)}  # fmt: skip
    name = "harbor-terminus-2-p-m"
    first = records[f"{name}1{question}"].attempt
    assert (first.configuration.runner, first.configuration.harness) == ("harbor", "terminus-2")
    assert (first.usage.input_tokens, first.usage.cached_tokens, first.seconds) == (5, 4, 2.0)
    ended = {key[len(name) :]: (r.attempt.status, r.attempt.error) for key, r in records.items()}
    assert ended == {
        f"1{question}": ("completed", None),
        f"2{question}": ("completed", None),
        f"1{text}": ("timeout", "AgentTimeoutError: so it ended"),
        f"2{text}": ("agent_error", "ContextWindowExceededError: so it ended"),
        f"3{text}": ("infra_error", "VerifierTimeoutError: so it ended"),
    }
    graded = {name: row["passed"] for name, row in scores(out).items()}
    assert graded == {
        f"{question}-1": True, f"{question}-2": False, f"{text}-1": False, f"{text}-2": False
    }  # fmt: skip
    (delivered,) = out.rglob("outputs/*-1/answer.txt")
    assert [path.name for path in delivered.parent.iterdir()] == ["answer.txt"]


def test_results_on_another_release_are_refused(snapshot: Path, tmp_path: Path) -> None:
    question, *_ = ids(sample_export(snapshot, with_private=True))
    job = tmp_path / "job"
    folder = trial(job, "a", question, "125")
    (folder / "verifier").mkdir()
    printed = json.dumps({"release_digest": "another"})
    (folder / "verifier" / "test-stdout.txt").write_text(f"noise\n{printed}\n")
    with pytest.raises(InputError, match="found results from another release"):
        write_results(snapshot, job, tmp_path / "out")
    trial(job, "b", "t-other", "125")
    with pytest.raises(InputError, match="found task t-other"):
        write_results(snapshot, job, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_is_not_taken_twice(snapshot: Path, tmp_path: Path) -> None:
    question, *_ = ids(sample_export(snapshot, with_private=True))
    trial(tmp_path / "one", "a", question, "125")
    other = {"agent_info": {"name": "codex", "version": "1", "model_info": None}}
    trial(tmp_path / "two", "a", question, "125", **other)
    write_results(snapshot, tmp_path / "one", tmp_path / "out", "mine")
    write_results(snapshot, tmp_path / "one", tmp_path / "out", "mine")
    with pytest.raises(InputError, match="found attempts from another runner or release"):
        write_results(snapshot, tmp_path / "two", tmp_path / "out", "mine")


@needs_harbor
@needs_box
@pytest.mark.slow(seconds=30)
@pytest.mark.parametrize("agent", [("-a", "oracle"), ("-a", "nop")])
def test_a_job_of_harbor_is_graded_as_in_place(
    snapshot: Path, tmp_path: Path, agent: tuple[str, ...]
) -> None:
    export_harbor(sample_export(snapshot, with_private=True), tmp_path / "whole")
    (tmp_path / "jobs").mkdir()
    run_harbor(tmp_path / "whole", tmp_path / "whole" / "tasks", tmp_path / "jobs", *agent)
    grade_command(tmp_path / "jobs", snapshot, out=tmp_path / "attempts")
    own = scores(tmp_path / "attempts")
    printed = [json.loads(path.read_text()) for path in tmp_path.rglob("test-stdout.txt")]
    assert len(own) == len(printed) == (1 if "oracle" in agent else 4)
    for score in printed:
        row = own[f"{score['task_id']}-1"]
        assert {name: row[name] for name in ("overall", "passed", "acc")} == {
            name: score[name] for name in ("overall", "passed", "acc")
        }
        assert score["release_digest"] == read_tasks(snapshot).digest


def test_a_log_of_inspect_is_graded_as_in_place(snapshot: Path, tmp_path: Path) -> None:
    export = sample_export(snapshot, with_private=True)
    package = tmp_path / "package"
    export_inspect(export, package)
    module = loaded(package)
    in_place: dict[str, Any] = {}
    for number, said in enumerate(("125", "126"), 1):
        task = module.benchmint(agent=generate(), box="none")
        task.dataset = task.dataset.filter(lambda sample: sample.id == ids(export)[0])
        task.epochs = 1
        logs = tmp_path / f"logs-{number}"
        (log,) = inspect_ai.eval(task, model=answering(said), log_dir=str(logs), display="none")
        in_place[said] = score_of(log).metadata
        assert runner_of(logs) == "inspect"
        grade_command(next(logs.glob("*.eval")), snapshot, name=said, out=tmp_path / said)
        (row,) = scores(tmp_path / said).values()
        assert row["passed"] == in_place[said]["passed"] == (said == "125")
        assert (row["overall"], row["acc"]) == (in_place[said]["overall"], in_place[said]["acc"])
    ((folder, record),) = read_attempts(tmp_path / "125")
    assert record.attempt.configuration.runner == "inspect"
    assert record.submission.answer == "125"
    assert len(list((folder / "trajectories").iterdir())) == 1


def test_files_that_an_attempt_of_inspect_delivered_come_back(
    snapshot: Path, tmp_path: Path
) -> None:
    export = sample_export(snapshot, with_private=True)
    package = tmp_path / "package"
    export_inspect(export, package)
    _, judged, _ = ids(export)
    row = {"id": judged, "needs_box": True, "release_digest": export.release.digest}
    sample = Sample(id=judged, input="?", metadata=row, sandbox="local")
    task = inspect_ai.Task(
        dataset=MemoryDataset([sample]), solver=delivering(), scorer=loaded(package).graded()
    )
    logs = tmp_path / "logs"
    (log,) = inspect_ai.eval(task, model=answering("done"), log_dir=str(logs), display="none")
    grade_command(logs, snapshot, out=tmp_path / "attempts")
    files = {
        path.relative_to(tmp_path / "attempts").as_posix().partition("-1/")[2]: path.read_text()
        for path in tmp_path.glob("attempts/*/*/outputs/**/*") if path.is_file()
    }  # fmt: skip
    assert files == {"deep/a.txt": "The north grew by 5 %\n"}
    (score,) = scores(tmp_path / "attempts").values()
    assert score["passed"] == score_of(log).metadata["passed"]


def trajectory(answer: str, **other: Any) -> dict[str, Any]:
    call = {"tool_call_id": "c", "function_name": "mcp__tables__discover_companies",
            "arguments": {"query": "Quandell"}}  # fmt: skip
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": "my agent", "version": "1", "model_name": "p/m"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "How much?"},
            {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call], "observation": {
                "results": [{"source_call_id": "c", "content": "[]"}]}},
            {"step_id": 3, "source": "agent", "message": answer},
        ],
        **other,
    }  # fmt: skip


def test_trajectories_become_attempts(snapshot: Path, tmp_path: Path) -> None:
    question, _, text = ids(sample_export(snapshot, with_private=True))
    logs = tmp_path / "logs"
    (logs / text).mkdir(parents=True)
    for name, said in ((f"{question}-1.json", "125"), (f"{question}-2.json", "9"),
                       (f"{text}/trajectory.json", GOLD_TEXT)):  # fmt: skip
        (logs / name).write_text(json.dumps(trajectory(said)))
    grade_command(logs, snapshot, out=tmp_path / "attempts")
    graded = {name: row["passed"] for name, row in scores(tmp_path / "attempts").items()}
    assert graded == {f"{question}-1": True, f"{question}-2": False, f"{text}-1": True}
    records = list(read_attempts(tmp_path / "attempts"))
    assert {folder.name for folder, _ in records} == {"atif-my-agent-p-m"}
    record = next(record for _, record in records if record.attempt.task_id == question)
    (call,) = record.submission.calls
    assert (call.name, call.step, call.output) == ("discover_companies", 1, "[]")
    assert record.submission.steps == 2


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.json", trajectory("1"), "found a trajectory that does not name its task"),
        (
            "TASK.json",
            trajectory("1", extra={"release_digest": "z"}),
            "results from another release",
        ),
        ("TASK.json", {"schema_version": "ATIF-v9.0", "steps": []}, "that cannot be read"),
        ("TASK.json", {"steps": []}, "found no attempts"),
    ],
)
def test_trajectories_that_say_too_little_are_refused(
    snapshot: Path, tmp_path: Path, name: str, content: dict[str, Any], problem: str
) -> None:
    task, *_ = read_tasks(snapshot).tasks
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / name.replace("TASK", task)).write_text(json.dumps(content))
    with pytest.raises(InputError, match=problem):
        grade_command(tmp_path / "logs", snapshot, out=tmp_path / "attempts")


_LOADED = """
import json, sys
from pathlib import Path
from harbor.models.trajectories.trajectory import Trajectory
for path in sys.argv[1:]:
    print(len(Trajectory.model_validate_json(Path(path).read_text()).steps))
"""


@needs_harbor
def test_harbor_reads_the_trajectories_that_are_written(snapshot: Path, tmp_path: Path) -> None:
    export = sample_export(snapshot, with_private=True)
    export_inspect(export, tmp_path / "package")
    task = loaded(tmp_path / "package").benchmint(agent=generate(), box="none")
    task.dataset = task.dataset.filter(lambda sample: sample.id == ids(export)[0])
    logs = str(tmp_path / "logs")
    inspect_ai.eval(task, model=answering("125"), log_dir=logs, display="none")
    write_results(snapshot, tmp_path / "logs", tmp_path / "attempts")
    paths = [str(path) for path in tmp_path.glob("attempts/*/*/trajectories/*.json")]
    done = subprocess.run(
        [str(Path(str(HARBOR)).with_name("python")), "-c", _LOADED, *paths],
        capture_output=True, text=True, check=False, env={**os.environ, **HARBOR_SETTINGS},
    )  # fmt: skip
    assert done.stdout.split() == ["2"], done.stderr[-1000:]


_TASKSET = """
import sys
sys.path.insert(0, sys.argv[1])
from benchmint_verifiers import BenchmintConfig, BenchmintTaskset
print(*(task.data.name for task in BenchmintTaskset(BenchmintConfig())))
"""


@needs_harbor
def test_verifiers_reads_an_export_for_harbor(snapshot: Path, tmp_path: Path) -> None:
    python = str(Path(str(HARBOR)).with_name("python"))
    if subprocess.run(
        [python, "-c", "import verifiers"], capture_output=True, check=False
    ).returncode:
        pytest.skip("no verifiers beside Harbor: .venv-harbor/bin/pip install verifiers")
    export_harbor(sample_export(snapshot, with_private=True), tmp_path / "whole")
    done = subprocess.run(
        [python, "-c", _TASKSET, str(tmp_path / "whole")],
        capture_output=True, text=True, check=False, env={**os.environ, **HARBOR_SETTINGS},
    )  # fmt: skip
    wanted = sorted(path.name for path in (tmp_path / "whole" / "tasks").iterdir())
    assert done.stdout.split() == wanted, done.stderr[-1000:]
