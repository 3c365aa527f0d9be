"""Who may push: loopback, the list, tokens; and what the others hear."""

import base64
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ingather.errors import UsageError
from ingather.feeds.senders import FeedTokens, RefusedSenders, load_refused
from ingather.feeds.trust import TrustList, parse_peer, parse_trusted
from ingather.testing.feedgate import RunningGate
from ingather.testing.feedwire import FEED, exchange, multipart, post, shapes
from ingather.testing.running import wait_until
from ingather.web.feedgate import GateLimits, Proxies
from ingather.web.feedgate.sender import shown_tokens

Make = Callable[..., RunningGate]
PROXY = Proxies(parse_trusted("127.0.0.0/8"))
UNAUTHORIZED = b"Error - Unauthorized Request"


def forwarded(shape: str, line: bytes) -> tuple[bytes, bytes]:
    head, body = shapes(FEED)[shape]
    return head.replace(b"\r\n", b"\r\n" + line + b"\r\n", 1), body


def stranger(request: bytes = b"a", address: bytes = b"203.0.113.9") -> tuple[bytes, bytes]:
    return forwarded(request.decode(), b"X-Forwarded-For: " + address)


def test_gsa_T9_an_untrusted_sender_is_refused_after_its_body_was_read(make_gate: Make) -> None:
    gate = make_gate(proxies=PROXY)
    head, body = shapes(FEED * 3000)["e"]
    head = head.replace(b"\r\n", b"\r\nX-Forwarded-For: 203.0.113.9\r\n", 1)
    with gate.connect() as sock:
        sock.sendall(head)
        sock.sendall(body)  # would break if it were not read
        reply = exchange(sock, [])
    assert (reply.status, reply.body) == (403, UNAUTHORIZED)
    assert gate.left() == []
    assert (
        gate.talk(b"GET /getbacklogcount HTTP/1.0\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n").body
        == UNAUTHORIZED
    )
    sender = gate.refused.listed()[0]
    assert (sender.address, sender.count, sender.last_s) == ("203.0.113.9", 2, 1000.0)


def test_an_address_is_trusted_without_restart_and_no_longer_when_removed(make_gate: Make) -> None:
    gate = make_gate(proxies=PROXY)
    assert gate.talk(*stranger()).status == 403
    assert gate.trust.add("203.0.113.0/24")
    assert gate.talk(*stranger()).body == b"Success"
    assert gate.desk.last.sender == "203.0.113.9"
    assert gate.trust.remove("203.0.113.0/24")
    assert gate.talk(*stranger()).status == 403
    gate.trust.add("2001:db8::/32")
    assert gate.talk(*stranger(address=b"2001:db8::5")).body == b"Success"
    assert gate.talk(*stranger(address=b"[2001:db8::5]:4711")).body == b"Success"
    assert gate.talk(*stranger(address=b"2001:db9::5")).status == 403


def test_forwarding_headers_count_from_a_configured_proxy_only(make_gate: Make) -> None:
    gate = make_gate()
    assert gate.talk(*stranger()).body == b"Success"  # the peer is loopback, whatever it says
    assert gate.desk.last.sender == "127.0.0.1"


@pytest.mark.parametrize(
    "line",
    [
        b"X-Forwarded-For: 127.0.0.1, 203.0.113.9",
        b"X-Forwarded-For: 127.0.0.1, 203.0.113.9, 127.0.0.5",
        b"X-Forwarded-For: nobody",
        b"X-Forwarded-For: ",
        b"Forwarded: for=127.0.0.1, for=203.0.113.9;proto=http",
        b'Forwarded: for="[2001:db8::1]:99"',
    ],
)
def test_what_a_client_wrote_itself_does_not_make_it_trusted(make_gate: Make, line: bytes) -> None:
    assert make_gate(proxies=PROXY).talk(*forwarded("a", line)).status == 403


