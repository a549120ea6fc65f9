"""Services over HTTP: routes, tokens, refusals, isolation, and the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from construction.workflows.contracts import Fault, FaultKind, World
from construction.workflows.declaration import operations, service_names
from flows.services.instance import Instance
from flows.services.serve import _method_of, path_of
from tests.construction.workflows.clients import MAIL
from tests.construction.workflows.worlds import ACTOR, NOW, empty_world, filled_world
from tests.flows.services.hosting import served

DEEP = b'{"x": ' + b"[" * 500 + b"]" * 500 + b"}"
Doing = Callable[[httpx.AsyncClient, Instance], Awaitable[None]]


def mail_world(*faults: Fault) -> World:
    return World({"mail": {"messages": MAIL}}, NOW, ACTOR, faults)


def with_mail(folder: Path, doing: Doing, *faults: Fault) -> None:
    async def run() -> None:
        async with served(folder, mail_world(*faults)) as ((client,), (instance,)):
            await doing(client, instance)

    asyncio.run(run())


def test_records_are_found_read_written_and_logged(tmp_path: Path) -> None:
    async def doing(client: httpx.AsyncClient, instance: Instance) -> None:
        rows = (await client.get("/mail/messages", params={"is_read": "true"})).json()["rows"]
        assert [row["id"] for row in rows] == ["m-2"]
        whole = (await client.get("/mail/messages/m-1")).json()
        assert whole["body"] == "The parcel never came."
        changed = await client.patch("/mail/messages/m-1", json={"folder": "archive"})
        assert changed.json()["folder"] == "archive"
        sent = await client.post("/mail/messages/m-1/reply_to_message", json={"body": "Soon."})
        assert (sent.status_code, sent.json()["id"]) == (200, "msg-new-1")
        mail = {"recipients": ["bo@acme.example"], "subject": "Hi", "body": "Hello"}
        assert (await client.post("/mail/messages/send_message", json=mail)).status_code == 200
        assert (await client.delete("/mail/messages/m-2")).json() == {"id": "m-2", "deleted": True}
        assert [row.operation for row in instance.audit] == [
            "search_messages", "get_message", "update_message", "reply_to_message",
            "send_message", "delete_message",
        ]  # fmt: skip
        assert instance.audit[1].records == ("messages/m-1",)
        assert len(instance.changes) == 4

    with_mail(tmp_path, doing)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "/mail/messages/m-9", None, 404, "not_found"),
        ("GET", "/mail/messages?limit=0", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?limit=many", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?limit=5&limit=6", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?limit=1_0", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?limit=%EF%BC%91", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?limit=1.0", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?page=-1", None, 400, "invalid_argument"),
        ("GET", "/mail/messages?colour=red", None, 400, "invalid_argument"),
        ("GET", "/mail/messages/..%2f..%2fetc%2fpasswd", None, 404, "unknown_operation"),
        ("GET", "/mail/letters", None, 404, "unknown_operation"),
        ("GET", "/crm/accounts", None, 404, "unknown_operation"),
        ("PUT", "/mail/messages/m-1", b"{}", 405, "unknown_operation"),
        ("PATCH", "/mail/messages/m-1", b"", 400, "invalid_argument"),
        ("PATCH", "/mail/messages/m-1", b"{", 400, "invalid_argument"),
        ("PATCH", "/mail/messages/m-1", b"[1]", 400, "invalid_argument"),
        ("PATCH", "/mail/messages/m-1", b'{"folder": NaN}', 400, "invalid_argument"),
        ("PATCH", "/mail/messages/m-1", b'{"subject": "new"}', 400, "invalid_argument"),
        ("POST", "/mail/drafts", DEEP, 400, "invalid_argument"),
        ("POST", "/mail/drafts", b'{"body": "' + b"x" * 200_000 + b'"}', 400, "invalid_argument"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_answered_with_a_declared_error(
    tmp_path: Path, method: str, path: str, body: bytes | None, status: int, error: str
) -> None:
    async def doing(client: httpx.AsyncClient, instance: Instance) -> None:
        answer = await client.request(method, path, content=body)
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert instance.changes == ()

    with_mail(tmp_path, doing)


def test_each_operation_is_reached_at_its_own_address(tmp_path: Path) -> None:
    async def run() -> None:
        async with served(tmp_path, filled_world(1, 1)) as ((client,), (instance,)):
            for name in service_names():
                for operation in operations(name).values():
                    path = path_of(operation).replace("{id}", "none-1")
                    answer = await client.request(_method_of(operation), path)
                    row = instance.audit[-1]
                    assert (row.service, row.operation) == (name, operation.name)
                    assert answer.status_code in (200, 400, 404)

    asyncio.run(run())


@pytest.mark.parametrize("text", ["1_0", "nan", "inf", "1e5", " 1", "0x1", ""])
def test_numbers_in_a_query_are_written_as_in_json(tmp_path: Path, text: str) -> None:
    async def run() -> None:
        async with served(tmp_path, filled_world(1, 1)) as ((client,), (instance,)):
            answer = await client.get("/finance/invoices", params={"total_min": text})
            assert (answer.status_code, answer.json()["error"]) == (400, "invalid_argument")
            assert instance.audit[-1].arguments == {"total_min": text}
            assert (await client.get("/finance/invoices?total_min=-1.50")).status_code == 200

    asyncio.run(run())


def test_statuses_of_conflicts_locks_and_faults(tmp_path: Path) -> None:
    faults = (
        Fault("mail", "get_message", FaultKind.RATE_LIMITED, (1,)),
        Fault("mail", "get_message", FaultKind.UNAVAILABLE, (2,)),
    )

    async def doing(client: httpx.AsyncClient, _: Instance) -> None:
        limited = await client.get("/mail/messages/m-1")
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
        assert (await client.get("/mail/messages/m-1")).status_code == 500
        assert (await client.get("/mail/messages/m-1")).status_code == 200
        await client.post("/mail/messages/m-1/reply_to_message", json={"body": "Soon."})
        assert (await client.delete("/mail/messages/m-1")).status_code == 409

    with_mail(tmp_path, doing, *faults)


def test_instances_are_apart_and_only_a_token_opens_its_own(tmp_path: Path) -> None:
    async def run() -> None:
        async with served(tmp_path, mail_world(), mail_world()) as ((first, second), held):
            await first.patch("/mail/messages/m-1", json={"folder": "spam"})
            assert (await second.get("/mail/messages/m-1")).json()["folder"] == "inbox"
            assert [len(instance.audit) for instance in held] == [1, 1]
            token = first.headers["authorization"]
            for wrong in ("", "Bearer", "Bearer x", f"{token}x", token.replace("Bearer", "Basic")):
                answer = await second.get("/mail/messages", headers={"authorization": wrong})
                assert (answer.status_code, answer.json()["error"]) == (401, "unauthorised")
            secret = token.removeprefix("Bearer ")
            query = {"token": secret}
            bare = {"authorization": ""}
            del second.headers["authorization"]
            assert (await second.get("/mail/messages", params=query)).status_code == 401
            assert (await second.get("/", params=query, headers=bare)).status_code == 401
            assert (await second.get("/", params=query)).status_code == 200

    asyncio.run(run())


def test_other_hosts_and_pages_are_refused(tmp_path: Path) -> None:
    async def doing(client: httpx.AsyncClient, instance: Instance) -> None:
        for name, value in (("host", "example.com"), ("origin", "http://example.com")):
            answer = await client.get("/mail/messages", headers={name: value})
            assert answer.status_code == 403
        assert instance.audit == []

    with_mail(tmp_path, doing)


def test_a_closed_instance_is_gone_for_its_callers(tmp_path: Path) -> None:
    async def doing(client: httpx.AsyncClient, instance: Instance) -> None:
        instance.close()
        answer = await client.get("/mail/messages")
        assert (answer.status_code, answer.json()["error"]) == (503, "instance_gone")

    with_mail(tmp_path, doing)


def test_openapi_describes_every_operation(tmp_path: Path) -> None:
    async def run() -> dict[str, Any]:
        async with served(tmp_path, empty_world()) as ((client,), _):
            described: dict[str, Any] = (await client.get("/openapi.json")).json()
            return described

    paths = asyncio.run(run())["paths"]
    for name in service_names():
        for operation in operations(name).values():
            entry = paths[path_of(operation)][_method_of(operation).lower()]
            assert entry["operationId"] == f"{name}_{operation.name}"
            shown = {parameter["name"] for parameter in entry.get("parameters", ())}
            if "requestBody" in entry:
                content = entry["requestBody"]["content"]["application/json"]
                shown |= set(content["schema"]["properties"])
            assert shown == set(operation.arguments)
            assert {"400", "404", "409", "429", "500"} <= entry["responses"].keys()


def test_the_page_shows_state_and_log_as_text_under_a_strict_policy(tmp_path: Path) -> None:
    async def doing(client: httpx.AsyncClient, _: Instance) -> None:
        await client.patch("/mail/messages/m-1", json={"folder": "<script>alert(1)</script>"})
        page = await client.get("/")
        assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src")
        assert "<script" not in page.text
        assert "&lt;script&gt;alert(1)" in page.text
        assert 'class="changed"' in page.text
        assert "mail.update_message" in page.text
        assert "Requests so far: 1;\nrecords changed: 1." in page.text
        assert (await client.get("/page.css")).headers["content-type"].startswith("text/css")

    with_mail(tmp_path, doing)


def test_every_collection_has_a_page(tmp_path: Path) -> None:
    async def run() -> str:
        async with served(tmp_path, filled_world(1, 2)) as ((client,), _):
            return (await client.get("/")).text

    html = asyncio.run(run())
    assert all(f"<small>{name}</small>" in html for name in service_names())
