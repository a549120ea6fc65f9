"""The door to the network: nothing is connected to that was not checked."""

from __future__ import annotations

import asyncio
import errno
import socket

import httpcore
import pytest

from construction.sessions.gates.network import Cause
from construction.sessions.probe import Wire
from construction.sessions.probe.transport import GuardedBackend, ProbeFailure, Resolve
from tests.construction.sessions.probe.wires import TRUST, ScriptedStream

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
    found = failure("a.example", answering(PUBLIC), Recorder((PUBLIC,), error))
    assert (found.cause, found.transient) == (cause, True)


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
