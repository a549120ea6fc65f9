"""A model on the loopback that plays moves, as tool calls of an OpenAI-compatible server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from tests.flows.json_server import json_server

# The messages so far to a tool's name and arguments, or to the status of a failing server.
Play = Callable[[list[dict[str, Any]]], tuple[str, dict[str, Any]] | int]


@dataclass
class Chat:
    """Where it listens, and the messages of every request."""

    url: str
    requests: list[list[dict[str, Any]]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


@contextmanager
def chat_server(play: Play) -> Iterator[Chat]:
    """A listening model; 100 tokens in and 50 out for every reply."""
    chat = Chat("")

    def reply(body: Any, headers: Message) -> tuple[int, Any]:
        chat.requests.append(body["messages"])
        chat.keys.add(headers["Authorization"])
        move = play(body["messages"])
        return (move, {}) if isinstance(move, int) else (200, _reply(move))

    with json_server(reply) as chat.url:
        yield chat


def _reply(move: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    name, arguments = move
    call = {
        "id": f"call-{name}-{len(json.dumps(arguments))}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted-1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }
