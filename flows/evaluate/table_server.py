"""The data tools over one database as an MCP server; flows/mcp_serving.py serves it."""

from __future__ import annotations

import time
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
from construction.statements.tools.database import Database

NAME = "benchmint-tables"
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
