"""Checks on audit rows and state changes, and that doing nothing satisfies none of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from construction.grading.actions import FORBIDS, ActionReason, grade_actions
from construction.grading.spec import CheckSpec, TaskSpec
from data.contracts.attempt import AuditRow, StateChange, Submission

SENT = AuditRow("mail", "send", {"to": "ann@example.com", "subject": "Refund  OK"}, "ok", 1)
PAID = AuditRow("billing", "refund", {"order": "o-1", "amount": "20.00"}, "ok", 2)
EMPTY = AuditRow("billing", "refund", {}, "ok", 3)
REFUSED = AuditRow("billing", "refund", {"order": "o-1", "amount": 20}, "not_allowed", 1)
CLOSED = StateChange("desk", "t-1", {"status": "open"}, {"status": "closed", "by": {"id": 7}})
MADE = StateChange("desk", "t-9", None, {"title": "Follow up", "tags": ["late", "vip"]})
GONE = StateChange("desk", "t-3", {"title": "Duplicate"}, None)


def reason(kind: str, submission: Submission, **params: Any) -> str | None:
    check = CheckSpec("c", kind, params, "text", 1.0)
    (part,) = grade_actions(TaskSpec("t", checks=(check,)), submission)
    assert (part.name, part.value == 1) == ("check.c", part.reason is None)
    return part.reason


def did(*rows: AuditRow | StateChange) -> Submission:
    return Submission(
        audit=tuple(row for row in rows if isinstance(row, AuditRow)),
        changes=tuple(row for row in rows if isinstance(row, StateChange)),
    )


REFUND = {"operation": "refund", "where": {"order": "o-1", "amount": 20}}


def test_a_call_counts_if_it_was_carried_out_with_its_arguments() -> None:
    assert reason("called", did(PAID), **REFUND) is None
    assert reason("called", did(PAID), service="billing", **REFUND) is None
    assert reason("called", did(PAID), service="mail", **REFUND) is ActionReason.NOT_CALLED
    assert reason("called", did(), **REFUND) is ActionReason.NOT_CALLED
    assert reason("called", did(REFUSED), **REFUND) is ActionReason.REFUSED
    assert reason("called", did(EMPTY), **REFUND) is ActionReason.WRONG_ARGUMENTS
    assert reason("called", did(PAID, PAID), max=1, **REFUND) is ActionReason.TOO_MANY_CALLS
    assert reason("called", did(PAID), min=2, **REFUND) is ActionReason.TOO_FEW_CALLS


def test_a_forbidden_call_counts_only_if_it_was_carried_out() -> None:
    assert reason("not_called", did(PAID), **REFUND) is ActionReason.FORBIDDEN_CALL
    assert reason("not_called", did(REFUSED, SENT), **REFUND) is None


def test_calls_have_to_come_in_order() -> None:
    calls = [{"operation": "send"}, {"operation": "refund"}]
    assert reason("order", did(SENT, PAID), calls=calls) is None
    assert reason("order", did(PAID, SENT, PAID), calls=calls) is None
    assert reason("order", did(PAID, SENT), calls=calls) is ActionReason.WRONG_ORDER
    assert reason("order", did(SENT), calls=calls) is ActionReason.NOT_CALLED
    assert reason("order", did(SENT), calls=[]) is ActionReason.NOT_CALLED


def test_records_are_compared_with_what_they_became() -> None:
    closed = {"record": "t-1", "where": {"status": "Closed"}}
    assert reason("record_equals", did(CLOSED), **closed) is None
    assert reason("record_equals", did(), **closed) is ActionReason.RECORD_UNCHANGED
    other = {"record": "t-1", "where": {"status": "solved"}}
    assert reason("record_equals", did(CLOSED), **other) is ActionReason.WRONG_RECORD
    assert reason("record_equals", did(CLOSED), record="t-1", where={"by.id": 7}) is None
    made = {"service": "desk", "where": {"title": {"contains": "follow"}}}
    assert reason("record_created", did(MADE), **made) is None
    assert reason("record_created", did(CLOSED), **made) is ActionReason.NOT_CREATED
    assert reason("record_created", did(MADE, MADE), max=1) is ActionReason.TOO_MANY_CREATED
    wrong = {"where": {"title": "Other"}}
    assert reason("record_created", did(MADE), **wrong) is ActionReason.WRONG_RECORD
    assert reason("record_deleted", did(GONE), record="t-3") is None
    assert reason("record_deleted", did(CLOSED), record="t-1") is ActionReason.NOT_DELETED


def test_nothing_else_may_change() -> None:
    allowed = {"except": ["t-1", {"where": {"tags": {"contains": "vip"}}}]}
    assert reason("unchanged", did(CLOSED, MADE), **allowed) is None
    assert reason("unchanged", did(CLOSED, GONE), **allowed) is ActionReason.OTHER_CHANGES
    same = StateChange("desk", "t-5", {"a": 1}, {"a": 1})
    assert reason("unchanged", did(CLOSED, same), **allowed) is None


FREE = [
    {"service": "desk", "collection": "tickets", "field": "status", "among": ["open", "begun"]},
    {"service": "desk", "collection": "tickets", "field": "is_read", "among": True},
    {"service": "desk", "collection": "comments", "new": {"is_public": False}},
]
OPEN = {"id": "t-1", "status": "open", "is_read": False, "owner": "ann"}


@pytest.mark.parametrize(
    ("change", "is_free"),
    [
        (StateChange("desk", "tickets/t-1", OPEN, {**OPEN, "status": "begun"}), True),
        (StateChange("desk", "tickets/t-1", OPEN, {**OPEN, "is_read": True}), True),
        (StateChange("desk", "tickets/t-1", OPEN, {**OPEN, "status": "closed"}), False),
        (StateChange("desk", "tickets/t-1", OPEN, {**OPEN, "is_read": True, "owner": "x"}), False),
        (StateChange("desk", "tickets/t-1", OPEN, None), False),
        (StateChange("desk", "tickets/t-2", {"id": "t-2"}, {"id": "t-2", "is_read": True}), True),
        (StateChange("desk", "tickets/t-2", {"id": "t-2"}, {"id": "t-2", "owner": "x"}), False),
        (StateChange("desk", "comments/c-1", None, {"is_public": False, "body": "seen"}), True),
        (StateChange("desk", "comments/c-1", None, {"is_public": True, "body": "seen"}), False),
        (StateChange("desk", "comments/c-1", {"is_public": False}, {"is_public": True}), False),
        (StateChange("mail", "tickets/t-1", OPEN, {**OPEN, "is_read": True}), False),
    ],
)
def test_what_is_free_is_no_other_change(change: StateChange, is_free: bool) -> None:
    expected = None if is_free else ActionReason.OTHER_CHANGES
    assert reason("unchanged", did(change), **{"except": [], "free": FREE}) is expected


def test_what_is_free_does_not_spoil_a_wanted_change() -> None:
    wanted = [{"service": "desk", "where": {**OPEN, "owner": "bo"}}]
    change = StateChange("desk", "tickets/t-1", OPEN, {**OPEN, "owner": "bo", "status": "begun"})
    assert reason("unchanged", did(change), **{"except": wanted, "free": FREE}) is None
    worse = replace(change, after={**OPEN, "owner": "bo", "status": "closed"})
    other = reason("unchanged", did(worse), **{"except": wanted, "free": FREE})
    assert other is ActionReason.OTHER_CHANGES


@pytest.mark.parametrize(
    ("value", "constraint", "fits"),
    [
        (20, "20.0", True),
        ("20", 20, True),
        (True, 1, False),
        ("Ａｎｎ  Lee", "ann lee", True),
        ([1, "B"], ["1", "b"], True),
        ([1], [1, 2], False),
        ("x", {"in": ["y", "X"]}, True),
        ("x", {"not": "y"}, True),
        ("order 12 of Ann", {"matches": r"order \d+"}, True),
        ("a b", {"contains_all": ["A", "b"]}, True),
        ("from 445 to 420 kg", {"contains_all": ["445", "420"]}, True),
        ("445; 420", {"contains": "445"}, False),  # which of the two?
        ("The supplier is on hold.", {"contains_none": ["budget", "order"]}, True),
        ("supplier, or the budget", {"contains_none": ["budget", "order"]}, False),
        ("445; 999; 420", {"contains_all": ["445", "420"]}, False),
        ("2026-05-01 and 2026-05-03", {"contains_all": ["2026-05-03", "2026-05-01"]}, True),
        (5, {"min": 5, "max": "9"}, True),
        (10, {"min": 5, "max": 9}, False),
        ("2024-05-01", {"min": "2024-04-01"}, True),
        ("soon", {"min": 5}, False),
        ("x", {"exists": True}, True),
        ("x", {"exists": False}, False),
        ("x", {"unknown": 1}, False),
    ],
)
def test_constraints(value: object, constraint: object, fits: bool) -> None:
    row = AuditRow("s", "op", {"field": value}, "ok")
    outcome = reason("called", did(row), operation="op", where={"field": constraint})
    assert (outcome is None) is fits


def test_a_missing_field_fits_nothing_but_its_absence() -> None:
    row = AuditRow("s", "op", {}, "ok")
    for constraint in ("", 0, None, {"not": "x"}, {"max": 5}, {"contains": ""}, {"exists": True}):
        assert reason("called", did(row), operation="op", where={"field": constraint}) is not None
    assert reason("called", did(row), operation="op", where={"field": {"exists": False}}) is None


def test_doing_nothing_does_not_satisfy_what_is_forbidden() -> None:
    checks = (
        CheckSpec("pays", "called", REFUND, "", 0.5, required=True),
        CheckSpec("no mail", "not_called", {"operation": "send"}, "", 0.2, required=True),
        CheckSpec("rest", "unchanged", {"except": ["t-1"]}, "", 0.3, required=True),
    )
    spec = TaskSpec("t", checks=checks)
    for idle in (did(), did(EMPTY), did(REFUSED)):
        assert [part.value for part in grade_actions(spec, idle)] == [0.0, 0.0, 0.0]
    assert [part.value for part in grade_actions(spec, did(PAID))] == [1.0, 1.0, 1.0]
    both = grade_actions(spec, did(PAID, SENT, GONE))
    assert [part.value for part in both] == [1.0, 0.0, 0.0]
    assert {check.kind for check in checks} & FORBIDS


def test_an_unknown_kind_fails() -> None:
    assert reason("prayed", did(PAID)) is ActionReason.UNKNOWN_CHECK


READ = AuditRow("desk", "get_ticket", {"id": "t-1"}, "ok", 1, ("tickets/t-1",))
LISTED = AuditRow("desk", "search_tickets", {}, "ok", 1)
DENIED = AuditRow("desk", "get_ticket", {"id": "t-2"}, "rate_limited", 1, ("tickets/t-2",))


def test_records_are_read_only_where_they_were_shown_as_a_whole() -> None:
    kind, unread = "records_returned", ActionReason.RECORD_NOT_READ
    first, both = ["tickets/t-1"], ["tickets/t-1", "tickets/t-2"]
    assert reason(kind, did(READ), service="desk", records=first) is None
    assert reason(kind, did(READ), service="mail", records=first) is unread
    assert reason(kind, did(LISTED), service="desk", records=first) is unread
    assert reason(kind, did(READ), service="desk", records=both) is unread
    assert reason(kind, did(READ, DENIED), service="desk", records=both) is unread
    assert reason(kind, did(READ), service="desk", records=[]) is unread
