"""Analytic tasks over the papers of an office: the papers are a service of each task, which answers
as many requests as the instruction says, and what agents answer is graded as ever."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from construction.grading.grade import grade
from construction.grading.spec import spec_of
from construction.workflows.declaration import has_services
from construction.workflows.runs import is_replayed
from construction.workflows.world_file import ARCHIVE, PAPERS, read_world
from data.attempts import read_attempts
from data.contracts import Lane
from data.contracts.attempt import AttemptStatus, Configuration
from data.demo.generate import COOPERATIVES, copy_frozen
from data.releases.tasks import ReleasedTasks, read_tasks
from flows.commands.releases import export_harbor_command, export_inspect_command
from tests.construction.analytics.test_roles import corrected
from tests.construction.grading.exports.sample import contents
from tests.flows.command import inline, inline_build, sums
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.plans import MODEL, Messages, steps_taken
from tests.needs import needs_box

pytestmark = pytest.mark.slow(seconds=20)
TOOLS = ("shell", "archive_search_papers", "archive_get_paper")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with planted policies, and settings beside it."""
    folder = tmp_path_factory.mktemp("cooperatives")
    copy_frozen(COOPERATIVES, folder)
    declared = folder / "environment.toml"
    declared.write_text(tomli_w.dumps(corrected()))
    result = inline("lane", "profile", declared, "--policies", "3", "--seed", "0")
    assert result.returncode == 0, result.stderr
    (folder / "settings.toml").write_text("[analytics]\nnoisy = 0.0\nper_template = 1\n")
    return folder


def build(given: Path, out: Path, *more: str) -> Path:
    arguments = ("--config", given / "settings.toml", "--environment", given / "environment.toml")
    result = inline_build(*arguments, "--out", out, "--quiet", *more)
    assert result.returncode == 0, result.stderr
    return (out / "snapshots/latest").resolve()


