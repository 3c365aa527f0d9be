"""Encoding, filters, and what a hostile server may send."""

import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.app.access.directory.ber import INTEGER, OCTETS, SEQUENCE, Fields, integer, octets, tlv
from ingather.app.access.directory.filters import equals, parse_filter, present
from ingather.app.access.directory.wire import Link, Server
from ingather.errors import DirectoryError, UsageError
from ingather.testing.company import talk


@given(st.integers(-(1 << 62), 1 << 62))
def test_numbers_come_back(value: int) -> None:
    assert Fields(integer(value)).number() == value


@given(st.lists(st.binary(max_size=300)))
def test_octets_come_back(values: list[bytes]) -> None:
    fields = Fields(Fields(tlv(SEQUENCE, *map(octets, values))).take(SEQUENCE))
    assert [fields.take(OCTETS) for _ in values] == values
    assert not fields.more


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        for tag, content in Fields(data):
            assert len(content) < len(data)
            if tag == INTEGER:
                Fields(tlv(INTEGER, content)).number()
    except DirectoryError:
        pass


def escaped(value: str) -> str:
    """RFC 4515, section 3."""
    return "".join(f"\\{byte:02x}" if byte in b"\\*()\0" else bytes((byte,)).decode("latin-1") for byte in value.encode()).encode("latin-1").decode()  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_a_filter_s_text_means_its_value(value: str) -> None:
    assert parse_filter(f"(uid={escaped(value)})") == equals("uid", value)


def test_filters_of_every_kind_are_encoded() -> None:
    both = parse_filter("(&(objectClass=*)(|(cn=a*b*c)(!(n>=5))(n<=6)(n~=7)))")
    tag, body = Fields(both).any()
    first, second = Fields(body)
    assert tag == 0xA0
    assert tlv(first[0], first[1]) == present("objectClass")
    kinds = [kind for kind, _ in Fields(second[1])]
    assert kinds == [0xA4, 0xA2, 0xA6, 0xA8]
    parts = Fields(next(iter(Fields(second[1])))[1])
    assert parts.text() == "cn"
    assert list(Fields(parts.take(SEQUENCE))) == [(0x80, b"a"), (0x81, b"b"), (0x82, b"c")]
    rule = parse_filter("(member:dn:1.2.840.113556.1.4.1941:=cn=x)")
    assert [kind for kind, _ in Fields(Fields(rule).take(0xA9))] == [0x81, 0x82, 0x83, 0x84]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "cn=a",
        "(cn=a",
        "(cn=a))",
        "(&)",
        "(!(a=b)(c=d))",
        "(=a)",
        "(a:rule=b)",
        "(a=\\zz)",
        "(a=b\\)",
        "(" * 500,
    ],
)
def test_a_wrong_filter_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no LDAP filter at character"):
        parse_filter(text)


def answered(said: bytes) -> None:
    """Bind at a server that says *said* and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(20)
                connection.recv(65536)
                connection.sendall(said)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with Link(Server("127.0.0.1", listener.getsockname()[1], tls=False), talk()) as link:
                link.bind("cn=x", "y")
        finally:
            thread.join(20)


def message(operation: bytes, number: int = 1) -> bytes:
    return tlv(SEQUENCE, integer(number), operation)


BOUND = tlv(0x61, integer(0, 0x0A), octets(""), octets(""))


def test_a_good_answer_is_one() -> None:
    answered(message(BOUND))


@pytest.mark.parametrize(
    "said",
    [
        b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x30\x84\x7f\xff\xff\xff", b"\x30\x80\x00\x00", b"\x30", message(BOUND)[:-3],
        message(BOUND, 2), message(BOUND, 0), message(tlv(0x65, integer(0, 0x0A), octets(""), octets(""))),
        message(tlv(0x61)), message(tlv(0x61, integer(1 << 80, 0x0A))), message(tlv(0x61, integer(49, 0x0A), octets(""), octets(b"\xff"))),
    ],
)  # fmt: skip
def test_an_odd_answer_lets_nobody_in(said: bytes) -> None:
    with pytest.raises(DirectoryError):
        answered(said)


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_let_nobody_in(said: bytes) -> None:
    if said.startswith(message(BOUND)):
        return
    with pytest.raises(DirectoryError):
        answered(said)
