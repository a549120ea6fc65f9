"""The only access to the network: resolves a name, checks every address, connects to a checked one.

The check is made where the socket is opened, so every request and every redirect passes it, and no
second name lookup can give a different answer. No setting turns it off. `Wire` lets tests replace
the parts *behind* it: name resolution, and the opening of sockets to addresses that were checked.
Sources of the ranges: IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its
updates), and the addresses at which clouds serve instance metadata.
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

_V4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network, unspecified
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; holds 100.100.100.200, metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host agent, behind a public-looking address
        "169.254.0.0/16",  # link-local; holds 169.254.169.254, metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; holds 192.0.0.192, metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # automatic multicast tunnelling
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_V6_GLOBAL = ipaddress.IPv6Network("2000::/3")
_V6 = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID, …
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: deprecated, and holds an IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
# IPv6 forms of IPv4 addresses that resolvers still return: judged by the embedded address.
_V4_INSIDE = tuple(ipaddress.IPv6Network(text) for text in ("::ffff:0:0/96", "64:ff9b::/96"))
# ISATAP interface identifiers embed an IPv4 address under any prefix (RFC 5214, 6.1).
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOW_32 = 0xFFFFFFFF

# Above the privileged ports, those on which browsers refuse http (WHATWG Fetch, "bad port").
_BAD_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679}
    | {6697, 10080}
)


def is_public(address: str) -> bool:
    """True if `address` (an IP literal) is globally routed unicast and not a metadata service.

    False for private, shared, loopback, link-local, multicast, reserved, unspecified, benchmark
    and documentation ranges, for IPv6 addresses that embed one of these (mapped, NAT64, ISATAP),
    for all 6to4, Teredo and IPv4-compatible addresses, and for text that is not an address.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in network for network in _V4)
    if ip.scope_id:
        return False
    low = ipaddress.IPv4Address(int(ip) & _LOW_32)
    if any(ip in network for network in _V4_INSIDE):
        return is_public(str(low))
    if (int(ip) >> 32) & _LOW_32 in _ISATAP and not is_public(str(low)):
        return False
    return ip in _V6_GLOBAL and not any(ip in network for network in _V6)


def is_literal(host: str) -> bool:
    """True if `host` is an IP address and not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def port_allowed(port: int) -> bool:
    """True for 80, 443 and unprivileged ports except those on which browsers refuse http."""
    return port in (80, 443) or (port >= 1024 and port not in _BAD_PORTS)


Resolve = Callable[[str], Awaitable[list[str]]]
Connect = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]

_MAX_ADDRESSES = 4
_NO_WAY_OUT = frozenset({errno.ENETUNREACH, errno.ENETDOWN})
_CONNECT_ERRORS = (OSError, httpcore.ConnectError, httpcore.ConnectTimeout)


class ProbeFailure(Exception):
    """The network failed to deliver a URL: a result of the probe, not an error of the prober.

    A `transient` failure is worth a retry; `status` is that of a response that broke off.
    """

    def __init__(self, cause: Cause, *, transient: bool = False, status: int | None = None) -> None:
        super().__init__(cause.value)
        self.cause = cause
        self.transient = transient
        self.status = status


async def _system_resolve(host: str) -> list[str]:
    """All addresses of an absolute name; search domains are not tried."""
    loop = asyncio.get_running_loop()
    answers = await loop.getaddrinfo(f"{host}.", None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in answers]


async def system_connect(address: str, port: int) -> httpcore.AsyncNetworkStream:
    return await httpcore.AnyIOBackend().connect_tcp(address, port)


@dataclass(frozen=True, slots=True)
class Wire:
    """How names are resolved and sockets opened, and which certificates are trusted."""

    resolve: Resolve = _system_resolve
    connect: Connect = system_connect
    ssl_context: ssl.SSLContext = field(default_factory=httpcore.default_ssl_context)


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's network backend for one exchange; `aclose` closes every stream it opened."""

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
        """The addresses of `host`, IPv4 first. If one is not public, all are refused."""
        addresses = [host] if is_literal(host) else await self._resolved(host, timeout)
        if not addresses:
            raise ProbeFailure(Cause.NO_SUCH_HOST)
        if not all(is_public(address) for address in addresses):
            raise ProbeFailure(Cause.FORBIDDEN_ADDRESS)
        return sorted(dict.fromkeys(addresses), key=lambda text: ipaddress.ip_address(text).version)

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
    """The cause of a failed connection; httpcore and anyio wrap the socket's error."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _NO_WAY_OUT:
            return Cause.NO_NETWORK
        if isinstance(cause, TimeoutError | httpcore.ConnectTimeout):
            return Cause.TIMEOUT
        cause = cause.__cause__
    return Cause.NO_CONNECTION
