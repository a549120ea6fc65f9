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
import re
import socket
import ssl
import string
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import httpcore

from construction.mentions.urls import WebUrl
from construction.sessions.gates.network import Cause, NetworkConfig
from data.randomness import keyed_hash

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
_Connect = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]

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


async def _system_connect(address: str, port: int) -> httpcore.AsyncNetworkStream:
    return await httpcore.AnyIOBackend().connect_tcp(address, port)


@dataclass(frozen=True, slots=True)
class Wire:
    """How names are resolved and sockets opened, and which certificates are trusted."""

    resolve: Resolve = _system_resolve
    connect: _Connect = _system_connect
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


# Sends one request and reads its answer, with limits on time, headers and body.
#
# Also the pace of requests: one at a time per host, with pauses, and the wait before a retry.

TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})  # statuses worth a retry
_FORGET_ABOVE = 1024
_JITTER_KEY = b"benchmint probe back-off"


@dataclass(slots=True)
class _Host:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    ready_at: float = 0.0


class HostTurns:
    """Admits one request per host at a time, with `delay` seconds between two requests."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until the host may be requested; hold its turn for the length of the context."""
        entry = self._entry(host)
        entry.waiting += 1
        try:
            async with entry.lock:
                await asyncio.sleep(max(0.0, entry.ready_at - time.monotonic()))
                try:
                    yield
                finally:
                    entry.ready_at = time.monotonic() + self._delay
        finally:
            entry.waiting -= 1

    def _entry(self, host: str) -> _Host:
        if host not in self._hosts and len(self._hosts) >= _FORGET_ABOVE:
            now = time.monotonic()
            busy = {
                name: entry
                for name, entry in self._hosts.items()
                if entry.waiting or entry.ready_at > now
            }
            self._hosts = busy
        return self._hosts.setdefault(host, _Host())


def backoff(url: str, attempt: int, base: float) -> float:
    """Seconds before the next attempt: base · 2^attempt, times 0.5 to 1.5 depending on the URL."""
    share = int.from_bytes(keyed_hash(_JITTER_KEY, str(attempt), url)[:4], "big") / 2**32
    return float(base * 2**attempt * (0.5 + share))


