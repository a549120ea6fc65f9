"""The panel of scripted agents: each fails exactly what was declared before it ran."""

from __future__ import annotations

import pytest

from construction.workflows.contracts import RefusedError
from construction.workflows.panel import (
    PANEL,
    run_agent,
    run_panel,
    slipped,
    without_rule,
)
from construction.workflows.registry import DRAFTS_EACH
from construction.workflows.registry import SMOKE as SCENARIOS
from construction.workflows.runs import InProcessClient, perform
from construction.workflows.scenarios.story import rows

SEED = 8
SCENARIO = SCENARIOS["vacation_requests"]
BY_NAME = {agent.name: agent for agent in PANEL}


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_agents_fail_the_drafts_that_were_declared(name: str) -> None:
    draft = SCENARIOS[name].build(3, SEED)  # with a fault
    for cell in run_panel(draft, SCENARIOS[name], 0.8):
        assert cell.is_expected, cell.agent
        assert cell.score.passed is not None


def test_the_order_of_the_panel_is_that_of_the_passes() -> None:
    numbers = range(1, DRAFTS_EACH + 1)
    drafts = [each.build(number, SEED) for each in SCENARIOS.values() for number in numbers]
    passes = [sum(not agent.fails(draft) for draft in drafts) for agent in PANEL]
    assert passes == sorted(passes, reverse=True)
    assert passes[0] == len(drafts)
    assert passes[-1] == 0


def test_decoys_are_taken_for_the_right_records_and_back() -> None:
    draft = SCENARIO.build(1, SEED)
    ((right, wrong),) = draft.decoys.items()
    people = draft.world.state["hr"]["employees"]
    first, second = (people[record.rpartition("/")[2]] for record in (right, wrong))
    client = BY_NAME["wrong_entity"].spoil(InProcessClient(draft.world), draft, SCENARIO)
    names = {row["id"]: row["name"] for row in rows(client, "hr", "employees")}
    assert names[first["id"]] == second["name"]
    assert names[second["id"]] == first["name"]
    assert client.call("hr", "get_employee", id=first["id"])["name"] == second["name"]


def test_hidden_records_are_neither_listed_nor_read() -> None:
    draft = SCENARIO.build(1, SEED)
    (record,) = draft.overriding
    identifier = record.rpartition("/")[2]
    client = without_rule(InProcessClient(draft.world), draft, SCENARIO)
    assert identifier not in {row["id"] for row in rows(client, "kb", "articles")}
    with pytest.raises(RefusedError):
        client.call("kb", "get_article", id=identifier)


def test_the_idle_agent_changes_nothing_and_the_other_everything_twice() -> None:
    scenario = SCENARIOS["contract_notice"]
    draft = scenario.build(1, SEED)
    reference = perform(draft, scenario).submission()
    idle = run_agent(BY_NAME["no_writes"], draft, scenario).submission()
    twice = run_agent(BY_NAME["double_writes"], draft, scenario).submission()
    assert idle.changes == ()
    assert idle.answer == reference.answer
    assert len(twice.changes) == 2 * len(reference.changes) > 0


def test_an_agent_that_gives_up_answers_nothing() -> None:
    draft = SCENARIO.build(3, SEED)
    run = run_agent(BY_NAME["gives_up_on_errors"], draft, SCENARIO)
    assert (run.answer, run.failure) == (None, "RefusedError")


def test_numbers_of_the_answer_are_off_by_one() -> None:
    draft = SCENARIO.build(1, SEED)
    assert slipped(draft, 'approved: 4\nrejected: ["4"]') == 'approved: 5\nrejected: ["4"]'
    assert slipped(draft, None) is None
