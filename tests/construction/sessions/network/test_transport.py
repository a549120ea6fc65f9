"""The door to the network: nothing is connected to that was not checked."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.gates.network import Cause
from construction.sessions.network.transport import (
    GuardedBackend,
    HostTurns,
    ProbeFailure,
    Resolve,
    Wire,
    is_literal,
    is_public,
    port_allowed,
)
from tests.construction.sessions.network.wires import TRUST, ScriptedStream

# Turns of hosts are kept while they matter, however many hosts come by.


async def pass_by(turns: HostTurns, count: int) -> None:
    for number in range(count):
        async with turns.turn(f"h{number}.example"):
            pass


def test_a_host_that_is_being_asked_is_not_forgotten() -> None:
    async def scene() -> None:
        turns = HostTurns(delay=0)
        async with turns.turn("busy.example"):
            await pass_by(turns, 3000)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05), turns.turn("busy.example"):
                    pass

    asyncio.run(scene())


def test_a_host_that_was_just_asked_is_not_forgotten() -> None:
    async def scene() -> None:
        turns = HostTurns(delay=30)
        async with turns.turn("busy.example"):
            pass
        await pass_by(turns, 3000)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), turns.turn("busy.example"):
                pass

    asyncio.run(scene())


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:a00:1",
        "::ffff:0:7f00:1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::808:808",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:2::1",
        "2001:10::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:7f00:1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700:4700::1111%eth0",
        "fec0::1",
        "ff02::1",
        "127.1",
        "0177.0.0.1",
        "2130706433",
        "localhost",
        "",
    ],
)
def test_addresses_that_are_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.255.255",
        "172.32.8.9",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2606:4700::5efe:8.8.8.8",
    ],
)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_python_calls_no_refused_ipv4_address_global(address: ipaddress.IPv4Address) -> None:
    """A second opinion: what the standard library holds not to be global is refused here too."""
    if not address.is_global or address.is_multicast:
        assert not is_public(str(address))


@given(st.ip_addresses(v=6))
def test_python_calls_no_refused_ipv6_address_global(address: ipaddress.IPv6Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not is_public(str(address))


@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_judged_by_what_it_holds(address: ipaddress.IPv4Address) -> None:
    assert is_public(f"::ffff:{address}") == is_public(f"64:ff9b::{address}")
    assert is_public(f"::ffff:{address}") == is_public(str(address))


def test_ports() -> None:
    allowed = [
        port
        for port in (21, 22, 25, 79, 80, 443, 1023, 1024, 3000, 6379, 8080)
        if port_allowed(port)
    ]
    assert allowed == [80, 443, 1024, 3000, 6379, 8080]
    assert not any(port_allowed(port) for port in (0, 2049, 5060, 6000, 6667, 10080))


def test_literals() -> None:
    assert [host for host in ("1.2.3.4", "::1", "a.example", "1.2.3") if is_literal(host)] == [
        "1.2.3.4",
        "::1",
    ]


PUBLIC = "93.184.216.34"


class Recorder:
    """Connects to anything and remembers it; fails with `error` for addresses in `dead`."""

    def __init__(self, dead: tuple[str, ...] = (), error: Exception | None = None) -> None:
        self.seen: list[tuple[str, int]] = []
        self._dead = dead
        self._error = error or ConnectionRefusedError()

    async def __call__(self, address: str, port: int) -> httpcore.AsyncNetworkStream:
        self.seen.append((address, port))
        if address in self._dead:
            raise self._error
        return ScriptedStream(lambda request, secure: b"")


def answering(*addresses: str) -> Resolve:
    async def resolve(host: str) -> list[str]:
        return list(addresses)

    return resolve


def failing(error: Exception) -> Resolve:
    async def resolve(host: str) -> list[str]:
        raise error

    return resolve


def connect(host: str, resolve: Resolve, recorder: Recorder, port: int = 80) -> None:
    backend = GuardedBackend(Wire(resolve, recorder, TRUST))
    asyncio.run(_connect(backend, host, port))


async def _connect(backend: GuardedBackend, host: str, port: int) -> None:
    await backend.connect_tcp(host, port, timeout=1)
    await backend.aclose()


def failure(host: str, resolve: Resolve, recorder: Recorder) -> ProbeFailure:
    with pytest.raises(ProbeFailure) as caught:
        connect(host, resolve, recorder)
    return caught.value


@pytest.mark.parametrize(
    "addresses",
    [
        ("10.0.0.1",),
        (PUBLIC, "127.0.0.1"),
        ("127.0.0.1", PUBLIC),
        ("::ffff:169.254.169.254",),
        ("fe80::1%eth0",),
        ("not an address",),
    ],
)
def test_one_forbidden_answer_refuses_all(addresses: tuple[str, ...]) -> None:
    recorder = Recorder()
    error = failure("a.example", answering(*addresses), recorder)
    assert (error.cause, error.transient) == (Cause.FORBIDDEN_ADDRESS, False)
    assert recorder.seen == []


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1"])
def test_literals_are_checked_without_a_lookup(host: str) -> None:
    recorder = Recorder()
    error = failure(host, failing(AssertionError("looked up")), recorder)
    assert error.cause is Cause.FORBIDDEN_ADDRESS
    assert recorder.seen == []


def test_the_checked_address_is_the_one_connected_to_after_one_lookup() -> None:
    """A second look-up, which a rebinding server would answer otherwise, never happens."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])

    async def resolve(host: str) -> list[str]:
        return next(answers)

    recorder = Recorder()
    connect("a.example", resolve, recorder, 8080)
    assert recorder.seen == [("93.184.216.34", 8080)]
    assert next(answers) == ["127.0.0.1"]


