"""Two hosts that show the same: proposed, chosen, applied to keys, and taken back; and what must not be."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.hostaliases.finding import compare, pairs_to_compare
from ingather.app.hostaliases.judging import Side, authority_of, chain_refusal, refusal
from ingather.catalog.sqlite_open import open_writer
from ingather.model.alias import AliasState, HostAlias
from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.site import html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

PAGES = 13
MORE = 20
PUBLIC = frozenset({("public", ())})


def page(title: str, *links: str) -> Answer:
    return Answer(200, (("Content-Type", "text/html"),), html(title, *links).encode())


@pytest.fixture
def server() -> Iterator[SyntheticServer]:
    """Two hosts with the same pages; the second one's start page links to a page that the first has not shown."""
    with SyntheticServer(SyntheticWeb(1, WebShape(sites=2, pages=1))) as server:
        for origin in server.origins:
            server.override(f"{origin}/robots.txt", Answer(404))
            server.override(f"{origin}/", page("Start", *(f"/p{n}" for n in range(PAGES))))
            # What both link to keeps the alias below half of the documents: else its deletions may be held.
            server.override(
                f"{origin}/p0", page("Page 0", *(f"{server.origins[0]}/x{n}" for n in range(MORE)))
            )
            for n in range(1, PAGES):
                server.override(f"{origin}/p{n}", page(f"Page {n}"))
        for n in range(MORE):
            server.override(f"{server.origins[0]}/x{n}", page(f"More {n}"))
        yield server


def test_two_names_become_one_and_two_again(home: Path, server: SyntheticServer) -> None:
    rig = Rig(home, **{"deletion.documents": "100"}).init()
    first, second = server.origins
    host, alias = (origin.removeprefix("http://") for origin in server.origins)
    assert rig.crawl(f"{first}/", f"{second}/").status == 0
    made = rig.call("site", "aliases", "propose", "--json")
    (one,) = json.loads(made.out)["proposed"]
    assert (one["alias"], one["host"], one["state"]) == (alias, host, "proposed")
    assert (
        one["evidence"]
        == f"{PAGES + 1} of {PAGES + 1} documents with the same path are the same, the roots among them"
    )
    assert json.loads(rig.call("site", "aliases", "propose", "--json").out) == {"proposed": [], "refused": []}

    ran = rig.call("site", "aliases", "apply", alias, host)
    assert (ran.status, ran.out) == (
        0,
        f"{alias} is an alias of {host}: {PAGES + 1} URLs are looked at again\n",
    )
    assert rig.call("site", "aliases", "apply", host, alias).status == 2
    told = rig.explained(f"{second}/p1")
    assert f"host alias: {alias} is {host}" in told
    assert f"{first}/p1" in told
    assert (
        f"host alias {alias} is {host}: not visited, {first}/p1 is"
        in rig.call("simulate", f"{second}/p1").out
    )

    server.requests.clear()
    server.override(f"{first}/", page("Start anew", "/p0", f"{second}/only"))
    server.override(f"{first}/only", page("Only"))
    assert rig.crawl(f"{second}/", f"{first}/p1").status == 0
    assert server.paths(1) == []
    assert f"{first}/only" in rig.shown()
    assert not any(known.described for url, known in rig.known().items() if url.startswith(second))
    assert f"{second}/only" not in rig.known()
    gone = json.loads(rig.call("tombstones", "list", "--json").out)
    assert "its host is an alias now" in json.dumps(gone)

    assert rig.call("site", "aliases", "remove", alias).status == 0
    assert rig.call("undelete", "--reason", "its host is an alias now").status == 0
    assert f"{second}/p1" in {url for url, known in rig.known().items() if known.described}
    assert rig.call("site", "aliases").out.startswith("no alias is known")


def test_hosts_with_the_same_pages_are_found_and_others_are_not() -> None:
    same = {f"/{n}": bytes([n]) for n in range(10)}
    crowd = [
        (host, {"/error": b"x", **{f"/{host}/{n}": bytes([n]) for n in range(9)}}) for host in range(10, 60)
    ]
    assert pairs_to_compare([(1, same), (2, dict(same)), (3, {"/1": b"\1"}), *crowd]) == [(1, 2)]


def test_how_much_must_be_the_same() -> None:
    def likeness(common: int, equal: int, *, roots: bool) -> bool:
        one = {"/" if roots and not n else f"/{n}": b"1" for n in range(common)}
        two = {path: b"1" if n < equal else b"2" for n, path in enumerate(one)}
        return compare(one, two).alike

    assert likeness(20, 16, roots=False)
    assert not likeness(20, 15, roots=False)
    assert not likeness(19, 19, roots=False)
    assert likeness(10, 10, roots=True)
    assert not likeness(9, 9, roots=True)
    assert not likeness(10, 7, roots=True)


def test_hosts_that_must_not_be_one() -> None:
    host = Side("www.a.test", PUBLIC, documents=5)
    assert refusal(Side("a.test", PUBLIC, documents=5), host) == ""
    assert refusal(Side("a.test", PUBLIC), host) == ""
    assert "not everybody sees the same" in refusal(
        Side("a.test", frozenset({("secure", ())}), documents=5), host
    )
    assert "not everybody sees the same" in refusal(
        Side("a.test", frozenset({("public", ("group:staff",))})), host
    )
    mixed = frozenset({("public", ()), ("secure", ())})
    assert "not everybody" in refusal(Side("a.test", mixed), Side("www.a.test", mixed))
    assert "rights of their own" in refusal(Side("a.test", PUBLIC, documents=5, own_rights=1), host)
    assert "policy rules" in refusal(Side("a.test", PUBLIC, policy=((), ("x",))), host)
    assert "credentials are for http://a.test/" in refusal(
        Side("a.test", PUBLIC, credentials=("http://a.test/x",)), host
    )
    assert "nothing of b.test is described" in refusal(host, Side("b.test", PUBLIC))


def test_no_alias_leads_to_an_alias() -> None:
    known = [
        HostAlias("a.test", "b.test", AliasState.APPLIED),
        HostAlias("x.test", "y.test", AliasState.PROPOSED),
    ]
    assert chain_refusal("c.test", "b.test", known) == ""
    assert chain_refusal("z.test", "x.test", known) == ""
    assert "a.test is an alias of b.test itself" in chain_refusal("c.test", "a.test", known)
    assert "a.test is an alias of b.test: remove that first" in chain_refusal("b.test", "c.test", known)
    assert chain_refusal("b.test", "a.test", known) == "a.test is an alias of b.test: remove that first"
    assert "already" in chain_refusal("a.test", "a.test", known)


def test_hosts_are_written_as_in_urls() -> None:
    wanted = {
        "A.test": "a.test",
        "a.test:80": "a.test",
        "https://a.test/": "a.test",
        "a.test:8080": "a.test:8080",
        "a/b": "",
        "x y": "",
        "": "",
    }
    assert {text: authority_of(text) for text in wanted} == wanted


def test_a_host_of_a_source_with_other_access_is_refused(home: Path, server: SyntheticServer) -> None:
    rig = Rig(home).init()
    first, second = server.origins
    rig.site(second, source="staff", keys='access = "secure"\n')
    rig.database.parent.mkdir(exist_ok=True)
    open_writer(rig.database).close()
    ran = rig.call("site", "aliases", "apply", second, first)
    assert ran.status == 2
    assert "not everybody sees the same of both" in ran.err
    assert rig.call("site", "aliases", "refuse", second).status == 2
    assert rig.call("site", "aliases", "apply", "a b", first).status == 2
    assert json.loads(rig.call("site", "aliases", "list", "--json").out) == {"aliases": []}
