"""Small scenarios: the same drafts each time, solved by their reference, in shares declared."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from construction.workflows.contracts import Draft
from construction.workflows.declaration import service as declared
from construction.workflows.documents.checks import _weighed
from construction.workflows.documents.scenario import scenarios
from construction.workflows.runs import graded, spec_of_draft
from construction.workflows.world_file import world_bytes, world_faults
from data.contracts.candidate import Check
from tests.construction.workflows.smoke import NAMES, NUMBERS, SEED, SMOKE, draft_of, run_of

DAY = re.compile(r"\d{4}-\d\d-\d\d")


def drafts(name: str) -> Iterator[Draft]:
    return (draft_of(name, number) for number in NUMBERS)


def test_each_of_twenty_two_families_has_a_scenario_and_small_ones_are_in_two_languages() -> None:
    assert len({scenario.task_family for scenario in scenarios().values()}) == 22
    assert Counter(scenario.split for scenario in scenarios().values()) == {"full": 46, "smoke": 10}
    assert Counter(draft_of(name).language for name in NAMES) == {"en": 8, "zh": 2}


@pytest.mark.parametrize("name", NAMES)
def test_services_start_and_the_reference_scores_one(name: str) -> None:
    for number, draft in zip(NUMBERS, drafts(name), strict=True):
        assert (draft.faults, world_faults(draft.world)) == ((), [])
        run = run_of(name, number)
        score = graded(spec_of_draft(draft), run.submission(), 0.8)
        assert (run.failure, score.overall, score.passed) == (None, 1.0, True)
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
def test_the_request_gives_away_neither_records_nor_answers(name: str) -> None:
    for draft in drafts(name):
        shown = f"{draft.prompt}\n{draft.guidelines}"
        for record in ids_of(draft):
            assert not re.search(rf"(?<![\w-]){re.escape(record)}(?![\w-])", shown)
        for answer in draft.answers:
            if answer.type == "number" and len(answer.value) < 3:
                continue  # a small count is in any text
            assert answer.value not in shown, answer.part
        for record in draft.overriding:
            service, plural, identifier = record.split("/")
            fields = draft.world.state[service][plural][identifier]
            assert str(fields["body"]) not in shown
            assert "body" not in declared(service).collections[plural].summary


def ids_of(draft: Draft) -> list[str]:
    return [
        identifier
        for collections in draft.world.state.values()
        for records in collections.values()
        for identifier in records
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_new_record_plans_a_day_that_is_over(name: str) -> None:
    for draft in drafts(name):
        made = [check.params["where"] for check in draft.checks if check.kind == "record_created"]
        days = DAY.findall(json.dumps(made))
        assert all(day >= draft.world.now[:10] for day in days)


def test_the_same_arguments_make_the_same_drafts() -> None:
    for name in NAMES[:3]:
        first, again = draft_of(name), SMOKE[name].build(1, SEED)
        assert (first.prompt, world_bytes(first.world)) == (again.prompt, world_bytes(again.world))
        assert world_bytes(SMOKE[name].build(1, SEED + 1).world) != world_bytes(first.world)


def test_every_third_draft_has_a_fault_that_passes() -> None:
    for name in NAMES:
        assert [draft.number for draft in drafts(name) if draft.world.faults] == [3]


@pytest.mark.parametrize("count", [1, 3, 7, 119, 1_500])
def test_however_many_checks_share_a_weight_none_is_negative(count: int) -> None:
    checks = [Check(check_id=str(n), kind="unchanged", params={}, text="") for n in range(count)]
    weights = [check.weight for check in _weighed(checks, 0.2)]
    assert sum(weights) == pytest.approx(0.2, abs=1e-9)
    assert min(weights) == pytest.approx(0.2 / count, abs=1e-6)
    assert max(weights) - min(weights) < 0.002
