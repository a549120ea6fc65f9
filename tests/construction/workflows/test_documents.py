"""Scenario documents: what they say, and what the builder proves."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from construction.workflows.contracts import Draft
from construction.workflows.documents.check import (
    _faults_across,
    _sentences_of,
    difference,
    document_lines,
    drafts_of,
)
from construction.workflows.documents.contracts import (
    SLOT,
    Document,
    DocumentFault,
    document_of,
)
from construction.workflows.documents.scenario import (
    build,
    documents,
    known_to_readers,
    scenario_of,
    solve,
)
from construction.workflows.documents.worlds import planted_in
from construction.workflows.runs import InProcessClient, Run, graded, perform, spec_of_draft
from construction.workflows.world_file import world_bytes, world_faults
from tests.construction.workflows.key_returns import (
    CONFIG,
    DOCUMENT,
    DRAFT,
    SCENARIO,
    SEED,
    TEXT,
    alone,
    small,
    with_text,
)


def bodies(draft: Draft) -> list[str]:
    kb = draft.world.state["kb"]["articles"].values()
    mail = draft.world.state["mail"]["messages"].values()
    return [str(record["body"]) for record in (*kb, *mail)]


# What a document may say


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('kind = "brief"', 'kind = "brief"\nsecret = 1', "secret: Extra inputs"),
        ('into = "hr.employees"', 'into = "hr.robots"', "hr.robots: no service has this"),
        ("cost {fee} EUR", "cost {fees} EUR", "there is no fact called fees"),
        ('task_family = "assurance"', 'task_family = "juggling"', "juggling; expected one of"),
        ("whole = [20, 40]", "whole = [20, 40]\namount = [1, 2]", "exactly one way to draw it"),
        ('out = "facts.days <"', 'out = "facts.weeks <"', "occurs in no SQL"),
        ('"todo.create_task"', '"todo.juggle"', "todo.juggle: no service has this operation"),
        ("count = 60", "count = 60\nof = 'select 1'", "either count or of"),
    ],
)
def test_what_is_wrong_with_a_document_is_named(old: str, new: str, fault: str) -> None:
    with pytest.raises(DocumentFault, match=re.escape(fault)):
        with_text(old, new)


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft with faults is not drawn again and again, which takes twelve times as long."""
    monkeypatch.setattr("construction.workflows.documents.scenario.TRIES", 1)


# The world


def test_the_same_arguments_make_the_same_draft_and_others_another() -> None:
    again = SCENARIO.build(1, SEED)
    assert world_bytes(again.world) == world_bytes(DRAFT.world)
    assert again.checks == DRAFT.checks
    assert world_bytes(SCENARIO.build(2, SEED).world) != world_bytes(DRAFT.world)
    assert SCENARIO.build(1, SEED + 1).answers != DRAFT.answers


def test_services_start_from_the_world_and_records_have_defaults() -> None:
    assert world_faults(DRAFT.world) == []
    assert DRAFT.faults == ()
    assert {m["folder"] for m in DRAFT.world.state["mail"]["messages"].values()} == {"inbox"}
    assert any("department" not in e for e in DRAFT.world.state["hr"]["employees"].values())
    assert not any(
        name.startswith("_") for e in DRAFT.world.state["hr"]["employees"].values() for name in e
    )


def test_facts_stand_in_prose_and_are_read_again_from_it() -> None:
    policy = DOCUMENT.records[0]
    text = next(body for body in bodies(DRAFT) if body.startswith("A key is overdue"))
    facts = planted_in(policy, DOCUMENT, {"id": "x", "body": text})
    assert facts is not None
    assert f"overdue {facts['days']} days" in text
    assert f"cost {facts['fee']:.2f} EUR" in text
    spring = next(record for record in DOCUMENT.records if record.found_by)
    sentence = next(body for body in bodies(DRAFT) if body.startswith("Leave"))
    read = planted_in(spring, DOCUMENT, {"id": "x", "body": sentence})
    assert read is not None
    assert read["spared"] in ("red", "green")
    assert dt.date.fromisoformat(read["since"]).strftime("%-d %B %Y") in sentence


