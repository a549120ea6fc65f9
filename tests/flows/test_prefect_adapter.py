"""Flows and tasks with Prefect and without it: what it is shown, and what it is not."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

from flows import prefect_adapter
from flows.prefect_adapter import as_flow, as_task, keep_table, without_prefect

LABEL = {"snapshot": "demo-2026.01.15", "out": "workspace"}


def test_without_prefect_bodies_are_called() -> None:
    called: list[str] = []
    with (
        without_prefect(),
        patch.object(prefect_adapter, "flow") as flow,
        patch.object(prefect_adapter, "task") as task,
        patch.object(prefect_adapter, "create_table_artifact") as artifact,
    ):
        assert as_flow("lane", LABEL, lambda: 7) == 7
        as_task("stage", lambda: called.append("stage"))
        keep_table("figures", [{"n": 1}])
    assert called == ["stage"]
    assert not (flow.called or task.called or artifact.called)


def test_a_flow_is_given_its_label_and_nothing_else() -> None:
    with patch.object(prefect_adapter, "flow", return_value=lambda run: run) as flow:
        assert as_flow("lane", LABEL, lambda: ["the", "text", "of", "tasks"]) == [
            "the",
            "text",
            "of",
            "tasks",
        ]
    assert flow.call_args.kwargs["name"] == "lane"


def test_a_flow_and_a_task_return_nothing_to_prefect() -> None:
    seen: list[object] = []

    def keeping(run: Callable[..., object]) -> Callable[..., None]:
        def call(**label: str) -> None:
            seen.append(run(**label))

        return call

    with (
        patch.object(prefect_adapter, "flow", return_value=keeping),
        patch.object(prefect_adapter, "task", return_value=keeping),
    ):
        assert as_flow("lane", LABEL, lambda: "result") == "result"
        as_task("stage", lambda: None)
    assert seen == [None, None]


def test_tables_are_kept_if_they_have_rows() -> None:
    with patch.object(prefect_adapter, "create_table_artifact") as kept:
        keep_table("figures", [])
        keep_table("figures", [{"n": 1}])
    kept.assert_called_once_with([{"n": 1}], key="figures")
