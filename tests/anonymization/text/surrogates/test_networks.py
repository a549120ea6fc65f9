"""Addresses keep what a reader of logs and settings needs: networks, order, hosts, names."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.contracts import EntityType as T
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.networks import address_of, is_nobodys, is_special, range_of
from anonymization.text.surrogates.scope_surrogates import Surrogates

KEY = bytes(range(32))
ADDRESSES = st.one_of(
    st.integers(0, (1 << 32) - 1),
    *(st.integers(first << 16, (first + count << 16) - 1) for first, count in (
        range_of(IPv4Address(each)) for each in ("10.0.0.0", "172.16.0.0", "192.168.0.0")
    )),
).map(IPv4Address).filter(lambda a: not is_special(str(a)))  # fmt: skip


def surrogates(*values: str) -> Surrogates:
    made = Surrogates(KEY, "networks", ScopeVocabulary())
    made.learn((T.IP_ADDRESS, value) for value in values)
    return made


@given(st.lists(ADDRESSES, min_size=2, max_size=40, unique=True))
def test_order_prefixes_and_hosts_stay(addresses: list[IPv4Address]) -> None:
    made = surrogates(*map(str, addresses))
    new = {old: ip_address(made.of(T.IP_ADDRESS, str(old))) for old in addresses}
    for room in map(range_of, new):
        own = sorted(old for old in new if range_of(old) == room)
        networks = [int(new[old]) >> 16 for old in own]
        assert networks == sorted(networks)
        # A network that meets itself has its halves exchanged.
        placed = [int(new[old]) for old in own if int(new[old]) >> 16 != int(old) >> 16]
        assert placed == sorted(placed)
    for old, replaced in new.items():
        assert int(replaced) & 0xFF == int(old) & 0xFF and replaced != old
        assert 0 <= (int(replaced) >> 16) - range_of(old)[0] < range_of(old)[1]
        for other, beside in new.items():
            for size in (16, 20, 24, 28):
                shared = int(old) >> 32 - size == int(other) >> 32 - size
                assert (int(replaced) >> 32 - size == int(beside) >> 32 - size) == shared


@pytest.mark.parametrize("size", range(16, 31))
def test_a_network_stays_one_and_holds_its_hosts(size: int) -> None:
    net = ip_network(f"91.203.107.93/{size}", strict=False)
    hosts = [str(net.network_address + step) for step in (1, net.num_addresses // 2 + 1)]
    made = surrogates(str(net.network_address), *hosts)
    new = ip_network(f"{made.of(T.IP_ADDRESS, str(net.network_address))}/{size}")  # no host bits
    assert all(ip_address(made.of(T.IP_ADDRESS, host)) in new for host in hosts)


def test_the_names_of_addresses_agree_with_them() -> None:
    address = "91.203.107.93"
    forms = ("91-203-107-93", "93.107.203.91.in-addr.arpa", "107.203.91.in-addr.arpa")
    made = surrogates(address, *forms)
    new = made.of(T.IP_ADDRESS, address)
    first, second, third, last = new.split(".")
    assert made.of(T.IP_ADDRESS, forms[0]) == new.replace(".", "-")
    assert made.of(T.IP_ADDRESS, forms[1]) == f"{last}.{third}.{second}.{first}.in-addr.arpa"
    assert made.of(T.IP_ADDRESS, forms[2]) == f"{third}.{second}.{first}.in-addr.arpa"


def test_ipv6_shares_sites_subnets_and_counted_hosts() -> None:
    name = "5.0.0.0." + "0." * 12 + "1.0.0.0.4.3.0.0.0.f.6.2.2.0.a.2.ip6.arpa"
    assert str(address_of(name)) == "2a02:26f0:34:1::5"
    drawn = "2a02:26f0:34:2:3e22:fbff:fe9a:17e"
    made = surrogates("2a02:26f0:34:1::5", drawn, name)
    counted, other, named = (
        ip_address(str(address_of(made.of(T.IP_ADDRESS, value))))
        for value in ("2a02:26f0:34:1::5", drawn, name)
    )
    assert counted == named and counted in ip_network("2001:db8::/32")
    assert int(counted) >> 80 == int(other) >> 80 and int(counted) & 0xFFFF == 5
    assert "3e22" not in str(other) and int(other) >> 64 & 0xFFFF == 2


@pytest.mark.parametrize(
    ("value", "is_special_one"),
    [
        ("127.0.0.1", True), ("0.0.0.0", True), ("255.255.255.0", True), ("10.0.0.0/8", True),
        ("0.0.0.255", True), ("224.0.0.5", True), ("100.64.0.9", False), ("[::1]", True),
        ("172.16.0.0/12", True), ("192.168.0.0/16", True), ("::ffff:127.0.0.1", True),
        ("41.0.0.0/8", True), ("10.1.2.3/24", False), ("fd00::4", False), ("172-20-3-4", False),
        ("81.2.69.0/24", False), ("10.0.0.0/24", False), ("172.16.0.0/16", False),
        ("172.33.3.4", False), ("198.18.77.6", False), ("198.18.0.0/15", True),
        ("198.20.1.1", False), ("192.0.2.4", True), ("2a02:26f0:34::1", False), ("x", False),
    ],
)  # fmt: skip
def test_whose_an_address_is(value: str, is_special_one: bool) -> None:
    assert is_nobodys(value) is is_special_one


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    config = DetectionConfig(english_model="", chinese_model="", japanese_model="")
    return TextDetector(at_level(config, MaskingLevel.STRICT))


@pytest.mark.parametrize(
    "text",
    [
        "access-list 7 permit 192.168.0.0 0.0.255.255",
        "join 239.4.4.7 and ff02::fb from fe80::9",
        "shared 100.64.0.0/10, example 203.0.113.77 and 2001:db8::77, unset 0.0.0.0",
        "route 41.0.0.0/8",
        "Smail/3.1.29.7 accepted it",
    ],
)
def test_addresses_that_are_nobodys_stay(detector: TextDetector, text: str) -> None:
    assert Masker(detector, KEY, Mode.SURROGATE, "s").mask_texts([text]) == [text]


def test_a_private_network_moves_within_its_range_with_all_that_lies_in_it(
    detector: TextDetector,
) -> None:
    text = "subnet 10.44.7.0 netmask 255.255.255.0 { range 10.44.7.20 10.44.7.199; } # 10.44.9.1"
    (made,) = Masker(detector, KEY, Mode.SURROGATE, "s").mask_texts([text])
    net, mask, low, high, other = re.findall(r"[\d.]{7,}", made)
    assert (net.startswith("10."), net.endswith(".0"), mask) == (True, True, "255.255.255.0")
    home = net.removesuffix("0")
    assert (low, high) == (f"{home}20", f"{home}199") and home != "10.44.7."
    assert not other.startswith(home) and other.startswith(
        home.rpartition(".")[0].rpartition(".")[0]
    )


def test_a_host_named_by_its_address_agrees_with_it(detector: TextDetector) -> None:
    masker = Masker(detector, KEY, Mode.SURROGATE, "s")
    (line,) = masker.mask_texts(["from dyn-91-203-107-93.net.kabel.org [91.203.107.93] refused"])
    label, _, rest = line.removeprefix("from dyn-").partition(".")
    assert rest.partition("[")[2].partition("]")[0] == label.replace("-", ".") != "91.203.107.93"
