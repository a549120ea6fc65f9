"""The operations of services as REST routes with a generated OpenAPI description.

GET    /mail/messages?query=...                 search
GET    /mail/messages/ID                        get
POST   /mail/drafts                             create
PATCH  /mail/drafts/ID                          update
DELETE /mail/messages/ID                        delete
POST   /mail/messages/send_message              a special operation that makes a record
POST   /mail/messages/ID/reply_to_message       a special operation on a record
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from construction.workflows import contracts
from construction.workflows.contracts import Refused
from construction.workflows.declaration import Operation, operations
from construction.workflows.engine import MAX_REQUEST_BYTES
from construction.workflows.values import FieldType, json_schema, object_schema
from data.canonical import canonical_json
from flows.services.instance import Instance, InstanceGone
from flows.services.page import page_html, page_style
from flows.services.tokens import INSTANCE

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
GONE = 503
_METHODS = {"search": "GET", "get": "GET", "update": "PATCH", "delete": "DELETE"}
_RETRY = {"retry-after": "1"}
# As JSON writes numbers: Python's own reading would take 1_0, nan and digits of other scripts too.
_INTEGER = re.compile(r"-?[0-9]{1,30}")
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")
_PARTS, _ID = (4, 5), 3  # of a path with an id: how many there are, and which one it is
Endpoint = Callable[[Request], Awaitable[Response]]


def http_app(services: Iterable[str]) -> FastAPI:
    """The application; what stands before it puts the caller's instance into the scope."""
    app = FastAPI(title="Controlled services", version="1", docs_url=None, redoc_url=None)
    app.add_api_route("/", _page, include_in_schema=False)
    app.add_api_route("/page.css", _style, include_in_schema=False)
    for name in services:
        for operation in operations(name).values():
            app.add_api_route(
                path_of(operation),
                _endpoint(operation),
                methods=[method_of(operation)],
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


class Routes:
    """The endpoints of `http_app`, found by two look-ups instead of by trying route after route.

    FastAPI's way to an endpoint takes longer than the answer. It describes the routes, and answers
    what is none of them.
    """

    def __init__(self, services: Iterable[str]) -> None:
        names = list(services)
        self._described: ASGIApp = http_app(names)
        self._endpoints = {
            (method_of(operation), path_of(operation)): _endpoint(operation)
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

    def _endpoint_of(self, method: str, path: str) -> tuple[Endpoint | None, dict[str, str]]:
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


def method_of(operation: Operation) -> str:
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
    if method_of(operation) in ("GET", "DELETE"):
        queried = [
            {"name": name, "in": "query", "required": False, "schema": json_schema(rule)}
            for name, rule in others.items()
        ]
        return {"parameters": identity + queried}
    schema = object_schema(others)
    content = {"application/json": {"schema": schema}}
    body = {"required": bool(schema["required"]), "content": content}
    return {"parameters": identity, "requestBody": body}


def _endpoint(operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        instance: Instance = request.scope[INSTANCE]
        if method_of(operation) in ("GET", "DELETE"):
            arguments: Any = _queried(request, operation)
        else:
            arguments = await _body(request)
        if isinstance(arguments, dict) and "id" in request.path_params:
            arguments = {**arguments, "id": request.path_params["id"]}
        wanted = contracts.Request(operation.service, operation.name, arguments)
        return await answered(instance, wanted)

    return endpoint


async def answered(instance: Instance, request: contracts.Request) -> Response:
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
    return Response(page_html(request.scope[INSTANCE]), media_type="text/html; charset=utf-8")


async def _style() -> Response:
    return Response(page_style(), media_type="text/css; charset=utf-8")


async def _unrouted(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = "no such address or method; /openapi.json lists them"
    return _json({"error": Refused.UNKNOWN_OPERATION.value, "message": message}, status)


async def _gone(_request: Request, _error: Exception) -> Response:
    return _json({"error": "instance_gone", "message": "this instance has ended"}, GONE)
