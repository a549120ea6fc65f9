"""The model of an attempt as an OpenAI-compatible server for a program inside the sandbox.

Only texts and functions pass. Keys, the model, its settings and the budget are the runner's: what
else a request asks for is ignored. Requests are hostile input, and none reaches a file or an
address: a picture by its URL, which Inspect would load from the host, is refused.
"""

from __future__ import annotations

import asyncio
import json
from contextvars import copy_context
from typing import Any

from inspect_ai.model import ModelOutput, get_model, messages_from_openai
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolInfo, ToolParams
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from data.chat_wire import ChatRequest, completion
from data.neutralise import one_line, storable_tree

MODEL = "benchmint"
CONNECTIONS = 16
_MOST_BYTES = 32 << 20


class ChatBridge:
    """One attempt's bridge. `stopped` is the limit or the failure that ended it, if one did."""

    def __init__(self, state: TaskState) -> None:
        self.stopped: Exception | None = None
        self._state = state
        self._longest = 0
        self._context = copy_context()  # of the attempt: its limits and its account
        routes = [
            Route("/v1/models", self._models),
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
        ]
        self.app = Starlette(routes=routes)

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def _complete(self, request: Request) -> Response:
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > _MOST_BYTES:
                return _refused(413, f"more than {_MOST_BYTES:,} bytes")
        try:
            chat = ChatRequest.model_validate(storable_tree(json.loads(content)))
            tools = [_tool_info(tool.function.model_dump()) for tool in chat.tools]
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            return _refused(400, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except (ValueError, RecursionError):
            return _refused(400, "no JSON")
        if self.stopped is not None:
            return _refused(429, "the attempt has ended")
        try:
            work = self._generate(chat, tools)
            output = await asyncio.get_running_loop().create_task(work, context=self._context)
        except Exception as error:  # a limit, or a model that does not answer: the solver raises it
            self.stopped = self.stopped or error
            return _refused(429, "the attempt has ended")
        kind = "text/event-stream" if chat.stream else "application/json"
        return Response(_body(output, chat.stream), media_type=kind)

    async def _generate(self, chat: ChatRequest, tools: list[ToolInfo]) -> ModelOutput:
        given: Any = [item.model_dump(exclude_none=True) for item in chat.messages]
        messages = await messages_from_openai(given, MODEL)
        output = await get_model().generate(messages, tools)
        if len(messages) >= self._longest:  # a harness may hold shorter talks beside its main one
            self._longest = len(messages)
            self._state.messages = [*messages, output.message]
        return output


def _tool_info(function: dict[str, Any]) -> ToolInfo:
    return ToolInfo(**{**function, "parameters": ToolParams.model_validate(function["parameters"])})


def _body(output: ModelOutput, stream: bool) -> str:
    calls = [(call.id, call.function, call.arguments) for call in output.message.tool_calls or ()]
    usage = output.usage
    tokens = (usage.input_tokens, usage.output_tokens) if usage is not None else (0, 0)
    return completion(MODEL, output.message.text, calls, tokens, stream)


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": one_line(message)[:500], "code": status}}, status)
