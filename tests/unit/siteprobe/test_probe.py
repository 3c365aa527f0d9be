"""Looking at real hosts on loopback: what is found, what is judged, and what is not asked."""

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.siteprobe.desk import HomeProbe
from ingather.conf.report import Report
from ingather.conf.sites.rulesconf import parse_rules
from ingather.conf.sources.source import SourceConf
from ingather.testing.rig import Rig
from ingather.testing.site import Site
from ingather.testing.web import Answer

Tls = Callable[..., tuple[int, Path]]
OPEN = SourceConf(addresses=("127.0.0.0/8", "::1/128"), own_hosts=("127.0.0.1", "localhost"))
LOGIN = '<form method="post" action="/in"><input name="who"><input type="password" name="word"></form>'


@pytest.fixture
def rig(home: Path) -> Rig:
    return Rig(home).init()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def looked(rig: Rig, *names: str, ca_file: str | None = None, **options: bool) -> list[dict[str, Any]]:
    home = Home.open(rig.path)
    probe = HomeProbe(home, home.settings().settings, {"web": OPEN}, ca_file=ca_file)
    return probe.probe(names, **options)


def said(report: dict[str, Any], about: str) -> list[str]:
    return [f"{one['level']}: {one['text']}" for one in report["findings"] if one["about"] == about]


def test_a_site_is_looked_at_whole(rig: Rig, site: Site) -> None:
    site.robots(
        f"User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nSitemap: {site.url('/map.xml')}\nSitemap: {site.url('/private/map.xml')}\n"
    )
    site.status("/", 301, ("Location", "/start/"))
    site.page(
        "/start/",
        "Start",
        "/a",
        text=LOGIN,
        head='<link rel="alternate" type="application/rss+xml" href="/news.rss">',
        headers=(("Server", "house/1"),),
    )
    urls = "".join(f"<url><loc>{site.url(f'/{n}')}</loc></url>" for n in range(3))
    site.put(
        "/map.xml",
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>',
        kind="application/xml",
    )
    (report,) = looked(rig, site.origin)
    assert [hop["status"] for hop in report["redirects"][0]] == [301, 200]
    assert report["redirects"][0][0]["change"] == "path"
    assert [line["number"] for line in report["robots"]["lines"]] == [4, 5, 6, 7]
    assert report["robots"]["starts"] == [
        {"url": site.url("/"), "allowed": True, "line": 0, "text": "no rule matches"}
    ]
    port = int(site.origin.rpartition(":")[2])
    assert {"port": port, "state": "open", "address": "", "detail": ""} in report["ports"]
    maps = {one["url"]: one for one in report["sitemaps"]}
    assert (maps[site.url("/map.xml")]["entries"], maps[site.url("/map.xml")]["from"]) == (3, "robots.txt")
    assert maps[site.url("/private/map.xml")]["error"] == "robots.txt forbids to ask for it"
    assert site.asked("/private/map.xml") == 0
    assert report["feeds"] == [site.url("/news.rss")]
    assert site.asked("/news.rss") == 0
    (form,) = report["login"]["forms"]
    assert (form["action"], form["user"], form["password"]) == (site.url("/in"), "who", "word")
    assert report["server"] == "house/1"
    assert report["names"]["addresses"] == ["127.0.0.1"]
    parsed = parse_rules(report["suggestion"], "x", Report()).sites
    assert [(one.host, one.ports, one.starts[0].url) for one in parsed] == [
        ("127.0.0.1", frozenset({port}), site.url("/start/"))
    ]
    assert report["level"] == "warning"  # the sitemap that robots.txt names and forbids


def test_options_leave_names_and_redirects_out(rig: Rig, site: Site) -> None:
    site.status("/", 302, ("Location", "/start/"))
    site.page("/start/", "Start")
    (report,) = looked(rig, site.origin, dns=False, redirects=False)
    assert report["names"] is None
    assert [(hop["status"], hop["to"]) for hop in report["redirects"][0]] == [(302, site.url("/start/"))]
    assert site.asked("/start/") == 0


