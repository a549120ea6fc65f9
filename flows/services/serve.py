"""Serving instances over HTTP and MCP on one socket, for callers of this machine alone."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from construction.workflows import contracts
from construction.workflows.contracts import Fields, Refused
from construction.workflows.declaration import Operation, operations, service
from construction.workflows.engine import MAX_REQUEST_BYTES
from construction.workflows.values import FieldType, json_schema, object_schema
from data.canonical import canonical_json
from data.neutralise import one_line
from flows.http_server import Guard, serve_app, serving
from flows.mcp_serving import PATH as MCP_PATH
from flows.mcp_serving import http_app as mcp_http_app
from flows.services.instance import Instance, InstanceGone
from flows.services.mcp_app import INSTANCE, Instances, TokenCheck, mcp_server

# The operations of services as REST routes with a generated OpenAPI description.
#
# GET    /mail/messages?query=...                 search
# GET    /mail/messages/ID                        get
# POST   /mail/drafts                             create
# PATCH  /mail/drafts/ID                          update
# DELETE /mail/messages/ID                        delete
# POST   /mail/messages/send_message              a special operation that makes a record
# POST   /mail/messages/ID/reply_to_message       a special operation on a record

# The page for a person who tries a task's services: what they hold now, and what was asked.

_FOLDER = Path(__file__).parent / "templates"
_MAX_ROWS = 200  # of a collection and of the log
_MAX_CHARS = 400  # of a cell


def _page_html(instance: Instance) -> str:
    """The page as HTML. All values are escaped, and long ones cut."""
    world = instance.world
    changed = {(change.service, change.record) for change in instance.changes}
    log = list(enumerate(instance.audit, start=1))
    html: str = _template().render(
        now=world.now,
        actor=world.actor,
        was_killed=instance.was_killed,
        services=[
            {
                "name": name,
                "title": service(name).title,
                "collections": [
                    _collection(name, plural, records, changed)
                    for plural, records in sorted(collections.items())
                ],
            }
            for name, collections in sorted(world.state.items())
        ],
        requests=[
            [number, f"{row.service}.{row.operation}", _cell(row.arguments), row.status]
            for number, row in reversed(log[-_MAX_ROWS:])
        ],
        n_requests=len(log),
        n_changes=len(changed),
    )
    return html


def _page_style() -> bytes:
    return (_FOLDER / "page.css").read_bytes()


def _collection(
    name: str, plural: str, records: Mapping[str, Fields], changed: set[tuple[str, str]]
) -> dict[str, Any]:
    columns = ["id", *service(name).collections[plural].fields]
    used = [column for column in columns if any(column in fields for fields in records.values())]
    shown = list(records.values())[:_MAX_ROWS]
    return {
        "plural": plural,
        "columns": used,
        "n": len(records),
        "rows": [
            {
                "is_changed": (name, f"{plural}/{fields['id']}") in changed,
                "cells": [_cell(fields.get(column, "")) for column in used],
            }
            for fields in shown
        ],
    }


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value).decode()
    shown = one_line(text[:_MAX_CHARS])
    return shown if len(text) <= _MAX_CHARS else f"{shown}…"


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("page.html.j2")


STATUS = {
    Refused.UNKNOWN_SERVICE: 404,
    Refused.UNKNOWN_OPERATION: 404,
    Refused.INVALID_ARGUMENT: 400,
    Refused.NOT_FOUND: 404,
    Refused.CONFLICT: 409,
    Refused.NOT_ALLOWED: 403,
    Refused.RATE_LIMITED: 429,
    Refused.UNAVAILABLE: 500,
}
_GONE = 503
_METHODS = {"search": "GET", "get": "GET", "update": "PATCH", "delete": "DELETE"}
_RETRY = {"retry-after": "1"}
# As JSON writes numbers: Python's own reading would take 1_0, nan and digits of other scripts too.
_INTEGER = re.compile(r"-?[0-9]{1,30}")
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")
_PARTS, _ID = (4, 5), 3  # of a path with an id: how many there are, and which one it is
_Endpoint = Callable[[Request], Awaitable[Response]]


def _http_app(services: Iterable[str]) -> FastAPI:
    """The application; what stands before it puts the caller's instance into the scope."""
    app = FastAPI(title="Controlled services", version="1", docs_url=None, redoc_url=None)
    app.add_api_route("/", _page, include_in_schema=False)
    app.add_api_route("/page.css", _style, include_in_schema=False)
    for name in services:
        for operation in operations(name).values():
            app.add_api_route(
                path_of(operation),
                _endpoint(operation),
                methods=[_method_of(operation)],
                operation_id=f"{name}_{operation.name}",
                summary=operation.name.replace("_", " "),
                description=operation.about,
                tags=[name],
                openapi_extra=_described(operation),
                responses={status: {"description": reason.value} for reason, status in _answers()},
            )
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(InstanceGone, _gone)
    return app


