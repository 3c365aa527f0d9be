"""Whose request it is: programs of every kind push, pages of strangers do not, and the gate answers to its own names alone."""

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ingather.app.certificates import ensure_certificate
from ingather.app.machinenames import own_hosts
from ingather.conf.settings.values import Settings
from ingather.testing.feedgate import RunningGate
from ingather.testing.feedwire import FEED, chunked, exchange, multipart, shapes
from ingather.web import OwnHosts

Make = Callable[..., RunningGate]
HOST = socket.gethostname()
_FORM = multipart(
    b"B", (b"datasource", b"", b"", b"sample"), (b"feedtype", b"", b"", b"full"), (b"data", b"", b"", FEED)
)
_TYPE = "Content-Type: multipart/form-data; boundary=B"

# Heads as the programs write them, in their order; {length} and {host} are filled in.
HEADS = {
    "curl": "POST /xmlfeed HTTP/1.1|Host: {host}|User-Agent: curl/7.88.1|Accept: */*|{length}|" + _TYPE,
    "java": f"POST /xmlfeed HTTP/1.1|{_TYPE}|User-Agent: Java/1.8.0_292|Host: {{host}}|"
    "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2|Connection: keep-alive|{length}",
    "java-chunked": f"POST /xmlfeed HTTP/1.1|{_TYPE}|User-Agent: Java/1.7.0_80|Host: {{host}}|"
    "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2|Connection: keep-alive|Transfer-Encoding: chunked",
    "gsa_feed.py": f"POST /xmlfeed HTTP/1.1|Accept-Encoding: identity|{{length}}|Host: {{host}}|{_TYPE}|"
    "Connection: close|User-Agent: Python-urllib/2.7",
    "requests": "POST /xmlfeed HTTP/1.1|Host: {host}|User-Agent: python-requests/2.31.0|Accept-Encoding: gzip, deflate|"
    "Accept: */*|Connection: keep-alive|{length}|" + _TYPE,
    "php-curl": "POST /xmlfeed HTTP/1.1|Host: {host}|Accept: */*|{length}|" + _TYPE,
    "php-stream": f"POST /xmlfeed HTTP/1.0|Host: {{host}}|Connection: close|{{length}}|{_TYPE}",
    "dotnet": f"POST /xmlfeed HTTP/1.1|{_TYPE}|Host: {{host}}|{{length}}|Connection: Keep-Alive",
    "perl-lwp": "POST /xmlfeed HTTP/1.1|TE: deflate,gzip;q=0.3|Connection: TE, close|Host: {host}|"
    "User-Agent: libwww-perl/6.05|{length}|" + _TYPE,
    "httpclient-3": "POST /xmlfeed HTTP/1.1|User-Agent: Jakarta Commons-HttpClient/3.1|Host: {host}|{length}|"
    + _TYPE,
    "wget-1.10": "POST /xmlfeed HTTP/1.0|User-Agent: Wget/1.10.2|Accept: */*|Host: {host}|Connection: Keep-Alive|"
    "{length}|" + _TYPE,
    "http-1.0-without-host": "POST /xmlfeed HTTP/1.0|{length}|" + _TYPE,
    "http-1.1-without-host": "POST /xmlfeed HTTP/1.1|{length}|" + _TYPE,
    "an-empty-host": "POST /xmlfeed HTTP/1.1|Host:|{length}|" + _TYPE,
    "through-a-proxy": "POST http://{host}/xmlfeed HTTP/1.1|Host: {host}|Via: 1.1 squid|{length}|" + _TYPE,
    "chromium-own-form": "POST /xmlfeed HTTP/1.1|Host: {host}|Connection: keep-alive|{length}|Cache-Control: max-age=0|"
    "Origin: http://{host}|"
    + _TYPE
    + "|Upgrade-Insecure-Requests: 1|Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: navigate|"
    "Sec-Fetch-User: ?1|Sec-Fetch-Dest: document|Referer: http://{host}/xmlfeed",
    "firefox-own-form": "POST /xmlfeed HTTP/1.1|Host: {host}|User-Agent: Mozilla/5.0|{length}|Origin: http://{host}|"
    "Referer: http://{host}/xmlfeed|" + _TYPE,
    "internet-explorer-own-form": "POST /xmlfeed HTTP/1.1|Accept: text/html|Referer: http://{host}/xmlfeed|"
    "User-Agent: Mozilla/4.0 (compatible; MSIE 8.0)|Host: {host}|{length}|Cache-Control: no-cache|" + _TYPE,
}
NAMES = [
    "127.0.0.1:{port}",
    "localhost:{port}",
    "LOCALHOST.:{port}",
    "[::1]:{port}",
    "10.9.8.7",
    f"{HOST}:{{port}}",
    HOST.upper(),
]