def test_robots_txt_forbids_to_follow_the_root_and_the_starting_point(rig: Rig, site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /hidden\n")
    site.status("/", 302, ("Location", "/hidden/"))
    (report,) = looked(rig, site.url("/hidden/page"))
    assert site.asked("/hidden/") == site.asked("/hidden/page") == 0
    assert any("robots.txt forbids to ask there" in text for text in said(report, "redirects"))
    assert said(report, "robots")[0].startswith(
        f"problem: robots.txt forbids the starting point {site.url('/hidden/page')} (line 2"
    )


def test_a_login_by_header_a_loop_and_an_unreachable_robots_txt(rig: Rig, site: Site) -> None:
    site.status("/", 401, ("WWW-Authenticate", 'Basic realm="House"'), ("WWW-Authenticate", "NTLM"))
    (report,) = looked(rig, site.origin)
    assert [one["scheme"] for one in report["login"]["schemes"]] == ["Basic", "NTLM"]
    site.status("/", 302, ("Location", "/"))
    site.status("/robots.txt", 503)
    (report,) = looked(rig, site.origin)
    assert any("redirect-loop" in text for text in said(report, "redirects"))
    assert said(report, "robots") == ["problem: robots.txt is unreachable: status 503"]


def test_one_bad_host_never_stops_the_others(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    with Site() as broken:
        broken.answer("/", Answer(200, (("Content-Type", "text/html"),), b"<form" * 1000))
        broken.put("/sitemap.xml", b"\x1f\x8bnonsense", kind="application/gzip")
        reports = looked(rig, "no host", "unknown-host.invalid", broken.origin, site.origin)
    assert [report["level"] for report in reports[:2]] == ["problem", "problem"]
    assert [report["asked"] for report in reports] == [
        "no host",
        "unknown-host.invalid",
        broken.origin,
        site.origin,
    ]
    assert reports[3]["redirects"][0][0]["status"] == 200


def test_what_the_source_may_not_ask_is_told_with_what_to_do(rig: Rig, site: Site) -> None:
    home = Home.open(rig.path)
    (report,) = HomeProbe(home, home.settings().settings, {}).probe([site.origin])
    assert report["level"] == "problem"
    assert "addresses" in report["findings"][0]["do"]
    assert site.server.requests == []


def test_a_certificate_that_is_believed(rig: Rig, tls: Tls) -> None:
    port, pem = tls("localhost", "127.0.0.1")
    (report,) = looked(rig, f"https://localhost:{port}/", ca_file=str(pem))
    told = report["certificate"]
    assert (told["valid"], told["matches"], told["names"], told["port"]) == (
        True,
        True,
        ["localhost", "127.0.0.1"],
        port,
    )
    assert told["days_left"] in {88, 89}
    assert (told["subject"], told["issuer"], told["self_signed"]) == ("CN=localhost", "CN=localhost", True)
    assert report["redirects"][0][0]["status"] == 200


def test_certificates_that_are_not_believed_are_read_all_the_same(rig: Rig, tls: Tls) -> None:
    port, _ = tls("localhost")
    (report,) = looked(rig, f"https://localhost:{port}/")
    told = report["certificate"]
    assert (told["valid"], told["matches"], told["self_signed"]) == (False, True, True)
    assert "self-signed certificate" in told["trouble"]
    old, pem = tls("localhost", begin=-30, end=-3)
    (report,) = looked(rig, f"https://localhost:{old}/", ca_file=str(pem))
    assert report["certificate"]["days_left"] in {-3, -4}
    assert any("it ended" in text for text in said(report, "certificate"))
    assert "expired" in report["certificate"]["trouble"]
    other, pem = tls("other.test")
    (report,) = looked(rig, f"https://localhost:{other}/", ca_file=str(pem))
    assert said(report, "certificate") == ["problem: it is not for localhost, but for other.test"]


def test_the_command_looks_at_the_sites_of_the_configuration(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    port = site.origin.rpartition(":")[2]
    toml = rig.path / "ingather.toml"
    toml.write_text(
        f'{toml.read_text()}\n[source.near]\naddresses = ["127.0.0.0/8"]\nown-hosts = ["127.0.0.1"]\n'
    )
    rules = rig.path / "config" / "filterrules.conf"
    rules.write_text(
        rules.read_text()
        + f'<Site name="mine" host="127.0.0.1" type=server enable=true source=near>\nStart url="{site.url("/")}"\nPort allow="{port}"\n</Site>\n'
        + '<Site name="wide" host="nobody.invalid" type=domain enable=true>\n</Site>\n'
    )
    ran = rig.call("site", "probe", "--no-dns")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("mine (site mine, source near): ")
    assert "nobody.invalid" not in ran.out
    assert "filterrules.conf has it as the site mine" in ran.out
    both = rig.call("site", "probe", "--all", "--json")
    assert both.status == 1
    assert [host["asked"] for host in json.loads(both.out)["hosts"]] == ["mine", "wide"]
    assert rig.call("site", "probe", "--all", "mine").status == 2


def test_the_command_that_is_named_adds_the_site(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    (report,) = looked(rig, site.origin, dns=False)
    (hint,) = [
        one["do"] for one in report["findings"] if one["text"] == "filterrules.conf has no site for it"
    ]
    command = shlex.split(hint.removeprefix("to crawl it: "))
    assert command[0] == "ingather"
    ran = rig.call(*command[1:], "--dry-run")
    assert (ran.status, f'+Start url="{site.url("/")}"' in ran.out) == (0, True), ran.err + ran.out


def test_a_host_that_the_source_does_not_have_is_not_asked_for_robots_txt_either(
    rig: Rig, site: Site
) -> None:
    with Site() as other:
        site.status("/", 302, ("Location", other.url("/far")))
        home = Home.open(rig.path)
        near = SourceConf(
            hosts=("127.0.0.1",),
            ports=frozenset({int(site.origin.rpartition(":")[2])}),
            addresses=("127.0.0.0/8",),
            own_hosts=("127.0.0.1",),
        )
        (report,) = HomeProbe(home, home.settings().settings, {"web": near}).probe([site.origin], dns=False)
        assert other.server.requests == []
    assert any("does not allow port" in text for text in said(report, "server"))
