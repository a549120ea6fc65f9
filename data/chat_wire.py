"""OpenAI's chat completions as a server sees them: requests with texts and functions, and replies.

Other parts of a request are ignored, but for pictures and files, whose addresses a server might
load: they are errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.-]{1,128}$")]


class _Function(BaseModel):
    name: Name
    arguments: str


class _Call(BaseModel):
    id: Annotated[str, Field(max_length=256)]
    type: Literal["function"] = "function"
    function: _Function


class _Text(BaseModel):
    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Text] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None


class ChatFunction(BaseModel):
    """A function that a model may call; `parameters` is a JSON Schema of an object."""

    name: Name
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class _Tool(BaseModel):
    type: Literal["function"]
    function: ChatFunction


class ChatRequest(BaseModel):
    """What is taken from a request."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=5000)]
    tools: Annotated[list[_Tool], Field(max_length=500)] = []
    stream: bool = False


def completion(
    model: str,
    text: str,
    calls: Sequence[tuple[str, str, Mapping[str, Any]]],
    tokens: tuple[int, int],
    stream: bool,
) -> str:
    """The body of a reply; a stream has the whole reply as its one piece.

    `calls` are id, function and arguments of each call, `tokens` those of request and reply.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "index": index,
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (call_id, name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop"}
    reply = {
        "id": "reply",
        "object": "chat.completion.chunk" if stream else "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{**choice, "delta" if stream else "message": message}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
    }
    body = json.dumps(reply)
    return f"data: {body}\n\ndata: [DONE]\n\n" if stream else body
