"""The proxy for named hosts: what gets through, what does not, and what is written down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from construction.mentions.urls import parse_url
from construction.sessions.network.forward_proxy import (
    ForwardProxy,
    _origin_head,
    _ProxyLimits,
    allowed_hosts,
    proxying,
)
from construction.sessions.network.transport import Wire
from data.loopback import listen
from tests.construction.sessions.network.servers import LocalServer, respond
from tests.construction.sessions.network.wires import TRUST

ALLOWED = allowed_hosts(["http://data.example.org/report.csv", "https://files.example.com:8443/x"])
Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


async def hello(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(respond(body=f"{method} {target}".encode()))


async def flood(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    for _ in range(200):
        writer.write(b"x" * 100_000)
        await writer.drain()


def sends(request: bytes) -> Client:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(request)
        return await reader.read()

    return client


def served(proxy: ForwardProxy, *clients: Client) -> list[bytes]:
    """What each client, all at the same time, hears from the proxy."""

    async def run() -> list[bytes]:
        listening = listen(0)
        port = listening.getsockname()[1]

        async def session(client: Client) -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                return await client(reader, writer)
            except ConnectionError:
                return b"reset"
            finally:
                writer.close()

        async with proxying(listening, proxy):
            return list(await asyncio.gather(*map(session, clients)))

    return asyncio.run(run())


def get(url: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {url} HTTP/1.1", *headers, "", ""]).encode("latin-1")


def test_an_allowed_host_is_reached_and_the_request_is_written_down() -> None:
    with LocalServer(hello) as server:
        proxy = ForwardProxy(ALLOWED, wire=server.wire())
        (answer,) = served(
            proxy, sends(get("http://data.example.org/report.csv", "Host: data.example.org"))
        )
    assert answer.endswith(b"GET /report.csv")
    (row,) = proxy.rows
    assert (row.operation, row.status) == ("GET http://data.example.org/report.csv", "ok")
    assert row.arguments == {"sent": 0, "received": len(answer)}


def test_a_tunnel_carries_bytes_both_ways() -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"CONNECT files.example.com:8443 HTTP/1.1\r\n\r\n")
        opened = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /inside HTTP/1.1\r\n\r\n")
        return opened + await reader.read()

    with LocalServer(hello) as server:
        proxy = ForwardProxy(ALLOWED, wire=server.wire())
        (answer,) = served(proxy, client)
    assert answer.startswith(b"HTTP/1.1 200 connected") and answer.endswith(b"GET /inside")
    assert proxy.rows[0].operation == "CONNECT https://files.example.com:8443/"
    assert proxy.rows[0].arguments["sent"] == len(b"GET /inside HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (get("http://other.example.org/"), "not_allowed other.example.org:80"),
        (get("http://data.example.org:8080/"), "not_allowed data.example.org:8080"),
        (get("http://data.example.org@127.0.0.1/"), "not_allowed 127.0.0.1:80"),
        (get("http://127.0.0.1:22/"), "not_allowed 127.0.0.1:22"),
        (b"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", "not_allowed 169.254.169.254:80"),
        (b"CONNECT data.example.org:22 HTTP/1.1\r\n\r\n", "not_allowed data.example.org:22"),
        (get("/report.csv", "Host: data.example.org"), "malformed"),
        (get("https://data.example.org/"), "malformed"),
        (get("http://data.example.org/", "X: a\nHost: other.example.org"), "malformed"),
        (get("http://data.example.org/", "X: a", " folded"), "malformed"),
        (get("http://data.example.org/", "Host : other.example.org"), "malformed"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", "malformed"),
        (b"GET " + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n", "no_request"),
        (get("http://gone.example.org/"), "not_allowed gone.example.org:80"),
    ],
)
def test_everything_else_is_refused_and_written_down(request_head: bytes, status: str) -> None:
    with LocalServer(hello) as server:
        proxy = ForwardProxy(ALLOWED, wire=server.wire())
        served(proxy, sends(request_head))
        assert server.requests == []
    assert [row.status for row in proxy.rows] == [status]


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.8", "169.254.169.254", "::1"])
def test_an_allowed_name_that_points_inwards_is_not_connected_to(address: str) -> None:
    connected: list[str] = []

    async def resolve(host: str) -> list[str]:
        return ["93.184.216.34", address]

    async def connect(address: str, port: int) -> object:
        connected.append(address)
        raise OSError

    proxy = ForwardProxy(ALLOWED, wire=Wire(resolve, connect, TRUST))  # type: ignore[arg-type]
    (answer,) = served(proxy, sends(get("http://data.example.org/")))
    assert answer.startswith(b"HTTP/1.1 502")
    assert (proxy.rows[0].status, connected) == ("forbidden_address", [])


def test_headers_for_the_proxy_stay_here_and_the_host_is_the_one_checked() -> None:
    url = parse_url("http://data.example.org:8080/a?b=1")
    assert url is not None
    headers = [b"Host: evil.example", b"Proxy-Authorization: x", b"Connection: keep-alive", b"A: b"]
    assert _origin_head(url, [b"PUT http://data.example.org:8080/a?b=1 HTTP/1.1", *headers]) == (
        b"PUT /a?b=1 HTTP/1.1\r\nHost: data.example.org:8080\r\nA: b\r\nConnection: close\r\n\r\n"
    )


def test_bytes_requests_and_connections_are_limited() -> None:
    with LocalServer(flood) as server:
        limits = _ProxyLimits(requests=2, total_bytes=1_000_000)
        proxy = ForwardProxy(ALLOWED, limits, server.wire())
        for _ in range(4):
            served(proxy, sends(get("http://data.example.org/")))
    assert [row.status for row in proxy.rows] == ["broken_off", "broken_off", "too_many_requests"]
    assert sum(row.arguments["received"] for row in proxy.rows) <= 1_000_000


def test_a_client_that_says_nothing_is_let_go_and_keeps_nobody_out() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET http://data.exam")
        return await reader.read()

    with LocalServer(hello) as server:
        limits = _ProxyLimits(at_once=3, head_seconds=0.3)
        proxy = ForwardProxy(ALLOWED, limits, server.wire())
        started = time.monotonic()
        served(proxy, *[silent] * 5)
        assert time.monotonic() - started < 5
        after = served(proxy, sends(get("http://data.example.org/")))
    statuses = sorted(row.status for row in proxy.rows)
    assert statuses == ["no_request"] * 3 + ["ok"] + ["too_many_at_once"] * 2
    assert after[0].startswith(b"HTTP/1.1 200")


def test_a_server_that_says_nothing_is_given_up() -> None:
    async def silent(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    with LocalServer(silent) as server:
        proxy = ForwardProxy(ALLOWED, _ProxyLimits(idle_seconds=0.3), server.wire())
        served(proxy, sends(get("http://data.example.org/")))
    assert proxy.rows[0].status == "broken_off"
