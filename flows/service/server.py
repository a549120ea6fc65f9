"""Prefect's server on the loopback, answering only who calls it by that name.

Run as `python -m flows.service.server FOLDER PORT`: it listens first, tells its address in
FOLDER/url, and serves until it is ended.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

from data.atomic import write_bytes
from flows.service.settings import LOOPBACK

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def guarded_app(app: Application, port: int) -> Application:
    """Refuse a Host or an Origin that is not this server (law 10).

    Prefect checks neither: a page of another site, or a name that was made to point to the
    loopback, could start whatever the worker can run.
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


def serve(folder: Path, port: int) -> None:
    """Listen, tell the address, serve. Raises OSError if the port is taken."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((LOOPBACK, port))
    port = listening.getsockname()[1]
    # Before Prefect is imported: its pages learn the address of the API from these.
    os.environ["PREFECT_SERVER_API_HOST"] = LOOPBACK
    os.environ["PREFECT_SERVER_API_PORT"] = str(port)
    from prefect.server.api.server import create_app

    app = guarded_app(create_app(final=True), port)
    write_bytes(folder / "url", f"http://{LOOPBACK}:{port}/api\n".encode())
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
