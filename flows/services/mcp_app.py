"""The operations of services as MCP tools, over the same instances as the HTTP routes; and which
instance a caller may use: the one whose bearer token it has, and no other. `main` is the command of
exported services, those of one attempt at a workflow task, and their record:

    python -I services WORLD --state FILE                            over standard input and output
    python -I services WORLD --state FILE --http PORT                on the loopback
    python -I services WORLD --state FILE --http PORT --socket PATH  on a Unix socket, for clients
                                                     behind a relay who call it 127.0.0.1:PORT
    python -I services --record FILE                 what was asked and changed, as JSON

FILE holds the world and the chained log (`instance.py`); the first server makes it and later ones
continue it. Agents must be able to read neither file. Imports nothing that the exported bundle does
not have.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import hashlib
import json
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from construction.workflows import contracts
from construction.workflows.declaration import ServiceTool, split_tool_name, tools_of
from construction.workflows.world_file import read_world
from data.canonical import canonical_json
from data.errors import BenchmintError, InputError
from flows.mcp_serving import add_transport, serve_as_asked
from flows.services.instance import Instance, recorded

INSTANCE = "benchmint.instance"  # where a request's scope holds its instance
_PUBLIC = frozenset({"/openapi.json", "/page.css"})  # the same for all, without any state
_TOKEN_BYTES = 24
_LONGEST_TOKEN = 200


class Instances:
    """The instances that one server has, each under a token of its own."""

    def __init__(self) -> None:
        self._by_digest: dict[bytes, Instance] = {}

    def add(self, instance: Instance) -> str:
        """The new token of an instance; only its digest is kept."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._by_digest[_digest(token)] = instance
        return token

    def of(self, token: str) -> Instance | None:
        return self._by_digest.get(_digest(token))

    def services(self) -> list[str]:
        """The services that any instance has."""
        states = (instance.world.state for instance in self._by_digest.values())
        return sorted({name for state in states for name in state})


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class TokenCheck:
    """An ASGI application in front of another: it answers 401 without a valid token.

    Programs send `Authorization: Bearer TOKEN`; the page for people has `?token=TOKEN`.
    """

    def __init__(self, inner: ASGIApp, instances: Instances) -> None:
        self._inner, self._instances = inner, instances

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _PUBLIC:
            await self._inner(scope, receive, send)
            return
        instance = self._instances.of(_token(scope))
        if instance is None:
            body = {"error": "unauthorised", "message": "expected the bearer token of an instance"}
            answer = JSONResponse(body, 401, headers={"www-authenticate": "Bearer"})
            await answer(scope, receive, send)
            return
        await self._inner({**scope, INSTANCE: instance}, receive, send)


def _token(scope: Scope) -> str:
    """The token of a request; the empty text, which opens nothing, if it has none or several."""
    sent = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(sent) == 1 and sent[0][:7].lower() == b"bearer ":
        return str(sent[0][7 : 7 + _LONGEST_TOKEN].decode("latin-1"))
    if scope["path"] == "/" and not sent:
        given: list[str] = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return given[0][:_LONGEST_TOKEN] if len(given) == 1 else ""
    return ""


NAME = "benchmint-services"
_Context = ServerRequestContext[Any, Request]


def _of_caller(context: _Context) -> Instance:
    """The instance whose token the caller has; `tokens.py` puts it into the scope."""
    assert context.request is not None
    instance: Instance = context.request.scope[INSTANCE]
    return instance


def mcp_server(instance_of: Callable[[_Context], Instance] = _of_caller) -> Server[Any]:
    """A server whose tools are those of the instance that a request is for."""

    async def list_tools(context: _Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        tools = tools_of(sorted(instance_of(context).world.state))
        return ListToolsResult(tools=[_described(tool) for tool in tools])

    async def call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:
        return await _answered(instance_of(context), params)

    return Server(
        NAME,
        version="1",
        title="Controlled services",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _answered(instance: Instance, params: CallToolRequestParams) -> CallToolResult:
    service, operation = split_tool_name(params.name) or ("", params.name)
    wanted = contracts.Request(service, operation, params.arguments or {})
    response = instance.answer(wanted)
    if response.delay_ms:
        await asyncio.sleep(response.delay_ms / 1000)
    body = dict(response.body)
    return CallToolResult(
        content=[TextContent(type="text", text=canonical_json(body).decode())],
        structured_content=body,
        is_error=response.refused is not None,
    )


def _described(tool: ServiceTool) -> Tool:
    operation = tool.operation
    hints = ToolAnnotations(
        read_only_hint=operation.is_read,
        destructive_hint=operation.kind == "delete",
        idempotent_hint=operation.is_read,
        open_world_hint=False,
    )
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.parameters,
        annotations=hints,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves or until interrupted, or print a record."""
    parser = argparse.ArgumentParser(prog="services", description="Serve services (MCP).")
    parser.add_argument("world", type=Path, nargs="?", help="the initial state (JSON)")
    parser.add_argument("--state", type=Path, help="where to keep world and log")
    add_transport(parser)
    parser.add_argument("--record", type=Path, metavar="FILE", help="print the record of a state")
    options = parser.parse_args(arguments)
    try:
        if options.record is not None:
            print(json.dumps(_record_of(options.record)))
            return 0
        if options.world is None or options.state is None:
            parser.error("WORLD and --state are needed")
        with _only_server(options.state), _instance(options.world, options.state) as instance:
            return serve_as_asked(parser, options, lambda: mcp_server(lambda _: instance))
    except BenchmintError as error:
        print(error, file=sys.stderr)
        return 2


def _record_of(state: Path) -> dict[str, object]:
    """The audit rows and the changes that a state holds, as graders read them.

    Raises InputError if there is no such file, BrokenChain if its log was altered.
    """
    audit, changes = recorded(state)
    return {"audit": [*map(asdict, audit)], "changes": [*map(asdict, changes)]}


def _instance(world: Path, state: Path) -> Instance:
    if state.exists():
        return Instance.reopen(state)
    if not world.is_file():
        raise InputError(str(world), "no file", "a world", "Export again with --with-private.")
    return Instance.start(state, read_world(world))


@contextmanager
def _only_server(state: Path) -> Iterator[None]:
    """Hold a state against other servers: each would answer from a world of its own."""
    state.parent.mkdir(parents=True, exist_ok=True)
    with state.with_name(f"{state.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                str(state), "another server of this attempt", "one server at a time",
                "Stop the other one, or give this attempt its own state.",
            ) from None  # fmt: skip
        yield
