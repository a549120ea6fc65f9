"""The audit page over HTTP: the page and its columns for whoever is on this machine; private
evidence and sign-offs for whoever has the token.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.to_thread
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from data import hash_chain
from data.audit_page import as_csv, as_json, audit_page, header_policy
from data.canonical import canonical_json, digest
from data.errors import BenchmintError
from data.neutralise import storable, visible
from data.staging.audit import evidence
from flows.audit_server.guard import Guard

SIGNATURES = "sign-offs.log"
_MAX_BODY = 16 * 1024
_MAX_NAME, _MAX_NOTE = 100, 2000
Handler = Callable[[Mapping[str, Any]], dict[str, Any]]
Download = Callable[[Mapping[str, Any]], bytes]


@dataclass(frozen=True, slots=True)
class Audit:
    """What is served: the directory, its columns, and the token that opens the private half.

    `items` are the ids as staging has them; the columns show them without control characters.
    """

    out: Path
    columns: Mapping[str, Any]
    items: tuple[str, ...]
    token: str = field(repr=False)


class Refused(Exception):
    """A request that is not answered: status code, and what the person may do."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def audit_app(audit: Audit, port: int) -> Guard:
    """The application, behind the checks of Host and Origin. Everything public is made once."""
    content = canonical_json(audit.columns)
    signs = _Signs(audit, digest(content))
    routes = [
        _fixed("/", audit_page(audit.columns, served=True).encode(), "text/html"),
        _fixed("/data.json", content, "application/json"),
        _made("/rejections.csv", audit, _csv, "text/csv"),
        _made("/rejections.json", audit, as_json, "application/json"),
        _private("/evidence", audit, signs.look),
        _private("/sign-off", audit, signs.sign),
        _private("/signed", audit, signs.signed),
    ]
    return Guard(Starlette(routes=routes), port, header_policy())


class _Signs:
    """What the token opens."""

    def __init__(self, audit: Audit, content: str) -> None:
        self._audit, self._content = audit, content
        private = audit.out / "private"
        self._looks, self._signatures = private / "access.log", private / SIGNATURES

    def look(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The text behind an item, named by its place. Logged first: no log, no text."""
        position = body.get("item")
        if type(position) is not int or not 0 <= position < len(self._audit.items):
            raise Refused(404, "No such item in this run.")
        item = self._audit.items[position]
        hash_chain.record_access(self._looks, "audit page", item)
        return {"turns": evidence(self._audit.out, item)}

    def sign(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Append a sign-off of exactly what the page shows: run, and digest of its columns."""
        about = self._audit.columns["about"]
        hash_chain.append(
            self._signatures,
            {
                "action": "sign-off",
                "run_id": about["run_id"],
                "rejections": about["n_rows"],
                "content_sha256": self._content,
                "name": _text(body, "name", _MAX_NAME),
                "note": _text(body, "note", _MAX_NOTE),
            },
        )
        return self.signed({})

    def signed(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """All sign-offs, newest first, once the chain was checked."""
        del body
        return {"signed": hash_chain.entries(self._signatures)[::-1]}


def _fixed(path: str, content: bytes, media: str) -> Route:
    async def answer(request: Request) -> Response:
        del request
        return Response(content, media_type=media)

    return Route(path, answer, methods=["GET"])


def _made(path: str, audit: Audit, make: Download, media: str) -> Route:
    """A download, made when it is asked for."""
    headers = {"Content-Disposition": f'attachment; filename="{path[1:]}"'}

    async def answer(request: Request) -> Response:
        del request
        content = await anyio.to_thread.run_sync(make, audit.columns)
        return Response(content, media_type=media, headers=headers)

    return Route(path, answer, methods=["GET"])


def _csv(columns: Mapping[str, Any]) -> bytes:
    return as_csv(columns).encode()


def _private(path: str, audit: Audit, handler: Handler) -> Route:
    async def answer(request: Request) -> Response:
        try:
            body = await _json_body(request, audit.token)
            answer = await anyio.to_thread.run_sync(handler, body)
        except Refused as refused:
            return _json({"error": refused.message}, refused.status)
        except (BenchmintError, OSError) as error:
            # Such messages hold names and paths, never session text.
            return _json({"error": f"{type(error).__name__}: see the files in private/."}, 500)
        return _json(answer, 200)

    return Route(path, answer, methods=["POST"])


async def _json_body(request: Request, token: str) -> dict[str, Any]:
    given = request.headers.get("x-audit-token", "")
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise Refused(403, "This is not the token that the command printed.")
    if request.headers.get("content-type") != "application/json":
        raise Refused(415, "Send application/json.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY:
            raise Refused(413, f"At most {_MAX_BODY} bytes.")
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        parsed = None
    if not isinstance(parsed, dict):
        raise Refused(400, "Send a JSON object.")
    return parsed


def _text(body: Mapping[str, Any], name: str, most: int) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise Refused(400, f"{name}: give a text of 1 to {most} characters.")
    return visible(str(storable(value.strip())))


def _json(answer: Mapping[str, Any], status: int) -> Response:
    return Response(orjson.dumps(answer), status, media_type="application/json")
