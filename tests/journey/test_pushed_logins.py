"""URLs that feeds push are fetched with the login, the TLS settings and the proxy of their data source, and with those of no other.

The sources are declared without a ``<Site>``, in one case, and pushed in the other.
"""

import asyncio
import json
import re
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import pytest

from ingather.app.secrets import KeyFile, SecretStore
from ingather.testing.feeds import feed_xml, record
from ingather.testing.loginsite import KINDS, LoginSite
from ingather.testing.papers import make_papers
from ingather.testing.proxy import KitProxy
from ingather.testing.rig import Rig, Served, wait_until
from ingather.testing.running import PATIENCE_S

pytestmark = pytest.mark.timeout(300)

SECRETS = {kind: f"secret-of-{kind}" for kind in (*KINDS, "wrong", "gate", "shut")}
TOKEN, SESSION = "access-81d2", "session-0a4f"
ENDED = {"indexed", "unchanged", "failed", "refused", "needs-scope"}
CASES = [
    pytest.param(str.upper, str.lower, id="declared-in-capitals"),
    pytest.param(str.lower, str.upper, id="pushed-in-capitals"),
]
Case = Callable[[str], str]


class Pusher:
    """Pushes lists of URLs to the gate of a running serve, and asks what became of them."""

    def __init__(self, served: Served) -> None:
        self._served = served
        found = wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/xmlfeed", served.running.out))
        self._port = int(found.group(1))

    def push(self, source: str, *records: str) -> str:
        """Push a list of *source*; return the name of the feed."""
        body = feed_xml(*records, datasource=source, feedtype="metadata-and-url")
        form = urlencode({"datasource": source, "feedtype": "metadata-and-url", "data": body.decode()})
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request(
                "POST", "/xmlfeed", form, {"Content-Type": "application/x-www-form-urlencoded"}
            )
            answer = connection.getresponse()
            assert answer.read() == b"Success"
            return answer.getheader("X-Feed-Id") or ""
        finally:
            connection.close()

    def receipts(self, feed: str) -> list[dict[str, Any]]:
        """Return the receipts of a feed."""
        _, records = self._served.admin(f"/api/v1/feeds/{feed}/records")
        return list(records)

    def ended(self, feed: str) -> dict[str, Any]:
        """Wait until the visit of a feed with one record has ended; return its receipt."""

        def last() -> dict[str, Any] | None:
            found = self.receipts(feed)
            return found[-1] if found and found[-1]["state"] in ENDED else None

        answer: dict[str, Any] = wait_until(last, pause_s=0.05)
        return answer


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoginSite]:
    (tmp_path / "accounts").write_text(f"CORP:crawler:{SECRETS['ntlm']}\n")
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "accounts"))
    with LoginSite(SECRETS, token=TOKEN, session=SESSION) as made:
        yield made


@pytest.fixture
def fed(rig: Rig) -> Rig:
    """A home that trusts this machine, and has all secrets."""
    assert rig.call("feed", "trust", "127.0.0.1").status == 0
    store = SecretStore(rig.path, KeyFile.of(rig.path, "", {}))
    for name, value in SECRETS.items():
        store.set(name, value, 1.0)
    return rig.toml("[source.web]\ndelay = '10ms'\n")


def basic(password: str) -> str:
    return "Basic " + b64encode(f"crawler:{password}".encode()).decode()