@pytest.mark.parametrize(
    "text",
    ["A key is overdue 21 days after it was handed out.", "Something else", ""],
)
def test_another_text_holds_no_facts(text: str) -> None:
    assert planted_in(DOCUMENT.records[0], DOCUMENT, {"id": "x", "body": text}) is None


def test_a_fact_that_stands_twice_has_to_be_the_same_twice() -> None:
    record = DOCUMENT.records[0]
    text = SLOT.sub(lambda slot: {"days": "21", "fee": "5.00"}[slot[1]], record.fields["body"])
    assert planted_in(record, DOCUMENT, {"id": "x", "body": text}) == {"days": 21, "fee": 5.0}
    torn = text.replace("was 21", "was 22")
    assert planted_in(record, DOCUMENT, {"id": "x", "body": torn}) is None


# The gold


def test_the_solver_comes_to_what_the_builder_knew() -> None:
    run = perform(DRAFT, SCENARIO)
    score = graded(spec_of_draft(DRAFT), run.submission(), 0.8)
    assert (run.failure, score.overall, score.passed) == (None, 1.0, True)
    shares = {
        kind: round(sum(p.weight for p in score.parts if p.evidence == kind), 6)
        for kind in ("retrieval", "accuracy", "action")
    }
    assert shares == {"retrieval": 0.2, "accuracy": 0.6, "action": 0.2}


def test_only_records_with_facts_that_hold_have_to_be_read() -> None:
    read = [check for check in DRAFT.checks if check.kind == "records_returned"]
    assert sum(len(check.params["records"]) for check in read) == 2
    assert len(DRAFT.overriding) == 2


def test_a_text_that_has_to_state_several_things_is_checked_for_each() -> None:
    made = next(check for check in DRAFT.checks if check.kind == "record_created")
    details = made.params["where"]["details"]
    assert details["contains_all"][0] == made.params["where"]["title"].removeprefix("Collect ")
    assert "assignee" not in made.params["where"]


@pytest.mark.parametrize("trap", DOCUMENT.traps, ids=[trap.name for trap in DOCUMENT.traps])
def test_a_trap_fails(trap: Any) -> None:
    client = InProcessClient(DRAFT.world)
    answer = solve(DOCUMENT, client, {}, trap)
    run = replace(perform(DRAFT, SCENARIO), answer=answer, audit=client.audit, world=client.world)
    assert graded(spec_of_draft(DRAFT), run.submission(), 0.8).passed is False


# What of the world the reference looks at


KEYS_OUT = [
    {"collection": "inventory.items", "split": {"counted_on_to": day}, "whole": False}
    for day in ("select today - days - 1 from facts", "select since - 1 from facts")
]
STAFF = {"collection": "hr.employees", "where": {"status": "active"}, "whole": False}


def operations_of(run: Run) -> Counter[str]:
    return Counter(request.operation for request in run.requests)


def test_what_a_search_tells_by_its_bounds_need_not_be_opened() -> None:
    run = perform(DRAFT, scenario_of(small(reads=[*KEYS_OUT, STAFF])))
    assert run.answer == perform(DRAFT, SCENARIO).answer
    assert operations_of(run)["get_item"] == 0


def test_views_say_which_records_need_a_closer_look_and_nothing_is_asked_twice() -> None:
    closer = {"collection": "inventory.items", "only": "select id from overdue"}
    run = perform(DRAFT, scenario_of(small(reads=[*KEYS_OUT, STAFF, closer, STAFF, closer])))
    assert run.answer == perform(DRAFT, SCENARIO).answer
    assert operations_of(run)["get_item"] == operations_of(run)["create_task"] > 0
    assert max(Counter((r.operation, str(r.arguments)) for r in run.requests).values()) == 1


def test_a_trap_presupposes_nothing_of_what_the_reference_does() -> None:
    sparing = scenario_of(small(reads=[*KEYS_OUT, STAFF]))
    for mine, theirs in zip(sparing.traps, SCENARIO.traps, strict=True):
        run = perform(DRAFT, replace(sparing, solve=mine))
        assert run.answer == perform(DRAFT, replace(SCENARIO, solve=theirs)).answer
        assert operations_of(run)["get_item"] == len(DRAFT.world.state["inventory"]["items"])


