"""Data tools and captured pages on the same questions: through Inspect, and in the four tables."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.errors import InputError
from data.releases.tasks import read_tasks
from flows.evaluate.plan import Request, check_request
from tests.demo import Demo
from tests.flows.command import inline
from tests.needs import needs_box


def run_command(*arguments: str | Path) -> None:
    done = inline(*arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow(seconds=20)
@needs_box
def test_conditions_are_compared_on_the_same_questions(demo: Demo, tmp_path: Path) -> None:
    snapshot = demo.out / "snapshots/latest"
    tasks = read_tasks(snapshot).tasks.items()
    chosen = [name for name, task in tasks if "discover_companies" in task.candidate.tools][:2]
    run_command("lane", "pages", "statements", snapshot, "--out", tmp_path / "pages")
    run: list[str | Path] = ["evaluate", snapshot, "--out", tmp_path]
    run += [part for name in chosen for part in ("--task", name)]
    web: list[str | Path] = ["--tools", "web", "--pages", tmp_path / "pages"]
    run_command(*run, "--agent", "oracle")
    run_command(*run, "--agent", "web-reader", *web)
    run_command("grade", tmp_path, "--snapshot", snapshot, "--out", tmp_path / "scores")
    scores = pl.read_parquet(tmp_path / "scores/retrieval/scores.parquet")
    assert scores.group_by("condition").len().sort("condition").rows() == [("data", 2), ("web", 2)]
    assert scores.filter(condition="data")["is_correct"].all()
    traces = pl.read_parquet(tmp_path / "scores/retrieval/tool_traces.parquet")
    names = {
        condition: {call["name"] for row in rows["tool_calls"] for call in json.loads(row)}
        for (condition,), rows in traces.group_by("condition")
    }
    assert names["web"] == {"search", "fetch"}
    assert names["data"] == {
        "discover_companies", "discover_company_series", "get_company_fundamentals",
    }  # fmt: skip
    about = json.loads(next(tmp_path.glob("*/web-reader-web/run.json")).read_text())
    pages = json.loads((tmp_path / "pages/pages.json").read_text())
    assert (about["pages"], about["configuration"]["condition"]) == (pages["sha256"], "web")


@pytest.mark.parametrize(
    ("agent", "model", "command", "tools", "pages"),
    [
        ("react", None, None, "data", None),
        ("oracle", "m", None, "data", None),
        ("command", "m", None, "data", None),
        ("codex", "m", "cmd", "data", None),
        ("react", "m", None, "everything", None),
        ("react", "m", None, "web", None),
        ("react", "m", None, "data", Path("pages")),
        ("web-reader", None, None, "data", None),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    agent: str, model: str | None, command: str | None, tools: str, pages: Path | None
) -> None:
    request = Request(
        snapshot=Path("release"),
        out=Path("attempts"),
        agent=agent,
        model=model,
        command=command,
        tools=tools,
        pages=pages,
    )
    with pytest.raises(InputError):
        check_request(request)