class _Routes:
    """The endpoints of `_http_app`, found by two look-ups instead of by trying route after route.

    FastAPI's way to an endpoint takes longer than the answer. It describes the routes, and answers
    what is none of them.
    """

    def __init__(self, services: Iterable[str]) -> None:
        names = list(services)
        self._described: ASGIApp = _http_app(names)
        self._endpoints = {
            (_method_of(operation), path_of(operation)): _endpoint(operation)
            for name in names
            for operation in operations(name).values()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint, named = self._endpoint_of(scope["method"], scope["path"])
        if endpoint is None:
            await self._described(scope, receive, send)
            return
        request = Request({**scope, "path_params": named}, receive)
        try:
            response = await endpoint(request)
        except InstanceGone as error:
            response = await _gone(request, error)
        await response(scope, receive, send)

    def _endpoint_of(self, method: str, path: str) -> tuple[_Endpoint | None, dict[str, str]]:
        """The endpoint of an address, and what stands in its path."""
        if (endpoint := self._endpoints.get((method, path))) is not None:
            return endpoint, {}
        parts = path.split("/")
        if len(parts) not in _PARTS or not parts[_ID]:
            return None, {}
        template = "/".join((*parts[:_ID], "{id}", *parts[_ID + 1 :]))
        return self._endpoints.get((method, template)), {"id": parts[_ID]}


def path_of(operation: Operation) -> str:
    base = f"/{operation.service}/{operation.collection}"
    if operation.kind in ("search", "create"):
        return f"{base}/{operation.name}" if operation.special else base
    return f"{base}/{{id}}/{operation.name}" if operation.special else f"{base}/{{id}}"


def _method_of(operation: Operation) -> str:
    return _METHODS.get(operation.kind, "POST")


def _answers() -> Iterable[tuple[Refused, int]]:
    known = (Refused.UNKNOWN_SERVICE, Refused.UNKNOWN_OPERATION)
    return ((reason, status) for reason, status in STATUS.items() if reason not in known)


def _described(operation: Operation) -> dict[str, Any]:
    """The parameters or the body of an operation for OpenAPI."""
    others = {name: rule for name, rule in operation.arguments.items() if name != "id"}
    identity = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}] * (
        "id" in operation.arguments
    )
    if _method_of(operation) in ("GET", "DELETE"):
        queried = [
            {"name": name, "in": "query", "required": False, "schema": json_schema(rule)}
            for name, rule in others.items()
        ]
        return {"parameters": identity + queried}
    schema = object_schema(others)
    content = {"application/json": {"schema": schema}}
    body = {"required": bool(schema["required"]), "content": content}
    return {"parameters": identity, "requestBody": body}