def test_a_token_admits_to_its_source_from_anywhere(make_gate: Make) -> None:
    gate = make_gate(proxies=PROXY)
    token = gate.tokens.make("sample").encode()
    assert [grant.sources for grant in gate.tokens.grants()] == [("sample",)]

    def push(credentials: bytes, source: bytes = b"sample") -> int:
        head, body = shapes(FEED, source)["e"]
        more = b"\r\nX-Forwarded-For: 203.0.113.9\r\nAuthorization: " + credentials + b"\r\n"
        return gate.talk(head.replace(b"\r\n", more, 1), body).status

    assert push(b"Bearer " + token) == 200
    assert push(b"Basic " + base64.b64encode(b"anybody:" + token)) == 200
    assert push(b"Bearer " + token, b"other") == 403
    assert push(b"Bearer " + token + b"x") == 403
    assert push(b"Basic !!") == 403
    assert gate.left() == []
    assert token.decode() not in (gate.folder / "tokens").read_text()
    gate.tokens.remove("sample")
    assert push(b"Bearer " + token) == 403


def test_credentials_of_a_trusted_sender_are_ignored(gate: RunningGate) -> None:
    assert gate.talk(*forwarded("a", b"Authorization: Basic eDp5")).body == b"Success"
    assert shown_tokens({"authorization": "Digest x"}) == []


def test_always_200_says_the_same_with_another_status(make_gate: Make) -> None:
    gate = make_gate(proxies=PROXY, always_200=True)
    reply = gate.talk(*stranger())
    assert (reply.status, reply.body) == (200, UNAUTHORIZED)


def test_a_refused_body_is_read_within_bounds(make_gate: Make) -> None:
    gate = make_gate(proxies=PROXY, limits=GateLimits(drain_bytes=100_000))
    body = multipart(b"x", (b"data", b"", b"", b"x" * 50_000_000))
    head, body = post(body, b"multipart/form-data; boundary=x", b"X-Forwarded-For: 203.0.113.9")
    with gate.connect() as sock:
        sock.settimeout(5)
        with pytest.raises((ConnectionError, TimeoutError)):
            sock.sendall(head + body)
    wait_until(lambda: not gate.server.connections)
    assert gate.left() == []


def test_over_ipv6(make_gate: Make) -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6")
    assert make_gate(host="::1").talk(*shapes(FEED)["a"]).body == b"Success"


@pytest.mark.parametrize("text", ["", "example.com", "10.0.0.0/33", "10.0.0.1-5", "fe80::1%eth0/64/3"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_trusted(text)


def test_addresses_in_all_their_spellings(tmp_path: Path) -> None:
    trust = TrustList(tmp_path / "trusted")
    assert not trust.trusts(parse_peer("10.1.2.3"))
    assert trust.trusts(parse_peer("::ffff:127.0.0.1"))
    assert not trust.trusts(None)
    trust.add("::ffff:10.1.0.0/112")
    assert trust.trusts(parse_peer("10.1.2.3"))
    assert not trust.add("10.1.0.0/16")
    (tmp_path / "trusted").write_text("nonsense\n# 10.9.9.9\n10.2.0.0/16 # the intranet\n\xff\n", "latin-1")
    assert [str(n) for n in trust.networks()] == ["10.2.0.0/16"]
    (tmp_path / "trusted").unlink()
    assert trust.networks() == ()
    trust.add("all")
    assert trust.trusts(parse_peer("8.8.8.8"))
    assert trust.trusts(parse_peer("2001:db8::1"))


def test_the_list_of_refused_senders_is_bounded_and_survives(tmp_path: Path) -> None:
    path = tmp_path / "refused.json"
    senders = RefusedSenders(path)
    for number in range(1500):
        assert senders.note(f"10.0.{number // 256}.{number % 256}", number)
    assert not senders.note("10.0.5.219", 2000.0)
    senders.save()
    again = load_refused(path)
    assert len(again) == 1000
    assert (again[0].address, again[0].count) == ("10.0.5.219", 2)
    assert [s.address for s in RefusedSenders(path).listed()] == [s.address for s in again]
    path.write_text(json.dumps([{"address": 1}]))
    assert load_refused(path) == []
    (tmp_path / "tokens").write_text("[]")
    assert FeedTokens(tmp_path / "tokens").grant_of("x") is None