@pytest.mark.parametrize(("declared", "pushed"), CASES)
def test_each_source_shows_its_own_login_and_no_other(
    fed: Rig, site: LoginSite, declared: Case, pushed: Case
) -> None:
    more = {
        "bearer": "", "oauth2": f'user = "crawler"\ntoken-url = "{site.origin}/token"\n', "ntlm": 'user = "crawler"\ndomain = "CORP"\n',
        "form": f'user = "crawler"\nform-url = "{site.origin}/form/login"\nuser-field = "user"\nsecret-field = "word"\n',
    }  # fmt: skip
    for kind in (
        *KINDS,
        "wrong",
    ):  # each credential is for the whole host: the source alone tells which one goes along
        real = "basic" if kind == "wrong" else kind
        keys = more.get(kind, 'user = "crawler"\n')
        fed.toml(
            f'[credential.{kind}]\nkind = "{real}"\nurl = "{site.origin}/"\nsecret = "{kind}"\n{keys}'
            f'[source.{declared(kind)}]\ncredentials = ["{kind}"]\n'
        )
    fed.toml(f'[source.{declared("open")}]\ncredentials = ["basic"]\npublic = true\n')
    with fed.serving() as served:
        pusher = Pusher(served)
        feeds = {
            kind: pusher.push(pushed(kind), record(f"{site.origin}/{kind}/a")) for kind in (*KINDS, "wrong")
        }
        feeds["open"] = pusher.push(pushed("open"), record(f"{site.origin}/basic/open"))
        feeds["nobody"] = pusher.push(pushed("nobody"), record(f"{site.origin}/basic/nobody"))
        feeds["plain"] = pusher.push(pushed("nobody"), record(f"{site.origin}/plain"))
        receipts = {name: pusher.ended(feed) for name, feed in feeds.items()}
        states = {name: receipt["state"] for name, receipt in receipts.items()}
        assert states == dict.fromkeys((*KINDS, "open", "plain"), "indexed") | {
            "wrong": "failed",
            "nobody": "refused",
        }, receipts
        assert "credential wrong: the host refused it (HTTP 401)" in receipts["wrong"]["reason"]
        assert "its host refuses access: HTTP 401" in receipts["nobody"]["reason"]
        wait_until(
            lambda: set(served.found("walrus")) == {f"{site.origin}/basic/open", f"{site.origin}/plain"}
        )
    assert site.refused <= 3
    heads = {kind: "".join(site.shown[f"/{kind}/a"]) for kind in KINDS}
    assert heads["basic"] == basic(SECRETS["basic"])
    assert "Digest " in heads["digest"]
    assert heads["bearer"] == f"Bearer {SECRETS['bearer']}"
    assert heads["oauth2"] == f"Bearer {TOKEN}"
    assert f"sid={SESSION}" in heads["form"]
    assert "NTLM " in heads["ntlm"]
    assert site.shown["/basic/open"] == {basic(SECRETS["basic"]), ""}
    assert site.shown["/basic/nobody"] == site.shown["/plain"] == {""}
    for kind, other in ((kind, other) for kind in KINDS for other in KINDS if kind != other):
        assert SECRETS[other] not in heads[kind]
        assert basic(SECRETS[other]) not in heads[kind]
    assert {
        SECRETS["wrong"] in head for path in site.shown if path != "/wrong/a" for head in site.shown[path]
    } == {False}


