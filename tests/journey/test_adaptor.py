"""Crawl-time headers through real crawls: what an adaptor says in the heads of its answers counts."""

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

import pytest

from ingather.model.lifecycle import Outcome
from ingather.testing.adaptor import Adaptor, AdaptorDocument
from ingather.testing.feeds import feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, wait_until
from ingather.testing.site import html

pytestmark = pytest.mark.timeout(300)

JOE = {"entries": [{"access": "permit", "scope": "user", "name": "joe"}]}
ANN = {"entries": [{"access": "permit", "scope": "user", "name": "ann"}]}


def page(title: str, *links: str, **said: Any) -> AdaptorDocument:
    return AdaptorDocument(html(title, *links, text=f"walrus {title}").encode(), **said)


def crawl(rig: Rig) -> None:
    """Visit everything, again if it was visited before."""
    if rig.database.exists():
        rig.alter("update url set due = 0 where due is not null")
    ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err


def sees(rig: Rig, url: str, user: str) -> bool:
    ran = rig.call("access", "explain", url, "--user", user, "--json")
    return bool(json.loads(ran.out)["sees"])


def who(rig: Rig, adaptor: Adaptor, path: str) -> str:
    """Return who of anonymous people, joe and ann finds a document."""
    url = adaptor.url(path)
    found = [user for user in ("joe", "ann") if sees(rig, url, user)]
    return "all" if url in rig.found("walrus") and len(found) == 2 else "+".join(found) or "nobody"


def events(rig: Rig, adaptor: Adaptor, path: str) -> list[tuple[str, str]]:
    return rig.rows("select kind, detail from event where subject = ? order by rowid", adaptor.url(path))


@pytest.fixture
def adaptor() -> Iterator[Adaptor]:
    with Adaptor() as made:
        yield made


@pytest.fixture
def pointed(rig: Rig, adaptor: Adaptor) -> Rig:
    """A home whose source is the adaptor, heeded in full."""
    return rig.site(adaptor.origin, source="adaptor", keys="crawl-time-headers = true\n")


def test_gsa_T43_to_T46_the_rights_come_with_the_answer(pointed: Rig, adaptor: Adaptor) -> None:
    rig = pointed
    names = ["t43", "t43-secure", "t43-silent", "t44", "t45", "t46", "plain", "public"]
    adaptor.documents = {
        "/": page("start", *(f"/{name}" for name in names)),
        "/t43": page("t43", acl=JOE, metadata=[("author", "Jürgen & Co"), ("author", "Ann, B.")]),
        "/t43-secure": page("t43-secure", acl=JOE),
        "/t43-silent": page("t43-silent", acl=JOE),
        "/t44": page("t44", acl=JOE, metadata=[("author", "first")]),
        "/t45": page("t45", security="secure"),
        "/t46": page("t46", acl='{"entries": [', security="public"),
        "/plain": page("plain", security=""),
        "/public": page("public"),
    }
    crawl(rig)
    assert {name: who(rig, adaptor, f"/{name}") for name in names} == {
        "t43": "joe", "t43-secure": "joe", "t43-silent": "joe", "t44": "joe", "t45": "nobody", "t46": "nobody",
        "plain": "nobody", "public": "all",
    }  # fmt: skip
    assert any(
        "cannot be read" in detail for kind, detail in events(rig, adaptor, "/t46") if kind == "header"
    )

    adaptor.documents["/t43"] = page("t43")
    adaptor.documents["/t43-secure"].acl, adaptor.documents["/t43-secure"].security = None, "secure"
    adaptor.documents["/t43-silent"].acl, adaptor.documents["/t43-silent"].security = None, ""
    renewed = page("changed words", acl=ANN, metadata=[("author", "second")], content_unchanged=True)
    adaptor.documents["/t44"] = renewed
    crawl(rig)
    assert {name: who(rig, adaptor, f"/{name}") for name in names[:4]} == {
        "t43": "all", "t43-secure": "nobody", "t43-silent": "nobody", "t44": "ann",
    }  # fmt: skip
    known = rig.known()[adaptor.url("/t44")]
    assert (known.described, known.outcome, known.status) == (True, Outcome.UNCHANGED, 204)
    assert rig.rows("select title from page where id = ?", known.id) == [("t44",)]
    [(blob,)] = rig.rows("select attrs from layer where id = ? and name = 'header'", known.id)
    assert b"second" in blob
    assert b"first" not in blob

    for document in adaptor.documents.values():  # 304: nothing that was said before changes
        document.modified_s, document.acl, document.security = 1_000_000_000.0, JOE, ""
    adaptor.documents["/t44"].content_unchanged = False
    rig.alter("update url set lastmod = 'Sun, 09 Sep 2001 01:46:40 GMT'")
    crawl(rig)
    assert rig.known()[adaptor.url("/t45")].outcome is Outcome.UNCHANGED
    assert (who(rig, adaptor, "/t45"), who(rig, adaptor, "/t44")) == ("nobody", "ann")
    assert not rig.complaints(bodies=False)


