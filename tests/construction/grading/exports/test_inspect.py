"""The export for Inspect: it loads, its scorer agrees with the graders, and no gold leaves."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.util import sandbox

from construction.grading.exports.inspect import export_inspect
from construction.statements.tools.agent_tools import TOOLS, answer
from tests.construction.grading.exports.sample import (
    GOLD_TEXT,
    HOSTILE,
    HOSTILE_NAME,
    RUBRIC_TEXT,
    contents,
    ids,
    sample_export,
)
from tests.construction.statements.tools.tiny import tiny_database


@pytest.fixture(scope="module")
def package(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("inspect") / "package"
    assert export_inspect(sample_export(snapshot, with_private=True), out) == 5
    return out


def loaded(package: Path) -> ModuleType:
    """The exported module, loaded from its file."""
    spec = importlib.util.spec_from_file_location("exported_tasks", package / "tasks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answering(*texts: str) -> Model:
    """A model that gives these answers. Without usage, Inspect would fetch a tokenizer to count."""
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def evaluated(package: Path, names: Sequence[str], text: str, logs: Path) -> EvalLog:
    """Let a scripted model give the same answer to some tasks."""
    task = loaded(package).benchmint(agent=generate())
    task.dataset = task.dataset.filter(lambda sample: sample.id in names)
    model = answering(*[text] * len(names))
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(logs), display="none")
    assert log.status == "success", log.error
    assert isinstance(log, EvalLog)
    return log


def score_of(log: EvalLog) -> Any:
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.scores is not None
    return sample.scores["graded"]


@pytest.mark.timeout(300)
def test_a_right_answer_scores_1_and_a_wrong_one_0(
    snapshot: Path, package: Path, tmp_path: Path
) -> None:
    export = sample_export(snapshot, with_private=True)
    question, _, text = ids(export)
    for said, right in (("125", question), (GOLD_TEXT, text)):
        log = evaluated(package, (question, text), said, tmp_path / "logs")
        for sample in log.samples or ():
            assert sample.scores is not None
            score, value = sample.scores["graded"], float(sample.id == right)
            assert (score.value, score.answer) == (value, said)
            assert bool(score.explanation) == (value == 0.0)
        assert len(log.samples or ()) == 2


@solver
def delivering() -> Solver:
    """Leaves a file, a file in a folder, and a link in outputs/."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        command = "mkdir -p outputs/deep; echo The north grew by 5 % > outputs/deep/a.txt; "
        await sandbox().exec(["sh", "-c", f"{command} ln -s /etc/passwd outputs/b.txt"])
        return await generate(state)

    return solve


def graded_alone(package: Path, task: dict[str, Any], logs: Path, *, box: bool) -> Any:
    """The score of an attempt at a task that is not in the release."""
    spec = package / "specs" / f"{task['task_id']}.json"
    spec.write_text(json.dumps(task))
    row = {"id": task["task_id"], "needs_box": box, "needs_tables": False}
    sample = Sample(id=row["id"], input="?", metadata=row, sandbox="local" if box else None)
    made = inspect_ai.Task(
        dataset=MemoryDataset([sample]),
        solver=delivering() if box else generate(),
        scorer=loaded(package).graded(),
    )
    (log,) = inspect_ai.eval(made, model=answering(""), log_dir=str(logs), display="none")
    spec.unlink()
    return score_of(log)


@pytest.mark.timeout(300)
def test_what_only_a_judge_can_decide_is_not_scored(package: Path, tmp_path: Path) -> None:
    criterion = {"dimension": "a", "weight": 1.0, "text": ""}
    task = {"task_id": "judged", "rubric": {"criteria": [criterion]}}
    assert math.isnan(graded_alone(package, task, tmp_path / "logs", box=False).value)


