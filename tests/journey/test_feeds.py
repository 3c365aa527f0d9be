"""Feeds pushed to a running serve: found in search, accounted for, and none lost by kill -9."""

import re
from collections.abc import Iterable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, Served, wait_until
from ingather.testing.site import Site

pytestmark = pytest.mark.timeout(400)


def _port(served: Served) -> int:
    found = wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/xmlfeed", served.running.out))
    return int(found.group(1))


def _push(port: int, body: bytes, datasource: str, feedtype: str = "incremental") -> tuple[int, bytes, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        form = urlencode({"datasource": datasource, "feedtype": feedtype, "data": body.decode()})
        connection.request("POST", "/xmlfeed", form, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("X-Feed-Id") or ""
    finally:
        connection.close()


def _ended(served: Served, name: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        status, feed = served.admin(f"/api/v1/feeds/{name}")
        return dict(feed) if status == 200 and feed["ended"] is not None and feed["indexed"] else None

    found: dict[str, Any] = wait_until(look, pause_s=0.1)
    return found


def _oldest_ended(served: Served) -> bool:
    return served.admin("/api/v1/feeds?limit=1000")[1]["feeds"][-1]["ended"] is not None


def test_a_pushed_document_is_found_and_its_receipt_says_so(rig: Rig, site: Site) -> None:
    site.page("/listed", "Listed", text="narwhal")
    with rig.serving() as served:
        port = _port(served)
        closed = '<acl><principal scope="user" access="permit">joe</principal></acl>'
        body = feed_xml(
            record("http://hr.test/open", content("walrus in the open")),
            record("http://hr.test/closed", closed + content("walrus behind doors")),
            record("relative", content("walrus")),
            datasource="hr",
        )
        status, text, name = _push(port, body, "hr")
        assert (status, text) == (200, b"Success")
        feed = _ended(served, name)
        assert (feed["state"], feed["applied"], feed["rejected"]) == ("completed with errors", 2, 1)
        wait_until(lambda: served.found("walrus"))
        assert served.found("walrus") == ["http://hr.test/open"]
        _, records = served.admin(f"/api/v1/feeds/{name}/records")
        assert [r["state"] for r in records] == ["indexed", "indexed", "rejected"]
        _, listed = served.admin("/api/v1/feeds")
        assert listed["backlog"] == 0
        status, text, name = _push(port, feed_xml(record("http://hr.test/open", action="delete")), "hr")
        _ended(served, name)
        wait_until(lambda: not served.found("walrus"))

        a_listed_url_at_an_address_that_nobody_admitted_needs_scope(rig, site, served)
        assert site.asked("/listed") == 0


def a_listed_url_at_an_address_that_nobody_admitted_needs_scope(rig: Rig, site: Site, served: Served) -> None:
    body = feed_xml(record(site.url("/listed")))
    _, _, name = _push(_port(served), body, "lists", "metadata-and-url")

    def state() -> str:
        _, records = served.admin(f"/api/v1/feeds/{name}/records")
        return str(records[0]["state"]) if records else ""

    wait_until(lambda: state() == "needs-scope")
    _, records = served.admin(f"/api/v1/feeds/{name}/records")
    assert records[0]["log"].endswith("; admit it with: ingather feed fetch-from 127.0.0.1")
    asked = {
        state: served.admin(f"/api/v1/feeds/{name}/records?state={state}")[1]
        for state in ("needs-scope", "superseded", "rejected")
    }
    assert asked == {"needs-scope": records, "superseded": [], "rejected": []}
    shown = rig.call("source", "show", "lists").out
    assert "needs-scope: 1 URLs: 127.0.0.1 is a loopback address" in shown
    assert "admit it with: ingather feed fetch-from 127.0.0.1" in shown


def test_a_listed_url_of_a_trusted_sender_is_crawled_with_its_metadata(rig: Rig, site: Site) -> None:
    site.page("/listed", "Listed", text="narwhal")
    assert rig.call("feed", "trust", "127.0.0.1").status == 0
    with rig.serving() as served:
        meta = '<metadata><meta name="author" content="Ann"/></metadata>'
        body = feed_xml(record(site.url("/listed"), meta))
        _push(_port(served), body, "lists", "metadata-and-url")
        wait_until(lambda: served.found("narwhal author:Ann"))


def test_a_full_feed_that_is_killed_leaves_no_hole_and_the_next_command_goes_on(
    rig: Rig, tmp_path: Path
) -> None:
    kept, gone, added = range(50, 900), range(50), range(900, 920)

    def feed(name: str, numbers: Iterable[int]) -> str:
        records = [record(f"http://gen.test/{n}", content(f"walrus {name} page{n}")) for n in numbers]
        file = tmp_path / f"{name}.xml"
        file.write_bytes(feed_xml(*records, datasource="gen", feedtype="full"))
        return str(file)

    def urls(*numbers: Iterable[int]) -> set[str]:
        return {f"http://gen.test/{n}" for part in numbers for n in part}

    load = ("feed", "load", "--source", "gen", "--type", "full")
    assert rig.call(*load, feed("old", [*gone, *kept])).status == 0
    with rig.start(*load, feed("new", [*kept, *added])) as running:
        wait_until(lambda: rig.rows("select 1 from feed_record where feed = 2 limit 1"))
        running.kill()
    [(complete,)] = rig.rows("select complete from feed where id = 2")
    shown = rig.shown()
    assert shown >= urls(kept)
    assert shown >= urls(gone) or complete
    assert rig.found("walrus old") or complete  # the index was to follow at the end: it has what it had
    tail = tmp_path / "tail.xml"
    tail.write_bytes(feed_xml(record("http://tail.test/", content("heron")), datasource="tail"))
    assert rig.call("feed", "load", "--source", "tail", str(tail)).status == 0
    assert rig.shown() == urls(kept, added) | {"http://tail.test/"}
    assert (rig.found("walrus old"), len(rig.found("walrus new"))) == ([], 50)
    assert rig.complaints() == []


def test_gsa_T18_searchers_see_the_old_generation_or_the_new_one_and_never_half_of_either(rig: Rig) -> None:
    """More than one batch, documents replaced, added and left out, asked all the time: what a page shows is told by its kind."""
    old = [
        record(f"http://gen.test/{n}", f"<content>walrus before {n}</content>", mimetype="text/plain")
        for n in range(650)
    ]
    new = [
        record(f"http://gen.test/{n}", content(f"walrus after {n}"), mimetype="text/html")
        for n in range(60, 720)
    ]
    seen: list[tuple[tuple[str, int], ...]] = []
    rig.tune("index.commit-documents", "1").tune("index.quiet-documents", "1")  # nothing else collects
    with rig.serving() as served:
        port = _port(served)

        def look() -> tuple[tuple[str, int], ...]:
            status, found = served.get("/api/v1/search?q=walrus")
            assert status == 200
            counted = tuple(sorted((kind["value"], kind["count"]) for kind in found["facets"]["kinds"]))
            if counted not in seen[-1:]:
                seen.append(counted)
            return counted

        _, _, name = _push(port, feed_xml(*old, datasource="gen", feedtype="full"), "gen", "full")
        assert _ended(served, name)["applied"] == 650
        wait_until(lambda: look() == (("txt", 650),))
        seen.clear()
        _, _, name = _push(port, feed_xml(*new, datasource="gen", feedtype="full"), "gen", "full")
        wait_until(lambda: look() == (("html", 660),), pause_s=0.01)
        assert (_ended(served, name)["applied"], _ended(served, name)["deleted"]) == (660, 60)
    assert seen == [(("txt", 650),), (("html", 660),)]
