"""The tables: what each kind of address is, and what an address carries within."""

# ruff: noqa: S104 - nobody binds to these

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch.addresses import (
    NEVER,
    AddressKind,
    classify,
    embedded,
    parse_address,
    parse_networks,
    refusal,
)

KINDS = {
    "8.8.8.8": AddressKind.PUBLIC,
    "172.15.255.255": AddressKind.PUBLIC,
    "172.32.0.0": AddressKind.PUBLIC,
    "100.63.255.255": AddressKind.PUBLIC,
    "223.255.255.255": AddressKind.PUBLIC,
    "10.0.0.0": AddressKind.PRIVATE,
    "172.16.0.0": AddressKind.PRIVATE,
    "172.31.255.255": AddressKind.PRIVATE,
    "192.168.255.255": AddressKind.PRIVATE,
    "100.64.0.0": AddressKind.SHARED,
    "100.127.255.255": AddressKind.SHARED,
    "127.255.255.255": AddressKind.LOOPBACK,
    "0.0.0.0": AddressKind.UNSPECIFIED,
    "0.1.2.3": AddressKind.UNSPECIFIED,
    "169.254.0.1": AddressKind.LINK_LOCAL,
    "169.254.169.254": AddressKind.METADATA,
    "169.254.170.2": AddressKind.METADATA,
    "100.100.100.200": AddressKind.METADATA,
    "192.0.0.192": AddressKind.METADATA,
    "168.63.129.16": AddressKind.METADATA,
    "192.0.0.1": AddressKind.RESERVED,
    "192.0.2.1": AddressKind.DOCUMENTATION,
    "198.51.100.1": AddressKind.DOCUMENTATION,
    "203.0.113.1": AddressKind.DOCUMENTATION,
    "198.19.255.255": AddressKind.BENCHMARK,
    "224.0.0.1": AddressKind.MULTICAST,
    "239.255.255.255": AddressKind.MULTICAST,
    "240.0.0.1": AddressKind.RESERVED,
    "255.255.255.255": AddressKind.BROADCAST,
    "::": AddressKind.UNSPECIFIED,
    "::1": AddressKind.LOOPBACK,
    "::2": AddressKind.RESERVED,
    "2606:2800:220:1::": AddressKind.PUBLIC,
    "2001:4860:4860::8888": AddressKind.PUBLIC,
    "2001:db8::1": AddressKind.DOCUMENTATION,
    "3fff::1": AddressKind.DOCUMENTATION,
    "2001:2::1": AddressKind.BENCHMARK,
    "2001:20::1": AddressKind.RESERVED,
    "100::1": AddressKind.RESERVED,
    "4000::1": AddressKind.RESERVED,
    "fc00::1": AddressKind.UNIQUE_LOCAL,
    "fdff::1": AddressKind.UNIQUE_LOCAL,
    "fd00:ec2::254": AddressKind.METADATA,
    "fd20:ce::254": AddressKind.METADATA,
    "fe80::1": AddressKind.LINK_LOCAL,
    "febf::1": AddressKind.LINK_LOCAL,
    "fec0::1": AddressKind.SITE_LOCAL,
    "ff02::1": AddressKind.MULTICAST,
}


def known(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = parse_address(text)
    assert address is not None
    return address


@pytest.mark.parametrize(("text", "kind"), KINDS.items())
def test_kinds(text: str, kind: AddressKind) -> None:
    assert classify(known(text)) is kind


CARRIERS = {
    "mapped": "::ffff:{}",
    "compatible": "::{}",
    "translated": "::ffff:0:{}",
    "NAT64": "64:ff9b::{}",
    "NAT64 of one's own": "64:ff9b:1::{}",
    "ISATAP": "2606:2800::5efe:{}",
    "ISATAP, unique": "2606:2800::200:5efe:{}",
}


def six_to_four(v4: str) -> str:
    return str(ipaddress.IPv6Address(0x2002 << 112 | int(ipaddress.IPv4Address(v4)) << 80 | 1))


def teredo(v4: str, server: str = "8.8.8.8") -> str:
    number = 0x20010000 << 96 | int(ipaddress.IPv4Address(server)) << 64
    return str(ipaddress.IPv6Address(number | int(ipaddress.IPv4Address(v4)) ^ 0xFFFFFFFF))


def carriers(v4: str) -> list[str]:
    return [
        *(form.format(v4) for form in CARRIERS.values()),
        six_to_four(v4),
        teredo(v4),
        teredo("8.8.8.8", v4),
    ]


@pytest.mark.parametrize("v4", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "224.0.0.1"])
def test_a_carried_address_is_judged(v4: str) -> None:
    for text in carriers(v4):
        assert refusal(known(text), ()), text
        assert v4 in refusal(known(text), ()) or "::" in refusal(known(text), ())


@given(st.integers(0, 2**32 - 1))
def test_no_form_reaches_what_the_plain_one_may_not(number: int) -> None:
    plain = ipaddress.IPv4Address(number)
    if refusal(plain, ()):
        assert all(refusal(known(text), ()) for text in carriers(str(plain)))


def test_public_addresses_stay_reachable_through_nat64_6to4_and_teredo() -> None:
    for text in ("64:ff9b::808:808", six_to_four("8.8.8.8"), teredo("8.8.4.4"), "::ffff:8.8.8.8"):
        assert refusal(known(text), ()) == "", text


def test_a_network_behind_nat64_can_be_named() -> None:
    named = parse_networks(["10.0.0.0/8"])
    assert refusal(known("64:ff9b::a01:203"), named) == ""
    assert refusal(known("64:ff9b:1::a01:203"), named)
    assert refusal(known("64:ff9b:1::a01:203"), (*named, *parse_networks(["64:ff9b:1::/48"]))) == ""


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("64:ff9b:1:c000:2:2100::", "192.0.2.33"),  # RFC 6052 section 2.4, prefix of 48 bits
        ("64:ff9b:1:0:c0:2:2100:0", "192.0.2.33"),  # 64 bits
    ],
)
def test_rfc6052_2_4_layouts_of_a_prefix_of_ones_own(text: str, inner: str) -> None:
    assert ipaddress.IPv4Address(inner) in embedded(known(text))


def test_mapped_is_another_spelling_only() -> None:
    assert parse_address("::ffff:10.0.0.1") == ipaddress.IPv4Address("10.0.0.1")


@pytest.mark.parametrize(
    "text", ["127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "1.2.3", "fe80::1%eth0", "", "x", "::1 "]
)
def test_odd_spellings_are_no_addresses(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize("kind", sorted(NEVER))
def test_some_kinds_cannot_be_named(kind: AddressKind) -> None:
    everything = parse_networks(["0.0.0.0/0", "::/0"])
    for text, its_kind in KINDS.items():
        if its_kind is kind:
            assert kind.value in refusal(known(text), everything), text


def test_all_others_can_be_named() -> None:
    everything = parse_networks(["0.0.0.0/0", "::/0"])
    for text, kind in KINDS.items():
        if text == "::2":  # carries 0.0.0.2
            continue
        assert (refusal(known(text), everything) == "") is (kind not in NEVER), text


def test_what_is_no_range_names_nothing() -> None:
    assert parse_networks(["", "x", "10.0.0.0/99", "1.2.3", "*"]) == ()
    assert parse_networks(["10.1.2.3/8", "[::1]", " 192.0.2.7 "]) == (
        ipaddress.ip_network("10.0.0.0/8"),
        ipaddress.ip_network("::1/128"),
        ipaddress.ip_network("192.0.2.7/32"),
    )
