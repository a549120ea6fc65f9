"""A repair with its papers in an archive: services beside a shell, and files that are graded."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from construction.workflows.repair.catalogue import BY_NAME, candidate_of
from construction.workflows.repair.drafts import Files, RepairDraft, printed_lines, runs
from construction.workflows.world_file import ArchivedPaper, archive_world, write_world
from data.attempts import read_attempts
from data.contracts import Candidate
from data.contracts.attempt import AttemptStatus, Configuration
from data.releases.tasks import read_tasks
from data.snapshot.writer import write_snapshot
from flows.commands.releases import export_harbor_command
from flows.evaluate.plan import Plan
from flows.evaluate.run import evaluate
from flows.evaluate.scripts import ORACLE, scripts_of
from tests.data.snapshot.sample import Store, release
from tests.flows.command import inline
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.plans import MODEL, Messages, steps_taken
from tests.needs import needs_box

pytestmark = [pytest.mark.slow(seconds=5), needs_box]

PAPER = ArchivedPaper("Night of the queue", "Jobs that were stopped by hand count as failed.\n")
WORLD = archive_world([PAPER], "2026-05-01T08:00:00+00:00", "papers@office.example", allowance=2)
REPAIR = BY_NAME["queue_log"]


def drafted() -> RepairDraft:
    """A repair that runs what is delivered, with an archive."""
    draft = REPAIR.build(1, 11)
    header = REPAIR.solve(draft.rule, draft.inputs, None)["jobs.csv"].decode().splitlines()[0]
    ran = runs(
        "header", {}, {"jobs.csv": "jobs.csv"}, "head -n 1 jobs.csv", [printed_lines([header])],
        "the first line is the header",
    )  # fmt: skip
    checks = [check.model_copy(update={"weight": 0.5}) for check in (*draft.checks, ran)]
    return replace(draft, checks=tuple(checks), world=WORLD, requests=2)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Files]:
    """The snapshot, the id of the repair, and what its reference delivers."""
    root, draft = tmp_path_factory.mktemp("archive"), drafted()
    given, store = release(root), Store(root / "store")
    first, *rest = given.candidates
    fixtures = tuple(store.add(name, data) for name, data in draft.inputs.items())
    made = candidate_of(draft, REPAIR, first.task_id)
    task = Candidate.model_validate(
        {**made.model_dump(), "fixtures": fixtures, "provenance": first.provenance}
    )
    path = root / "world.json"
    write_world(path, WORLD)
    whole = replace(given, candidates=[task, *rest], worlds={first.task_id: path})
    snapshot = write_snapshot(whole, root / "out").path
    return snapshot, first.task_id, REPAIR.solve(draft.rule, draft.inputs, None)


def test_an_agent_searches_and_repairs_and_its_files_are_graded(
    released: tuple[Path, str, Files], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHMINT_API_KEY", "key")
    snapshot, task_id, delivered = released
    data = base64.b64encode(delivered["jobs.csv"]).decode()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("archive_search_papers", {"query": "stopped"}),
        ("archive_get_paper", {"id": "paper-001"}),
        ("archive_search_papers", {"query": "failed"}),
        ("shell", {"command": f"echo {data} | base64 -d > outputs/jobs.csv"}),
        ("submit", {"answer": "Repaired."}),
    ]

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        return calls[steps_taken(messages)]

    tasks = read_tasks(snapshot)
    folder = tmp_path / "run"
    with chat_server(play) as chat:
        configuration = Configuration("react", "react", MODEL)
        evaluate(
            Plan(tasks, configuration, "react", folder, task_ids=(task_id,), base_url=chat.url)
        )
    ((_, record),) = read_attempts(folder)
    assert record.attempt.status is AttemptStatus.COMPLETED
    assert [row.status for row in record.submission.audit] == ["ok", "ok", "rate_limited"]
    assert record.submission.audit[1].records == ("papers/paper-001",)
    done = inline("grade", folder, "--snapshot", snapshot, "--out", tmp_path / "graded", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["n"], row["n_passed"]) == (1, 1)


def test_there_is_no_script_of_requests_for_an_oracle(released: tuple[Path, str, Files]) -> None:
    scripts = scripts_of(ORACLE, read_tasks(released[0]), None, 1, None)
    assert released[1] not in {task_id for task_id, _ in scripts}


def test_the_export_for_harbor_has_inputs_and_services_and_runs_what_is_delivered(
    released: tuple[Path, str, Files], tmp_path: Path
) -> None:
    snapshot, task_id, delivered = released
    export_harbor_command(snapshot, tmp_path / "harbor", with_private=True)
    task = tmp_path / "harbor" / "tasks" / task_id
    assert (task / "environment/inputs/worker.log").is_file()
    assert json.loads((task / "environment/services/world.json").read_bytes())["allowance"] == 2
    (tmp_path / "record.json").write_text('{"audit": [], "changes": []}')
    passed: list[dict[str, float]] = []
    for files in (delivered, {"jobs.csv": b"id\n"}):
        work = tmp_path / f"work-{len(passed)}"
        for name, data in files.items():
            (work / "outputs" / name).parent.mkdir(parents=True, exist_ok=True)
            (work / "outputs" / name).write_bytes(data)
        names = {"WORK": work, "REWARD": work / "r.json", "RECORD": tmp_path / "record.json"}
        environment = {f"BENCHMINT_{name}": str(path) for name, path in names.items()}
        command = ["sh", str(task / "tests" / "test.sh")]
        subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
        passed.append(json.loads((work / "r.json").read_text()))
    assert [(each["reward"], each["undecided"]) for each in passed] == [(1.0, 0.0), (0.0, 0.0)]
