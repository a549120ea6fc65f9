"""Searches: conditions, order, pages, and which records count as returned."""

from __future__ import annotations

from typing import Any

import pytest

from construction.workflows.client import InProcessClient
from construction.workflows.contracts import World
from tests.construction.workflows.clients import ids, mailbox
from tests.construction.workflows.worlds import ACTOR, NOW


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
