"""The HTTP server: connections that ask for nothing do not keep others out."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import httpx
import pytest
from starlette.responses import PlainTextResponse

from data.loopback import listen
from flows import http_server
from flows.http_server import Guard, serving

CONNECTIONS = 20
Doing = Callable[[int], Awaitable[None]]


def served(doing: Doing) -> None:
    async def run() -> None:
        listening = listen(0)
        port = listening.getsockname()[1]
        app = Guard(PlainTextResponse("here"), port, "default-src 'none'")
        async with serving(app, listening, CONNECTIONS):
            await doing(port)

    asyncio.run(run())


async def answer_of(port: int) -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"http://127.0.0.1:{port}/")).status_code


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_half_open_connections_do_not_block_a_server(sent: bytes) -> None:
    async def doing(port: int) -> None:
        opened = []
        for _ in range(3 * CONNECTIONS):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            opened.append(writer)
        assert await answer_of(port) == 200
        for writer in opened:
            writer.close()

    served(doing)


def test_many_half_open_connections_at_once_do_not_block_a_server() -> None:
    async def doing(port: int) -> None:
        opened = [socket.create_connection(("127.0.0.1", port)) for _ in range(3 * CONNECTIONS)]
        assert await answer_of(port) == 200
        for connection in opened:
            connection.close()

    served(doing)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: ",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf",
    ],
)
def test_a_request_that_takes_too_long_to_arrive_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(http_server, "_REQUEST_SECONDS", 0.3)

    async def doing(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        with pytest.raises(ConnectionError):
            while await asyncio.wait_for(reader.read(4096), timeout=5):
                pass
            raise ConnectionError
        writer.close()
        assert await answer_of(port) == 200

    served(doing)


def test_a_connection_that_is_kept_open_is_answered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_REQUEST_SECONDS", 0.3)

    async def doing(port: int) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            statuses = []
            for _ in range(3):
                statuses.append((await client.get(f"http://127.0.0.1:{port}/")).status_code)
                await asyncio.sleep(0.4)
            assert statuses == [200, 200, 200]

    served(doing)