def _endpoint(operation: Operation) -> _Endpoint:
    async def endpoint(request: Request) -> Response:
        instance: Instance = request.scope[INSTANCE]
        if _method_of(operation) in ("GET", "DELETE"):
            arguments: Any = _queried(request, operation)
        else:
            arguments = await _body(request)
        if isinstance(arguments, dict) and "id" in request.path_params:
            arguments = {**arguments, "id": request.path_params["id"]}
        wanted = contracts.Request(operation.service, operation.name, arguments)
        return await _answered(instance, wanted)

    return endpoint


async def _answered(instance: Instance, request: contracts.Request) -> Response:
    """The HTTP answer to a request; a slow service is waited for."""
    response = instance.answer(request)
    if response.delay_ms:
        await asyncio.sleep(response.delay_ms / 1000)
    status = 200 if response.refused is None else STATUS[response.refused]
    headers = _RETRY if response.refused is Refused.RATE_LIMITED else None
    return _json(dict(response.body), status, headers)


def _json(body: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(canonical_json(body), status, headers, media_type="application/json")


def _queried(request: Request, operation: Operation) -> dict[str, Any]:
    """The query as arguments: numbers and truth values where they are declared.

    What does not read as one stays a text, and what is there twice a list: the engine refuses it.
    """
    arguments: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        rule = operation.arguments.get(name)
        kind = rule.type if rule is not None else FieldType.TEXT
        arguments[name] = _read(values[0], kind) if len(values) == 1 else values
    return arguments


def _read(text: str, kind: FieldType) -> Any:
    if kind is FieldType.BOOLEAN:
        return {"true": True, "false": False}.get(text, text)
    if kind is FieldType.INTEGER and _INTEGER.fullmatch(text):
        return int(text)
    if kind is FieldType.NUMBER and _NUMBER.fullmatch(text):
        return float(text)
    return text


async def _body(request: Request) -> Any:
    """The JSON body, an empty object without one; None where it is none or too large."""
    raw = b""
    try:
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > MAX_REQUEST_BYTES:
                return None
        return orjson.loads(raw) if raw.strip() else {}
    except (orjson.JSONDecodeError, ClientDisconnect):
        return None


async def _page(request: Request) -> Response:
    return Response(_page_html(request.scope[INSTANCE]), media_type="text/html; charset=utf-8")


async def _style() -> Response:
    return Response(_page_style(), media_type="text/css; charset=utf-8")


async def _unrouted(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = "no such address or method; /openapi.json lists them"
    return _json({"error": Refused.UNKNOWN_OPERATION.value, "message": message}, status)


async def _gone(_request: Request, _error: Exception) -> Response:
    return _json({"error": "instance_gone", "message": "this instance has ended"}, _GONE)


_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_CONNECTIONS = 500


class _Fork:
    """Sends requests to MCP or to the routes by their path; MCP has the lifespan."""

    def __init__(self, services: Sequence[str], mcp: Starlette) -> None:
        self._routes, self._mcp = _Routes(services), mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "lifespan" or scope["path"] == MCP_PATH
        await (self._mcp if is_mcp else self._routes)(scope, receive, send)


def _guarded(mcp: Starlette, instances: Instances, port: int) -> Guard:
    fork = _Fork(instances.services(), mcp)
    return Guard(TokenCheck(fork, instances), port, _POLICY)


def serve_instances(instances: Instances, listening: socket.socket, port: int) -> None:
    """Serve until interrupted; callers name the server 127.0.0.1:PORT."""
    gc.freeze()  # worlds live as long as the server: no collection need visit them again
    serve_app(_guarded(mcp_http_app(mcp_server(), port), instances, port), listening, _CONNECTIONS)


@asynccontextmanager
async def serving_instances(
    instances: Instances, listening: socket.socket, port: int
) -> AsyncIterator[None]:
    """Serve in the running event loop while the block runs."""
    mcp = mcp_http_app(mcp_server(), port)
    async with (
        mcp.router.lifespan_context(mcp),
        serving(_guarded(mcp, instances, port), listening, _CONNECTIONS),
    ):
        yield
