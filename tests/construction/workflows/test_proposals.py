"""Tasks as data: they are validated, screened like all others, and never run as code."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from construction.workflows.proposals import LARGEST_BYTES, Proposed, read_proposals
from construction.workflows.screening import ScreeningConfig, ScreenReason, screen
from data.errors import InputError

NOW = "2026-03-05T09:00:00+01:00"
OWNER, BOSS = "nia.holm@acme.example", "otto.berg@acme.example"
PROPOSAL: dict[str, Any] = {
    "task_family": "customer_support",
    "rule": "absent owners are stood in for by their manager",
    "prompt": "Please give Larkfield's open ticket to whoever looks after them now. "
    "Who is that, and who asked?",
    "guidelines": "End with:\nperson: <mail address>\nrequester: <mail address>",
    "now": NOW,
    "actor": "desk@acme.example",
    "services": ["crm", "helpdesk", "hr"],
    "state": {
        "crm": {
            "accounts": {
                "acc-1": {"id": "acc-1", "name": "Larkfield", "status": "active", "owner": OWNER},
                "acc-2": {"id": "acc-2", "name": "Larkmead", "status": "active", "owner": BOSS},
            }
        },
        "helpdesk": {
            "tickets": {
                f"tkt-{number}": {
                    "id": f"tkt-{number}",
                    "title": f"Question of {name}",
                    "description": "Please call.",
                    "requester": f"it@{name.lower()}.example",
                    "organisation": name,
                    "opened_at": NOW,
                    "status": "open",
                }
                for number, name in ((1, "Larkfield"), (2, "Larkmead"))
            }
        },
        "hr": {
            "employees": {
                "emp-1": {
                    "id": "emp-1",
                    "name": "Nia Holm",
                    "email": OWNER,
                    "status": "on_leave",
                    "manager": "emp-2",
                },
                "emp-2": {"id": "emp-2", "name": "Otto Berg", "email": BOSS, "status": "active"},
            }
        },
    },
    "answers": [
        {"part": "person", "type": "text", "value": BOSS},
        {"part": "requester", "type": "text", "value": "it@larkfield.example"},
    ],
    "checks": [
        {
            "check_id": "read.rule",
            "kind": "records_returned",
            "params": {"service": "hr", "records": ["employees/emp-1"]},
            "text": "The absence was seen.",
            "weight": 0.2,
            "required": True,
            "evidence": "retrieval",
        },
        {
            "check_id": "write.1",
            "kind": "record_equals",
            "params": {
                "service": "helpdesk",
                "record": "tickets/tkt-1",
                "where": {"assignee": BOSS},
            },
            "text": "The ticket is given to the manager.",
            "weight": 0.2,
            "required": True,
        },
        {
            "check_id": "only",
            "kind": "unchanged",
            "params": {
                "except": [{"service": "helpdesk", "where": {"id": "tkt-1", "assignee": BOSS}}]
            },
            "text": "Nothing else is changed.",
            "weight": 0.2,
            "required": True,
        },
    ],
    "overriding": ["hr/employees/emp-1"],
    "decoys": {"crm/accounts/acc-1": "crm/accounts/acc-2"},
    "solution": [
        {"operation": "crm.search_accounts", "arguments": {"query": "Larkfield"}},
        {"operation": "crm.get_account", "arguments": {"id": "$1.rows.0.id"}},
        {"operation": "hr.search_employees", "arguments": {"email": "$2.owner"}},
        {"operation": "hr.get_employee", "arguments": {"id": "$3.rows.0.id"}},
        {"operation": "hr.get_employee", "arguments": {"id": "$4.manager"}},
        {"operation": "helpdesk.search_tickets", "arguments": {"query": "Question of Larkfield"}},
        {
            "operation": "helpdesk.assign_ticket",
            "arguments": {"id": "$6.rows.0.id", "assignee": "$5.email"},
        },
    ],
    "final_answer": "person: {5.email}\nrequester: {7.requester}",
}


def by_name(proposal: dict[str, Any]) -> None:
    """The manager is found by the employee's name: another way to the same end."""
    first = proposal["solution"]
    search = {"operation": "hr.search_employees", "arguments": {"query": "Otto Berg"}}
    manager = {"operation": "hr.get_employee", "arguments": {"id": "$1.rows.0.id"}}
    tickets = {**first[5], "arguments": {"query": "Larkfield"}}
    assign = {
        **first[6],
        "arguments": {"id": "$3.rows.0.id", "assignee": "$2.email"},
    }
    proposal["second_solution"] = [search, manager, tickets, assign]
    proposal["second_answer"] = "person: {2.email}\nrequester: {4.requester}"


