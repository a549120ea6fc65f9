"""Listening on this machine alone, and answering only who calls the server by its name (law 10)."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from data.errors import InputError

LOOPBACK = "127.0.0.1"
_SECONDS = 10.0  # to connect to this machine
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def listen(port: int) -> socket.socket:
    """A socket that takes connections already; port 0 takes a free one.

    Clients may connect at once. Raises InputError if the port cannot be taken, or if nobody could
    connect: there are machines without a loopback.
    """
    _require_loopback()
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


def _require_loopback() -> None:
    """Raise InputError if what listens on the loopback cannot be reached."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        try:
            listening.bind((LOOPBACK, 0))
            listening.listen()
            socket.create_connection(listening.getsockname(), _SECONDS).close()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(
                LOOPBACK, reason, "this machine's loopback", "Bring it up: ip link set lo up"
            ) from error


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

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or refusal(scope["headers"], port) is None:
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b"wrong Host or Origin\n"})

    return answer


def own_hosts(port: int) -> list[str]:
    """What clients on this machine may call a server on this port."""
    return [f"{name}:{port}" for name in (LOOPBACK, "localhost")]


def own_origins(port: int) -> list[str]:
    """Where the pages of a server on this port come from."""
    return [f"http://{host}" for host in own_hosts(port)]


def refusal(headers: Iterable[tuple[bytes, bytes]], port: int) -> str | None:
    """Why a request with these headers is refused by the server on this port; None if it is not."""
    values: dict[bytes, list[str]] = {b"host": [], b"origin": []}
    for name, value in headers:
        values.setdefault(name, []).append(value.decode("latin-1"))
    if values[b"host"] not in [[host] for host in own_hosts(port)]:
        return "The Host header does not match this server."
    if values[b"origin"] not in [[], *([origin] for origin in own_origins(port))]:
        return "The Origin header does not match this server."
    return None
