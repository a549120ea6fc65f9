"""Searches, and what services write and refuse to write, case by case.

Searches: conditions, order, pages, and which records count as returned.
"""

from __future__ import annotations

from typing import Any

import pytest

from construction.workflows.contracts import Refused, RefusedError, World
from construction.workflows.runs import InProcessClient
from data.contracts.attempt import StateChange
from tests.construction.workflows.clients import MAIL, ids, mailbox, refused
from tests.construction.workflows.worlds import ACTOR, NOW, empty_world


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["m-2", "m-1"]),
        ({"sort": "sent_at"}, ["m-1", "m-2"]),
        ({"query": "REFUND"}, ["m-1"]),
        ({"query": "refund parcel"}, ["m-1"]),
        ({"query": "refund noon"}, []),
        ({"query": "昼食"}, ["m-2"]),
        ({"sender": "ANN@acme.example"}, ["m-1"]),
        ({"is_read": True}, ["m-2"]),
        ({"recipients": ACTOR}, ["m-2", "m-1"]),
        ({"sent_at_from": "2026-03-05"}, ["m-2"]),
        ({"sent_at_to": "2026-03-04"}, ["m-1"]),
        ({"sent_at_from": "2026-03-04T23:30:00Z"}, ["m-2"]),
        ({"sent_at_from": "2026-03-04", "sent_at_to": "2026-03-05"}, ["m-2", "m-1"]),
        ({"limit": 1, "page": 2}, ["m-1"]),
        ({"limit": 1, "page": 3}, []),
        ({"thread": "t-1", "query": None}, ["m-1"]),
    ],
)
def test_searches(arguments: dict[str, Any], expected: list[str]) -> None:
    assert ids(mailbox().call("mail", "search_messages", **arguments)) == expected


def test_a_page_says_how_many_there_are() -> None:
    body = mailbox().call("mail", "search_messages", limit=1)
    assert (body["total"], body["page"], len(body["rows"])) == (2, 1, 1)
    assert "body" not in body["rows"][0]


def test_only_whole_records_count_as_returned() -> None:
    client = mailbox()
    client.call("mail", "search_messages")
    client.call("mail", "get_message", id="m-1")
    client.call("mail", "update_message", id="m-2", is_flagged=True)
    assert [row.records for row in client.audit] == [(), ("messages/m-1",), ()]


def test_rows_that_are_whole_records_count() -> None:
    responses = {
        "r-1": {"id": "r-1", "event": "e-1", "by": ACTOR, "response": "declined", "at": NOW}
    }
    client = InProcessClient(World({"calendar": {"responses": responses}}, NOW, ACTOR))
    client.call("calendar", "search_responses", response="accepted")
    client.call("calendar", "search_responses", response="declined")
    assert [row.records for row in client.audit] == [(), ("responses/r-1",)]


def test_mail_is_sent_and_answered_by_the_actor_at_the_time_of_the_world() -> None:
    client = mailbox()
    sent = client.call(
        "mail", "send_message", recipients=["Bo@acme.example"], subject="Hello", body="Hi"
    )
    client.call("mail", "reply_to_message", id="m-1", body="It is on its way.")
    again = client.call("mail", "reply_to_message", id="msg-new-2", body="Really.")
    assert sent["id"] == "msg-new-1"
    assert again["subject"] == "Re: Refund for order 7"
    first, second, _ = client.changes
    assert first.after == {
        "id": "msg-new-1", "subject": "Hello", "sender": ACTOR, "recipients": ["bo@acme.example"],
        "sent_at": NOW, "body": "Hi", "folder": "sent", "is_read": True, "is_flagged": False,
    }  # fmt: skip
    assert second.after is not None
    assert second.after["recipients"] == ["ann@acme.example"]
    assert (second.after["thread"], second.after["in_reply_to"]) == ("t-1", "m-1")


def test_a_message_goes_on_with_its_text() -> None:
    client = mailbox()
    client.call(
        "mail", "forward_message", id="m-1", recipients=["bo@acme.example"], comment="Yours?"
    )
    body = client.call("mail", "get_message", id="msg-new-1")["body"]
    assert body == "Yours?\n\nThe parcel never came."


def test_what_was_sent_is_not_rewritten() -> None:
    assert "subject: no such argument" in refused(
        mailbox(), "mail", "update_message", id="m-1", subject="x"
    )


