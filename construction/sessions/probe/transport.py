"""The one door to the network: resolve, check every address, connect to exactly what was checked.

The check sits where the socket is opened, so every request and every redirect passes it, and no
second look-up can give another answer. Nothing configures it. `Wire` lets tests replace what
lies *behind* it: who answers names, and who opens sockets to addresses already found public.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import httpcore

from construction.sessions.gates.network import Cause
from construction.sessions.probe.address import is_literal, is_public

Resolve = Callable[[str], Awaitable[list[str]]]
Connect = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]

_MAX_ADDRESSES = 4
_NO_WAY_OUT = frozenset({errno.ENETUNREACH, errno.ENETDOWN})
_CONNECT_ERRORS = (OSError, httpcore.ConnectError, httpcore.ConnectTimeout)


class ProbeFailure(Exception):
    """The network kept a URL from being reached: a result, never an error of the prober.

    `transient` trouble may pass; `status` is that of a response that began and did not end well.
    """

    def __init__(self, cause: Cause, *, transient: bool = False, status: int | None = None) -> None:
        super().__init__(cause.value)
        self.cause = cause
        self.transient = transient
        self.status = status


async def system_resolve(host: str) -> list[str]:
    """All addresses of an absolute name; search domains are not tried."""
    loop = asyncio.get_running_loop()
    answers = await loop.getaddrinfo(f"{host}.", None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in answers]


async def system_connect(address: str, port: int) -> httpcore.AsyncNetworkStream:
    return await httpcore.AnyIOBackend().connect_tcp(address, port)


@dataclass(frozen=True, slots=True)
class Wire:
    """How names are resolved and sockets opened, and which certificates are trusted."""

    resolve: Resolve = system_resolve
    connect: Connect = system_connect
    ssl_context: ssl.SSLContext = field(default_factory=httpcore.default_ssl_context)


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's way to the network for one exchange; `aclose` closes all it opened."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._streams: list[httpcore.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a public address of `host`, or raise ProbeFailure."""
        failure = ProbeFailure(Cause.NO_CONNECTION, transient=True)
        for address in (await self._checked_addresses(host, timeout))[:_MAX_ADDRESSES]:
            try:
                async with asyncio.timeout(timeout):
                    stream = await self._wire.connect(address, port)
            except _CONNECT_ERRORS as error:
                failure = ProbeFailure(_cause_of(error), transient=True)
                continue
            self._streams.append(stream)
            return stream
        raise failure

    async def _checked_addresses(self, host: str, timeout: float | None) -> list[str]:
        """The addresses of `host`, IPv4 first. One that is not public refuses them all."""
        found = [host] if is_literal(host) else await self._resolved(host, timeout)
        if not found:
            raise ProbeFailure(Cause.NO_SUCH_HOST)
        if not all(is_public(address) for address in found):
            raise ProbeFailure(Cause.FORBIDDEN_ADDRESS)
        return sorted(dict.fromkeys(found), key=lambda text: ipaddress.ip_address(text).version)

    async def _resolved(self, host: str, timeout: float | None) -> list[str]:
        try:
            async with asyncio.timeout(timeout):
                return await self._wire.resolve(host)
        except socket.gaierror as error:
            if error.errno in (socket.EAI_AGAIN, socket.EAI_FAIL):
                raise ProbeFailure(Cause.NO_NETWORK, transient=True) from error
            raise ProbeFailure(Cause.NO_SUCH_HOST) from error
        except TimeoutError as error:
            raise ProbeFailure(Cause.NO_NETWORK, transient=True) from error

    async def aclose(self) -> None:
        for stream in self._streams:
            await stream.aclose()


def _cause_of(error: BaseException) -> Cause:
    """Which cause a failed connect has; httpcore and anyio wrap the error of the socket."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _NO_WAY_OUT:
            return Cause.NO_NETWORK
        if isinstance(cause, TimeoutError | httpcore.ConnectTimeout):
            return Cause.TIMEOUT
        cause = cause.__cause__
    return Cause.NO_CONNECTION
