"""Web feeds from outside: a feed on loopback, `ingather crawl` and `ingather serve`, and what searching finds."""

import json
import os
import signal
from collections.abc import Callable

from ingather.testing.rig import Rig, Served, wait_until
from ingather.testing.site import Site

FEED = "/feed.xml"
D, LATER = "Tue, 20 Mar 2018 08:33:00 GMT", "Tue, 20 Mar 2018 09:33:00 GMT"
QUICK = 'discovery-interval = "1s"\nmin-poll-interval = "1s"\nmax-unseen-age = "2s"\n'


def rss(site: Site, *items: tuple[str, str]) -> None:
    """Serve a feed that lists paths with dates."""
    entries = "".join(
        f"<item><link>{site.url(path)}</link><pubDate>{date}</pubDate></item>" for path, date in items
    )
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{entries}</channel></rss>'
    site.put(FEED, text, kind="application/rss+xml")


def follow(rig: Rig, site: Site, keys: str = "") -> None:
    """Configure a source that follows the feed."""
    rig.toml(
        f'[source.news]\nkind = "rss"\nfeeds = ["{site.url(FEED)}"]\naddresses = ["127.0.0.0/8"]\n'
        f'own-hosts = ["{site.origin[7:]}"]\n{keys}'
    )


def asked(site: Site) -> list[str]:
    """Return the paths that were asked for, without robots.txt."""
    return [seen.path for seen in site.server.requests if seen.path != "/robots.txt"]


def test_rss_a_run_of_its_own_polls_once_and_gathers_what_is_listed(rig: Rig, site: Site) -> None:
    follow(rig, site, 'code = "NEWS"\n')
    rss(site, ("/a", D), ("/b", D))
    site.page("/a", "Walrus", "/linked")
    site.page("/b", "Heron")
    site.page("/linked", "Nobody follows links")
    first = rig.run("crawl", "--json")
    assert first.status == 0, first.err
    assert asked(site) == [FEED, "/a", "/b"]
    assert rig.shown() == {site.url("/a"), site.url("/b")}
    assert rig.found("walrus") == [site.url("/a")]
    assert set(rig.found("sourcecode:NEWS")) == rig.shown()
    site.forget()
    assert rig.run("crawl", "--json").status == 0
    assert asked(site) == [FEED]
    site.forget()
    rss(site, ("/a", LATER), ("/b", D))
    site.page("/a", "Quetzal")
    assert rig.run("crawl", "--json").status == 0
    assert asked(site) == [FEED, "/a"]
    assert (rig.found("quetzal"), rig.found("walrus")) == ([site.url("/a")], [])
    assert rig.complaints() == []


def test_rss_listed_documents_need_no_site_when_they_are_rehearsed(rig: Rig, site: Site) -> None:
    follow(rig, site)
    rss(site, ("/a", D))
    site.page("/a", "Walrus")
    assert rig.run("crawl", "--json").status == 0
    simulated = rig.call("simulate", site.url("/a"), "--data")
    assert simulated.status == 0, simulated.out
    assert "listed by a web feed" in simulated.out
    assert rig.call("simulate", site.url("/b")).status == 1
    assert rig.call("simulate", site.url("/b"), "--source", "news").status == 0
    wrong = rig.call("simulate", site.url("/b"), "--source", "nobody")
    assert wrong.status == 2
    assert "news" in wrong.err
    replayed = json.loads(rig.call("replay", "--json", "--config", str(rig.path / "config")).out)
    assert (replayed["documents"]["total"], replayed["documents"]["lost"], replayed["documents"]["read"]) == (
        1,
        0,
        1,
    )
    assert replayed["unknown"] == []
    explained = rig.explained(site.url("/a"))
    assert "listed by a web feed" in explained
    assert "pushed" not in explained


def test_rss_discovered_urls_are_gathered_if_the_source_says_so(rig: Rig, site: Site) -> None:
    follow(rig, site, "discover-urls = true\n")
    rss(site, ("/a", D))
    site.page("/a", "Walrus", "/linked", "http://127.0.0.99:1/elsewhere")
    site.page("/linked", "Heron")
    assert rig.run("crawl", "--json").status == 0
    assert asked(site) == [FEED, "/a", "/linked"]
    assert rig.shown() == {site.url("/a"), site.url("/linked")}


def test_rss_a_feed_that_fails_is_told_and_costs_no_document(rig: Rig, site: Site) -> None:
    follow(rig, site)
    rss(site, ("/a", D))
    site.page("/a", "Walrus")
    rig.run("crawl", "--json")
    site.put(FEED, "<html><body>We are down</body></html>")
    ran = rig.run("crawl", "--json")
    assert ran.status == 1
    (failed,) = json.loads(ran.out)["failed_starts"]
    assert failed["url"] == site.url(FEED)
    assert failed["why"]
    assert rig.shown() == {site.url("/a")}


def test_rss_new_changed_and_gone_while_serving(rig: Rig, site: Site) -> None:
    follow(rig, site, QUICK)
    rss(site, ("/a", D))
    site.page("/a", "Walrus")
    site.page("/b", "Heron")
    with rig.serving() as served:
        wait_until(lambda: served.found("walrus") == [site.url("/a")])
        site.page("/a", "Quetzal")
        rss(site, ("/a", LATER), ("/b", D))
        wait_until(lambda: served.found("quetzal") == [site.url("/a")])
        wait_until(lambda: served.found("heron") == [site.url("/b")])
        assert served.found("walrus") == []
        rss(site, ("/b", D))
        site.status("/a", 404)
        wait_until(lambda: served.found("quetzal") == [])
        assert served.found("heron") == [site.url("/b")]
    assert rig.complaints() == []
    (event,) = rig.rows("select cause, status from rss_event where after = 'deleted'")
    assert event == ("404", 404)


def test_rss_kill_9_in_the_middle_of_cycles_loses_nothing(rig: Rig, site: Site) -> None:
    follow(rig, site, QUICK)
    paths = [f"/d{n}" for n in range(8)]
    for number, path in enumerate(paths):
        site.page(path, f"Document walrus{number}")
    rss(site, *((path, D) for path in paths))

    def killed(when: Callable[[Served], object]) -> None:
        rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
        with rig.start("serve") as running:
            served = Served(running, (rig.path / "admin-token").read_text().strip())
            wait_until(lambda: when(served))
            os.kill(running.pid, signal.SIGKILL)
            running.end()

    killed(lambda served: served.found("walrus7"))
    site.page("/d3", "Document quetzal")
    rss(site, *((path, LATER if path == "/d3" else D) for path in paths[:6]))
    site.status("/d7", 404)
    killed(lambda served: served.found("quetzal"))
    with rig.serving() as served:
        wait_until(lambda: served.found("walrus7") == [])
        wait_until(lambda: len(served.found("document")) == 7)
    assert rig.shown() == {site.url(path) for path in paths[:7]}
    assert rig.complaints() == []
    assert rig.rows("select count(*) from change where kind = 2") == [(1,)]
    assert rig.rows("select count(*) from rss_event where after = 'deleted'") == [(1,)]