@pytest.mark.timeout(300)
def test_files_are_fetched_and_links_are_not(package: Path, tmp_path: Path) -> None:
    rules = [
        {"rule_id": f"r{number}", "kind": "count", "text": "", "params": params}
        for number, params in enumerate(
            ({"extensions": ["txt"], "min": number} for number in (1, 2)), 1
        )
    ]
    task = {"task_id": "files", "rules": rules}
    score = graded_alone(package, task, tmp_path / "logs", box=True)
    values = {part["name"]: part["value"] for part in score.metadata["parts"]}
    assert values == {"rule.r1": 1.0, "rule.r2": 0.0, "deliverables": 0.0}


def playing(moves: list[tuple[str, dict[str, Any]]]) -> Model:
    """A model that calls tools, one in each reply."""
    outputs = [ModelOutput.for_tool_call("mockllm/model", *move) for move in moves]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


@pytest.mark.timeout(300)
def test_a_model_answers_by_the_tools_that_the_export_serves(
    snapshot: Path, package: Path, tmp_path: Path
) -> None:
    export = sample_export(snapshot, with_private=True)
    question, *_ = ids(export)
    steps = export.computable_steps(export.release.tasks[question])
    assert steps is not None
    *lookups, _ = steps["steps"]
    # As the tools' schemas say: every argument is there, and one that is not used is null.
    unused = {spec.name: dict.fromkeys(spec.arguments.model_fields) for spec in TOOLS}
    moves = [(step["operation"], unused[step["operation"]] | step["arguments"]) for step in lookups]
    task = loaded(package).benchmint(box="none")
    task.dataset = task.dataset.filter(lambda sample: sample.id == question)
    model = playing([*moves, ("submit", {"answer": "125"})])
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert (log.status, score_of(log).value) == ("success", 1.0)
    (sample,) = log.samples or []
    results = [item.text for item in sample.messages if item.role == "tool"]
    database = tiny_database()
    assert results[: len(moves)] == [answer(database, *move).text for move in moves]


def test_an_agent_has_the_data_tools_and_no_way_to_files(
    snapshot: Path, package: Path, tmp_path: Path
) -> None:
    question, judged, _ = ids(sample_export(snapshot, with_private=True))
    module = loaded(package)
    samples = {sample.id: sample for sample in module.benchmint().dataset}
    assert samples[question].sandbox is None
    assert samples[question].files == {}
    (source,) = module.tools_for(samples[question].metadata, tmp_path / "state.sqlite")
    assert hasattr(source, "tools")  # the server's; a shell would be a tool
    assert set(samples[judged].files) == {f"inputs/{HOSTILE_NAME}"}
    image = Path(samples[judged].sandbox.config)
    assert [path.name for path in image.parent.iterdir()] == ["Dockerfile"]
    assert "COPY" not in image.read_text()


def test_tasks_without_a_box_are_left_out_aloud(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = loaded(package)
    assert len(module.benchmint().dataset) == 5
    assert not capsys.readouterr().err
    assert len(module.benchmint(box="none").dataset) == 2
    assert "3 tasks are left out" in capsys.readouterr().err


def test_hostile_texts_and_names_stay_data(snapshot: Path, package: Path) -> None:
    _, judged, _ = ids(sample_export(snapshot, with_private=True))
    sample = next(item for item in loaded(package).benchmint().dataset if item.id == judged)
    assert HOSTILE in sample.input
    assert sample.files is not None
    path = Path(sample.files[f"inputs/{HOSTILE_NAME}"])
    assert path.read_bytes() == b"id,total\n1,2\n"
    assert "touch" not in (package / "tasks.py").read_text()


def test_without_the_private_half_no_gold_leaves(snapshot: Path, tmp_path: Path) -> None:
    export_inspect(sample_export(snapshot, with_private=False), tmp_path / "public")
    files = contents(tmp_path / "public")
    for gold in (GOLD_TEXT, RUBRIC_TEXT, "One workbook.", "Find its series.", '"125"'):
        assert [name for name, content in files.items() if gold.encode() in content] == []
    assert not {"specs", "grader"} & {Path(name).parts[0] for name in files}
    assert not loaded(tmp_path / "public").benchmint().scorer
