"""Gold is proven: it follows the facts and the rule, follows nothing else, and is no mere report.

Over all drafts: wrong attempts of five kinds fail, and effects that nobody minds are free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from construction.grading.actions import CHANGES
from construction.grading.attacks import reference_text
from construction.grading.grade import MOST_UNDONE
from construction.workflows.contracts import Client, Draft, Request, Scenario
from construction.workflows.declaration import operations
from construction.workflows.declaration import service as declared
from construction.workflows.documents.checks import free_effects
from construction.workflows.runs import Run, graded, perform, replay, spec_of_draft
from construction.workflows.screening import ScreeningConfig, ScreenReason, screen
from construction.workflows.trials import destructive
from construction.workflows.variants import _rule_variants, proof_of
from data.contracts.attempt import Submission
from data.contracts.candidate import Check
from tests.construction.workflows.smoke import NAMES, NUMBERS, SMOKE, draft_of, run_of

NAME = "newsletter_issue"
SCENARIO, DRAFT = SMOKE[NAME], draft_of(NAME)


def numbered(name: str) -> int:
    """One draft of each scenario, of each number in turn."""
    return NUMBERS[NAMES.index(name) % len(NUMBERS)]


@pytest.mark.parametrize("name", NAMES)
def test_the_gold_of_every_scenario_follows_the_world_and_nothing_else(name: str) -> None:
    number = numbered(name)
    proof = proof_of(draft_of(name, number), SMOKE[name], run_of(name, number))
    assert (proof.believed, proof.idle, proof.moved) == ((), (), ())


def _answering(**known: Any) -> Scenario:
    """The reference, but for parts of the answer that it knows by heart."""

    def solve(client: Client, params: Mapping[str, Any]) -> str:
        lines = SCENARIO.solve(client, params).splitlines()
        kept = [line for line in lines if line.partition(":")[0] not in known]
        return "\n".join([*kept, *(f"{part}: {value}" for part, value in known.items())])

    return replace(SCENARIO, solve=solve)


def test_an_answer_known_by_heart_is_believed_and_named() -> None:
    (total,) = (answer.value for answer in DRAFT.answers if answer.part == "words")
    by_heart = _answering(words=total)
    screened = screen(DRAFT, by_heart, (), ScreeningConfig())
    seen = screened.tried
    assert (seen.oracle, seen.believed, seen.named) == (1, 1, f"answer.words {total}")
    assert screened.reason == ScreenReason.GOLD_BELIEVED


def test_a_rule_without_effect_is_idle() -> None:
    """The solution knows the rule, and opens the record for show."""
    (record,) = DRAFT.overriding
    fields = DRAFT.world.state["mail"]["messages"][record.rpartition("/")[2]]

    class Knowing:
        def __init__(self, client: Client) -> None:
            self.client = client

        def call(self, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
            if (service, operation) == ("mail", "search_messages"):
                return {"total": 1, "rows": [fields]}
            body = self.client.call(service, operation, **arguments)
            return fields if (service, operation) == ("mail", "get_message") else body

    def solve(client: Client, params: Mapping[str, Any]) -> str:
        return SCENARIO.solve(Knowing(client), params)

    knowing = replace(SCENARIO, solve=solve)
    proof = proof_of(DRAFT, knowing, perform(DRAFT, knowing))
    assert proof.idle == (record,)
    assert proof_of(DRAFT, replace(knowing, is_scripted=True), perform(DRAFT, knowing)).idle == ()


def test_a_solution_that_follows_what_it_never_opened_is_seen() -> None:
    """Bodies of mails that are no rule decide nothing; here what a search in them finds does."""

    def solve(client: Client, params: Mapping[str, Any]) -> str:
        text = SCENARIO.solve(client, params)
        hits = client.call("mail", "search_messages", query="other")
        return f"{text}\nseen: {hits['total']}"

    leaking = replace(SCENARIO, solve=solve)
    (moved,) = proof_of(DRAFT, leaking, perform(DRAFT, leaking)).moved
    assert moved == "mail/messages.body"


def test_rules_lose_their_text_and_change_their_figures() -> None:
    draft = draft_of("contract_notice")
    (record,) = draft.overriding
    service, plural, identifier = record.split("/")
    bodies = [
        str(variant.world.state[service][plural][identifier].get("body"))
        for variant in _rule_variants(draft.world, record)
    ]
    before = str(draft.world.state[service][plural][identifier]["body"])
    assert "Nothing is laid down here." in bodies
    figures = [body for body in bodies if body != before and body[:20] == before[:20]]
    assert figures


# Over all drafts


def wrong_attempts(draft: Draft, run: Run) -> Iterator[tuple[str, Submission]]:
    """Talk, nothing, acts too many, a right report without acts, acts without reading."""
    yield "nothing", Submission()
    text = reference_text(spec_of_draft(draft))
    yield "talk", Submission(answer=text, statements=((1, text),), steps=1)
    yield from (("over-acting", submission) for _, submission in destructive(draft, run))
    kinds = {True: "report alone", False: "without reading"}
    for reads, kind in kinds.items():
        kept = [r for r in run.requests if operations(r.service)[r.operation].is_read is reads]
        yield kind, replay(draft.world, kept, run.answer).submission()


@pytest.mark.parametrize("name", NAMES)
def test_wrong_attempts_at_any_draft_fail(name: str) -> None:
    for number in NUMBERS:
        draft, run = draft_of(name, number), run_of(name, number)
        spec = spec_of_draft(draft)
        asks_for_acts = any(check.kind in CHANGES for check in draft.checks)
        for kind, submission in wrong_attempts(draft, run):
            score = graded(spec, submission, 0.8)
            if kind == "report alone" and not asks_for_acts:
                continue
            assert score.passed is False, (kind, draft.rule)
            if asks_for_acts and kind in ("nothing", "talk", "report alone"):
                assert (score.overall or 0) <= MOST_UNDONE, (kind, draft.rule)


def harmless(draft: Draft) -> Iterator[Request]:
    """A request for each effect that the draft's own check calls free."""
    only = next(check for check in draft.checks if check.kind == "unchanged")
    for rule in only.params["free"]:
        service, plural = rule["service"], rule["collection"]
        record = declared(service).collections[plural].record
        records = draft.world.state[service].get(plural, {})
        if "field" in rule:
            for identifier, fields in records.items():
                now = fields.get(rule["field"], False)
                others = [not now] if rule["among"] is True else rule["among"]
                if rule["among"] is True or now in others:
                    value = next(other for other in others if other != now)
                    changed = {"id": identifier, rule["field"]: value}
                    yield Request(service, f"update_{record}", changed)
                    break
        elif service == "helpdesk":
            ticket = next(iter(draft.world.state[service]["tickets"]))
            yield Request(service, "add_comment", {"ticket": ticket, "body": "Looking into it."})
        elif service == "crm":
            account = next(iter(draft.world.state[service]["accounts"]))
            noted = {"account": account, "kind": "note", "subject": "Looked at"}
            yield Request(service, "log_activity", noted)


