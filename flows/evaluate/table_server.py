"""The data tools over one database as an MCP server; flows/mcp_serving.py serves it. `main` is the
command of the exported data tools, over the tables of one folder:

    python -I server DATA                            one client, over standard input and output
    python -I server DATA --http PORT                on the loopback
    python -I server DATA --http PORT --socket PATH  on a Unix socket, for clients behind a relay
                                                     who call it 127.0.0.1:PORT

Imports nothing that the exported bundle does not have.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread
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

from construction.statements.tools.agent_tools import (
    INSTRUCTIONS,
    TOOLS,
    Call,
    CallLog,
    ToolSpec,
    answer,
    parameters_of,
)
from construction.statements.tools.client import ATTEMPT, QUESTION
from construction.statements.tools.database import Database, open_database
from flows.mcp_serving import add_transport, serve_as_asked

NAME = "benchmint-tables"
_Context = ServerRequestContext[Any]


def build_server(database: Database, log: CallLog, version: str = "1") -> Server[Any]:
    """A server of the three tools; any number of clients may call it at once."""

    async def list_tools(_: _Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(spec) for spec in TOOLS])

    async def call_tool(_: _Context, params: CallToolRequestParams) -> CallToolResult:
        started = time.perf_counter()
        arguments = params.arguments or {}
        reply = await anyio.to_thread.run_sync(answer, database, params.name, arguments)
        spent = round((time.perf_counter() - started) * 1000, 3)
        context = params.meta or {}
        call = Call(
            params.name,
            arguments,
            reply.outcome,
            reply.rows,
            spent,
            question=_said(context.get(QUESTION)),
            attempt=_said(context.get(ATTEMPT)),
            output=reply.text,
        )
        log.record(call)
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


def _said(name: object) -> str | None:
    return str(name) if isinstance(name, str | int) else None


def _described(spec: ToolSpec) -> Tool:
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=parameters_of(spec),
        output_schema=spec.answer.json_schema(mode="serialization"),
        annotations=hints,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves, or until interrupted."""
    parser = argparse.ArgumentParser(prog="server", description="Serve the data tools (MCP).")
    parser.add_argument("data", type=Path, help="folder with companies, series and points")
    add_transport(parser)
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="one line per call")
    options = parser.parse_args(arguments)
    return serve_as_asked(
        parser, options, lambda: build_server(open_database(options.data), CallLog(options.log))
    )
