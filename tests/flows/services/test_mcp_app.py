"""Services over MCP, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from construction.workflows.declaration import tools_of
from tests.construction.workflows.worlds import empty_world
from tests.flows.services.hosting import served
from tests.flows.services.test_http_app import mail_world


@asynccontextmanager
async def connected(client: httpx.AsyncClient) -> AsyncIterator[Client]:
    """An MCP client with the address and token of an HTTP client."""
    headers = {"authorization": client.headers["authorization"]}
    async with httpx2.AsyncClient(headers=headers, trust_env=False) as own:
        address = f"{str(client.base_url).rstrip('/')}/mcp"
        async with Client(streamable_http_client(address, http_client=own)) as session:
            yield session


def test_tools_are_those_of_the_callers_instance_and_reach_no_other(tmp_path: Path) -> None:
    async def run() -> None:
        async with served(tmp_path, mail_world(), empty_world("todo")) as (clients, held):
            async with connected(clients[0]) as mail, connected(clients[1]) as todo:
                listed = {tool.name: tool for tool in (await mail.list_tools()).tools}
                assert list(listed) == [tool.name for tool in tools_of(["mail"])]
                assert listed["mail_get_message"].input_schema["required"] == ["id"]
                done = await mail.call_tool("mail_get_message", {"id": "m-1"})
                assert done.structured_content is not None
                assert done.structured_content["body"] == "The parcel never came."
                stray = await todo.call_tool("mail_get_message", {"id": "m-1"})
                assert (stray.is_error, error_of(stray)) == (True, "unknown_service")
                for name in ("todo_fly", "fly", ""):
                    wrong = await todo.call_tool(name, {})
                    assert error_of(wrong) in ("unknown_service", "unknown_operation")
            assert [row.operation for row in held[0].audit] == ["get_message"]
            assert len(held[1].audit) == 4

    asyncio.run(run())


def test_a_used_up_allowance_is_an_error_of_the_tool(tmp_path: Path) -> None:
    async def run() -> None:
        world = replace(mail_world(), allowance=1)
        async with served(tmp_path, world) as ((client,), held), connected(client) as mail:
            assert not (await mail.call_tool("mail_get_message", {"id": "m-1"})).is_error
            last = await mail.call_tool("mail_get_message", {"id": "m-1"})
            assert (last.is_error, error_of(last)) == (True, "rate_limited")
            assert len(held[0].audit) == 2

    asyncio.run(run())


def error_of(result: Any) -> str:
    return str(json.loads(result.content[0].text)["error"])


def test_without_a_token_nothing_is_listed(tmp_path: Path) -> None:
    async def run() -> None:
        async with served(tmp_path, mail_world()) as ((client,), _):
            del client.headers["authorization"]
            answer = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert answer.status_code == 401

    asyncio.run(run())
