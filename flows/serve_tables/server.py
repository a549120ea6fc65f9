"""The MCP server over one database: lists the tools, checks arguments, answers, logs each call."""

from __future__ import annotations

import time
from collections.abc import Mapping
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
from pydantic import ValidationError

from construction.statements.tools.agent_tools import BY_NAME, INSTRUCTIONS, TOOLS, Answer, ToolSpec
from construction.statements.tools.call_log import Call, CallLog
from construction.statements.tools.database import Database
from construction.statements.tools.results import Companies, Refusal, SeriesList
from data.errors import error_location
from data.neutralise import one_line

NAME = "benchmint-tables"
_MAX_MESSAGE = 2000
_MAX_FAULTS = 5
_MAX_NAME = 60
Context = ServerRequestContext[Any]


def build_server(database: Database, log: CallLog, version: str = "1") -> Server[Any]:
    """A server of the three tools; any number of clients may call it at once."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(spec) for spec in TOOLS])

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        started = time.perf_counter()
        arguments = params.arguments or {}
        result, outcome, rows = await anyio.to_thread.run_sync(
            answer, database, params.name, arguments
        )
        spent = round((time.perf_counter() - started) * 1000, 3)
        log.record(Call(params.name, arguments, outcome, rows, spent))
        return result

    return Server(
        NAME,
        version=version,
        title="Benchmint financial tables",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer(
    database: Database, name: str, arguments: Mapping[str, Any]
) -> tuple[CallToolResult, str, int]:
    """The result of one call, its outcome for the log, and how many rows it returns.

    Nothing raises: what is wrong with the call, or with this server, becomes an error result
    of one readable paragraph.
    """
    spec = BY_NAME.get(name)
    if spec is None:
        return _refused(f"No such tool. There are: {', '.join(BY_NAME)}."), "invalid", 0
    try:
        checked = spec.arguments.model_validate(arguments)
    except ValidationError as error:
        return _refused(_faults(spec, error)), "invalid", 0
    try:
        answer = spec.call(database, checked)
    except Exception as error:  # the last line before the client: no stack trace, no raw text
        failure = f"Internal error: {type(error).__name__} at {error_location(error)}."
        return _refused(failure), "error", 0
    if isinstance(answer, Refusal):
        return _refused(answer.text), "refused", 0
    return _answered(spec, answer), "ok", _rows(answer)


def _described(spec: ToolSpec) -> Tool:
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.arguments.model_json_schema(),
        output_schema=spec.answer.json_schema(mode="serialization"),
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )


def _answered(spec: ToolSpec, answer: Answer) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=spec.answer.dump_json(answer).decode())],
        structured_content=spec.answer.dump_python(answer, mode="json"),
    )


def _refused(text: str) -> CallToolResult:
    shown = one_line(text[:_MAX_MESSAGE])
    return CallToolResult(content=[TextContent(type="text", text=shown)], is_error=True)


def _faults(spec: ToolSpec, error: ValidationError) -> str:
    """What is wrong with which argument; never the value."""
    lines = []
    for fault in error.errors(include_url=False, include_input=False)[:_MAX_FAULTS]:
        where = ".".join(map(str, fault["loc"]))[:_MAX_NAME]
        what = "there is no such argument" if fault["type"] == "extra_forbidden" else fault["msg"]
        lines.append(f"{where}: {what}")
    known = ", ".join(spec.arguments.model_fields)
    return f"Bad arguments: {'; '.join(lines)}. {spec.name} takes: {known}."


def _rows(answer: Answer) -> int:
    if isinstance(answer, Companies):
        return len(answer.companies)
    return len(answer.series) if isinstance(answer, SeriesList) else len(answer.values)