by_name(PROPOSAL)

Spoil = Callable[[dict[str, Any]], Any]


def read(tmp_path: Path, *lines: bytes) -> list[Proposed]:
    path = tmp_path / "proposals.jsonl"
    path.write_bytes(b"\n".join(lines))
    return read_proposals(path)


def proposed(tmp_path: Path, spoil: Spoil = lambda proposal: None) -> Proposed:
    proposal = deepcopy(PROPOSAL)
    spoil(proposal)
    (read_one,) = read(tmp_path, orjson.dumps(proposal))
    return read_one


def reason(proposal: Proposed) -> str | None:
    assert proposal.draft is not None, proposal.why
    assert proposal.scenario is not None
    return screen(proposal.draft, proposal.scenario, (), ScreeningConfig()).reason


def test_a_good_proposal_passes_the_screening(tmp_path: Path) -> None:
    # Fields of the ticket that may not change are named too.
    ticket = {**PROPOSAL["state"]["helpdesk"]["tickets"]["tkt-1"], "assignee": BOSS}

    def strict(proposal: dict[str, Any]) -> None:
        proposal["checks"][2]["params"]["except"] = [{"service": "helpdesk", "where": ticket}]

    assert reason(proposed(tmp_path, strict)) is None


def test_a_proposal_with_a_lenient_check_does_not(tmp_path: Path) -> None:
    def lenient(proposal: dict[str, Any]) -> None:
        del proposal["checks"][2]

    assert reason(proposed(tmp_path, lenient)) == ScreenReason.PASSED_BY_DESTRUCTIVE


@pytest.mark.parametrize(
    ("argument", "value"),
    [("id", "$9.rows.0.id"), ("id", "$1.rows.7.id"), ("id", "$1.total.id"), ("id", "$1.none")],
)
def test_a_reference_to_what_was_not_returned_ends_the_solution(
    tmp_path: Path, argument: str, value: str
) -> None:
    def broken(proposal: dict[str, Any]) -> None:
        proposal["solution"][1]["arguments"][argument] = value

    assert reason(proposed(tmp_path, broken)) == ScreenReason.NOT_RUNNABLE


def test_a_gold_value_that_stands_in_the_solution_alone_is_refused(tmp_path: Path) -> None:
    def guessed(proposal: dict[str, Any]) -> None:
        proposal["final_answer"] = f"person: {BOSS}\nrequester: {{7.requester}}"

    assert proposed(tmp_path, guessed).why == (
        f"answer person: {BOSS} is written down;"
        " expected a slot that takes it from a response or from a step"
    )


def counted(gold: str, *steps: dict[str, Any], answer: str = "number: {8.result}") -> Spoil:
    """A third part, a number, that `steps` compute."""

    def spoil(proposal: dict[str, Any]) -> None:
        proposal["answers"].append({"part": "number", "type": "number", "value": gold})
        proposal["solution"] += steps
        proposal["final_answer"] += f"\n{answer}"
        # The second solution lists accounts and tickets in another order.
        again = orjson.dumps(steps).decode().replace("$1.", "$5.").replace("$6", "$3")
        proposal["second_solution"] += [
            proposal["solution"][0],
            *orjson.loads(again.replace("$8", "$6")),
        ]
        proposal["second_answer"] += f"\nnumber: {{{5 + len(steps)}.result}}"

    return spoil


def step(operation: str, **arguments: Any) -> dict[str, Any]:
    return {"operation": f"compute.{operation}", "arguments": arguments}


