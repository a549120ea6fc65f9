"""Servers that attack the probe, over real sockets."""

from __future__ import annotations

import asyncio
import gzip
import resource
import zlib
from pathlib import Path

import pytest

from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from construction.sessions.network.probe import Captures, frozen_path, probe_urls
from construction.sessions.network.transport import (
    ProbeFailure,
    Wire,
    _BoundedBody,
    _system_connect,
)
from tests.construction.sessions.network.servers import PUBLIC, Handler, LocalServer, respond
from tests.construction.sessions.network.wires import AT_ONCE, TRUST

URL = "http://a.example/x"
MEGABYTE = 1_000_000
BOMB = gzip.compress(bytes(50 * MEGABYTE), mtime=0)


def freezing(**changes: float) -> NetworkConfig:
    settings = {"attempts": 1, "max_bytes": MEGABYTE, "deadline": 1.0, **changes}
    return NetworkConfig.model_validate({"mode": "freeze", **settings})


CHECK = NetworkConfig(attempts=1, deadline=1.0)


def probe(handler: Handler, config: NetworkConfig, folder: Path | None = None) -> ProbeResult:
    with LocalServer(handler) as server:
        results = probe_urls([URL], config, AT_ONCE, Captures(), folder, server.wire())
        assert set(server.addresses) == {PUBLIC}
    return results[URL]


async def never(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def silent(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    await never(writer)


async def slow_head(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    for byte in respond():
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def slow_body(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def endless_body(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_chunks(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        await writer.drain()


async def endless_header(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_headers(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: 1\r\n" * 10000)
        await writer.drain()


async def endless_interim(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)
        await writer.drain()


async def noise(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00\xff" * 500 + b"\r\n\r\n")


async def hang_up(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def too_short(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nshort")


async def too_long(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshort and much more")


async def claims_much(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n")
    await never(writer)


async def bomb(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(respond("200 OK", BOMB, "Content-Encoding: gzip"))


async def two_layers(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    packed = gzip.compress(gzip.compress(b"x"))
    writer.write(respond("200 OK", packed, "Content-Encoding: gzip, gzip"))


async def not_gzip(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(respond("200 OK", b"plain", "Content-Encoding: gzip"))


async def cut_gzip(method: str, target: str, writer: asyncio.StreamWriter) -> None:
    writer.write(respond("200 OK", gzip.compress(b"x" * 999)[:-9], "Content-Encoding: gzip"))


@pytest.mark.parametrize(
    ("handler", "cause"),
    [
        (silent, Cause.TIMEOUT),
        (slow_head, Cause.TIMEOUT),
        (slow_body, Cause.TIMEOUT),
        (endless_body, Cause.TOO_LARGE),
        (endless_chunks, Cause.TOO_LARGE),
        (endless_header, Cause.BROKEN_RESPONSE),
        (endless_headers, Cause.BROKEN_RESPONSE),
        (endless_interim, Cause.TIMEOUT),
        (noise, Cause.BROKEN_RESPONSE),
        (hang_up, Cause.BROKEN_RESPONSE),
        (too_short, Cause.BROKEN_RESPONSE),
        (claims_much, Cause.TOO_LARGE),
        (bomb, Cause.TOO_LARGE),
        (two_layers, Cause.BROKEN_RESPONSE),
        (not_gzip, Cause.BROKEN_RESPONSE),
        (cut_gzip, Cause.BROKEN_RESPONSE),
    ],
)
def test_an_attack_ends_in_a_result(handler: Handler, cause: Cause, tmp_path: Path) -> None:
    result = probe(handler, freezing(), tmp_path)
    assert (result.cause, result.sha256) == (cause, None)
    assert list(tmp_path.iterdir()) == []


def test_a_body_longer_than_it_claims_is_cut(tmp_path: Path) -> None:
    result = probe(too_long, freezing(), tmp_path)
    assert (result.cause, result.bytes) == (None, 5)
    assert frozen_path(str(result.sha256), tmp_path).read_bytes() == b"short"


@pytest.mark.parametrize("handler", [slow_body, endless_body, too_short, claims_much, bomb])
def test_a_check_never_reads_the_body(handler: Handler) -> None:
    async def only_get(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        if method == "HEAD":
            writer.write(respond("405 Not Allowed"))
        else:
            await handler(method, target, writer)

    assert probe(only_get, CHECK) == ProbeResult(URL, None, 200)


def test_the_deadline_holds_over_all_hops_and_attempts() -> None:
    async def tar_pit(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        hop = int(target.removeprefix("/x") or 0)
        writer.write(respond("302 Found", b"", f"Location: /x{hop + 1}"))

    result = probe(tar_pit, NetworkConfig(attempts=10, deadline=0.7, max_redirects=50))
    assert result.cause is Cause.TIMEOUT
    assert 1 <= result.hops <= 3


@pytest.mark.parametrize("layer", [zlib.compress, gzip.compress])
def test_a_bomb_is_never_unpacked_beyond_the_limit(layer: object) -> None:
    assert callable(layer)
    packed = layer(bytes(300 * MEGABYTE))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    body = _BoundedBody(MEGABYTE, "deflate")
    with pytest.raises(ProbeFailure) as caught:
        body.feed(packed)
    assert caught.value.cause is Cause.TOO_LARGE
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # KiB


def test_packed_bodies_are_unpacked_across_chunks_and_members() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two")
    for size in (1, 7, len(packed)):
        body = _BoundedBody(7, "GZIP")
        for start in range(0, len(packed), size):
            body.feed(packed[start : start + size])
        assert body.finish() == b"one two"


def test_a_real_loopback_server_is_out_of_reach() -> None:
    """The system's own connector: a name, a literal and an odd notation of this machine."""

    async def page(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(respond())

    async def resolve(host: str) -> list[str]:
        return ["127.0.0.1"]

    with LocalServer(page) as server:
        wire = Wire(resolve, _system_connect, TRUST)
        urls = [f"http://{host}:{server.port}/" for host in ("a.example", "127.0.0.1", "0x7f.1")]
        results = probe_urls(urls, CHECK, AT_ONCE, Captures(), wire=wire)
        assert {result.cause for result in results.values()} == {Cause.FORBIDDEN_ADDRESS}
        assert server.requests == []


@pytest.mark.full
@pytest.mark.slow(seconds=35)
def test_ten_thousand_urls_in_flat_memory() -> None:
    async def page(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(respond("200 OK" if method == "GET" else "405 Not Allowed", b"x" * 20_000))

    def run(server: LocalServer, start: int, count: int) -> int:
        urls = [f"http://h{n % 500}.example/{n}" for n in range(start, start + count)]
        runtime = AT_ONCE.model_copy(update={"concurrency": 8})
        results = probe_urls(urls, NetworkConfig(), runtime, Captures(), wire=server.wire())
        assert len(results) == count
        assert all(result.cause is None for result in results.values())
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with LocalServer(page) as server:
        first = run(server, 0, 1000)
        last = run(server, 1000, 9000)
        assert server.most_open <= 9
    assert last - first < 40_000  # KiB, for nine times as many results
