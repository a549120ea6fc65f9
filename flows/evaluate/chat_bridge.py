"""The model of an attempt for a program inside the sandbox.

Only texts and functions pass. Keys, the model, its settings and the budget are the runner's: what
else a request asks for is ignored. Pictures, which Inspect would load from the host, do not pass.
"""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import Any

from inspect_ai.model import ChatMessage, ModelOutput, get_model, messages_from_openai
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolInfo, ToolParams

from data.chat_wire import ChatFunction, ChatRequest, completion
from flows.evaluate.chat_app import MODEL, NoMoreAnswers


class ChatBridge:
    """One attempt's bridge. `stopped` is the limit or the failure that ended it, if one did."""

    def __init__(self, state: TaskState) -> None:
        self.stopped: Exception | None = None
        self._state = state
        self._longest = 0
        self._context = copy_context()  # of the attempt: its limits and its account

    async def answer(self, chat: ChatRequest) -> str:
        """The body of a reply.

        Raises NoMoreAnswers once the attempt has been stopped, ValueError for what is no request.
        """
        tools = [_tool_info(tool.function) for tool in chat.tools]
        messages = await _messages(chat)
        try:
            if self.stopped is None:
                work = self._generate(messages, tools)
                output = await asyncio.get_running_loop().create_task(work, context=self._context)
                return _body(output, chat.stream)
        except Exception as error:  # a limit, or a model that does not answer: the solver raises it
            self.stopped = self.stopped or error
        raise NoMoreAnswers

    async def _generate(self, messages: list[ChatMessage], tools: list[ToolInfo]) -> ModelOutput:
        output = await get_model().generate(messages, tools)
        if len(messages) >= self._longest:  # a harness may hold shorter talks beside its main one
            self._longest = len(messages)
            self._state.messages = [*messages, output.message]
        return output


async def _messages(chat: ChatRequest) -> list[ChatMessage]:
    """The messages of a request. Raises ValueError where they are none: the agent's doing."""
    given: Any = [item.model_dump(exclude_none=True) for item in chat.messages]
    try:
        return await messages_from_openai(given, MODEL)
    except Exception as error:  # Inspect takes what it gets for messages, and stumbles anywhere
        raise ValueError(str(error)) from error


def _tool_info(function: ChatFunction) -> ToolInfo:
    parameters = ToolParams.model_validate(function.parameters)
    return ToolInfo(name=function.name, description=function.description, parameters=parameters)


def _body(output: ModelOutput, stream: bool) -> str:
    calls = [(call.id, call.function, call.arguments) for call in output.message.tool_calls or ()]
    usage = output.usage
    tokens = (usage.input_tokens, usage.output_tokens) if usage is not None else (0, 0)
    return completion(MODEL, output.message.text, calls, tokens, stream)
