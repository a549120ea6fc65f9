"""Which addresses and ports a probe may use."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.probe.address import is_literal, is_public, port_allowed


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