@pytest.mark.parametrize(
    ("gold", "steps"),
    [
        ("1", [step("count", of="$6.rows")]),
        ("2", [step("sum", of=["$6.total", "$6.total"])]),
        ("0.50", [step("quotient", of=["$6.total", "$1.total"]),
                  step("round", of=["$8.result"], decimals=2)]),
        ("99", [step("difference", of=[100, "$1.total"])]),
    ],
)  # fmt: skip
def test_a_gold_value_that_steps_compute_is_proven(
    tmp_path: Path, gold: str, steps: list[dict[str, Any]]
) -> None:
    def two_accounts(proposal: dict[str, Any]) -> None:
        counted(gold, *steps, answer=f"number: {{{7 + len(steps)}.result}}")(proposal)
        if gold == "0.50":
            proposal["solution"][0]["arguments"] = {"query": "Lark"}

    assert proposed(tmp_path, two_accounts).why == ""


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (counted("9999.00", answer="number: 9999.00"), "answer number: 9999.00 is written down"),
        (counted("7", step("sum", of=[7])), "request 8: 7 is written down"),
        (counted("7", step("sum", of=["7"])), "request 8: 7 is written down"),
        (counted("2026-03-09", answer="number: 2026-03-09"), "answer number: 2026-03-09 is"),
        (counted("1", step("power", of=["$6.total"])), "request 8: no such operation"),
    ],
)
def test_figures_out_of_nowhere_are_named(tmp_path: Path, spoil: Spoil, why: str) -> None:
    assert proposed(tmp_path, spoil).why.startswith(why)


def wanting(**where: Any) -> Spoil:
    """The ticket is to hold more than its assignee."""

    def spoil(proposal: dict[str, Any]) -> None:
        proposal["checks"][1]["params"]["where"].update(where)

    return spoil


def adding(line: str) -> Spoil:
    return lambda proposal: proposal.update(final_answer=f"{proposal['final_answer']}\n{line}")


@pytest.mark.parametrize(
    ("spoil", "literal"),
    [
        (adding("open tickets: 37"), "final answer: 37"),
        (adding("since 2026-01-31"), "final answer: 2026-01-31"),
        (wanting(team="Kestrel"), "check write.1: Kestrel"),
        (wanting(amount=411.5), "check write.1: 411.5"),
        (wanting(resolution={"contains": "RMA-2207"}), "check write.1: RMA-2207"),
        (wanting(assignee="uma.vance@acme.example"), "check write.1: uma.vance@acme.example"),
        (wanting(description="Please call."), "check write.1: call"),  # no request opens the ticket
        (wanting(tags={"contains_all": ["Larkfield", "vip"]}), "check write.1: vip"),
    ],
)
def test_a_literal_of_the_gold_that_nothing_shows_is_named(
    tmp_path: Path, spoil: Spoil, literal: str
) -> None:
    refused = proposed(tmp_path, spoil)
    assert (refused.draft, refused.unproven) == (None, True)
    assert refused.why == (
        f"{literal} is written down, but occurs in neither the task nor a response"
    )


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (adding("page 1 of 1"), ""),
        # The task offers the word; that nobody sets it is another matter.
        (
            wanting(status="in_progress"),
            "second solution: check.write.1 is not; second solution: check.only is not",
        ),
        (wanting(organisation="Larkfield"), ""),
        (wanting(title={"contains": "question of"}), ""),
    ],
)
def test_a_literal_that_services_or_the_task_show_is_none_of_the_faults(
    tmp_path: Path, spoil: Spoil, why: str
) -> None:
    assert proposed(tmp_path, spoil).why == why


def test_a_second_solution_that_agrees_changes_nothing(tmp_path: Path) -> None:
    assert proposed(tmp_path, by_name).why == ""


def alone(proposal: dict[str, Any]) -> None:
    del proposal["second_solution"], proposal["second_answer"]


def other_person(proposal: dict[str, Any]) -> None:
    by_name(proposal)
    proposal["second_solution"][0]["arguments"]["query"] = "Nia Holm"


def nothing_assigned(proposal: dict[str, Any]) -> None:
    by_name(proposal)
    del proposal["second_solution"][3]
    proposal["second_answer"] = f"person: {{2.email}}\nrequester: {'it@larkfield.example'}"


def the_same(proposal: dict[str, Any]) -> None:
    search = {"operation": "crm.search_accounts", "arguments": {}}
    proposal["second_solution"] = [*proposal["solution"], search]
    proposal["second_answer"] = proposal["final_answer"]


