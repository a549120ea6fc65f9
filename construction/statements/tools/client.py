"""Calls the data tools from a shell; imports the standard library alone.

    data_tool                                              the tools, and what each one takes
    data_tool discover_companies '{"query": "Acme"}'       an answer as JSON

Exit code 1: the call was refused, and the text says why. 2: no server, or wrong use.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

URL = "http://127.0.0.1:8765/mcp"
# Keys of a request by which a client says what it is working on, for the server's log of calls.
QUESTION, ATTEMPT = "benchmint/question", "benchmint/attempt"
_PROTOCOL = "2025-06-18"
_SECONDS = 60.0


class DataTools:
    """A client of one server (MCP over HTTP); raises OSError where no server answers."""

    def __init__(self, url: str = "") -> None:
        self._url = url or os.environ.get("BENCHMINT_TABLES_URL", URL)
        # Proxies of the environment are meant for other hosts than the server beside the agent.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._session = ""
        client = {"name": "data_tool", "version": "1"}
        self._ask("initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the session: a server keeps a limited number of them."""
        with suppress(OSError):
            self._send(None, "DELETE")

    def tools(self) -> list[dict[str, Any]]:
        """The tools: name, description, inputSchema."""
        listed: list[dict[str, Any]] = self._ask("tools/list")["tools"]
        return listed

    def call(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """The answer's text, and whether the call was refused."""
        result = self._ask("tools/call", name=name, arguments=dict(arguments), _meta=_context())
        return "".join(part["text"] for part in result["content"]), bool(result.get("isError"))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        reply = json.loads(self._send({"id": 1, "method": method, "params": params}))
        if "error" in reply:
            raise OSError(f"{method}: {reply['error'].get('message')}")
        result: dict[str, Any] = reply["result"]
        return result

    def _send(self, body: Mapping[str, Any] | None, method: str = "POST") -> bytes:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _PROTOCOL,
        }
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        content = None if body is None else json.dumps({"jsonrpc": "2.0", **body}).encode()
        request = urllib.request.Request(self._url, content, headers, method=method)  # noqa: S310
        with self._opener.open(request, timeout=_SECONDS) as reply:  # the address is the user's
            self._session = reply.headers.get("Mcp-Session-Id", self._session)
            answer: bytes = reply.read()
            return answer


def _context() -> dict[str, str]:
    """What the environment says that the caller is working on."""
    names = {QUESTION: "BENCHMINT_QUESTION", ATTEMPT: "BENCHMINT_ATTEMPT"}
    return {key: os.environ[name] for key, name in names.items() if os.environ.get(name)}


def main(arguments: Sequence[str] | None = None) -> int:
    """List the tools, or call one."""
    try:
        request = _request(sys.argv[1:] if arguments is None else arguments)
    except ValueError:
        print('usage: data_tool [NAME \'{"argument": "value"}\']', file=sys.stderr)
        return 2
    try:
        with DataTools() as tools:
            if request is None:
                print("\n\n".join(map(_described, tools.tools())))
                return 0
            answer, refused = tools.call(*request)
    except OSError as error:
        print(f"data_tool: no answer from the data tools: {error}", file=sys.stderr)
        return 2
    print(answer)
    return int(refused)


def _request(arguments: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """A tool's name and arguments; None to list the tools. Raises ValueError."""
    if not arguments:
        return None
    name, text = arguments
    given = json.loads(text)
    if not isinstance(given, dict):
        raise ValueError(type(given).__name__)
    return name, given


def _described(tool: Mapping[str, Any]) -> str:
    schema = json.dumps(tool["inputSchema"]["properties"], indent=2)
    return f"{tool['name']}\n{tool['description']}\n{schema}"


if __name__ == "__main__":
    sys.exit(main())