def test_addresses_are_tried_in_turn_ipv4_first() -> None:
    recorder = Recorder(dead=("1.1.1.1",))
    connect("a.example", answering("2606:4700::1", "1.1.1.1", "1.1.1.1"), recorder)
    assert [address for address, _ in recorder.seen] == ["1.1.1.1", "2606:4700::1"]


def test_at_most_four_addresses_are_tried() -> None:
    many = tuple(f"1.1.1.{n}" for n in range(1, 100))
    recorder = Recorder(dead=many)
    error = failure("a.example", answering(*many), recorder)
    assert (error.cause, error.transient) == (Cause.NO_CONNECTION, True)
    assert len(recorder.seen) == 4


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError(errno.ENETUNREACH, "no route"), Cause.NO_NETWORK),
        (OSError(errno.EHOSTUNREACH, "no host"), Cause.NO_CONNECTION),
        (TimeoutError(), Cause.TIMEOUT),
        (httpcore.ConnectTimeout(), Cause.TIMEOUT),
        (httpcore.ConnectError(), Cause.NO_CONNECTION),
    ],
)
def test_why_no_connection_came_about(error: Exception, cause: Cause) -> None:
    raised = failure("a.example", answering(PUBLIC), Recorder((PUBLIC,), error))
    assert (raised.cause, raised.transient) == (cause, True)


def test_a_silent_address_times_out() -> None:
    async def silent(address: str, port: int) -> httpcore.AsyncNetworkStream:
        await asyncio.sleep(60)
        raise AssertionError

    backend = GuardedBackend(Wire(answering(PUBLIC), silent, TRUST))
    with pytest.raises(ProbeFailure) as caught:
        asyncio.run(backend.connect_tcp("a.example", 80, timeout=0.05))
    assert caught.value.cause is Cause.TIMEOUT


@pytest.mark.parametrize(
    ("resolve", "cause", "transient"),
    [
        (answering(), Cause.NO_SUCH_HOST, False),
        (failing(socket.gaierror(socket.EAI_NONAME, "")), Cause.NO_SUCH_HOST, False),
        (failing(socket.gaierror(socket.EAI_AGAIN, "")), Cause.NO_NETWORK, True),
        (failing(TimeoutError()), Cause.NO_NETWORK, True),
    ],
)
def test_why_a_name_was_not_resolved(resolve: Resolve, cause: Cause, transient: bool) -> None:
    error = failure("a.example", resolve, Recorder())
    assert (error.cause, error.transient) == (cause, transient)


def test_faults_of_the_prober_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        connect("a.example", failing(ZeroDivisionError()), Recorder())
