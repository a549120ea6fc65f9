"""Every scenario: it builds the same drafts each time, and its reference solves them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from construction.workflows.contracts import Draft
from construction.workflows.declaration import service as declared
from construction.workflows.registry import DRAFTS_EACH, FULL, drafts_of
from construction.workflows.registry import SCENARIOS as ALL
from construction.workflows.registry import SMOKE as SCENARIOS
from construction.workflows.runs import graded, perform, spec_of_draft
from construction.workflows.scenarios.people import (
    Drawing,
    companies,
    namesakes,
    near_company,
    people,
)
from construction.workflows.world_file import world_bytes, world_faults

SEED = 11
NAMES = sorted(SCENARIOS)


def drafts(name: str) -> list[Draft]:
    return [SCENARIOS[name].build(number, SEED) for number in range(1, DRAFTS_EACH + 1)]


def test_each_of_twenty_one_families_has_a_generator_of_its_split() -> None:
    families = Counter(scenario.task_family for scenario in ALL.values())
    assert len(families) == 21
    assert all(name == scenario.name for name, scenario in ALL.items())
    assert {name: scenario.split for name, scenario in ALL.items()} == {
        **dict.fromkeys(SCENARIOS, "smoke"),
        **dict.fromkeys(FULL, "full"),
    }
    assert len(ALL) == len(SCENARIOS) + len(FULL)


@pytest.mark.parametrize("name", NAMES)
def test_services_start_and_the_reference_scores_one(name: str) -> None:
    for draft in drafts(name):
        assert world_faults(draft.world) == []
        run = perform(draft, SCENARIOS[name])
        score = graded(spec_of_draft(draft), run.submission(), 0.8)
        assert (run.failure, score.overall, score.passed) == (None, 1.0, True), draft.rule


@pytest.mark.parametrize("name", NAMES)
def test_siblings_differ_in_their_rule_and_in_what_is_right(name: str) -> None:
    made = drafts(name)
    assert len({draft.rule for draft in made}) == DRAFTS_EACH
    for first, second in combinations(made, 2):
        assert first.answers != second.answers or first.checks != second.checks


@pytest.mark.parametrize("name", NAMES)
def test_the_request_says_nothing_that_has_to_be_looked_up(name: str) -> None:
    for draft in drafts(name):
        shown = f"{draft.prompt}\n{draft.guidelines}"
        assert not re.search(r"\b(?:crm|kb|helpdesk|hr|rss|api|tool)\b", draft.prompt, re.I)
        for record in ids_of(draft):
            assert not re.search(rf"(?<![\w-]){re.escape(record)}(?![\w-])", shown)
        for answer in draft.answers:
            if answer.type == "number" and len(answer.value) < 3:
                continue  # a small count is in any text
            assert answer.value not in shown, answer.part
        for record in draft.overriding:
            service, plural, identifier = record.split("/")
            fields = draft.world.state[service][plural][identifier]
            text = str(fields.get("body") or fields.get("text") or fields.get("description"))
            assert text not in shown


@pytest.mark.parametrize("name", NAMES)
def test_no_list_shows_what_an_overriding_record_says(name: str) -> None:
    for draft in drafts(name):
        for record in draft.overriding:
            service, plural, _ = record.split("/")
            collection = declared(service).collections[plural]
            assert collection.summary
            assert not {"body", "text"} & {*collection.summary}
            assert {"body", "text"} & {*collection.fields}


def ids_of(draft: Draft) -> list[str]:
    return [
        identifier
        for collections in draft.world.state.values()
        for records in collections.values()
        for identifier in records
    ]


@pytest.mark.parametrize("name", NAMES)
def test_weights_sum_to_one_in_the_shares_that_are_declared(name: str) -> None:
    for draft in drafts(name):
        score = graded(spec_of_draft(draft), perform(draft, SCENARIOS[name]).submission(), 0.8)
        shares: Counter[str] = Counter()
        for part in score.parts:
            shares[part.evidence] += part.weight  # type: ignore[assignment]
        assert {kind: round(share, 6) for kind, share in shares.items()} == {
            "retrieval": 0.2,
            "accuracy": 0.6,
            "action": 0.2,
        }
        assert {part.required for part in score.parts if part.evidence == "action"} == {True}


@pytest.mark.parametrize("name", NAMES)
def test_worlds_are_of_a_believable_size(name: str) -> None:
    for draft in drafts(name):
        assert 15 <= len(ids_of(draft)) <= 80
        assert set(SCENARIOS[name].services) <= set(draft.world.state)
        assert len(SCENARIOS[name].services) >= 2


def test_the_same_arguments_make_the_same_drafts() -> None:
    counts = dict.fromkeys(NAMES[:6], 2)
    first, second = drafts_of(counts, 5), drafts_of(counts, 5)
    assert [draft.prompt for draft in first] == [draft.prompt for draft in second]
    assert [world_bytes(d.world) for d in first] == [world_bytes(d.world) for d in second]
    assert [world_bytes(d.world) for d in first] != [
        world_bytes(d.world) for d in drafts_of(counts, 6)
    ]


def test_every_third_draft_has_a_fault_that_passes() -> None:
    for name in NAMES[:5]:
        faulty = [draft.number for draft in drafts(name) if draft.world.faults]
        assert faulty == [3]


def test_near_names_differ_and_never_begin_with_each_other() -> None:
    for number in range(40):
        draw = Drawing("names", number, SEED)
        right, twin = namesakes(draw)
        assert right.name != twin.name
        assert right.email != twin.email
        for name in companies(draw, 6):
            near = near_company(name)
            assert near != name
            assert not near.startswith(f"{name} ")
            assert near.split()[0] == name.split()[0]


def test_names_of_people_are_all_different() -> None:
    drawn = people(Drawing("people", 1, SEED), 20)
    assert len({person.name.split()[0] for person in drawn}) == 20
    assert len({person.email for person in drawn}) == 20
