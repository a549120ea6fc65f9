"""The samples in README are of the demo's release."""

from __future__ import annotations

import re

from data.releases.tasks import read_tasks
from tests.conftest import REPO
from tests.demo import Demo
from tests.flows.command import inline

README = (REPO / "README.md").read_text("utf-8")


def quoted() -> str:
    """The quoted request, on one line."""
    return " ".join(re.findall(r"^> (.+)$", README, re.MULTILINE))


def test_the_sample_task_is_released_with_the_gold_that_is_named(demo: Demo) -> None:
    release = read_tasks(demo.out / "snapshots" / "latest")
    (task_id,) = (name for name in release.tasks if f"`{name}`" in README)
    assert " ".join(release.tasks[task_id].instruction.split()).startswith(quoted())
    for answer in release.grading(task_id)["answers"]:
        assert f" {answer['value']} " in README


def test_the_sample_rejection_is_in_the_audit(demo: Demo) -> None:
    (sample,) = re.findall(r"^ instance .+$", README, re.MULTILINE)
    shown = inline("audit", "--gate", "fixture", "--out", demo.out)
    fields = {field.strip() for field in sample.split("  ") if field.strip()}
    entries = re.split(r"^ *unit", shown.stdout, flags=re.MULTILINE)  # stacked, or rows of a table
    assert any(all(field in entry for field in fields) for entry in entries)
