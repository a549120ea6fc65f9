"""Faults, counts, ids and the log of the engine."""

from __future__ import annotations

from dataclasses import replace

from construction.workflows.contracts import Fault, FaultKind, Refused, Request, World
from construction.workflows.engine import MAX_DELAY_MS, handle, read_again
from construction.workflows.runs import InProcessClient, reference_steps
from data.contracts.attempt import AuditRow
from tests.construction.workflows.clients import mailbox, refused
from tests.construction.workflows.worlds import ACTOR, NOW, empty_world


def test_declared_faults_hit_the_calls_that_they_name() -> None:
    client = mailbox(
        Fault("mail", "get_message", FaultKind.RATE_LIMITED, (1,)),
        Fault("mail", "get_message", FaultKind.UNAVAILABLE, (2,)),
        Fault("mail", "get_message", FaultKind.SLOW, (3,)),
    )
    assert refused(client, "mail", "get_message", id="m-1").startswith("rate_limited")
    assert refused(client, "mail", "get_message", id="m-1").startswith("unavailable")
    request = Request("mail", "get_message", {"id": "m-1"})
    slow = handle(client.world, request)
    assert slow.response.delay_ms == MAX_DELAY_MS
    assert handle(slow.world, request).response.delay_ms == 0


def test_a_stale_read_shows_the_world_as_it_was() -> None:
    client = mailbox(Fault("mail", "get_message", FaultKind.STALE, (2,)))
    client.call("mail", "update_message", id="m-1", folder="archive")
    folders = [client.call("mail", "get_message", id="m-1")["folder"] for _ in range(3)]
    assert folders == ["archive", "inbox", "archive"]
    assert [row.records for row in client.audit[1:]] == [
        ("messages/m-1",), (), ("messages/m-1",),
    ]  # fmt: skip


def test_ids_come_from_the_count_of_requests_and_never_return() -> None:
    client = InProcessClient(empty_world("notes"))
    note = {"title": "a", "body": "b"}
    refused(client, "notes", "create_note", title="a")
    first = client.call("notes", "create_note", **note)["id"]
    client.call("notes", "delete_note", id=first)
    second = client.call("notes", "create_note", **note)["id"]
    assert (first, second) == ("note-new-2", "note-new-3")
    assert client.world.calls == {"notes.create_note": 3, "notes.delete_note": 1}


def test_an_id_that_a_fixture_has_is_not_given_again() -> None:
    note = {"id": "note-new-1", "title": "a", "body": "b"}
    client = InProcessClient(World({"notes": {"notes": {"note-new-1": note}}}, NOW, ACTOR))
    assert client.call("notes", "create_note", title="c", body="d")["id"] == "note-new-2"


def test_the_log_keeps_refused_requests_and_their_arguments() -> None:
    client = mailbox()
    refused(client, "mail", "get_message", id="m-9", colour="red")
    refused(client, "shop", "buy")
    refused(client, "mail", "buy")
    assert client.audit == (
        AuditRow("mail", "get_message", {"id": "m-9", "colour": "red"}, "invalid_argument", 1),
        AuditRow("shop", "buy", {}, "unknown_service", 2),
        AuditRow("mail", "buy", {}, "unknown_operation", 3),
    )


def test_a_declared_service_that_the_world_lacks_is_unknown() -> None:
    assert "there are: mail" in refused(mailbox(), "crm", "search_accounts")


def test_requests_and_the_answer_become_steps() -> None:
    client = mailbox()
    client.call("mail", "get_message", id="m-1")
    steps = reference_steps(client.audit, "order: 7")
    assert [(step.index, step.operation, step.arguments) for step in steps] == [
        (1, "mail.get_message", {"id": "m-1"}),
        (2, "report", {"answer": "order: 7"}),
    ]
    assert len(reference_steps(client.audit, None)) == 1


def test_no_request_is_answered_beyond_the_allowance() -> None:
    fault = Fault("mail", "get_message", FaultKind.UNAVAILABLE, (1,))
    client = InProcessClient(replace(mailbox(fault).world, allowance=4))
    assert refused(client, "mail", "get_message", id="m-1").startswith("unavailable")
    refused(client, "mail", "fly")  # what is refused is counted too
    client.call("mail", "update_message", id="m-1", folder="archive")
    client.call("mail", "search_messages")
    for _ in range(2):
        message = "rate_limited: all 4 requests are used up: none is left"
        assert refused(client, "mail", "get_message", id="m-1") == message
    assert refused(client, "mail", "update_message", id="m-1", folder="x") == message
    assert sum(client.world.calls.values()) == len(client.audit) == 7
    assert client.audit[-1].step == 7
    assert client.world.allowance == 4


def test_a_read_that_is_only_counted_uses_the_allowance() -> None:
    world = replace(mailbox().world, allowance=1)
    request = Request("mail", "get_message", {"id": "m-1"})
    assert handle(read_again(world, request), request).response.refused is Refused.RATE_LIMITED
