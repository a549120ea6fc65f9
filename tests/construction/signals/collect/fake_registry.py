"""A real HTTP server on loopback that speaks the registry's API, and can be made to misbehave."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from construction.signals.collect import RegistryConfig

Record = dict[str, Any]
Trouble = Callable[["Handler"], None]


def skill(number: int, **more: Any) -> Record:
    """A listed skill as the registry words it; number 0 is the most downloaded."""
    return {
        "slug": f"skill-{number:03d}",
        "displayName": f"Skill {number}",
        "summary": f"Does thing {number}",
        "tags": {"latest": "1.0.0"},
        "stats": {"downloads": 1000 - number, "stars": number, "installsAllTime": 5},
        "createdAt": 1_767_632_598_000,
        "updatedAt": 1_767_632_598_000,
        "latestVersion": {"version": "1.0.0", "createdAt": 0, "changelog": "first"},
        **more,
    }


class FakeRegistry:
    """Serves `skills` in pages; a cursor is the offset at which its page starts.

    `trouble[n]` answers the n-th request (from 0) in place of the API; `before(n)` is called
    ahead of each, and may change `skills`. `next_cursors` overrules what a page says comes next.
    """

    def __init__(self, skills: list[Any]) -> None:
        self.skills = skills
        self.owners: dict[str, str] = {}
        self.trouble: dict[int, Trouble] = {}
        self.always: Trouble | None = None
        self.before: Callable[[int], None] = lambda number: None
        self.next_cursors: dict[str | None, Any] = {}
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.registry = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> FakeRegistry:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def config(self, **more: Any) -> RegistryConfig:
        """Fast and without details, unless told otherwise."""
        fast: Record = {
            "base_url": self.url,
            "page_size": 10,
            "details": False,
            "requests_per_second": 100,
            "backoff": 0.01,
            "timeout": 5,
        }
        return RegistryConfig(**(fast | more))

    def answer(self, handler: Handler) -> None:
        """The API proper."""
        parts = urlsplit(handler.path)
        if parts.path == "/api/v1/skills":
            query = parse_qs(parts.query)
            cursor = query.get("cursor", [None])[0]
            start, limit = int(cursor or 0), int(query["limit"][0])
            following = str(start + limit) if start + limit < len(self.skills) else None
            page = {
                "items": self.skills[start : start + limit],
                "nextCursor": self.next_cursors.get(cursor, following),
            }
            handler.send(200, json.dumps(page).encode())
            return
        slug = unquote(parts.path.removeprefix("/api/v1/skills/"))
        matches = [r for r in self.skills if isinstance(r, dict) and r.get("slug") == slug]
        owner = {"handle": self.owners.get(slug), "displayName": "Someone"}
        detail = {"skill": matches[0], "owner": owner} if matches else {}
        handler.send(200 if matches else 404, json.dumps(detail).encode())


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        registry: FakeRegistry = self.server.registry  # type: ignore[attr-defined]
        number = len(registry.requests)
        registry.requests.append(self.path)
        registry.headers.append(dict(self.headers))
        registry.times.append(time.monotonic())
        registry.before(number)
        trouble = registry.trouble.get(number, registry.always)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            (trouble or registry.answer)(self)

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", headers.pop("length", str(len(body))))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests look at `requests`."""


def status(code: int, **headers: str) -> Trouble:
    """An answer that is only a status."""
    return lambda handler: handler.send(code, b"trouble", **headers)


def body(content: bytes, **headers: str) -> Trouble:
    """An answer with status 200 and this content."""
    return lambda handler: handler.send(200, content, **headers)


def drop(handler: Handler) -> None:
    """Half an answer, then the connection ends."""
    handler.send(200, b'{"items": [', length="5000")
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """An answer that comes byte by byte and takes ten seconds."""
    handler.send_response(200)
    handler.send_header("Content-Length", "200")
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def sleepy(handler: Handler) -> None:
    """Nothing at all for a while."""
    time.sleep(1.0)
