"""Addresses of networks: prefixes, order and the numbers of hosts stay as they were.

Public IPv4 addresses get others of 240.0.0.0/4 (RFC 1112, reserved, never routed). The ranges for
documentation hold 768 addresses; this one has 4,096 networks of /16, so that neighbours stay
neighbours. Those of private networks (RFC 1918), of networks for tests (RFC 2544) and those behind
a carrier (RFC 6598) are somebody's machines and get others of the same range. IPv6 addresses get
others of 2001:db8::/32 (RFC 3849).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from numpy.random import Generator

# An address within the name of a host: `ec2-198-51-100-7.net.example`.
IN_HOST = re.compile(r"(?<!\d)(?<!\d-)\d{1,3}(?:-\d{1,3}){3}(?!-?\d)")
# The zones in which addresses are looked up backwards: of names, and of lists of blocked ones.
_REVERSE = re.compile(
    r"(?i)((?:\d{1,3}\.){2,4}(?=in-addr)|(?:\d{1,3}\.){4})"
    r"(in-addr\.arpa|(?:[a-z0-9-]{1,30}\.){0,2}(?:zen|[a-z-]{0,12}bl|list|b)\.[a-z0-9-]{2,40}\.[a-z]{2,6})"
)
_REVERSE6 = re.compile(r"(?i)((?:[0-9a-f]\.){12,32})(ip6\.arpa)")
_OF_COMPANIES = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_PRIVATE = tuple(map(IPv4Network, (*_OF_COMPANIES, "198.18.0.0/15", "100.64.0.0/10")))
_OWNED = IPv6Network("2000::/3")  # all addresses that anybody has been given (RFC 4291)
_LOCAL_SIX = IPv6Network("fc00::/7")  # private networks of IPv6 (RFC 4193)
# Ranges of /16: the first, and how many. Of 240.0.0.0/4 the last one holds the broadcast.
_RESERVED = (240 << 8, (1 << 12) - 1)
_BITS, _NIBBLES = 8, 32
_DOCUMENTATION = 0x2001_0DB8
_TRIES = 8
_SMALL = 1 << 16  # numbers of hosts that somebody has counted, below those made from hardware
_SITES = 1 << 12  # networks of /44 in the range for documentation


def is_special(text: str, prefix: str = "") -> bool:
    """An address that is nobody's in particular: for examples, of many, a mask, reserved (the
    registries of special-purpose addresses, RFC 6890), all of a /8 or of a private range; with a
    longer prefix the latter two are networks of somebody's."""
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    address = mapped or address
    if isinstance(address, IPv6Address):
        return address not in _LOCAL_SIX and (address not in _OWNED or not address.is_global)
    length = int(prefix) if prefix.isdecimal() else 0
    if range_of(address) is not _RESERVED:
        return any(address == net[0] and length <= net.prefixlen for net in _PRIVATE)
    is_eight = int(address) & 0xFFFFFF == 0 and length <= _BITS
    return not address.is_global or address.is_multicast or is_eight


def range_of(address: IPv4Address) -> tuple[int, int]:
    """Where another address is taken from: the first network of /16, and how many there are."""
    for net in _PRIVATE:
        if address in net:
            return int(net.network_address) >> 16, net.num_addresses >> 16
    return _RESERVED


def address_of(value: str) -> IPv4Address | IPv6Address | None:
    """The address in any of its forms; None for another text. Reverse names of networks leave out
    the numbers of hosts."""
    reverse, reverse6 = _REVERSE.fullmatch(value), _REVERSE6.fullmatch(value)
    if reverse:
        parts = [*reversed(reverse[1].rstrip(".").split(".")), "0", "0"]
        value = ".".join(parts[:4])
    elif reverse6:
        return IPv6Address(int(reverse6[1].replace(".", "")[::-1].ljust(_NIBBLES, "0"), 16))
    elif IN_HOST.fullmatch(value):
        value = value.replace("-", ".")
    try:
        return ip_address(value)
    except ValueError:
        return None


def is_nobodys(value: str) -> bool:
    """Is it an address, in any of its forms, that is special?"""
    core, _, prefix = value.partition("/")
    address = address_of(core.strip("[]"))
    return address is not None and is_special(str(address), prefix)


def written_like(new: IPv4Address | IPv6Address, value: str) -> str:
    """The address in the form of `value`."""
    reverse, reverse6 = _REVERSE.fullmatch(value), _REVERSE6.fullmatch(value)
    if reverse:
        kept = str(new).split(".")[: reverse[1].count(".")]
        return ".".join([*reversed(kept), reverse[2]])
    if reverse6:
        kept = list(f"{int(new):032x}"[: reverse6[1].count(".")])
        return ".".join([*reversed(kept), reverse6[2]])
    return str(new).replace(".", "-") if IN_HOST.fullmatch(value) else str(new)


