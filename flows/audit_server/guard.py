"""Host and Origin must name the loopback and this very port (law 10); every answer says how
little a browser may do with it.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data.loopback import LOOPBACK


class Guard:
    """An ASGI application in front of another."""

    def __init__(self, inner: ASGIApp, port: int, policy: str) -> None:
        names = (LOOPBACK, "localhost")
        self._inner = inner
        self._hosts = frozenset(f"{name}:{port}" for name in names)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        if refusal is None:
            await self._inner(scope, receive, guarded)
        else:
            await PlainTextResponse(refusal, 403)(scope, receive, guarded)

    def _refusal(self, headers: Headers) -> str | None:
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return "Host is not this server."
        origins = headers.getlist("origin")
        if origins and (len(origins) > 1 or origins[0] not in self._origins):
            return "Origin is not this server."
        return None