def test_a_planted_fact_of_another_value_changes_what_the_solver_does() -> None:
    other = SCENARIO.build(2, SEED)
    assert perform(DRAFT, SCENARIO).answer != perform(other, SCENARIO).answer
    state = DRAFT.world.state
    identifier = DRAFT.overriding[0].rpartition("/")[2]
    theirs = other.world.state["kb"]["articles"][other.overriding[0].rpartition("/")[2]]
    kb = {"articles": {**state["kb"]["articles"], identifier: {**theirs, "id": identifier}}}
    moved = replace(DRAFT, world=replace(DRAFT.world, state={**state, "kb": kb}))
    assert perform(moved, SCENARIO).answer != perform(DRAFT, SCENARIO).answer


@pytest.mark.slow(seconds=20)
def test_a_small_document_passes_the_whole_screening() -> None:
    lines = list(document_lines(DOCUMENT, drafts_of(DOCUMENT, 2, SEED), CONFIG))
    assert [line for line in lines if line.startswith("fault")] == []
    assert re.fullmatch(r"draft 1: passes the screening; 163 records, 5 services, .*", lines[0])


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (  # a fact that decides nothing
            "select count(*) * max(facts.fee) from overdue, facts",
            "select count(*) * 5 from overdue",
            "facts.fee: no other value changes the correct result",
        ),
        (  # a trap that is none
            'instead = "facts.days_once <"',
            'instead = "facts.days + 0 <"',
            "traps.old_term: leads to the correct result",
        ),
        ("changes = false", "changes = true", "variants: A shelf is named."),
        (
            "facts.today\nand (d",
            "date '1990-01-01'\nand (d",
            "answers.cost: not a number",
        ),
        ("count = 40", "count = 20", "143 records; expected 150 to 2000"),
        ("facts.days <", "facts.years <", 'does not have a column named "years"'),
        ('{ sql = "_door.door" }', '{ sql = "_door.floor" }', "floor"),
        ("[sku, name] as details", "'2099-99-99' as due_on", "todo.create_task is refused"),
        ("quantity = 1", "shelf = 1", "inventory.items has no field shelf"),
        ("cost {fee} EUR each", "cost {fee}{days_once}", "{days_once} is 76, is written '76'"),
    ],
)
@pytest.mark.usefixtures("drawn_once")
def test_what_a_draft_cannot_prove_is_a_fault(old: str, new: str, fault: str) -> None:
    draft = build(alone(with_text(old, new)), 1, SEED)
    assert any(fault in line for line in draft.faults), draft.faults


def test_facts_are_read_again_as_what_they_are() -> None:
    """A day without its year, and texts of digits."""
    text = TEXT.replace(
        'day = ["2026-01-10", "2026-01-20"]',
        'day = ["2026-01-10", "2026-01-20"]\nform = "%-d %B"\n\n[facts.model]\n'
        'pick = ["3.2", "62"]\ninert = true',
    )
    text = text.replace("may be kept for {days_once} days", "{model} may be kept {days_once} days")
    document = alone(document_of(tomllib.loads(text)))
    draft = build(document, 1, SEED)
    assert draft.faults == ()
    facts = known_to_readers(document, draft)
    assert facts["model"] in ("3.2", "62")
    assert dt.date(2026, 1, 10) <= dt.date.fromisoformat(facts["since"]) <= dt.date(2026, 1, 20)


@pytest.mark.usefixtures("drawn_once")
def test_a_form_that_tells_no_year_is_a_fault_only_where_the_year_is_open() -> None:
    text = TEXT.replace(
        'day = ["2026-01-10", "2026-01-20"]', 'day = ["2024-01-10", "2026-01-20"]\nform = "%-d %B"'
    )
    draft = build(alone(document_of(tomllib.loads(text))), 1, SEED)
    assert any("expected a `form` that tells the whole value" in line for line in draft.faults)