_USER_AGENT = "Benchmint/0.1 (checks that the links in benchmark tasks answer)"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_UNKNOWN_TYPE = "application/octet-stream"
_ASCII = string.punctuation
_MOST_DIGITS = 9
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_NETWORK_ERRORS = (
    ProbeFailure,
    OSError,  # includes TimeoutError and SSLError; no file is accessed here
    httpcore.TimeoutException,
    httpcore.RemoteProtocolError,
    httpcore.NetworkError,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: `retry_after` in seconds, `body` decoded and None unless requested."""

    status: int
    location: str | None
    retry_after: float
    media_type: str
    body: bytes | None

    @property
    def is_redirect(self) -> bool:
        return self.status in (301, 302, 303, 307, 308) and self.location is not None


async def exchange(
    method: str, url: WebUrl, wire: Wire, config: NetworkConfig, seconds: float
) -> Answer:
    """Send one request over a new, checked connection, within `seconds` in all.

    It uses no proxy, cookie or credential. Only in mode `freeze` is the body of a 2xx answer to
    GET read. Raises ProbeFailure for every failure of the network.
    """
    guard = GuardedBackend(wire)
    request = _request(method, url, config)
    connection = httpcore.AsyncHTTPConnection(
        request.url.origin, ssl_context=wire.ssl_context, network_backend=guard
    )
    keep = method == "GET" and config.mode == "freeze"
    status: int | None = None
    try:
        async with asyncio.timeout(seconds):
            response = await connection.handle_async_request(request)
            status = response.status
            return await _answer(response, config.max_bytes if keep else None)
    except _NETWORK_ERRORS as error:
        raise _failure(error, status) from error
    finally:
        await guard.aclose()


def _request(method: str, url: WebUrl, config: NetworkConfig) -> httpcore.Request:
    """The request for `url`, which holds no credentials: `parse_url` removed them."""
    host_port = url.text.removeprefix(f"{url.scheme}://").removesuffix(url.target)
    timeouts = {
        "connect": config.connect_timeout,
        "read": config.read_timeout,
        "write": config.read_timeout,
    }
    return httpcore.Request(
        method,
        httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target),
        headers=[
            ("Host", host_port),
            ("User-Agent", _USER_AGENT),
            ("Accept", "*/*"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ],
        extensions={"timeout": timeouts},
    )


def _failure(error: Exception, status: int | None) -> ProbeFailure:
    if isinstance(error, ProbeFailure):
        return ProbeFailure(error.cause, transient=error.transient, status=status)
    if isinstance(error, TimeoutError | httpcore.TimeoutException):
        return ProbeFailure(Cause.TIMEOUT, transient=True, status=status)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return ProbeFailure(Cause.TLS, status=status)
        cause = cause.__cause__
    if isinstance(error, httpcore.ConnectError):
        return ProbeFailure(Cause.NO_CONNECTION, transient=True)
    return ProbeFailure(Cause.BROKEN_RESPONSE, transient=True, status=status)


async def _answer(response: httpcore.Response, limit: int | None) -> Answer:
    headers = {name.lower(): value for name, value in response.headers}
    wanted = limit is not None and 200 <= response.status < 300
    location = headers.get(b"location")
    return Answer(
        status=response.status,
        location=quote(location, safe=_ASCII) if location is not None else None,
        retry_after=_seconds(headers.get(b"retry-after", b"")),
        media_type=_media_type(headers.get(b"content-type", b"")),
        body=await _body(response, headers, limit) if wanted and limit is not None else None,
    )


async def _body(response: httpcore.Response, headers: dict[bytes, bytes], limit: int) -> bytes:
    declared = headers.get(b"content-length", b"").decode("latin-1")
    if _is_number(declared) and int(declared) > limit:
        raise ProbeFailure(Cause.TOO_LARGE)
    body = _BoundedBody(limit, headers.get(b"content-encoding", b"").decode("latin-1"))
    async for chunk in response.aiter_stream():
        body.feed(chunk)
    return body.finish()


class _BoundedBody:
    """Collects a body, decompresses gzip or deflate, and keeps at most `limit` + 1 bytes."""

    def __init__(self, limit: int, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ProbeFailure(Cause.BROKEN_RESPONSE)
        self._limit = limit
        self._packed = name not in ("", "identity")
        self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._started = False
        self._content = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add raw bytes; raises ProbeFailure if the decoded body is too large or corrupt."""
        if self._packed:
            self._unpack(chunk)
        else:
            self._content += chunk
        if len(self._content) > self._limit:
            raise ProbeFailure(Cause.TOO_LARGE)

    def finish(self) -> bytes:
        """The whole decoded body; raises ProbeFailure if the compressed stream is cut off."""
        if self._started and not self._inflate.eof:
            raise ProbeFailure(Cause.BROKEN_RESPONSE, transient=True)
        return bytes(self._content)

    def _unpack(self, chunk: bytes) -> None:
        self._started = self._started or bool(chunk)
        try:
            while chunk and len(self._content) <= self._limit:
                if self._inflate.eof:  # a gzip file may have several members
                    self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
                room = self._limit - len(self._content) + 1
                self._content += self._inflate.decompress(chunk, room)
                chunk = self._inflate.unused_data or self._inflate.unconsumed_tail
        except zlib.error as error:
            raise ProbeFailure(Cause.BROKEN_RESPONSE) from error


def _seconds(value: bytes) -> float:
    """Retry-After in seconds; 0 for its other form, a date, which leaves the usual back-off."""
    text = value.decode("latin-1").strip()
    return float(text) if _is_number(text) else 0.0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _media_type(value: bytes) -> str:
    text = value.decode("latin-1").partition(";")[0].strip().lower()
    return text if _MEDIA_TYPE.fullmatch(text) else _UNKNOWN_TYPE
