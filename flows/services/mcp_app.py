"""The operations of services as MCP tools, over the same instances as the HTTP routes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

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

from construction.workflows import contracts
from construction.workflows.declaration import ServiceTool, split_tool_name, tools_of
from data.canonical import canonical_json
from flows.services.instance import Instance
from flows.services.tokens import INSTANCE

NAME = "benchmint-services"
Context = ServerRequestContext[Any, Request]


def _of_caller(context: Context) -> Instance:
    """The instance whose token the caller has; `tokens.py` puts it into the scope."""
    assert context.request is not None
    instance: Instance = context.request.scope[INSTANCE]
    return instance


def mcp_server(instance_of: Callable[[Context], Instance] = _of_caller) -> Server[Any]:
    """A server whose tools are those of the instance that a request is for."""

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        tools = tools_of(sorted(instance_of(context).world.state))
        return ListToolsResult(tools=[_described(tool) for tool in tools])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
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