def test_a_deleted_record_is_gone_unless_another_refers_to_it() -> None:
    client = mailbox()
    client.call("mail", "reply_to_message", id="m-1", body="Yes.")
    assert refused(client, "mail", "delete_message", id="m-1").startswith("conflict")
    assert client.call("mail", "delete_message", id="m-2") == {"id": "m-2", "deleted": True}
    assert refused(client, "mail", "get_message", id="m-2").startswith("not_found")
    assert StateChange("mail", "messages/m-2", MAIL["m-2"], None) in client.changes


@pytest.mark.parametrize("emptied", [{"subject": " "}, {"recipients": []}])
def test_what_a_record_needs_is_not_emptied_by_an_update(emptied: dict[str, Any]) -> None:
    client = mailbox()
    draft = {"subject": "Lunch", "recipients": ["bo@acme.example"], "body": "At noon."}
    made = client.call("mail", "create_draft", **draft)["id"]
    assert refused(client, "mail", "update_draft", id=made, **emptied).startswith("invalid")


def test_an_update_without_fields_is_refused() -> None:
    assert "nothing to change" in refused(mailbox(), "mail", "update_message", id="m-1")


def invoice(client: InProcessClient, **more: Any) -> str:
    fields = {"number": "77", "party": "Oak Ltd", "issued_on": "2026-03-01", "total": 100.0}
    fields |= {"due_on": "2026-03-31", "currency": "EUR"} | more
    return str(client.call("finance", "create_invoice", **fields)["id"])


def test_a_posted_invoice_is_locked_and_paid_in_parts() -> None:
    client = InProcessClient(empty_world("finance"))
    name = invoice(client)
    assert refused(client, "finance", "record_payment", id=name, amount=5).startswith("not_allowed")
    client.call("finance", "post_invoice", id=name)
    assert "posted" in refused(client, "finance", "update_invoice", id=name, total=1)
    assert "posted" in refused(client, "finance", "delete_invoice", id=name)
    assert client.call("finance", "record_payment", id=name, amount=40)["status"] == "posted"
    assert "paid" in refused(client, "finance", "record_payment", id=name, amount=60.01)
    assert client.call("finance", "record_payment", id=name, amount=60)["status"] == "paid"
    payments = client.call("finance", "search_payments", invoice=name)
    assert [row["amount"] for row in payments["rows"]] == [40, 60]


def test_dates_in_the_wrong_order_and_unfit_values_are_refused() -> None:
    client = InProcessClient(empty_world("finance"))
    for wrong, word in (
        ({"due_on": "2026-02-01"}, "issued_on"),
        ({"due_on": "31.03.2026"}, "due_on"),
        ({"total": "100"}, "total"),
        ({"total": float("nan")}, "total"),
        ({"total": -1}, "total"),
        ({"currency": "euro"}, "currency"),
        ({"party": " "}, "party"),
        ({"lines": [{"description": "x"}]}, "lines"),
        ({"status": "posted"}, "status"),
        ({"id": "mine"}, "id"),
    ):
        with pytest.raises(RefusedError, match=word) as caught:
            invoice(client, **wrong)
        assert caught.value.refused is Refused.INVALID_ARGUMENT


def event(client: InProcessClient, start: str, end: str, **more: Any) -> str:
    day = "2026-03-06T"
    fields = {"title": "Review", "start": day + start, "end": day + end, "room": "Blue"} | more
    return str(client.call("calendar", "create_event", **fields)["id"])


def test_a_room_is_taken_once_at_a_time() -> None:
    client = InProcessClient(empty_world("calendar"))
    first = event(client, "10:00", "11:00")
    event(client, "11:00", "12:00")
    event(client, "10:00", "11:00", room="Red")
    with pytest.raises(RefusedError, match=first) as caught:
        event(client, "10:30", "11:30")
    assert caught.value.refused is Refused.CONFLICT
    client.call("calendar", "update_event", id=first, status="cancelled")
    event(client, "10:00", "11:00")


def test_times_are_kept_with_the_offset_of_the_world() -> None:
    client = InProcessClient(empty_world("calendar"))
    name = event(client, "10:00", "12:00:00Z")
    kept = client.call("calendar", "get_event", id=name)
    assert kept["start"] == "2026-03-06T10:00:00+01:00"
    assert kept["end"] == "2026-03-06T13:00:00+01:00"


def approval(client: InProcessClient, **more: Any) -> str:
    fields = {"title": "Laptop", "reason": "Old one broke", "approver": ACTOR} | more
    return str(client.call("approvals", "create_request", **fields)["id"])


