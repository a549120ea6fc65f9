"""Which addresses a probe may connect to: public ones, in whatever notation they come.

Sources: IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates),
and the addresses at which clouds serve instance metadata.
"""

from __future__ import annotations

import ipaddress

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
# IPv6 forms of IPv4 addresses that resolvers still give: judged by the address they hold.
_V4_INSIDE = tuple(ipaddress.IPv6Network(text) for text in ("::ffff:0:0/96", "64:ff9b::/96"))
# ISATAP interface identifiers hold an IPv4 address in any prefix (RFC 5214, 6.1).
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOW_32 = 0xFFFFFFFF

# Above the privileged ports, those on which browsers refuse http (WHATWG Fetch, "bad port").
_BAD_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679}
    | {6697, 10080}
)


def is_public(address: str) -> bool:
    """True if `address` (an IP literal) is globally routed unicast, and no metadata service.

    Private, shared, loopback, link-local, multicast, reserved, unspecified, benchmark and
    documentation ranges are not, nor is an IPv6 address that holds one of them (mapped, NAT64,
    ISATAP) or any 6to4, Teredo or IPv4-compatible one. What is no address is not public.
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
    """80, 443 and unprivileged ports, less those on which browsers refuse http."""
    return port in (80, 443) or (port >= 1024 and port not in _BAD_PORTS)