@pytest.mark.usefixtures("drawn_once")
def test_a_refused_act_is_named_and_the_draft_can_still_be_derived_again() -> None:
    refused = with_text("'Collect ' || sku as title", "'Collect ' || sku as title, 1 as urgency")
    draft = build(alone(refused), 1, SEED)
    assert any("todo.create_task is refused: urgency" in line for line in draft.faults)
    assert draft.world.state == DRAFT.world.state


def test_where_nothing_is_to_be_done_nothing_is_free() -> None:
    def free_in(draft: Draft) -> Any:
        return next(check for check in draft.checks if check.kind == "unchanged").params["free"]

    refused = next(each for each in documents() if each.name == "void_refused")
    assert free_in(build(refused, 1, SEED)) == []
    assert free_in(DRAFT) != []


def test_a_write_that_nobody_asked_for_and_that_passes_is_named() -> None:
    (draft,) = drafts_of(DOCUMENT, 1, SEED)
    open_checks = tuple(check for check in draft.checks if check.kind != "unchanged")
    lines = list(document_lines(DOCUMENT, [replace(draft, checks=open_checks)], CONFIG))
    assert "draft 1: screen.passed_by_destructive" in lines[0]
    assert any("inventory.delete_item(id=item-" in line for line in lines)


@pytest.mark.usefixtures("drawn_once")
def test_a_reference_of_more_calls_than_an_agent_has_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = len(perform(DRAFT, SCENARIO).requests)
    monkeypatch.setattr("construction.workflows.documents.scenario.TURNS", calls)
    monkeypatch.setattr("construction.workflows.documents.scenario.CALLS", 1)
    assert build(DOCUMENT, 1, SEED).faults == ()
    monkeypatch.setattr("construction.workflows.documents.scenario.TURNS", calls - 1)
    said = f"reads: the reference makes {calls} calls; expected at most {calls - 1}"
    assert build(DOCUMENT, 1, SEED).faults == (said,)


@pytest.mark.usefixtures("drawn_once")
def test_a_number_that_stands_in_the_sql_alone_is_the_same_in_all_drafts() -> None:
    counted = "select count(*) * max(facts.fee) from overdue, facts"
    believed = alone(with_text(counted, "select 9999.0"))
    drafts = [build(believed, number, SEED) for number in (1, 2)]
    assert "answers.cost: the same in all 2 drafts" in list(_faults_across(believed, drafts))


COST, KEYS = "answers.cost: `wanted` has", "answers.keys: `wanted` alone has"
ACTS = "wanted.acts: number 1, todo.create_task:"
WRONG_GOLDS = {
    "wrong field": ("max(facts.fee)", "max(facts.days)", COST),
    "literal": ("select count(*) * max(facts.fee)", "select max(9999.0)", COST),
    "rounded where nobody asked": ("max(facts.fee)", "round(max(facts.fee))", COST),
    "counted twice": ("count(*) * max", "2 * count(*) * max", COST),
    "off by one at the bound": ("facts.days < facts.today", "facts.days <= facts.today", COST),
    "off by one at the exception": ("counted_on < facts.since", "counted_on <= facts.since", COST),
    "exception missing": (" or i.counted_on < facts.since", "", COST),
    "rule missing": ("and (d.grade <> facts.spared or i", "and (true or i", COST),
    "rule the wrong way round": ("d.grade <> facts.spared", "d.grade = facts.spared", COST),
    "stale policy": ("facts.days <", "75 <", COST),
    "people who left": ("e.status = 'active' and i", "e.status <> '' and i", COST),
    "one record dropped": ('"select sku from overdue"', '"select sku from overdue offset 1"', KEYS),
    "another list": ("select sku from overdue", "select name as sku from overdue", KEYS),
    "one act dropped": ("from overdue order by sku", "from overdue order by sku offset 1", ACTS),
    "another title": ("'Collect ' || sku as", "'Collect ' || name as", ACTS),
    "states the wrong person": ("[sku, name] as details", "[sku, id] as details", ACTS),
}


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("kind", WRONG_GOLDS)
def test_a_planted_wrong_gold_is_refused_and_named(kind: str) -> None:
    old, new, fault = WRONG_GOLDS[kind]
    planted = with_text(old, new)
    drafts = (build(planted, number, SEED) for number in (1, 2, 3))
    lines = (line for draft in drafts for line in draft.faults)
    assert any(line.startswith("second: ") and fault in line for line in lines)


