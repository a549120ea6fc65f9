"""Taxonomy and task classes by a model: labels out of the tables, names out of the group."""

from __future__ import annotations

from typing import Any

import pytest

from construction.judging.calls.contracts import CallReason, Question
from construction.judging.contracts import Catalogue, Judged, JudgeReason, Taxonomy
from construction.judging.model.asking import question
from construction.judging.model.labels import (
    TaskGroup,
    classify,
    default_catalogue,
    name_classes,
    taxonomy_stage,
)
from construction.judging.rules.labels import skill_definition, skill_name
from data.contracts import Label, TaskClass
from tests.construction.judging.model.fakes import CONFIG, Scripted, always, case

CATALOGUE = default_catalogue()
INVOICE = case("Check the invoices in may.csv against the orders.", "may.csv")


def choice(label: str, **more: Any) -> dict[str, Any]:
    return {"label": label, "confidence": 0.7, "reason": "it compares  invoices"} | more


def labels(role: str, skill: str, family: str | None) -> dict[str, Any]:
    return {
        "business_task": "invoice  checking",
        "role": choice(role),
        "skill_subclass": choice(skill),
        "task_family": choice(family) if family else None,
    }


def skill_of(role: str) -> str:
    return next(name for name in sorted(CATALOGUE.skills) if name.startswith(f"{role}."))


SKILL = skill_of("executive")


@pytest.mark.parametrize("role", ["finance_operations", "hr_admin", "executive"])
def test_labels_of_the_tables_pass(role: str) -> None:
    skill = skill_of(role)
    answer = labels(role, skill, "finance_accounting")
    (judged,) = classify([INVOICE], always(answer), CONFIG, CATALOGUE)
    label = Label(value=role, confidence=0.7, reason="it compares invoices", judge="model:m")
    assert judged.value == Taxonomy(
        business_task="invoice checking",
        role=label,
        skill_subclass=label.model_copy(update={"value": skill}),
        skill_route=label.model_copy(update={"value": CATALOGUE.routes[skill]}),
        task_family=label.model_copy(update={"value": "finance_accounting"}),
    )


def test_a_family_given_before_stays_and_none_is_an_answer() -> None:
    given = Label(value="sales_marketing", confidence=1.0, reason="signals")
    candidate = INVOICE.candidate.model_copy(update={"task_family": given})
    before = INVOICE.model_copy(update={"candidate": candidate})
    client = always(labels("executive", SKILL, None))
    result = [one.value for one in classify([before, INVOICE], client, CONFIG, CATALOGUE)]
    assert [one.task_family if one else one for one in result] == [given, None]


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        (labels("accountant", SKILL, None), JudgeReason.UNKNOWN_LABEL, "role"),
        (labels("hr_admin", skill_of("marketing"), None), JudgeReason.UNKNOWN_LABEL,
         "skill_subclass of another role"),
        (labels("executive", "magic", "finance_accounting"), JudgeReason.UNKNOWN_LABEL,
         "skill_subclass"),
        (labels("Executive", SKILL, "money"), JudgeReason.UNKNOWN_LABEL, "role, task_family"),
        (labels("executive", SKILL, None) | {"role": choice("executive", confidence=2)},
         CallReason.INVALID, "1 errors"),
        (CallReason.TRUNCATED, CallReason.TRUNCATED, "scripted"),
    ],
)  # fmt: skip
def test_other_labels_are_errors(answer: Any, reason: str, detail: str) -> None:
    (judged,) = classify([INVOICE], always(answer), CONFIG, CATALOGUE)
    assert (judged.value, judged.reason, judged.detail) == (None, reason, detail)


def test_the_tables_stand_in_the_system_text() -> None:
    result = question(taxonomy_stage(CONFIG, CATALOGUE), INVOICE)
    assert all(f"- {name}: " in result.system for name in (*CATALOGUE.roles, *CATALOGUE.skills))
    assert SKILL not in result.user
    assert len(CATALOGUE.skills) >= 45 and CATALOGUE.routes.keys() == CATALOGUE.skills.keys()


def test_a_catalogue_has_the_roles_of_the_contract() -> None:
    with pytest.raises(ValueError, match="role classes"):
        Catalogue({"executive": "x"}, {}, {}, {})


def test_the_skills_of_the_catalogue_are_those_of_the_rules() -> None:
    for skill, result in CATALOGUE.skills.items():
        assert skill.partition(".")[0] in CATALOGUE.roles
        assert result == f"{skill_name(skill)}: {skill_definition(skill)}"


GROUP = TaskGroup("g1", ("Check invoices of May", "Check invoices of June"), ("Write a poem",))
NAMED = {
    "big_class": "Bookkeeping",
    "name": "Invoice  matching",
    "definition": "Invoices are compared with orders line by line; differences come out as a list.",
    "confidence": 0.9,
    "reason": "all compare documents",
}


def named(group: TaskGroup, **more: Any) -> Judged[TaskClass]:
    (judged,) = name_classes([group], always(NAMED | more), CONFIG)
    return judged


def test_a_class_gets_an_identifier_from_its_name() -> None:
    judged = named(GROUP)
    assert judged.value == TaskClass(
        big_class="Bookkeeping",
        subclass_id="invoice_matching",
        name="Invoice matching",
        definition=NAMED["definition"],
        confidence=0.9,
        reason="all compare documents",
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"definition": "Invoices of may.csv are compared with orders."}, "judge.names_a_task"),
        ({"name": "Invoices of 2025"}, "judge.names_a_task"),
        ({"name": "发票核对"}, "judge.empty"),
        ({"name": "Order check"}, "judge.taken_name"),
        ({"definition": "short"}, "call.invalid"),
    ],
)
def test_names_that_will_not_do(more: dict[str, Any], reason: str) -> None:
    group = TaskGroup("g1", GROUP.members, names=("order check",))
    assert named(group, **more).reason == reason


def test_of_two_groups_with_one_name_the_first_by_id_keeps_it() -> None:
    groups = [TaskGroup("b", ("x",)), TaskGroup("a", ("y",))]
    judged = name_classes(groups, always(NAMED), CONFIG)
    assert [(one.item_id, one.reason) for one in judged] == [
        ("b", JudgeReason.TAKEN_NAME),
        ("a", None),
    ]


def test_members_are_sorted_and_bounded() -> None:
    requests: list[Question] = []

    def reply(result: Question) -> dict[str, Any]:
        requests.append(result)
        return NAMED

    members = tuple(f"task {number:02}" for number in range(30))
    for order in (members, members[::-1]):
        name_classes([TaskGroup("g", order)], Scripted(reply), CONFIG)
    assert requests[0].user == requests[1].user
    assert "task 11" in requests[0].user and "task 12" not in requests[0].user
