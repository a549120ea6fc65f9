"""The export for Harbor: what is in it, what is not, and that hostile texts stay text."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from construction.grading.bundle_command import answer_path
from construction.grading.exports.harbor import _instruction, export_harbor
from construction.grading.exports.writing import _needs_judge
from construction.grading.spec import spec_of
from construction.sandbox.toolset import FONTS, installed
from data.errors import InputError
from data.releases.tasks import ReleasedTask
from tests.conftest import REPO
from tests.construction.grading.exports.sample import (
    GOLD_TEXT,
    HOSTILE,
    HOSTILE_NAME,
    RUBRIC_TEXT,
    contents,
    sample_export,
    task_folder,
)


def run_script(path: Path, work: Path, reward: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "BENCHMINT_WORK": str(work),
        "BENCHMINT_REWARD": str(reward),
    }
    return subprocess.run(
        ["sh", str(path)], capture_output=True, text=True, env=environment, check=False
    )


def test_a_task_has_what_harbor_reads(whole: Path, names: list[str]) -> None:
    question, judged, _ = (task_folder(whole, name) for name in names)
    settings = tomllib.loads((question / "task.toml").read_text())
    assert settings["schema_version"] == "1.4"
    assert settings["agent"]["timeout_sec"] == 1800.0
    assert settings["verifier"]["environment_mode"] == "separate"
    (server,) = settings["environment"]["mcp_servers"]
    assert server["transport"] == "streamable-http"
    assert settings["environment"]["network_mode"] == "no-network"
    solution = contents(question / "solution")
    assert {"solve.sh", "steps.json"} < {*solution}
    assert [name for name, content in solution.items() if b'"125"' in content] == []
    assert "mcp_servers" not in tomllib.loads((judged / "task.toml").read_text())["environment"]
    assert {"task.toml", "instruction.md", "tests/test.sh", "tests/spec.json"} <= {
        *contents(question)
    }
    assert answer_path(has_rules=False) in (question / "instruction.md").read_text()
    assert not (judged / "solution").exists()


def test_the_right_answer_passes_and_others_do_not(
    whole: Path, names: list[str], tmp_path: Path
) -> None:
    task, work, reward = whole / "tasks" / names[0], tmp_path / "work", tmp_path / "r" / "r.json"
    (work / "outputs").mkdir(parents=True)
    done = run_script(task / "tests" / "test.sh", work, reward)
    assert (done.returncode, json.loads(reward.read_text())["reward"]) == (0, 0.0), done.stderr
    (work / "outputs" / "answer.txt").write_text("125\n")
    run_script(task / "tests" / "test.sh", work, reward)
    assert json.loads(reward.read_text()) == {"reward": 1, "undecided": 0, "deterministic": 1}
    (work / "outputs" / "answer.txt").write_text("125,000")
    run_script(task / "tests" / "test.sh", work, reward)
    assert json.loads(reward.read_text())["reward"] == 0.0


def test_directions_say_what_applies_in_the_language_of_the_task(
    snapshot: Path, names: list[str]
) -> None:
    tasks = sample_export(snapshot, with_private=True).release.tasks
    question, judged, _ = (tasks[name] for name in names)

    def written(task: ReleasedTask, language: str) -> str:
        candidate = task.candidate.model_copy(update={"language": language})
        files = bool(candidate.deliverables)
        text = _instruction(
            replace(task, candidate=candidate), asks_files=files, has_tools=not files
        )
        return text.removeprefix(task.instruction.rstrip())

    assert "inputs/" not in written(question, "en")
    assert "outputs/answer.txt" in written(question, "en")
    assert 'data_tool NAME \'{"argument": "value"}\'' in written(question, "en")
    assert "inputs/" in written(judged, "en")
    assert "data_tool" not in written(judged, "en")
    for language, word in (("zh", "工作目录"), ("ja", "作業フォルダー"), ("mul", "You work")):
        for task in (question, judged):
            assert word in written(task, language)
            assert answer_path(bool(task.candidate.deliverables)) in written(task, language)


def test_hostile_texts_and_names_stay_data(whole: Path, names: list[str], tmp_path: Path) -> None:
    _, judged, text = (task_folder(whole, name) for name in names)
    for task in (judged, text):
        assert HOSTILE in (task / "instruction.md").read_text()
        assert tomllib.loads((task / "task.toml").read_text())["agent"]["timeout_sec"] == 1800.0
        for script in ("tests/test.sh", "environment/Dockerfile"):
            assert "touch" not in (task / script).read_text()
    assert (judged / "environment" / "inputs" / HOSTILE_NAME).read_bytes() == b"id,total\n1,2\n"
    network = tomllib.loads((judged / "task.toml").read_text())["environment"]
    assert network["allowed_hosts"] == ["example.org"]
    work, reward = tmp_path / "a $(touch owned) b", tmp_path / "r.json"
    (work / "outputs").mkdir(parents=True)
    (work / "outputs" / "answer.txt").write_text(GOLD_TEXT)
    done = run_script(text / "tests" / "test.sh", work, reward)
    assert json.loads(reward.read_text())["reward"] == 1.0, done.stderr


def test_without_the_private_half_no_gold_leaves(snapshot: Path, tmp_path: Path) -> None:
    export = sample_export(snapshot, with_private=False)
    export_harbor(export, tmp_path / "public")
    files = contents(tmp_path / "public")
    folders = {Path(name).parts[2] for name in files if name.startswith("tasks/")}
    assert folders == {"environment", "instruction.md", "task.toml", "tests"}
    for gold in (GOLD_TEXT, RUBRIC_TEXT, "One workbook.", "Find its series.", '"125"'):
        assert [name for name, content in files.items() if gold.encode() in content] == []
    script = next((tmp_path / "public").glob("tasks/*/tests/test.sh"))
    done = run_script(script, tmp_path, tmp_path / "r.json")
    assert done.returncode == 1
    assert not (tmp_path / "r.json").exists()


def test_a_folder_with_files_is_not_written_to(snapshot: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(InputError, match="expected nothing, or an empty folder"):
        export_harbor(sample_export(snapshot, with_private=False), tmp_path)
    assert list(contents(tmp_path)) == ["kept"]


def test_the_same_release_gives_the_same_bytes(snapshot: Path, whole: Path, tmp_path: Path) -> None:
    export_harbor(sample_export(snapshot, with_private=True), tmp_path / "again")
    kept = {name: text for name, text in contents(whole).items() if "__pycache__" not in name}
    assert contents(tmp_path / "again") == kept


def test_the_image_has_what_the_toolset_declares_as_locked(whole: Path, names: list[str]) -> None:
    image = (whole / "tasks" / names[0] / "environment" / "Dockerfile").read_text()
    lock = (REPO / "requirements-evaluate.lock").read_text()
    pins = re.findall(r"[a-z-]+==[\d.]+", image)
    assert {f"{name}=={version}" for name, version in installed().items()} == set(pins)
    assert [pin for pin in pins if f"\n{pin} " not in lock] == []
    assert f"FROM python:{platform.python_version()}-slim" in image
    assert all(package in image for package in FONTS)


def test_the_tables_are_in_an_image_of_their_own(whole: Path, names: list[str]) -> None:
    environment = whole / "tasks" / names[0] / "environment"
    copied = re.findall(r"^(?:COPY|ADD) (.*)$", (environment / "Dockerfile").read_text(), re.M)
    assert copied == ["inputs/ inputs/", "data_tool /opt/benchmint/data_tool"]
    compose = yaml.safe_load((environment / "docker-compose.yaml").read_text())
    assert compose["services"]["tables"]["build"] == {"context": "./tables"}
    assert "volumes" not in compose["services"]["main"]
    data = environment / "tables" / "data" / "points.parquet"
    assert data.samefile(whole / "tables" / "data" / "points.parquet")
    assert not (whole / "tasks" / names[2] / "environment" / "tables").exists()


def test_tasks_that_only_a_judge_lets_pass_are_apart(snapshot: Path, tmp_path: Path) -> None:
    export = sample_export(snapshot, with_private=True)
    name = "t-judged"
    whole = export.release.grading(next(iter(export.release.tasks)))
    rubric = {"criteria": [{"dimension": "depth", "weight": 1.0, "text": "It says why."}]}
    check = {"check_id": "c", "kind": "unchanged", "params": {}, "text": "", "weight": 0.3}
    cases: tuple[tuple[dict[str, Any], bool], ...] = (
        ({"answers": [], "rubric": rubric, "checks": []}, True),
        ({"answers": [], "rubric": rubric, "checks": [check]}, True),
        ({"answers": [], "rubric": rubric, "checks": [check | {"weight": 0.8}]}, False),
        ({"rubric": rubric}, False),
        ({"answers": [], "rubric": None}, False),
    )
    for changed, expected in cases:
        graded = spec_of({**whole, "checks": [], **changed, "task_id": name})
        assert _needs_judge(graded) is expected, changed


def test_a_named_image_takes_the_place_of_the_dockerfile(
    snapshot: Path, names: list[str], tmp_path: Path
) -> None:
    export_harbor(sample_export(snapshot, with_private=True), tmp_path / "out", "reg.example/w:1")
    settings = {
        name: tomllib.loads((task_folder(tmp_path / "out", name) / "task.toml").read_text())
        for name in names
    }
    question, judged, _ = (settings[name] for name in names)
    assert judged["environment"]["docker_image"] == judged["metadata"]["image"] == "reg.example/w:1"
    assert not (task_folder(tmp_path / "out", names[1]) / "environment" / "Dockerfile").exists()
    assert "docker_image" not in question["environment"]  # its server is built beside it
    assert question["metadata"]["image"] == "untested"
