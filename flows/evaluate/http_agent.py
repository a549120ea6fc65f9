"""An agent behind an address: it gets a task by POST, and answers with files and a text.

The tools of a task are an MCP server on the loopback of this machine while the request is open. The
protocol is described in docs/run.md.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import secrets
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
from inspect_ai.model import ChatMessageAssistant, ModelOutput, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool as InspectTool
from inspect_ai.tool import ToolCall, ToolDef
from inspect_ai.util import sandbox
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from data.contracts import Candidate
from data.loopback import LOOPBACK, listen
from data.neutralise import one_line
from data.snapshot.layout import is_safe_path
from flows.evaluate.inspect_sandbox import BoxEnvironment
from flows.evaluate.tools import said_so_far
from flows.http_server import serving
from flows.mcp_serving import PATH, http_app
from flows.services.instance import Instance

PROTOCOL = "benchmint-agent/1"
_FAILED = "agent_error"  # in an attempt's store
_CONNECTIONS = 50
_LONGEST = 7 * 24 * 3600.0  # seconds: the time of the attempt ends it earlier
_MOST_BYTES = 256 << 20  # of an answer
_Context = ServerRequestContext[Any]


class File(BaseModel):
    """A file that an agent delivers, below outputs/."""

    name: str
    content: str  # base64


class Answer(BaseModel):
    """What an agent answers; whatever else it says is ignored."""

    answer: str | None = None
    files: Annotated[list[File], Field(max_length=2000)] = []


def is_here(url: str) -> bool:
    """Is an address on the loopback of this machine?"""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@solver
def http_agent(
    url: str, task: Candidate, instance: Instance | None, tools: Sequence[InspectTool]
) -> Solver:
    """Sends the task and takes the answer. A server that is not there is the runner's error."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        box = sandbox().as_type(BoxEnvironment)
        if instance is not None:
            instance.step = lambda: said_so_far(state)
        async with AsyncExitStack() as stack:
            servers = await _serve(stack, state, tools) if tools else []
            body = {
                "protocol": PROTOCOL,
                "task": task.task_id,
                "instruction": state.input_text,
                "inputs": await _inputs(box),
                "seconds": task.budget.seconds,
                "mcp_servers": servers,
            }
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=_LONGEST))
            status, content = await _post(client, url, body)
        try:
            if status != httpx.codes.OK:
                raise ValueError(f"it answered HTTP {status}")
            await _take(Answer.model_validate_json(content), box, state)
        except (ValueError, OSError) as error:
            state.store.set(_FAILED, _line(error))
        return state

    return solve


async def _post(client: httpx.AsyncClient, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
    """Status and body of the answer, up to the limit."""
    content = bytearray()
    async with client.stream("POST", url, json=body) as reply:
        async for chunk in reply.aiter_bytes():
            content += chunk
            if len(content) > _MOST_BYTES:
                return httpx.codes.REQUEST_ENTITY_TOO_LARGE, b""
        return reply.status_code, bytes(content)


async def _inputs(box: BoxEnvironment) -> list[dict[str, str]]:
    names = [f"inputs/{name}" for name in box.sandbox.names("inputs")]
    return [
        {"name": name, "content": base64.b64encode(box.sandbox.read(name)).decode()}
        for name in names
    ]


async def _take(answer: Answer, box: BoxEnvironment, state: TaskState) -> None:
    """Put the files into the box, from where outputs are fetched. Raises ValueError."""
    for file in answer.files:
        name = file.name.removeprefix("outputs/")
        if not is_safe_path(name):
            raise ValueError("a file name that points outside its folder")
        try:
            content = base64.b64decode(file.content, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{one_line(name)[:100]} is not base64") from error
        await box.write_file(f"outputs/{name}", content)
    if answer.answer is not None:
        state.messages.append(ChatMessageAssistant(content=answer.answer))
        state.output = ModelOutput.from_content("http", answer.answer)


async def _serve(
    stack: AsyncExitStack, state: TaskState, tools: Sequence[InspectTool]
) -> list[dict[str, Any]]:
    """Serve the tools until the stack ends; what an agent needs to call them."""
    listening = listen(0)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    app = http_app(_server(state, tools), port)
    await stack.enter_async_context(app.router.lifespan_context(app))
    await stack.enter_async_context(serving(_Token(app, token), listening, _CONNECTIONS))
    headers = {"Authorization": f"Bearer {token}"}
    return [{"name": "task", "url": f"http://{LOOPBACK}:{port}{PATH}", "headers": headers}]


class _Token:
    """An ASGI application that lets the bearer of a token through."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner, self._expected = inner, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        is_known = secrets.compare_digest(given, self._expected)
        answer = self._inner if is_known else PlainTextResponse("no token", 401)
        await answer(scope, receive, send)


def _server(state: TaskState, tools: Sequence[InspectTool]) -> Server[Any]:
    """The task's tools over MCP; each call becomes a step of the attempt."""
    known = {definition.name: definition for definition in map(ToolDef, tools)}

    async def list_tools(_: _Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Tool(
                    name=definition.name,
                    description=definition.description,
                    input_schema=definition.parameters.model_dump(exclude_none=True),
                )
                for definition in known.values()
            ]
        )

    async def call_tool(_: _Context, params: CallToolRequestParams) -> CallToolResult:
        call = ToolCall(
            id=uuid.uuid4().hex, function=params.name, arguments=dict(params.arguments or {})
        )
        message = ChatMessageAssistant(content="", tool_calls=[call])
        state.messages.append(message)
        done = await execute_tools([message], list(tools))
        state.messages += done.messages
        (result,) = done.messages
        error = getattr(result, "error", None)
        text = error.message if error is not None else result.text
        return CallToolResult(
            content=[TextContent(type="text", text=text)], is_error=error is not None
        )

    return Server("benchmint-task", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def _line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        return one_line(f"its answer: {first['loc']}: {first['msg']}")[:300]
    return one_line(f"its answer: {error}")[:300]
