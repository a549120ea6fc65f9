"""Flows and tasks with Prefect and without it: what it is shown, and what it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from prefect.client.schemas.objects import State

from data.snapshot.release import SnapshotRef
from data.stages import StageEnd
from flows.prefect_adapter import as_flow, as_task, keep_table, publish_release, without_prefect

END = StageEnd("labels", False, {"kept": 1046, "not_chosen": 3})
SNAPSHOT = SnapshotRef("demo", Path("out/demo"), "5a", True)
LABEL = {"snapshot": "demo-2026.01.15", "out": "workspace"}


def test_without_prefect_bodies_are_called() -> None:
    called: list[str] = []

    def stage() -> StageEnd:
        called.append("stage")
        return END

    with (
        without_prefect(),
        patch("prefect.flow") as flow,
        patch("prefect.task") as task,
        patch("prefect.artifacts.create_table_artifact") as artifact,
        patch("prefect.artifacts.create_markdown_artifact") as page,
    ):
        assert as_flow("lane", LABEL, lambda: 7) == 7
        as_task("stage", stage)
        keep_table("figures", [{"n": 1}], "Figures.")
        publish_release(SNAPSHOT, 3, Path("out"))
    assert called == ["stage"]
    assert not (flow.called or task.called or artifact.called or page.called)


def test_a_flow_is_given_its_label_and_nothing_else() -> None:
    with patch("prefect.flow", return_value=lambda run: run) as flow:
        assert as_flow("lane", LABEL, lambda: ["the", "text", "of", "tasks"]) == [
            "the",
            "text",
            "of",
            "tasks",
        ]
    assert flow.call_args.kwargs["name"] == "lane"
    assert flow.call_args.kwargs["flow_run_name"] == "lane of demo-2026.01.15"


def test_a_stage_is_a_state_that_tells_counts_and_reuse() -> None:
    states: list[State[None]] = []

    def keeping(run: Callable[..., State[None]]) -> Callable[..., None]:
        return lambda: states.append(run())

    with patch("prefect.task", return_value=keeping):
        as_task("labels", lambda: END)
        as_task("labels", lambda: replace(END, reused=True))
    lines = ["labels: 1,046 kept, 3 not chosen", f"{END.line}, already done"]
    assert [state.name for state in states] == ["Completed", "Cached"]
    assert [state.message for state in states] == lines
    assert [state.data for state in states] == [None, None]


def test_tables_are_kept_if_they_have_rows() -> None:
    with patch("prefect.artifacts.create_table_artifact") as kept:
        keep_table("figures", [], "Figures.")
        keep_table("figures", [{"n": 1}], "Figures.")
    kept.assert_called_once_with([{"n": 1}], key="figures", description="Figures.")


def test_the_release_says_what_became_of_it_and_what_to_do() -> None:
    with patch("prefect.artifacts.create_markdown_artifact") as kept:
        publish_release(replace(SNAPSHOT, written=False), 3, Path("out"))
    text = kept.call_args.args[0]
    assert "3 tasks, found unchanged, verified. Digest `5a`." in text
    assert "`out/demo/public/audit/report.html`" in text
    assert "`benchmint audit --serve --out out`" in text
    assert kept.call_args.kwargs["description"].startswith("3 tasks, found unchanged: demo")