def broken(proposal: dict[str, Any]) -> None:
    by_name(proposal)
    proposal["second_solution"][1]["arguments"]["id"] = "$1.rows.5.id"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (other_person, f"second solution: answer.person is not {BOSS}; "
                       "second solution: check.write.1 is not; "
                       "second solution: check.only is not"),
        (nothing_assigned, "second solution: check.write.1 is not; "
                           "second solution: check.only is not"),
        (the_same, "second solution: the same requests as the first"),
        (alone, "second solution: there is none; expected the same result by other requests"),
        (broken, "second solution: it ends in LookupError"),
    ],
)  # fmt: skip
def test_a_second_solution_that_disagrees_is_told(tmp_path: Path, spoil: Spoil, why: str) -> None:
    refused = proposed(tmp_path, spoil)
    assert (refused.why, refused.unproven) == (why, True)


@pytest.mark.parametrize(
    "computed",
    [
        step("quotient", of=["$6.total", 0]),
        step("difference", of=["$6.total"]),
        step("sum", of="$1.rows.0.name"),
        step("product", of=[100] * 40),
        step("round", of=["$6.total"], decimals=99),
        step("least", of=[]),
    ],
)
def test_a_step_without_a_result_ends_the_solution(
    tmp_path: Path, computed: dict[str, Any]
) -> None:
    assert reason(proposed(tmp_path, counted("1", computed))) == ScreenReason.NOT_RUNNABLE


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda p: p.update(services=["crm", "vault"]), "vault: no such service"),
        (lambda p: p["solution"][0].update(operation="crm.drop"), "request 1: no such operation"),
        (
            lambda p: p.update(overriding=["hr/employees/emp-9"]),
            "a record that the world does not contain",
        ),
        (lambda p: p.update(services=["crm"]), "services"),
        (lambda p: p["checks"][1]["params"].pop("service"), "record_equals: no service, or none"),
        (
            lambda p: p["checks"][1]["params"]["where"].update(assignee={"matches": "(a+)+$"}),
            "record_equals: a pattern; only values may be compared",
        ),
        (
            lambda p: p["checks"][0].update(kind="called"),
            "check of a kind that is not one of records_returned",
        ),
        (lambda p: p.update(code="import os"), "code"),
        (lambda p: p.update(solution=[]), "solution"),
        (lambda p: p["answers"][0].update(type="program"), "answers.0"),
    ],
)
def test_what_is_wrong_with_a_proposal_is_said(tmp_path: Path, spoil: Spoil, why: str) -> None:
    assert proposed(tmp_path, spoil).why.startswith(why)
    assert proposed(tmp_path, spoil).draft is None


def test_other_lines_are_no_proposals(tmp_path: Path) -> None:
    first, second = read(tmp_path, b"{not json", b'"a text"')
    assert first.why == "no JSON"
    assert second.draft is None
    assert first.name != second.name
    for line in (b"null", b"[]", b"1", b'"a text"'):
        (proposal,) = read(tmp_path, line)
        assert (proposal.draft, proposal.why) == (None, "no JSON object")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    with pytest.raises(InputError, match="Split it"):
        read_proposals(path)


@pytest.mark.parametrize("depth", [40, 300, 900])
@pytest.mark.parametrize("part", ["solution", "checks"])
def test_proposals_of_any_depth_are_refused_one_by_one(
    tmp_path: Path, depth: int, part: str
) -> None:
    bad = deepcopy(PROPOSAL)
    bad[part][0]["arguments" if part == "solution" else "params"]["more"] = 7777
    deep = b"[" * depth + b"]" * depth
    refused, kept = read(tmp_path, orjson.dumps(bad).replace(b"7777", deep), orjson.dumps(PROPOSAL))
    assert refused.why == "more than 32 levels of objects and lists"
    assert kept.draft is not None


@pytest.mark.parametrize("records", [[{}], [["employees/emp-1"]], [5]])
def test_records_of_a_check_are_names(tmp_path: Path, records: list[Any]) -> None:
    def spoil(proposal: dict[str, Any]) -> None:
        proposal["checks"][0]["params"]["records"] = records

    assert proposed(tmp_path, spoil).why == "records_returned: records that are not names"