class Networks:
    """The networks of one scope. What is planned together stays in order. `generator` gives the
    randomness that belongs to a token of a space, `below` its first number below another."""

    def __init__(
        self, generator: Callable[[str, str], Generator], below: Callable[[str, str, int], int]
    ) -> None:
        self._generator, self._below = generator, below
        self._sites: dict[int, int] = {}  # networks of /44, in which sites (/48) are side by side
        self._taken_sites: set[int] = set()
        self._sixteens: dict[int, int] = {}  # networks of /16
        self._thirds: defaultdict[int, set[int]] = defaultdict(set)  # of their addresses
        self._flips: dict[tuple[int, int, int], int] = {}  # by network, depth, and bits before
        self._known: dict[int, int] = {}  # new third numbers by the first three of an address

    def plan(self, values: Iterable[str]) -> None:
        """Look at the addresses of all texts before the first of them gets a surrogate."""
        addresses = {address for value in values if (address := address_of(value))}
        numbers = sorted(int(each) for each in addresses if isinstance(each, IPv4Address))
        by_range = defaultdict(list)
        for network in sorted({number >> 16 for number in numbers} - self._sixteens.keys()):
            by_range[range_of(IPv4Address(network << 16))].append(network)
        for room, fresh in by_range.items():
            self._assign(fresh, room)
        for number in numbers:
            self._thirds[number >> 16].add(number >> 8 & 0xFF)
        for number in numbers:  # those of networks first: the zeros that end them stay
            if number & 0xFF == 0:
                self._keep_zeros(number >> 16, number >> 8 & 0xFF)
        for number in numbers:
            self._third(number >> 16, number >> 8 & 0xFF)

    def of(self, address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
        """The address that takes the place of this one."""
        number = int(address)
        if isinstance(address, IPv6Address):
            return self._of_six(number)
        if number >> 16 not in self._sixteens:
            self.plan([str(address)])
        third = self._third(number >> 16, number >> 8 & 0xFF)
        return IPv4Address(self._sixteens[number >> 16] << 16 | third << 8 | number & 0xFF)

    def end(self, third: int, host: str) -> str:
        """The end of an address, of which one network is known: `.34.7` becomes `.81.7`."""
        new = [made for old, made in sorted(self._known.items()) if old & 0xFF == third]
        return f".{new[0] if new else third}.{host}"

    def _assign(self, fresh: list[int], room: tuple[int, int]) -> None:
        """Give networks others of their range, in order. One that meets itself, as 192.168 does,
        has its halves exchanged, so that no address of it stays."""
        for attempt in range(_TRIES):
            first, count = room
            taken = {new for new in self._sixteens.values() if first <= new < first + count}
            drawn = [self._drawn(network, room, taken, attempt) for network in fresh]
            assigned = dict(zip(fresh, sorted(drawn), strict=True))
            if all(old != new for old, new in assigned.items()):
                break
        self._sixteens |= assigned
        self._flips |= {(old, 0, 0): 1 for old, new in assigned.items() if old == new}

    def _drawn(self, network: int, room: tuple[int, int], taken: set[int], attempt: int) -> int:
        """Another network of the range; in a full one the next that is free, if there is any."""
        first, count = room
        drawn = self._below("ip.16", f"{network} {attempt}", count)
        for step in range(count if len(taken) < count else 0):
            if first + (drawn + step) % count not in taken:
                drawn = (drawn + step) % count
                break
        taken.add(first + drawn)
        return first + drawn

    def _keep_zeros(self, network: int, third: int) -> None:
        for depth in range(_BITS):
            if third & ((1 << (_BITS - depth)) - 1) == 0:
                self._flips.setdefault((network, depth, third >> (_BITS - depth)), 0)

    def _third(self, network: int, third: int) -> int:
        """The third number: a bit may change where one half of the network beyond it is empty."""
        known = self._known.get(network << _BITS | third)
        if known is not None:
            return known
        new, beside = 0, self._thirds[network] - {third}
        for depth in range(_BITS):
            before, bit = third >> (_BITS - depth), third >> (_BITS - depth - 1) & 1
            bit_at = (network, depth, before)
            if bit_at not in self._flips:
                other = before << 1 | 1 - bit
                is_split = any(each >> (_BITS - depth - 1) == other for each in beside)
                self._flips[bit_at] = 0 if is_split else self._below("ip.flip", str(bit_at), 2)
            new = new << 1 | bit ^ self._flips[bit_at]
        self._known[network << _BITS | third] = new
        return new

    def _of_six(self, number: int) -> IPv6Address:
        site, host = number >> 84, number & ((1 << 64) - 1)
        if site not in self._sites:
            rng = self._generator("ip.44", f"{site:x}")
            new = int(rng.integers(1, _SITES))
            while new in self._taken_sites and len(self._sites) < _SITES // 2:
                new = int(rng.integers(1, _SITES))
            self._sites[site] = new
            self._taken_sites.add(new)
        if host >= _SMALL:  # drawn for one device
            host = int(self._generator("ip.host6", f"{host:x}").integers(_SMALL, 1 << 62))
        subnet = number >> 64 & 0xF_FFFF
        return IPv6Address(_DOCUMENTATION << 96 | self._sites[site] << 84 | subnet << 64 | host)