@pytest.fixture(scope="module")
def snapshot(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(given, tmp_path_factory.mktemp("archive") / "out")


@pytest.fixture
def tasks(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> ReleasedTasks:
    monkeypatch.setenv("BENCHMINT_API_KEY", "key")
    return read_tasks(snapshot)


def over_papers(tasks: ReleasedTasks) -> list[str]:
    return [name for name, task in tasks.tasks.items() if has_services(task.candidate)]


def test_the_papers_are_in_the_worlds_and_nowhere_else(
    snapshot: Path, tasks: ReleasedTasks, given: Path
) -> None:
    over = over_papers(tasks)
    assert over
    assert len(over) < len(tasks.tasks)
    texts = {path.read_text() for path in (given / "rules").glob("*.txt")}
    for name in over:
        candidate = tasks.tasks[name].candidate
        assert (candidate.lane, candidate.tools) == (Lane.ANALYTICS, TOOLS)
        world = read_world(tasks.world(name))
        assert {paper["body"] for paper in world.state[ARCHIVE][PAPERS].values()} == texts
        assert f"answers {world.allowance} requests in all" in candidate.guidelines
        assert candidate.structure is not None
        assert 4 * candidate.structure.calls <= 3 * (world.allowance or 0)
    for path in (snapshot / "public").rglob("*"):
        assert path.is_dir() or b"sector group S1" not in path.read_bytes(), path
    for path in (snapshot / "private").glob("*/world.json"):
        assert path.parent.name in over


def test_lint_recomputes_golds_and_reads_how_many_requests_there_are(
    snapshot: Path, tasks: ReleasedTasks
) -> None:
    result = inline("lint", snapshot)
    assert result.returncode == 0, result.stdout
    assert f"{len(tasks.tasks)} tasks: 0 defects" in result.stdout
    assert inline("verify", snapshot).returncode == 0


def test_the_same_inputs_are_the_same_release(snapshot: Path, given: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = snapshot.parents[1]
    keys = [path for path in first.rglob("*.key") if path.is_file()]
    assert keys
    for path in keys:
        (out / path.relative_to(first)).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (out / path.relative_to(first)).write_bytes(path.read_bytes())
        (out / path.relative_to(first)).chmod(0o600)
    build(given, out)
    assert sums(out) == sums(first)


def test_papers_stay_files_where_that_is_asked_for(given: Path, tmp_path: Path) -> None:
    settings = (given / "settings.toml").read_text() + 'papers = "files"\n'
    (tmp_path / "settings.toml").write_text(settings)
    arguments = ("--config", tmp_path / "settings.toml", "--quiet")
    environment = ("--environment", given / "environment.toml", "--out", tmp_path / "out")
    assert inline_build(*arguments, *environment).returncode == 0
    snapshot = (tmp_path / "out/snapshots/latest").resolve()
    tasks = read_tasks(snapshot).tasks.values()
    assert {task.candidate.tools for task in tasks} == {("shell",)}
    assert any("General Rules" in task.candidate.guidelines for task in tasks)
    assert all("archive" not in task.candidate.guidelines for task in tasks)
    assert len(list((snapshot / "public/environments").rglob("paper_*.txt"))) > 150
    assert not list((snapshot / "private").glob("*/world.json"))


@needs_box
def test_an_agent_searches_reads_and_is_graded_by_its_answer(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed")
    from flows.evaluate.plan import Plan
    from flows.evaluate.run import evaluate
    from flows.evaluate.scripts import ORACLE, scripts_of

    name = over_papers(tasks)[0]
    scripts = scripts_of(ORACLE, tasks, None, 1, None)
    answer = scripts[name, 1].answer
    calls: list[tuple[str, dict[str, Any]]] = [
        ("archive_search_papers", {"query": "general rules", "limit": 50}),
        ("archive_get_paper", {"id": "paper-001"}),
        ("submit", {"answer": answer}),
    ]

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        return calls[steps_taken(messages)]

    for agent, folder in (("react", tmp_path / "react"), (ORACLE, tmp_path / "oracle")):
        with chat_server(play) as chat:
            model = MODEL if agent == "react" else "none"
            plan = Plan(
                tasks, Configuration(agent, agent, model), agent, folder,
                task_ids=(name,), scripts=scripts, base_url=chat.url if agent == "react" else None,
            )  # fmt: skip
            evaluate(plan)
        ((_, record),) = read_attempts(folder)
        assert record.attempt.status is AttemptStatus.COMPLETED, record.attempt.error
        assert grade(spec_of(tasks.grading(name)), record.submission).passed
        assert is_replayed(record, tasks)
        rows = [(row.operation, row.status) for row in record.submission.audit]
        wanted = [("search_papers", "ok"), ("get_paper", "ok")]
        assert rows == (wanted if agent == "react" else [])


def test_exports_hold_both_files_and_services(
    snapshot: Path, tasks: ReleasedTasks, tmp_path: Path
) -> None:
    name = over_papers(tasks)[0]
    export_harbor_command(snapshot, tmp_path / "harbor", with_private=True)
    task = tmp_path / "harbor" / "tasks" / name
    held = contents(task)
    named = {file for file, content in held.items() if b"sector group S1" in content}
    assert named <= {"environment/services/world.json", "tests/spec.json"}  # graders' alone
    assert "environment/services/world.json" in named
    inputs = {file for file in held if file.startswith("environment/inputs/")}
    assert len(inputs) == len(tasks.tasks[name].inputs) > 2
    text = (task / "instruction.md").read_text()
    assert "The input files are in inputs/." in text
    assert "services of the task are tools of an MCP server" in text
    settings = tomllib.loads((task / "task.toml").read_text())
    assert [each["name"] for each in settings["environment"]["mcp_servers"]] == [
        "benchmint-services"
    ]
    assert "--record" in (task / "tests" / "test.sh").read_text()
    spec = json.loads((task / "tests" / "spec.json").read_text())
    assert spec["answers"]
    export_inspect_command(snapshot, tmp_path / "inspect", with_private=True)
    rows = (tmp_path / "inspect" / "tasks.jsonl").read_text().splitlines()
    (row,) = (each for each in map(json.loads, rows) if each["id"] == name)
    assert row["services"] == list(TOOLS[1:])
    assert row["needs_box"]
    assert row["inputs"]