def request(head: str, host: str, *more: str) -> bytes:
    lines = head.format(host=host, length=f"Content-Length: {len(_FORM)}").split("|") + list(more)
    body = chunked(_FORM) if "Transfer-Encoding" in head else _FORM
    return "\r\n".join((*lines, "", "")).encode() + body


@pytest.fixture
def gate(make_gate: Make) -> RunningGate:
    """A gate with the names that a home without settings has."""
    return make_gate(own=own_hosts(Settings()))


@pytest.mark.parametrize("program", HEADS)
def test_what_real_programs_send_is_taken_under_every_name_of_the_machine(
    gate: RunningGate, program: str
) -> None:
    for name in NAMES:
        reply = gate.talk(request(HEADS[program], name.format(port=gate.address[1])))
        assert (reply.status, reply.body) == (200, b"Success"), name
    assert len(gate.desk.accepted) == len(NAMES)


@pytest.mark.parametrize("shape", shapes(FEED))
def test_the_shapes_of_the_specification_section_4_2_are_taken_under_a_name_from_the_settings(
    make_gate: Make, shape: str
) -> None:
    gate = make_gate(own=OwnHosts(["gsa.example"]))
    assert gate.talk(*shapes(FEED)[shape]).body == b"Success"


FOREIGN_PAGES = {
    "fetch-no-cors-chromium": [
        "Origin: http://127.0.0.1:8000", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty"
    ],
    "fetch-from-the-internet": ["Origin: https://evil.test", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"],
    "form-of-another-site": ["Origin: https://evil.test", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
    "form-of-firefox-over-http": ["Origin: http://evil.test"],
    "a-file-or-a-sandbox": ["Origin: null"],
    "another-port": ["Origin: http://{host}1"],
    "another-name-of-the-same-machine": ["Origin: http://localhost:{port}"],
    "a-beacon-without-origin": ["Sec-Fetch-Site: cross-site"],
    "two-origins": ["Origin: http://{host}", "Origin: https://evil.test"],
    "https-page-of-the-same-name": ["Origin: https://{host}", "Sec-Fetch-Site: cross-site"],
    "with-credentials-that-browsers-keep": ["Origin: https://evil.test", "Authorization: Basic eDp5"],
}  # fmt: skip


@pytest.mark.parametrize("page", FOREIGN_PAGES)
@pytest.mark.parametrize("path", ["/xmlfeed", "/xmlgroups"])
def test_pages_of_others_push_nothing(gate: RunningGate, page: str, path: str) -> None:
    port = gate.address[1]
    host = f"127.0.0.1:{port}"
    more = [line.format(host=host, port=port) for line in FOREIGN_PAGES[page]]
    reply = gate.talk(request(HEADS["curl"].replace("/xmlfeed", path), host, *more))
    assert reply.status == 403
    assert reply.body.startswith(b"Error - This change was not asked for by a page of this server.")
    assert gate.desk.accepted == []
    assert gate.left() == []


@pytest.mark.parametrize(
    "line", ["Host: evil.test:{port}", "Host: 127.0.0.1.evil.test", "Host: {name}.evil.test"]
)
def test_a_name_that_somebody_lets_point_here_is_not_answered(gate: RunningGate, line: str) -> None:
    host = line.format(port=gate.address[1], name=HOST).removeprefix("Host: ")
    own = [f"Origin: http://{host}", "Sec-Fetch-Site: same-origin"]  # for the browser it is the same origin
    with capture_logs() as events:
        for more in (own, []):
            reply = gate.talk(request(HEADS["curl"], host, *more))
            assert reply.status == 421
            assert (
                b'set listen.names = ["' + host.partition(":")[0].lower().encode() + b'"] in ingather.toml'
                in reply.body
            )
    told = [event for event in events if event["event"] == "called by a name that is not ours"]
    assert [event["host"] for event in told] == [host]
    assert "listen.names" in told[0]["hint"]
    assert gate.talk(f"GET /getbacklogcount HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()).status == 421
    assert gate.desk.accepted == []
    assert gate.intake.counts.read()[1] == {"unknown-host": 2}


def test_the_name_in_the_address_of_the_request_counts_more_than_host(gate: RunningGate) -> None:
    head = HEADS["through-a-proxy"].replace("http://{host}", "http://evil.test")
    assert gate.talk(request(head, "localhost")).status == 421
    head = HEADS["through-a-proxy"].replace("http://{host}", "http://localhost@evil.test:1")
    assert gate.talk(request(head, "localhost")).status == 421
    assert gate.desk.accepted == []


def test_a_token_makes_no_exception(make_gate: Make) -> None:
    gate = make_gate()
    token = gate.tokens.make("sample")
    more = [f"Authorization: Bearer {token}", "Origin: https://evil.test"]
    assert gate.talk(request(HEADS["curl"], "localhost", *more)).status == 403
    assert gate.talk(request(HEADS["curl"], "evil.test", more[0])).status == 421


def test_two_hosts_are_no_request(gate: RunningGate) -> None:
    reply = gate.talk(request(HEADS["curl"], "localhost", "Host: evil.test"))
    assert (reply.status, reply.body) == (400, b"Error - Host is given twice")


def test_always_200_refuses_all_the_same(make_gate: Make) -> None:
    gate = make_gate(always_200=True)
    reply = gate.talk(request(HEADS["curl"], "localhost", "Origin: null"))
    assert reply.status == 200
    assert reply.body.startswith(b"Error - ")
    assert gate.desk.accepted == []


@pytest.fixture
def over_tls(make_gate: Make, tmp_path: Path) -> Callable[[bytes], int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*ensure_certificate(tmp_path / "tls"))
    gate = make_gate(tls=context)
    client = ssl.create_default_context()
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE

    def ask(data: bytes) -> int:
        with client.wrap_socket(gate.connect()) as wrapped:
            return exchange(wrapped, [data]).status

    return ask


def test_over_tls_a_page_without_tls_is_foreign(over_tls: Callable[[bytes], int]) -> None:
    assert over_tls(request(HEADS["curl"], "localhost:19902", "Origin: https://localhost:19902")) == 200
    assert over_tls(request(HEADS["curl"], "localhost:19902", "Origin: http://localhost:19902")) == 403


@pytest.mark.parametrize(
    "more",
    ["Content-Length: 5", "Content-Length: 0", "Content-Length: 999"],
    ids=lambda line: line.rpartition(" ")[2],
)
def test_rfc_9112_section_6_3_chunks_and_a_length_are_refused(gate: RunningGate, more: str) -> None:
    for head in (
        HEADS["java-chunked"] + "|" + more,
        HEADS["java-chunked"].replace("|Transfer", f"|{more}|Transfer"),
    ):
        reply = gate.talk(request(head, "localhost"))
        assert reply.status == 400
        assert reply.body.startswith(b"Error - the body has a Content-Length and comes in chunks")
    assert gate.desk.accepted == []
    assert gate.left() == []