def test_nobody_decides_about_their_own_request_or_in_the_place_of_others() -> None:
    others = {
        "id": "a-1", "title": "Desk", "requester": "bo@acme.example", "approver": ACTOR,
        "reason": "x", "status": "pending", "requested_on": "2026-03-01",
    }  # fmt: skip
    foreign = others | {"id": "a-2", "approver": "ann@acme.example"}
    requests = {"a-1": others, "a-2": foreign}
    client = InProcessClient(World({"approvals": {"requests": requests}}, NOW, ACTOR))
    own = approval(client)
    assert "requester" in refused(client, "approvals", "approve_request", id=own)
    assert "approver" in refused(client, "approvals", "approve_request", id="a-2")
    client.call("approvals", "approve_request", id="a-1")
    assert "approved" in refused(
        client, "approvals", "reject_request", id="a-1", comment="changed my mind"
    )


def test_statuses_follow_each_other_as_declared() -> None:
    client = InProcessClient(empty_world("helpdesk"))
    ticket = {"title": "No sound", "description": "Since noon", "requester": "bo@acme.example"}
    assert "starts as open" in refused(
        client, "helpdesk", "create_ticket", **ticket, status="resolved"
    )
    name = client.call("helpdesk", "create_ticket", **ticket)["id"]
    assert "followed by" in refused(client, "helpdesk", "update_ticket", id=name, status="closed")
    client.call("helpdesk", "resolve_ticket", id=name, resolution="Replugged")
    client.call("helpdesk", "reopen_ticket", id=name)
    client.call("helpdesk", "close_ticket", id=name, resolution="Sold the speaker")
    assert "closed" in refused(client, "helpdesk", "update_ticket", id=name, priority="low")
    assert refused(client, "helpdesk", "reopen_ticket", id=name).startswith("not_allowed")


def test_stock_never_falls_below_zero_and_each_change_is_logged() -> None:
    item = {
        "id": "i-1", "sku": "A-1", "name": "Box", "warehouse": "North", "quantity": 5,
        "reserved": 0, "status": "active",
    }  # fmt: skip
    client = InProcessClient(World({"inventory": {"items": {"i-1": item}}}, NOW, ACTOR))
    change = {"id": "i-1", "reason": "sold"}
    assert "quantity" in refused(client, "inventory", "adjust_stock", **change, delta=-6)
    assert client.call("inventory", "adjust_stock", **change, delta=-5)["quantity"] == 0
    (moved,) = client.call("inventory", "search_movements", item="i-1")["rows"]
    assert (moved["delta"], moved["reason"]) == (-5, "sold")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("integer", "30", "thirty"),
        ("number", "0.5", "nan"),
        ("boolean", "true", "yes"),
        ("text", "yes", None),
    ],
)
def test_settings_keep_their_type(kind: str, good: str, bad: str | None) -> None:
    client = InProcessClient(empty_world("config"))
    named = {"application": "shop", "key": "timeout", "value_type": kind}
    name = client.call("config", "create_setting", **named, value=good)["id"]
    client.call("config", "set_value", id=name, new_value=good, reason="same")
    if bad is not None:
        assert "value" in refused(client, "config", "set_value", id=name, new_value=bad)
        assert "value" in refused(client, "config", "create_setting", **named, value=bad)


def test_what_is_set_again_has_no_consequence_and_a_second_run_has_one() -> None:
    client = InProcessClient(empty_world("config", "scheduler"))
    named = {"application": "shop", "key": "timeout", "value_type": "integer"}
    name = client.call("config", "create_setting", **named, value="30")["id"]
    for _ in range(3):
        client.call("config", "set_value", id=name, new_value="45")
    (row,) = client.call("config", "search_changes", setting=name)["rows"]
    logged = client.call("config", "get_change", id=row["id"])
    assert (logged["before"], logged["after"]) == ("30", "45")
    made = {"name": "Export", "command": "export", "schedule": "0 6 * * *"}
    job = client.call("scheduler", "create_job", **made)["id"]
    for _ in range(2):
        client.call("scheduler", "run_job", id=job)
    assert len(client.call("scheduler", "search_runs", job=job)["rows"]) == 2


def test_values_that_have_to_be_unique_and_references_that_lead_nowhere() -> None:
    client = InProcessClient(empty_world("contacts", "todo"))
    client.call("contacts", "create_contact", name="Ann", email="ann@acme.example")
    assert refused(
        client, "contacts", "create_contact", name="Ann L.", email="ANN@acme.example"
    ).startswith("conflict")
    assert "waits_for" in refused(client, "todo", "create_task", title="x", waits_for="task-9")
