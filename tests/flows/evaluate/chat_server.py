"""A model on the loopback that plays moves, as tool calls of an OpenAI-compatible server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from tests.flows.json_server import HANG_UP, json_server

TOKENS_IN, TOKENS_OUT = 100, 50
REPLY, MODEL = "reply", "scripted-1"  # the id of a reply, and what it says of its model

# The messages so far to a tool's name and arguments, to a text, or to the status of a failing
# server.
Play = Callable[[list[dict[str, Any]]], tuple[str, dict[str, Any]] | str | int]


@dataclass
class Chat:
    """Where it listens, the messages of every request, and the tokens that it billed.

    It bills what it answers, and also where it hangs up instead.
    """

    url: str
    billed: int = 0
    requests: list[list[dict[str, Any]]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


@contextmanager
def chat_server(play: Play) -> Iterator[Chat]:
    """A listening model, which says that every reply took the same."""
    chat = Chat("")

    def reply(body: Any, headers: Message) -> tuple[int, Any]:
        chat.requests.append(body["messages"])
        chat.keys.add(headers["Authorization"])
        move = play(body["messages"])
        if not isinstance(move, int) or move == HANG_UP:
            chat.billed += TOKENS_IN + TOKENS_OUT
        return (move, {}) if isinstance(move, int) else (200, reply_of(move))

    with json_server(reply) as chat.url:
        yield chat


def reply_of(move: tuple[str, dict[str, Any]] | str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": move}
    if not isinstance(move, str):
        name, arguments = move
        call = {
            "id": f"call-{name}-{len(json.dumps(arguments))}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {
        "prompt_tokens": TOKENS_IN,
        "completion_tokens": TOKENS_OUT,
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    }
    return {
        "id": REPLY,
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop" if isinstance(move, str) else "tool_calls",
                "message": message,
            }
        ],
        "usage": usage,
    }
