"""The data tools over one database, served over the Model Context Protocol: standard input and
output, or HTTP on the loopback.
"""

from __future__ import annotations

import socket
import sys
import time
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.applications import Starlette

from construction.statements.tools.agent_tools import INSTRUCTIONS, TOOLS, ToolSpec, answer
from construction.statements.tools.call_log import Call, CallLog
from construction.statements.tools.database import Database
from data.loopback import LOOPBACK, listen, own_hosts, own_origins
from flows.http_server import serve_app

NAME = "benchmint-tables"
PATH = "/mcp"
_MAX_BODY = 64 * 1024
_MAX_SESSIONS = 1000
_MAX_CONNECTIONS = 200
_IDLE_SECONDS = 300.0  # of clients that went away without a word
Context = ServerRequestContext[Any]


def build_server(database: Database, log: CallLog, version: str = "1") -> Server[Any]:
    """A server of the three tools; any number of clients may call it at once."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(spec) for spec in TOOLS])

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        started = time.perf_counter()
        arguments = params.arguments or {}
        reply = await anyio.to_thread.run_sync(answer, database, params.name, arguments)
        spent = round((time.perf_counter() - started) * 1000, 3)
        log.record(Call(params.name, arguments, reply.outcome, reply.rows, spent))
        return CallToolResult(
            content=[TextContent(type="text", text=reply.text)],
            structured_content=reply.structured,
            is_error=reply.structured is None,
        )

    return Server(
        NAME,
        version=version,
        title="Benchmint financial tables",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(spec: ToolSpec) -> Tool:
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.arguments.model_json_schema(),
        output_schema=spec.answer.json_schema(mode="serialization"),
        annotations=hints,
    )


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes them."""

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def serve_http(server: Server[Any], port: int) -> None:
    """Serve clients at http://127.0.0.1:PORT/mcp, until interrupted. Port 0 takes a free one.

    Raises InputError if the port cannot be taken.
    """
    listening = listen(port)
    serve_socket(server, listening, listening.getsockname()[1])


def serve_socket(server: Server[Any], listening: socket.socket, port: int) -> None:
    """Serve clients of a socket who call it http://127.0.0.1:PORT/mcp, until interrupted."""
    print(f"benchmint: serving on http://{LOOPBACK}:{port}{PATH}", file=sys.stderr, flush=True)
    serve_app(http_app(server, port), listening, _MAX_CONNECTIONS)


def http_app(server: Server[Any], port: int) -> Starlette:
    """The HTTP application. Host and Origin must name the loopback and this very port (law 10)."""
    return server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=_MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=own_hosts(port),
            allowed_origins=own_origins(port),
        ),
    )
