"""Which instance a caller may use: the one whose bearer token it has, and no other."""

from __future__ import annotations

import hashlib
import secrets
from urllib.parse import parse_qs

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from flows.services.instance import Instance

INSTANCE = "benchmint.instance"  # where a request's scope holds its instance
PUBLIC = frozenset({"/openapi.json", "/page.css"})  # the same for all, without any state
_TOKEN_BYTES = 24
_LONGEST_TOKEN = 200


class Instances:
    """The instances that one server has, each under a token of its own."""

    def __init__(self) -> None:
        self._by_digest: dict[bytes, Instance] = {}

    def add(self, instance: Instance) -> str:
        """The new token of an instance; only its digest is kept."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._by_digest[_digest(token)] = instance
        return token

    def of(self, token: str) -> Instance | None:
        return self._by_digest.get(_digest(token))

    def services(self) -> list[str]:
        """The services that any instance has."""
        states = (instance.world.state for instance in self._by_digest.values())
        return sorted({name for state in states for name in state})


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class TokenCheck:
    """An ASGI application in front of another: it answers 401 without a valid token.

    Programs send `Authorization: Bearer TOKEN`; the page for people has `?token=TOKEN`.
    """

    def __init__(self, inner: ASGIApp, instances: Instances) -> None:
        self._inner, self._instances = inner, instances

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PUBLIC:
            await self._inner(scope, receive, send)
            return
        instance = self._instances.of(_token(scope))
        if instance is None:
            body = {"error": "unauthorised", "message": "expected the bearer token of an instance"}
            answer = JSONResponse(body, 401, headers={"www-authenticate": "Bearer"})
            await answer(scope, receive, send)
            return
        await self._inner({**scope, INSTANCE: instance}, receive, send)


def _token(scope: Scope) -> str:
    """The token of a request; the empty text, which opens nothing, if it has none or several."""
    sent = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(sent) == 1 and sent[0][:7].lower() == b"bearer ":
        return str(sent[0][7 : 7 + _LONGEST_TOKEN].decode("latin-1"))
    if scope["path"] == "/" and not sent:
        given: list[str] = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return given[0][:_LONGEST_TOKEN] if len(given) == 1 else ""
    return ""
