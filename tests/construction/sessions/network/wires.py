"""Wires for tests: they lie behind the address check, which therefore always runs."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpcore

from construction.sessions.config import NetworkRuntime
from construction.sessions.network.transport import Wire

Behaviour = Mapping[str, Any]
# Built once: loading the certificates takes longer than a test.
TRUST = httpcore.default_ssl_context()
AT_ONCE = NetworkRuntime(host_delay=0, backoff=0, max_retry_after=0)


class ScriptedStream(httpcore.AsyncNetworkStream):
    """A connection in memory: `serve` turns the request's bytes into the answer's."""

    def __init__(self, serve: Callable[[bytes, bool], bytes]) -> None:
        self._serve = serve
        self._secure = False
        self._answer = b""
        self._request = b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._request += buffer
        if buffer and self._request.endswith(b"\r\n\r\n"):
            self._answer = self._serve(self._request, self._secure)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        chunk, self._answer = self._answer[:max_bytes], self._answer[max_bytes:]
        return chunk

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self._secure = True
        return self

    async def aclose(self) -> None:
        self._answer = b""


class ScriptedWeb:
    """A web of `behaviours` ("url" or "METHOD url") on the hosts of `dns`; keeps a log.

    A behaviour has `status`, `body`, `redirect`, `headers`, or `timeout` or `reset`; a list of
    behaviours is served one after another, the last for ever.
    """

    def __init__(
        self,
        dns: Mapping[str, Sequence[str]],
        behaviours: Mapping[str, Behaviour | Sequence[Behaviour]],
    ) -> None:
        self._dns = dns
        self._behaviours = {
            key: list(value) if isinstance(value, Sequence) else [value]
            for key, value in behaviours.items()
        }
        self.requests: list[str] = []
        self.raw_requests: list[bytes] = []
        self.connected: list[tuple[str, int]] = []
        self.resolved: list[str] = []

    @property
    def wire(self) -> Wire:
        return Wire(self._resolve, self._connect, TRUST)

    async def _resolve(self, host: str) -> list[str]:
        self.resolved.append(host)
        if host not in self._dns:
            raise socket.gaierror(socket.EAI_NONAME, "name not known")
        return list(self._dns[host])

    async def _connect(self, address: str, port: int) -> httpcore.AsyncNetworkStream:
        self.connected.append((address, port))
        return ScriptedStream(self._serve)

    def _serve(self, request: bytes, secure: bool) -> bytes:
        self.raw_requests.append(request)
        head, *lines = request.decode("latin-1").split("\r\n")
        method, target, _ = head.split(" ")
        headers = dict(line.split(": ", 1) for line in lines if line)
        url = f"{'https' if secure else 'http'}://{headers['Host']}{target}"
        self.requests.append(f"{method} {url}")
        return _answer(self._behaviour(method, url), method)

    def _behaviour(self, method: str, url: str) -> Behaviour:
        for key in (f"{method} {url}", url):
            script = self._behaviours.get(key)
            if script:
                return script.pop(0) if len(script) > 1 else script[0]
        return {"status": 404}


def _answer(behaviour: Behaviour, method: str) -> bytes:
    if behaviour.get("timeout"):
        raise httpcore.ReadTimeout("scripted")
    if behaviour.get("reset"):
        raise httpcore.ReadError("scripted")
    body = behaviour.get("body", "")
    content = body if isinstance(body, bytes) else body.encode()
    headers = {"Content-Length": str(len(content)), **behaviour.get("headers", {})}
    if "redirect" in behaviour:
        headers["Location"] = behaviour["redirect"]
    lines = [f"HTTP/1.1 {behaviour['status']} scripted"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return head if method == "HEAD" or behaviour["status"] == 204 else head + content
