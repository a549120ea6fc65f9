"""Consensus in a whole build: a model on the loopback, and a replay of its recorded replies."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from construction.analytics.task_files import read_analytics
from data.demo.generate import copy_environment
from data.releases.tasks import read_tasks
from data.staging.database import open_read_only
from tests.flows.command import inline_build, key_file, sums
from tests.flows.model_server import model_server

pytestmark = pytest.mark.slow(seconds=30)
QUOTAS = {"enterprise_industry": {"easy": 4, "medium": 2}}
CONFIG = """
[analytics.consensus]
annotators = ["executor", "fake-1"]

[runtime.llm]
base_url = "{url}"
attempts = 1

[runtime.model_calls]
mode = "{mode}"
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo environment with a handful of tasks."""
    path = copy_environment(tmp_path_factory.mktemp("environment"))
    declared = tomllib.loads(path.read_text()) | {"quotas": QUOTAS}
    path.write_text(tomli_w.dumps(declared))
    return path


def built(demo: Path, out: Path, key: Path, config: str = "") -> None:
    settings = out.parent / f"{out.name}.toml"
    settings.write_text(config)
    result = inline_build(
        "--environment", demo, "--out", out, "--key", key, "--config", settings, "--quiet"
    )
    assert result.returncode == 0, result.stderr


def own_steps(out: Path) -> dict[str, str]:
    """What a model writes that works as the gold does, by question."""
    release = read_tasks((out / "snapshots/latest").resolve())
    return {
        release.tasks[task.task_id].candidate.prompt: json.dumps(
            {
                "steps": [step.model_dump(mode="json") for step in task.program],
                "answers": [
                    {"part": p.part, "step": p.step, "column": p.column} for p in task.parts
                ],
            }
        )
        for task in read_analytics(release)
    }


def test_a_model_agrees_or_people_are_asked_and_recorded_replies_give_the_same_release(
    demo: Path, tmp_path: Path
) -> None:
    key = key_file(tmp_path)
    built(demo, tmp_path / "alone", key)
    known = own_steps(tmp_path / "alone")
    silent_about = min(known)

    def reply(_fields: frozenset[str], material: Any) -> Mapping[str, Any]:
        question = material["question"]
        return {"programme": "[]" if question == silent_about else known[question]}

    out = tmp_path / "agreed"
    with model_server(reply) as served:
        built(demo, out, key, CONFIG.format(url=served.url, mode="record"))
        requested = len(served.requests)
    assert requested >= len(known)
    assert own_steps(out).keys() == known.keys() - {silent_about}
    with open_read_only(out / "staging.duckdb", every_run=True) as staging:
        rows = staging.execute(
            "select outcome, reason, count(*) from ledger where stage = 'annotation' group by all"
        ).fetchall()
    assert sorted(rows, key=str) == [
        ("kept", None, len(known) - 1),
        ("rejected", "consensus.too_few", 1),
    ]
    again = tmp_path / "again"
    shutil.copytree(out / "private/captures", again / "private/captures")
    built(demo, again, key, CONFIG.format(url="http://127.0.0.1:9/v1", mode="replay"))
    assert sums(again) == sums(out)
