"""Deliverables and rubric by a model: sums, pointers, types, and what the request asked for."""

from __future__ import annotations

from math import fsum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.contracts import Case, Grading, Judged, JudgeReason
from construction.judging.model.grading import Dimension, write_rubric_by_model
from data.contracts import Deliverable
from tests.construction.judging.model.fakes import CONFIG, always, case

FUNNEL = case(
    "Compute the rates from a/signup.csv and save funnel.xlsx with a short note.",
    "a/signup.csv",
    outputs=[("xlsx", "funnel.xlsx")],
)


def criterion(dimension: str, weight: float, *evidence: str) -> dict[str, Any]:
    text = "Every rate agrees with the counts."
    return {"dimension": dimension, "weight": weight, "text": text, "evidence": evidence}


def answer(**more: Any) -> dict[str, Any]:
    weights = dict(zip(Dimension, (0.4, 0.2, 0.2, 0.1, 0.1), strict=True))
    return {
        "deliverables": [{"file_type": "xlsx", "count": 1, "name_hints": ["funnel.xlsx"]}],
        "criteria": [
            criterion(name, weight, "a/signup.csv#row 2") for name, weight in weights.items()
        ],
        "route": "text",
        "retrieval": False,
        "accuracy": True,
        "action": False,
        "semantic": True,
    } | more


def grade(item: Case, result: Any) -> Judged[Grading]:
    (judged,) = write_rubric_by_model([item], always(result), CONFIG)
    return judged


def test_a_good_answer_becomes_a_grading_with_hard_rules() -> None:
    value = grade(FUNNEL, answer()).value
    assert value is not None
    assert [item.dimension for item in value.rubric.criteria] == list(Dimension)
    assert [item.weight for item in value.rubric.criteria] == [0.4, 0.2, 0.2, 0.1, 0.1]
    assert value.rubric.criteria[0].evidence == ("a/signup.csv#row 2",)
    assert {"file_type.xlsx", "named.xlsx", "non_empty"} <= {item.rule_id for item in value.rules}
    assert (value.evidence.accuracy, value.evidence.retrieval) == (True, False)
    assert value.deliverables == FUNNEL.candidate.deliverables


CRITERIA = answer()["criteria"]


@pytest.mark.parametrize(
    ("more", "reason", "detail"),
    [
        ({"criteria": [*CRITERIA[:4], criterion("communication_quality", 0.2)]},
         JudgeReason.WEIGHTS, "sum 1.100000"),
        ({"criteria": [*CRITERIA[:4], criterion("grounded_accuracy", 0.1)]},
         JudgeReason.DIMENSIONS, "communication_quality"),
        ({"criteria": [*CRITERIA[:4], criterion("communication_quality", 0.1, "signup.csv")]},
         JudgeReason.UNKNOWN_EVIDENCE, "signup.csv"),
        ({"criteria": [*CRITERIA[:4], criterion("communication_quality", 0.1, "../etc/passwd")]},
         JudgeReason.UNKNOWN_EVIDENCE, "../etc/passwd"),
        ({"deliverables": [{"file_type": "exe", "count": 1, "name_hints": []}]},
         JudgeReason.UNKNOWN_FILE_TYPE, "exe"),
        ({"criteria": CRITERIA[:4]}, "call.invalid", "1 errors"),
        ({"criteria": [*CRITERIA[:4], criterion("beauty", 0.1)]}, "call.invalid", "2 errors"),
        ({"deliverables": []}, "call.invalid", "1 errors"),
    ],
)  # fmt: skip
def test_answers_that_will_not_do(more: dict[str, Any], reason: str, detail: str) -> None:
    judged = grade(FUNNEL, answer(**more))
    assert (judged.value, judged.reason, judged.detail) == (None, reason, detail)


def test_what_the_request_asks_for_stays_and_names_are_not_invented() -> None:
    result = [{"file_type": "md", "count": 1, "name_hints": ["note.md"]}]
    judged = grade(FUNNEL, answer(deliverables=result))
    assert judged.value is not None
    assert judged.value.deliverables == (
        Deliverable(file_type="md"),
        Deliverable(file_type="xlsx", name_hints=("funnel.xlsx",)),
    )
    assert judged.notes == ("deliverables kept from the request: xlsx",)


def test_what_only_the_agent_made_goes_if_the_model_says_so() -> None:
    made = Deliverable(file_type="py", name_hints=("build.py",), source="produced")
    candidate = FUNNEL.candidate.model_copy(update={"deliverables": (made,)})
    judged = grade(FUNNEL.model_copy(update={"candidate": candidate}), answer())
    assert judged.value is not None
    assert [item.file_type for item in judged.value.deliverables] == ["xlsx"]


def test_a_route_that_has_nothing_to_look_at_is_text() -> None:
    item = case("Tell me the capital of France.", outputs=[("md", "")])
    result = [{"file_type": "md", "count": 1, "name_hints": []}]
    plain = [dict(entry, evidence=()) for entry in CRITERIA]
    judged = grade(item, answer(deliverables=result, route="visual", criteria=plain))
    assert judged.value is not None and judged.value.rubric.route == "text"
    assert judged.notes == ("route set to text: nothing to look at",)
    assert grade(FUNNEL, answer(route="visual")).value.rubric.route == "visual"  # type: ignore[union-attr]


@given(st.lists(st.floats(0.01, 1), min_size=5, max_size=5), st.floats(-1e-7, 1e-7))
def test_weights_within_the_tolerance_are_scaled_to_one(parts: list[float], off: float) -> None:
    whole = fsum(parts)
    criteria = [
        criterion(name, part / whole * (1 + off))
        for name, part in zip(Dimension, parts, strict=True)
    ]
    value = grade(FUNNEL, answer(criteria=criteria)).value
    assert value is not None
    assert abs(fsum(item.weight for item in value.rubric.criteria) - 1) < 1e-8