@pytest.mark.parametrize("name", NAMES)
def test_what_nobody_minds_costs_nothing(name: str) -> None:
    draft, run = draft_of(name, numbered(name)), run_of(name, numbered(name))
    spec = spec_of_draft(draft)
    assert "nothing beyond" in draft.guidelines or "不要改动" in draft.guidelines
    for request in harmless(draft):
        after = replay(draft.world, (*run.requests, request), run.answer).submission()
        score = graded(spec, after, 0.8)
        assert (score.passed, score.overall) == (True, 1.0), request
    before = list(harmless(draft))
    first = replay(draft.world, (*before, *run.requests), run.answer).submission()
    assert graded(spec, first, 0.8).passed is True


def test_most_scenarios_have_effects_that_nobody_minds() -> None:
    assert sum(bool(list(harmless(draft_of(name)))) for name in NAMES) >= 6


def test_what_a_task_is_about_is_not_free() -> None:
    only = next(check for check in draft_of("order_enquiries").checks if check.kind == "unchanged")
    assert {rule["field"] for rule in only.params["free"] if "field" in rule} >= {"is_read"}
    read = {"service": "mail", "record": "messages/m-1", "where": {"is_read": True}}
    about = Check(check_id="c", kind="record_equals", params=read, text="It is marked as read.")
    fields = {rule.get("field") for rule in free_effects([about], ["mail"])}
    assert "is_flagged" in fields
    assert "is_read" not in fields
