"""Listening on this machine alone, and answering only who calls the server by its name."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from data.errors import InputError

LOOPBACK = "127.0.0.1"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def listen(port: int) -> socket.socket:
    """A socket that takes connections already; port 0 takes a free one.

    Whoever is told the address may come at once. Raises InputError if the port cannot be taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen()
    except OSError as error:
        listening.close()
        reason = error.strerror or type(error).__name__
        raise InputError(f"port {port}", reason, "a free port", "Choose another port.") from error
    return listening


def is_free(port: int) -> bool:
    """Could a server listen there now?"""
    try:
        listen(port).close()
    except InputError:
        return False
    return True


def guarded_app(app: Application, port: int) -> Application:
    """An ASGI application that refuses a Host or an Origin that is not this server (law 10).

    Otherwise a page of another site, or a name that was made to point to the loopback, could start
    whatever the application can.
    """
    hosts = {f"{name}:{port}".encode() for name in (LOOPBACK, "localhost")}
    origins = {b"http://" + host for host in hosts}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _is_own(scope["headers"], hosts, origins):
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b"wrong Host or Origin\n"})

    return answer


def _is_own(headers: list[tuple[bytes, bytes]], hosts: set[bytes], origins: set[bytes]) -> bool:
    values = {b"host": [b""], b"origin": []} | {name: [] for name, _ in headers}
    for name, value in headers:
        values[name].append(value)
    return set(values[b"host"]) <= hosts and set(values[b"origin"]) <= origins
