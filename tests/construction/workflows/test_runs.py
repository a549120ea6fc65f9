"""The panel of scripted agents: each fails exactly what was declared before it ran."""

from __future__ import annotations

from dataclasses import replace

import pytest

from construction.workflows.contracts import RefusedError
from construction.workflows.runs import (
    PANEL,
    InProcessClient,
    _run_agent,
    _slipped,
    rows,
    run_panel,
    without_rule,
)
from tests.construction.workflows.smoke import NAMES, NUMBERS, SMOKE, draft_of, run_of

NAME = "absence_handover"
SCENARIO = SMOKE[NAME]
BY_NAME = {agent.name: agent for agent in PANEL}


@pytest.mark.parametrize("name", NAMES)
def test_agents_fail_the_drafts_that_were_declared(name: str) -> None:
    for cell in run_panel(draft_of(name, 3), SMOKE[name], 0.8):  # with a fault
        assert cell.is_expected, cell.agent
        assert cell.score.passed is not None


def test_the_reference_passes_everything_and_who_forgets_a_source_nothing() -> None:
    drafts = [draft_of(name, number) for name in NAMES for number in NUMBERS]
    passes = {agent.name: sum(not agent.fails(draft) for draft in drafts) for agent in PANEL}
    assert passes["perfect"] == len(drafts)
    assert passes["forgets_one_source"] == passes["ignores_overriding_rule"] == 0
    assert 0 < passes["gives_up_on_errors"] < len(drafts)


def test_decoys_are_taken_for_the_right_records_and_back() -> None:
    draft = draft_of(NAME)
    people = draft.world.state["hr"]["employees"]
    first, second = list(people.values())[:2]
    decoyed = replace(draft, decoys={f"hr/employees/{first['id']}": f"hr/employees/{second['id']}"})
    client = BY_NAME["wrong_entity"].spoil(InProcessClient(draft.world), decoyed, SCENARIO)
    names = {row["id"]: row["name"] for row in rows(client, "hr", "employees")}
    assert names[first["id"]] == second["name"]
    assert names[second["id"]] == first["name"]
    assert client.call("hr", "get_employee", id=first["id"])["name"] == second["name"]


def test_hidden_records_are_neither_listed_nor_read() -> None:
    draft = draft_of(NAME)
    (record,) = draft.overriding
    identifier = record.rpartition("/")[2]
    client = without_rule(InProcessClient(draft.world), draft, SCENARIO)
    assert identifier not in {row["id"] for row in rows(client, "kb", "articles")}
    with pytest.raises(RefusedError):
        client.call("kb", "get_article", id=identifier)


def test_the_idle_agent_changes_nothing_and_the_other_everything_twice() -> None:
    draft, scenario = draft_of("contract_notice"), SMOKE["contract_notice"]
    reference = run_of("contract_notice").submission()
    idle = _run_agent(BY_NAME["no_writes"], draft, scenario).submission()
    twice = _run_agent(BY_NAME["double_writes"], draft, scenario).submission()
    assert idle.changes == ()
    assert idle.answer == reference.answer
    assert len(twice.changes) == 2 * len(reference.changes) > 0


def test_an_agent_that_gives_up_answers_nothing() -> None:
    run = _run_agent(BY_NAME["gives_up_on_errors"], draft_of(NAME, 3), SCENARIO)
    assert (run.answer, run.failure) == (None, "RefusedError")


def test_numbers_of_the_answer_are_off_by_one() -> None:
    draft = draft_of(NAME)
    assert _slipped(draft, 'hours: 4\ntasks: ["4"]') == 'hours: 5\ntasks: ["4"]'
    assert _slipped(draft, None) is None
