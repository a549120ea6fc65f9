"""Records as Claude Code 2 writes them."""

from __future__ import annotations

from typing import Any

START = 1_750_000_000  # the time of every record, in seconds


def record(kind: str, id_: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    """A record; `answer` is the id of the API's message, `stop` its stop reason."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if "answer" in more:
        message |= {"id": more.pop("answer"), "model": "model-c", "stop_reason": more.pop("stop")}
    return {
        "type": kind,
        "uuid": id_,
        "parentUuid": parent,
        "sessionId": "s1",
        "cwd": "/work/books",
        "version": "2.1.0",
        "isSidechain": False,
        "timestamp": "2025-06-15T15:06:40.000Z",
        "message": message,
        **more,
    }


def user(id_: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return record("user", id_, parent, content, **more)


def agent(id_: str, parent: str | None, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return record("assistant", id_, parent, list(blocks), **more)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(id_: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "Read", "input": arguments}


def result(id_: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}
