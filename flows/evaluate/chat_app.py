"""A server of chat completions: it reads requests, which are hostile, and others answer them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from data.chat_wire import ChatRequest
from data.neutralise import one_line, storable_tree

MODEL = "benchmint"
_MOST_BYTES = 32 << 20


class NoMoreAnswers(Exception):
    """There is no answer to this request, nor to a later one."""


def chat_app(answer: Callable[[ChatRequest], Awaitable[str]]) -> Starlette:
    """An application with one model.

    `answer` gives the body of a reply. It may raise ValidationError or NoMoreAnswers.
    """

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def complete(request: Request) -> Response:
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > _MOST_BYTES:
                return _refused(413, f"more than {_MOST_BYTES:,} bytes")
        try:
            chat = ChatRequest.model_validate(storable_tree(json.loads(content)))
            body = await answer(chat)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            return _refused(400, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except (ValueError, RecursionError):
            return _refused(400, "no JSON")
        except NoMoreAnswers:
            return _refused(429, "the attempt has ended")
        kind = "text/event-stream" if chat.stream else "application/json"
        return Response(body, media_type=kind)

    routes = [
        Route("/v1/models", models),
        Route("/v1/chat/completions", complete, methods=["POST"]),
    ]
    return Starlette(routes=routes)


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": one_line(message)[:500], "code": status}}, status)