@pytest.mark.parametrize(("declared", "pushed"), CASES)
def test_tls_is_checked_and_client_certificates_are_shown_as_the_source_says(
    fed: Rig, tmp_path: Path, declared: Case, pushed: Case
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    if not make_papers(papers):
        pytest.skip("the openssl command is not there to make certificates (apt-get install openssl)")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(papers / "localhost.pem", papers / "localhost.key")
    tls.load_verify_locations(papers / "ca.pem")
    tls.verify_mode = ssl.CERT_OPTIONAL
    with LoginSite(SECRETS, tls=tls) as site:
        fed.toml(
            f'[credential.anna]\nkind = "certificate"\nurl = "{site.origin}/"\ncertificate = "{papers}/anna.pem"\nkey = "{papers}/anna.key"\n'
            f'[source.{declared("anna")}]\nverify-tls = false\ncredentials = ["anna"]\n[source.{declared("lax")}]\nverify-tls = false\n'
        )
        with fed.serving() as served:
            pusher = Pusher(served)
            asked = {"anna": "/certificate/a", "lax": "/plain", "strict": "/strict"}
            receipts = {}
            for name, path in asked.items():
                receipts[name] = pusher.ended(pusher.push(pushed(name), record(site.origin + path)))
            less = pusher.ended(pusher.push(pushed("lax"), record(f"{site.origin}/certificate/b")))
            assert [one["state"] for one in (*receipts.values(), less)] == [
                "indexed",
                "indexed",
                "failed",
                "refused",
            ], (receipts, less)
            assert "tls" in receipts["strict"]["reason"]
            wait_until(lambda: served.found("walrus") == [f"{site.origin}/plain"])
        assert "/strict" not in site.shown


@contextmanager
def proxy(login: str = "") -> Iterator[KitProxy]:
    """A proxy on loopback, in a thread with a loop of its own."""
    made, ready, over = KitProxy(login=login), Event(), Event()

    async def main() -> None:
        async with made:
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = Thread(target=lambda: asyncio.run(main()))
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield made
    finally:
        over.set()
        thread.join(PATIENCE_S)


@pytest.mark.parametrize(("declared", "pushed"), CASES)
def test_proxies_are_those_of_the_source_with_the_logins_of_the_source(
    fed: Rig, site: LoginSite, declared: Case, pushed: Case
) -> None:
    with proxy() as usual, proxy(f"crawler:{SECRETS['gate']}") as gated:
        through = f"http://127.0.0.1:{gated.port}"
        for name in ("gate", "shut"):
            fed.toml(
                f'[credential.{name}]\nkind = "basic"\nurl = "{through}/"\nuser = "crawler"\nsecret = "{name}"\n'
                f'[source.{declared(name)}]\nproxy = "{through}"\nproxy-credentials = ["{name}"]\n'
            )
        fed.toml(
            f'[source.{declared("usual")}]\nproxy = "http://127.0.0.1:{usual.port}"\ncredentials = ["basic"]\n'
            f'[credential.basic]\nkind = "basic"\nurl = "{site.origin}/basic/"\nuser = "crawler"\nsecret = "basic"\n'
        )
        with fed.serving() as served:
            pusher = Pusher(served)
            feeds = {
                name: pusher.push(pushed(name), record(f"{site.origin}/{path}"))
                for name, path in {"usual": "basic/u", "gate": "g", "shut": "s", "none": "n"}.items()
            }
            good = {name: pusher.ended(feeds[name])["state"] for name in ("usual", "gate", "none")}
            assert good == dict.fromkeys(good, "indexed")
            shut = wait_until(lambda: (one := pusher.receipts(feeds["shut"])[-1]).get("reason") and one)
            assert "proxy-login" in shut["reason"], shut
            more = pusher.push(pushed("shut"), *(record(f"{site.origin}/s{n}") for n in range(3)))

            def waiting() -> list[str]:  # the way rests: who waits for it is told so
                found = [one.get("reason", "") for one in pusher.receipts(more)]
                return found if len(found) == 3 and all(found) else []

            assert all(
                f"proxy {through}" in said and "user and password" in said for said in wait_until(waiting)
            )
            wait_until(lambda: set(served.found("walrus")) == {f"{site.origin}/g", f"{site.origin}/n"})
    came = {name: b"".join(one.heads) for name, one in (("usual", usual), ("gated", gated))}
    assert b"/basic/u" in came["usual"]
    assert b"/g HTTP" in came["gated"]
    assert not any(b"/n HTTP" in heads for heads in came.values())
    assert b"roxy-Auth" not in came["usual"]
    assert site.shown["/basic/u"] == {basic(SECRETS["basic"]), ""}
    assert "/s" not in site.shown
    assert json.dumps(shut).count(SECRETS["shut"]) == 0


def test_all_that_a_refused_password_holds_back_says_so(fed: Rig, site: LoginSite) -> None:
    fed.toml(
        f'[credential.wrong]\nkind = "basic"\nurl = "{site.origin}/"\nuser = "crawler"\nsecret = "wrong"\n'
        '[source.Wrong]\ncredentials = ["wrong"]\n'
    )
    with fed.serving() as served:
        pusher = Pusher(served)
        feed = pusher.push("wrong", *(record(f"{site.origin}/wrong/{n}") for n in range(6)))
        wait_until(
            lambda: (found := pusher.receipts(feed)) and all(one["state"] == "failed" for one in found),
        )
        assert all("credential wrong" in one["reason"] for one in pusher.receipts(feed))
    assert site.refused <= 3


def test_gsa_T40_an_authmethod_closes_what_is_fetched_without_a_login_and_names_the_login_that_is_missing(
    fed: Rig, site: LoginSite
) -> None:
    methods = ("httpbasic", "ntlm", "httpsso")
    with fed.serving() as served:
        pusher = Pusher(served)
        shut = {
            method: pusher.push("Repository", record(f"{site.origin}/{folder}/{method}", authmethod=method))
            for method, folder in zip(methods, ("basic", "ntlm", "bearer"), strict=True)
        }
        told = {method: pusher.ended(feed) for method, feed in shut.items()}
        free = [
            pusher.push("Repository", record(f"{site.origin}/free/{method}", authmethod=method))
            for method in methods
        ]
        free.append(pusher.push("Repository", record(f"{site.origin}/free/none", authmethod="none")))
        assert [pusher.ended(feed)["state"] for feed in free] == ["indexed"] * 4
        wait_until(lambda: served.found("walrus") == [f"{site.origin}/free/none"])
    assert {one["state"] for one in told.values()} == {"refused"}
    kinds = dict(zip(methods, ("basic", "ntlm", "form"), strict=True))
    for method, one in told.items():
        assert f'kind = "{kinds[method]}" (authmethod {method}), url = "{site.origin}/"' in one["needs"]
        assert one["needs"].endswith('credentials = ["NAME"] in [source.Repository]')
        assert one["needs"] in fed.explained(one["url"])
    closed = fed.explained(f"{site.origin}/free/ntlm").partition("\n")[0]
    assert "its authmethod, the login that it was fetched with" in closed


def test_a_section_that_comes_after_the_first_push_in_another_case_gives_its_login(
    fed: Rig, site: LoginSite
) -> None:
    url = f"{site.origin}/basic/late"
    with fed.serving() as served:
        pusher = Pusher(served)
        assert pusher.ended(pusher.push("SharePoint", record(url)))["state"] == "refused"
    fed.toml(
        f'[credential.basic]\nkind = "basic"\nurl = "{site.origin}/"\nuser = "crawler"\nsecret = "basic"\n'
        '[source.sharepoint]\ncredentials = ["basic"]\n'
    )
    with fed.serving() as served:
        pusher = Pusher(served)
        late = pusher.push("SHAREPOINT", record(url, crawl_immediately="true"))
        assert pusher.ended(late)["state"] == "indexed"
        assert served.found("walrus") == []
