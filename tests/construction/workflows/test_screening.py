"""Screening: each weakness of a draft is seen, and named by its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from construction.workflows.contracts import Client, Draft, Fault, FaultKind, Scenario
from construction.workflows.screening import (
    PILOT,
    SCREEN,
    Piloted,
    PilotReason,
    ScreeningConfig,
    ScreenReason,
    screen,
    screened,
)
from construction.workflows.trials import Tried, mutants_of
from data.contracts.candidate import Check
from tests.construction.workflows import smoke
from tests.construction.workflows.smoke import NAMES, NUMBERS, SMOKE, run_of

CONFIG = ScreeningConfig()
NAME = "absence_handover"
SCENARIO = SMOKE[NAME]


def draft_of(number: int = 1, **changes: Any) -> Draft:
    return replace(smoke.draft_of(NAME, number), **changes)


def reason(draft: Draft, scenario: Scenario = SCENARIO, siblings: Sequence[Draft] = ()) -> Any:
    return screen(draft, scenario, siblings, CONFIG).reason


def checks_with(draft: Draft, kind: str, **changes: Any) -> tuple[Check, ...]:
    return tuple(c.model_copy(update=changes) if c.kind == kind else c for c in draft.checks)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("faults", 1, ScreenReason.NOT_RUNNABLE),
        ("oracle", 0.99, ScreenReason.ORACLE_FAILED),
        ("differing", 1, ScreenReason.NOT_REPRODUCIBLE),
        ("null", 1, ScreenReason.PASSED_BY_NULL),
        ("talk_only", 1, ScreenReason.PASSED_BY_TALK_ONLY),
        ("empty_calls", 1, ScreenReason.PASSED_BY_EMPTY_CALLS),
        ("report_only", 1, ScreenReason.PASSED_BY_REPORT),
        ("unread", 1, ScreenReason.PASSED_UNREAD),
        ("destructive", 1, ScreenReason.PASSED_BY_DESTRUCTIVE),
        ("unneeded", 1, ScreenReason.SOURCE_UNNEEDED),
        ("siblings", 1, ScreenReason.PASSED_BY_SIBLING),
        ("survivors", 1, ScreenReason.MUTANT_SURVIVED),
        ("believed", 1, ScreenReason.GOLD_BELIEVED),
        ("idle", 1, ScreenReason.RULE_IDLE),
        ("moved", 1, ScreenReason.GOLD_MOVED),
    ],
)
def test_each_count_has_its_reason(field: str, value: Any, expected: str) -> None:
    clean = Tried(faults=0, oracle=1.0, mutants=9)
    assert SCREEN.judge(clean, CONFIG).reason is None
    broken = replace(clean, **{field: value})
    assert SCREEN.judge(broken, CONFIG).reason == expected


@pytest.mark.parametrize(("passed", "informative"), [(0, False), (1, True), (7, True), (8, False)])
def test_a_pilot_that_all_pass_or_all_fail_says_nothing(passed: int, informative: bool) -> None:
    verdict = PILOT.judge(Piloted(passed, 8), CONFIG)
    assert (verdict.reason is None) is informative
    assert informative or verdict.reason == PilotReason.NOT_INFORMATIVE


def test_the_drafts_of_a_scenario_pass() -> None:
    for seen in screened([draft_of(number) for number in NUMBERS[1:]], SCENARIO, CONFIG):
        assert seen.reason is None
        assert seen.tried.mutants > len(seen.draft.checks)
        assert [cell.is_expected for cell in seen.cells] == [True] * 8


def test_a_world_that_services_refuse_is_not_runnable() -> None:
    draft = draft_of()
    broken = {**draft.world.state, "todo": {"tasks": {"task-1": {"id": "task-1"}}}}
    assert (
        reason(replace(draft, world=replace(draft.world, state=broken)))
        == ScreenReason.NOT_RUNNABLE
    )


def test_a_service_that_never_answers_is_not_runnable() -> None:
    draft = draft_of()
    fault = Fault("kb", "search_articles", FaultKind.UNAVAILABLE, tuple(range(1, 9)))
    world = replace(draft.world, faults=(fault,))
    assert reason(replace(draft, world=world)) == ScreenReason.NOT_RUNNABLE


def test_a_wrong_gold_is_seen_by_the_reference() -> None:
    draft = draft_of()
    wrong = (draft.answers[0].model_copy(update={"value": "17"}), *draft.answers[1:])
    assert reason(replace(draft, answers=wrong)) == ScreenReason.ORACLE_FAILED


def test_a_solution_that_changes_from_run_to_run_is_not_reproducible() -> None:
    runs = count()

    def solve(client: Client, params: Mapping[str, Any]) -> str:
        if next(runs) % 2:
            client.call("kb", "search_articles")
            client.call("todo", "create_task", title="Once in a while")
        return SCENARIO.solve(client, params)

    assert reason(draft_of(), replace(SCENARIO, solve=solve)) == ScreenReason.NOT_REPRODUCIBLE


def without_demands(draft: Draft) -> Draft:
    """What is left asks for no deed and for an answer that stands in the request."""
    (number,) = (answer for answer in draft.answers if answer.type == "number")
    answer = number.model_copy(update={"value": "0", "part": "number", "unit": None})
    return replace(draft, checks=(), answers=(answer,), guidelines="", prompt="number: 0\n\nThanks")


def test_restating_the_request_must_not_pass() -> None:
    scenario = replace(SCENARIO, solve=lambda client, params: "number: 0")
    assert reason(without_demands(draft_of()), scenario) == ScreenReason.PASSED_BY_TALK_ONLY


def test_doing_nothing_must_not_pass() -> None:
    only = next(check for check in draft_of().checks if check.kind == "unchanged")
    draft = draft_of(answers=(), checks=(only.model_copy(update={"weight": 1.0}),))
    scenario = replace(SCENARIO, solve=lambda client, params: "done")
    assert reason(draft, scenario) == ScreenReason.PASSED_BY_NULL


def test_calls_without_arguments_must_not_pass() -> None:
    params = {"service": "todo", "operation": "search_tasks"}
    called = Check(check_id="c", kind="called", params=params, text="Tasks are read.", weight=1.0)
    draft = draft_of(answers=(), checks=(called,))

    def solve(client: Client, params: Mapping[str, Any]) -> str:
        client.call("todo", "search_tasks")
        return "done"

    assert reason(draft, replace(SCENARIO, solve=solve)) == ScreenReason.PASSED_BY_EMPTY_CALLS


def test_a_check_that_allows_other_changes_is_seen() -> None:
    draft = draft_of()
    lenient = tuple(check for check in draft.checks if check.kind != "unchanged")
    assert reason(replace(draft, checks=lenient)) == ScreenReason.PASSED_BY_DESTRUCTIVE


def test_a_service_that_is_not_needed_is_seen() -> None:
    draft = draft_of()
    other: dict[str, Any] = {**draft.world.state, "notes": {"notes": {}}}
    scenario = replace(SCENARIO, services=(*SCENARIO.services, "notes"))
    world = replace(draft.world, state=other)
    assert reason(replace(draft, world=world), scenario) == ScreenReason.SOURCE_UNNEEDED


def test_a_sibling_with_the_same_gold_is_seen_but_not_one_of_the_same_facts() -> None:
    """A twin has the same facts; another twin says the same on another day."""
    draft = draft_of()
    (record,) = draft.overriding
    service, plural, identifier = record.split("/")
    assert reason(draft, siblings=[replace(draft, number=2), draft_of(2)]) is None
    rules = draft.world.state[service][plural]
    later = {**rules, identifier: {**rules[identifier], "updated_on": "2026-01-01"}}
    state = {**draft.world.state, service: {plural: later}}
    twin = replace(draft, number=2, world=replace(draft.world, state=state))
    assert reason(draft, siblings=[twin]) == ScreenReason.PASSED_BY_SIBLING


def test_a_check_that_any_value_satisfies_is_seen() -> None:
    draft = draft_of()
    idle = Check(
        check_id="idle",
        kind="record_created",
        params={"service": "todo", "where": {}, "min": 0, "max": 99},
        text="Something may be made.",
        weight=0.05,
    )
    lax = replace(draft, checks=(*draft.checks, idle))
    assert reason(lax) == ScreenReason.MUTANT_SURVIVED


def test_every_check_and_answer_of_every_scenario_has_a_mutant() -> None:
    for name in NAMES:
        draft = smoke.draft_of(name, 2)
        violated = {m.violates for m in mutants_of(draft, run_of(name, 2))}
        wanted = {check.check_id for check in draft.checks}
        assert violated == wanted | {f"answer.{answer.part}" for answer in draft.answers}
