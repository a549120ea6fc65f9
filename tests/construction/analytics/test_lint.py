"""Records in the lane's own form: good ones pass, and each planted defect is named."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from construction.analytics.lint import _judge_record
from tests.construction.analytics.test_make import minted
from tests.construction.analytics.world import bench


def verdict(record: dict[str, Any]) -> list[str]:
    return [str(reason) for reason, _ in _judge_record(orjson.dumps(record), "x", bench()).faults]


def good(template: str) -> dict[str, Any]:
    task = next(task for task in minted().tasks if task.template == template)
    return task.model_dump(mode="json")


def test_every_task_passes_as_it_was_written() -> None:
    assert all(verdict(task.model_dump(mode="json")) == [] for task in minted().tasks)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"question": "{question} Look into annual_accounts.csv."}, "priors.leak"),
        ({"question": "What was the combined revenue in fiscal 2021?"}, "answer.not_unique"),
        ({"guidelines": "Answer with one word."}, "guidelines.mismatch"),
        ({"difficulty": "hard"}, "steps.out_of_range"),
        ({"files": ["accounts"]}, "guidelines.mismatch"),
        ({"noise": []}, "guidelines.mismatch"),
        ({"program": []}, "steps.invalid"),
        ({"surprise": 1}, "steps.invalid"),
    ],
)
def test_a_changed_field_is_found(changes: dict[str, Any], expected: str) -> None:
    record = good("per_base_of_place")
    texts = {name: v.format(**record) for name, v in changes.items() if isinstance(v, str)}
    assert expected in verdict(record | changes | texts)


def test_a_wrong_gold_an_empty_one_and_a_foreign_milestone_are_found() -> None:
    record = good("per_base_of_place")
    (answer,) = record["answers"]
    for value in ("17", " "):
        wrong = record | {"answers": [answer | {"value": value}]}
        assert "guidelines.mismatch" in verdict(wrong)
    milestone = record["milestones"][-1]
    for change in ({"value": "17"}, {"name": "lookup_9"}, {"step": 1}):
        wrong = record | {"milestones": [*record["milestones"][:-1], milestone | change]}
        assert set(verdict(wrong)) == {"guidelines.mismatch"}


def test_a_milestone_that_is_left_out_is_found() -> None:
    record = good("per_base_of_place")
    fewer = record | {"milestones": record["milestones"][1:]}
    assert verdict(fewer) == ["guidelines.mismatch"]


def test_what_is_no_record_is_said() -> None:
    assert _judge_record(b"{", "line 3", bench()).record == "line 3"
    assert [str(reason) for reason, _ in _judge_record(b"[]", "x", bench()).faults] == [
        "steps.invalid"
    ]


STATISTIC = {"op": "statistic", "source": "accounts", "function": "sum", "column": "revenue"}
ROWS = {"op": "filter", "source": "accounts"}
MADE = {"op": "convert", "source": "accounts", "of": "revenue", "how": "over", "by": "cash"}


@pytest.mark.parametrize(
    ("program", "part"),
    [
        ([ROWS], {"kind": "list", "column": "nowhere"}),
        ([ROWS], {"kind": "money", "decimals": 0}),
        ([{**MADE, "column": "company_id"}, {**STATISTIC, "source": "$1"}], {"kind": "money"}),
        ([{**MADE, "column": "fiscal_year"}, {**STATISTIC, "source": "$1"}], {"kind": "money"}),
        ([STATISTIC] * 1000, {"kind": "money", "decimals": 0}),
        ([STATISTIC, {**STATISTIC, "source": "$3"}], {"kind": "money", "decimals": 0}),
    ],
)
def test_odd_programmes_are_rejected_and_stop_nothing(
    program: list[dict[str, Any]], part: dict[str, Any]
) -> None:
    number = {"decimals": 0} if part["kind"] == "money" else {}
    parts = [{"part": "value", "step": len(program), **number, **part}]
    assert "steps.invalid" in verdict(
        good("per_base_of_place") | {"program": program, "parts": parts}
    )


def test_lists_of_numbers_are_compared_with_the_prompt() -> None:
    first = {"op": "rank", "source": "accounts", "column": "cash", "label": "revenue", "take": 3}
    parts = [{"part": "value", "step": 1, "kind": "list", "column": "revenue"}]
    assert verdict(good("per_base_of_place") | {"program": [first], "parts": parts})
