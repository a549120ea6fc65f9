"""The samples in README are of the demo's release."""

from __future__ import annotations

import re

import pytest

from data.releases.tasks import read_tasks
from data.staging.database import open_read_only
from tests.conftest import REPO
from tests.demo import Demo
from tests.flows.command import inline

README = (REPO / "README.md").read_text("utf-8")


def quoted() -> str:
    """The quoted request, on one line."""
    return " ".join(re.findall(r"^> (.+)$", README, re.MULTILINE))


def test_the_sample_task_is_released_with_the_gold_that_is_named(demo: Demo) -> None:
    release = read_tasks(demo.out / "snapshots" / "latest")
    instructions = {
        name: " ".join(task.instruction.split()) for name, task in release.tasks.items()
    }
    (task_id,) = (name for name, text in instructions.items() if text.startswith(quoted()))
    answers = release.grading(task_id)["answers"]
    numbers = [answer["value"] for answer in answers if answer["type"] == "number"]
    assert numbers
    assert all(f" {number} " in " ".join(README.split()) for number in numbers)


def test_the_sample_rejection_is_in_the_audit(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (sample,) = re.findall(r"^(rejected in fixture: .+?)^```$", README, re.MULTILINE | re.DOTALL)
    with open_read_only(demo.out / "staging.duckdb") as staging:
        rows = staging.sql(
            "SELECT item_id FROM newest.rejections WHERE gate = 'fixture'"
        ).fetchall()
    shown = (inline("audit", "--instance", item, "--out", demo.out).stdout for (item,) in rows)
    parts = [" ".join(part.split()) for part in sample.split("…")]
    texts = (" ".join(text.split()) for text in shown)
    assert any(all(part in text for part in parts) for text in texts)
