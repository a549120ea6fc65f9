"""Ballast makes worlds larger and leaves what is right as it was; `split` looks values up."""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from construction.workflows.contracts import Draft
from construction.workflows.documents.ballast import numbered
from construction.workflows.documents.contracts import Document, document_of
from construction.workflows.documents.scenario import scenario_of
from construction.workflows.runs import graded, perform, spec_of_draft
from construction.workflows.world_file import world_faults
from data.randomness import keyed_generator

TEXT = (Path(__file__).parent / "key_returns.toml").read_text("utf-8")
SEED = 5
POSTS = {
    "like": "posts",
    "count": 300,
    "columns": {"sent_at": {"time": ["2025-01-07", "2025-12-19"]}},
}
LEFT = {"like": "staff", "count": 60, "fresh": ["name", "email"], "columns": {"status": "left"}}


def document(**changes: Any) -> Document:
    return document_of({**tomllib.loads(TEXT), **changes})


def drafted(*ballast: dict[str, Any], **changes: Any) -> Draft:
    return scenario_of(document(ballast=list(ballast), **changes)).build(1, SEED)


@cache
def plain_and_large() -> tuple[Draft, Draft]:
    return drafted(), drafted(POSTS, LEFT)


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft with faults is not drawn again and again, which takes twelve times as long."""
    monkeypatch.setattr("construction.workflows.documents.scenario.TRIES", 1)


def test_ballast_makes_a_world_larger_and_leaves_what_is_right_as_it_was() -> None:
    plain, large = plain_and_large()
    assert not large.faults
    assert not world_faults(large.world)
    assert (large.answers, large.checks) == (plain.answers, plain.checks)
    for service, rooms in plain.world.state.items():
        for plural, records in rooms.items():
            now = large.world.state[service][plural]
            assert {name: now[name] for name in records} == records
    assert len(large.world.state["mail"]["messages"]) == 341
    assert len(large.world.state["hr"]["employees"]) == 120


def test_the_reference_is_right_in_a_world_with_ballast() -> None:
    scenario, (_, draft) = scenario_of(document(ballast=[POSTS, LEFT])), plain_and_large()
    score = graded(spec_of_draft(draft), perform(draft, scenario).submission(), 0.8)
    assert (score.passed, score.overall) == (True, 1)


@pytest.mark.usefixtures("drawn_once")
def test_ballast_that_matters_is_a_fault() -> None:
    draft = drafted({"like": "loans", "count": 40, "columns": {"counted_on": "2025-11-03"}})
    assert any("ballast: changes the correct result" in fault for fault in draft.faults)


@pytest.mark.usefixtures("drawn_once")
def test_ballast_of_a_population_without_records_is_a_fault() -> None:
    assert drafted({"like": "nobody", "count": 4}).faults == (
        "ballast: there is no population with records called nobody",
    )


def test_the_texts_of_ballast_differ_and_its_days_are_where_they_should_be() -> None:
    plain, large = plain_and_large()
    old = plain.world.state["mail"]["messages"]
    new = [r for name, r in large.world.state["mail"]["messages"].items() if name not in old]
    assert max(Counter(record["body"] for record in new).values()) == 1
    assert {record["sent_at"][:4] for record in new} == {"2025"}
    names = Counter(r["name"] for r in large.world.state["hr"]["employees"].values())
    assert max(names.values()) == 1


def test_values_are_chosen_among_those_of_sql() -> None:
    chosen = {"sql": "select email from hr.employees where status = 'left' order by 1"}
    draft = drafted({"like": "posts", "count": 30, "columns": {"sender": chosen}})
    leavers = {
        r["email"] for r in draft.world.state["hr"]["employees"].values() if r["status"] == "left"
    }
    sent = Counter(r["sender"] for r in draft.world.state["mail"]["messages"].values())
    assert sum(count for sender, count in sent.items() if sender in leavers) == 30


def test_a_split_read_knows_the_value_without_opening_a_record() -> None:
    reads = [
        {"collection": "inventory.items"},
        {"collection": "hr.employees", "split": {"status": ["active", "left"]}, "whole": False},
    ]
    scenario, draft = scenario_of(document(reads=reads)), drafted(reads=reads)
    run = perform(draft, scenario)
    assert graded(spec_of_draft(draft), run.submission(), 0.8).passed
    calls = Counter(request.operation for request in run.requests)
    assert "get_employee" not in calls
    assert calls["search_employees"] == 2


def test_codes_grow_where_all_of_their_form_are_taken() -> None:
    taken, chance = {f"k-{number}" for number in range(100, 1000)}, keyed_generator(1, "t", "t")
    made = numbered("K-123", taken, chance)
    assert (made[:2], len(made)) == ("K-", 6)
    assert made.casefold() in taken