def test_each_draft_is_derived_twice_and_the_first_also_with_other_facts() -> None:
    planted = with_text(*WRONG_GOLDS["counted twice"][:2])
    drafts = (scenario_of(planted).build(number, SEED) for number in (1, 2))
    assert all(any(COST in line for line in draft.faults) for draft in drafts)
    late = with_text("facts.days < facts.today", "facts.days <= facts.today")
    numbers = [n for n in range(2, 9) if build(late, n, SEED).faults]
    assert any(scenario_of(late).build(n, SEED).faults == () for n in numbers)


@pytest.mark.usefixtures("drawn_once")
def test_a_bound_that_no_record_is_at_differs_under_another_value_of_the_fact() -> None:
    planted = with_text("facts.days < facts.today", "facts.days <= facts.today")
    faults = (fault for n in range(1, 9) for fault in build(planted, n, SEED).faults)
    assert any(re.match(r"second: if days were \d+: answers.cost", fault) for fault in faults)


# The documents that there are


def test_no_two_documents_share_a_sentence_of_more_than_eight_words() -> None:
    seen: dict[str, str] = {}
    for document in documents():
        for sentence in _sentences_of(document):
            assert seen.setdefault(sentence, document.name) == document.name, sentence


@pytest.mark.slow(seconds=120)
@pytest.mark.parametrize(
    "document", [d for d in documents() if d.split == "full"], ids=lambda d: d.name
)
def test_a_careless_gold_is_refused_by_the_second_derivation(document: Document) -> None:
    def careless(sql: str) -> str:
        return sql.replace(trap.out, trap.instead)

    def spoilt(entries: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(e.model_copy(update={"select": careless(e.select)}) for e in entries)

    trap, wanted = document.traps[0], document.wanted
    parts = {"acts": spoilt(wanted.acts), "answers": spoilt(wanted.answers)}
    views = {name: careless(sql) for name, sql in document.views.items()}
    planted = {"views": views, "wanted": wanted.model_copy(update=parts), "traps": ()}
    draft = scenario_of(document.model_copy(update=planted)).build(1, SEED)
    assert draft.faults
    assert all(re.match(r"second: (answers|wanted)\.", line) for line in draft.faults)


def test_requests_say_nothing_that_has_to_be_looked_up() -> None:
    for document in documents():
        for request in document.requests:
            assert not re.search(r"\b(?:crm|kb|helpdesk|hr|rss|api|tool)\b", request, re.I)
            for record in document.records:
                title = str(record.fields.get("title") or record.fields.get("subject") or "\0")
                assert title.casefold() not in request.casefold()


@pytest.mark.slow
@pytest.mark.parametrize("name", [document.name for document in documents()])
def test_a_document_passes_its_check(name: str) -> None:
    document = next(each for each in documents() if each.name == name)
    lines = document_lines(document, drafts_of(document, 2, SEED), CONFIG)
    assert [line for line in lines if "fault" in line] == []


# What an author is told


def test_a_reference_that_misses_a_record_says_in_which_field() -> None:
    run = perform(DRAFT, SCENARIO)
    (check, *_) = [check for check in DRAFT.checks if check.kind == "record_created"]
    name = next(iter(check.params["where"]))
    other = {**check.params, "where": {**check.params["where"], name: "something else"}}
    wrong = check.model_copy(update={"params": other})
    checks = tuple(wrong if each is check else each for each in DRAFT.checks)
    said = difference(replace(DRAFT, checks=checks), run, check.check_id)
    assert said is not None
    assert f"{name}: found " in said
    assert said.endswith("expected 'something else'")


def test_prose_that_no_search_finds_is_named_with_the_words_that_it_lacks() -> None:
    document = with_text('found_by = "', 'found_by = "juggling ')
    with pytest.raises(LookupError, match=r"which lacks juggling; expected words for `found_by`"):
        known_to_readers(document, DRAFT)