def test_the_acl_of_version_7_0_anchors_and_controls(pointed: Rig, adaptor: Adaptor) -> None:
    rig = pointed
    adaptor.version_7_0 = True
    deny = {"entries": [*JOE["entries"], {"access": "deny", "scope": "user", "name": "ann"}]}
    anchors = [("the old way", adaptor.url("/old")), ("once", adaptor.url("/once"))]
    controls = {"crawl_once": "true", "display_url": "http://shown.example/a,b"}
    adaptor.documents = {
        "/": AdaptorDocument(b"walrus start", "text/plain", anchors=anchors),
        "/old": page("old", acl=deny),
        "/once": page("once", headers=[("X-Gsa-Doc-Controls", f"{k}={v}") for k, v in controls.items()]),
    }
    crawl(rig)
    assert who(rig, adaptor, "/old") == "joe"
    number = rig.known()[adaptor.url("/once")].id
    assert rig.rows("select due from url where id = ?", number) == [(None,)]
    [(blob,)] = rig.rows("select attrs from layer where id = ? and name = 'header'", number)
    assert b"http://shown.example/a,b" in blob
    adaptor.documents["/old"].acl = None
    adaptor.asked.clear()
    crawl(rig)
    assert who(rig, adaptor, "/old") == "all"
    assert "/once" not in adaptor.asked


def test_a_long_head_is_read_and_one_over_the_limit_hides(pointed: Rig, adaptor: Adaptor) -> None:
    rig = pointed
    adaptor.documents = {
        "/": page("start", "/long", "/too-long", "/grows"),
        "/long": page("long", acl=JOE, headers=[(f"X-Filler-{n}", "x" * 60_000) for n in range(4)]),
        "/too-long": page("too-long", acl=JOE, headers=[(f"X-Filler-{n}", "x" * 60_000) for n in range(6)]),
        "/grows": page("grows", acl=JOE),
    }
    crawl(rig)
    assert who(rig, adaptor, "/long") == "joe"
    assert not rig.known()[adaptor.url("/too-long")].described
    assert "head-too-large" in rig.known()[adaptor.url("/too-long")].detail
    assert "withheld" in [kind for kind, _ in events(rig, adaptor, "/too-long")]
    adaptor.documents["/grows"].headers = [("X-Filler", "x" * 130_000)]
    adaptor.documents["/long"] = page("long", acl=ANN, headers=[("Content-Encoding", "unknown")])
    crawl(rig)
    assert who(rig, adaptor, "/grows") == "nobody"
    assert rig.known()[adaptor.url("/long")].outcome is Outcome.FAILED
    assert who(rig, adaptor, "/long") == "ann", "a body that cannot be read does not keep a revocation away"


def test_what_an_adaptor_pushes_is_fetched_with_its_rights(rig: Rig, adaptor: Adaptor) -> None:
    assert rig.call("feed", "trust", "127.0.0.1").status == 0
    adaptor.documents = {
        "/doc": page("doc", acl=JOE),
        "/open": page("open"),
        "/closed": page("closed", security="secure"),
    }
    body = feed_xml(
        *(record(adaptor.url(path), mimetype="text/plain") for path in adaptor.documents), datasource="repository",
        feedtype="metadata-and-url",
    )  # fmt: skip
    with rig.serving() as served:
        port = int(
            wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/xmlfeed", served.running.out)).group(1)
        )
        form = urlencode({"datasource": "repository", "feedtype": "metadata-and-url", "data": body.decode()})
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        connection.request("POST", "/xmlfeed", form, {"Content-Type": "application/x-www-form-urlencoded"})
        assert connection.getresponse().read() == b"Success"
        connection.close()
        wait_until(lambda: set(adaptor.documents) <= set(adaptor.asked))
        wait_until(lambda: len(rig.shown()) == 3)
        wait_until(lambda: served.found("walrus"))
        assert served.found("walrus") == [adaptor.url("/open")]
    assert [who(rig, adaptor, path) for path in adaptor.documents] == ["joe", "all", "nobody"]
