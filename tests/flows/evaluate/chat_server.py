"""A model on the loopback that plays moves, as tool calls of an OpenAI-compatible server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            chat.requests.append(body["messages"])
            chat.keys.add(self.headers["Authorization"])
            move = play(body["messages"])
            status = move if isinstance(move, int) else 200
            content = json.dumps({} if isinstance(move, int) else _reply(move)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    chat = Chat(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
