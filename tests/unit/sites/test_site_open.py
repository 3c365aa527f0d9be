"""`site add` looks at the host and names what is in the way; `--yes` and `site open` open private addresses for good."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.sites.opening import Opening, open_addresses, opening_for
from ingather.conf.settings.file import read_settings
from ingather.conf.sources.source import SourceConf
from ingather.testing.rig import Rig
from ingather.testing.site import Site


@pytest.fixture
def rig(home: Path) -> Rig:
    return Rig(home).init()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def addresses(rig: Rig) -> tuple[str, ...]:
    sources = read_settings((rig.path / "ingather.toml").read_bytes()).sources
    return sources["web"].addresses if "web" in sources else ()


def test_a_private_address_is_named_and_nothing_is_opened_unasked(rig: Rig, site: Site) -> None:
    added = rig.call("site", "add", site.origin)
    assert added.status == 0
    assert (
        "the robot may not ask there yet: the source web does not name 127.0.0.1\n"
        "  to open it: ingather site open 127.0.0.1\n"
    ) in added.err
    assert addresses(rig) == ()
    assert site.asked("/") == 0


def test_yes_opens_the_address_and_the_host_is_looked_at(rig: Rig, site: Site) -> None:
    site.page("/", "Walrus", text="walrus")
    added = rig.call("site", "add", site.origin, "--yes")
    assert addresses(rig) == ("127.0.0.1/32",)
    assert '[source.web] addresses += ["127.0.0.1/32"]' in added.out
    assert f"{site.url('/')} answers, nothing is in the way" in added.out
    again = rig.call("site", "open", site.url("/"))
    assert (again.status, addresses(rig)) == (0, ("127.0.0.1/32",))
    assert "nothing was to be opened" in again.out


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/secret", "wants Basic (realm 'files')"),
        ("/denied/", "robots.txt forbids the starting point"),
        ("/gone", "answers 404 -> begin at a page that is there"),
    ],
)
def test_what_else_is_in_the_way_is_named(rig: Rig, site: Site, path: str, told: str) -> None:
    site.robots("User-agent: *\nDisallow: /denied\n")
    site.status("/secret", 401, ("WWW-Authenticate", 'Basic realm="files"'))
    added = rig.call("site", "add", site.url(path), "--yes")
    assert added.status == 0
    assert told in added.err
    assert site.asked("/denied/") == 0


def test_the_answer_as_json_says_what_would_have_to_be_opened(rig: Rig, site: Site) -> None:
    added = rig.call("site", "add", site.origin, "--json").json
    assert (added["to_open"], added["opened"]) == ({"addresses": ["127.0.0.1/32"], "hosts": []}, None)
    opened = rig.call("site", "open", "127.0.0.1", "--json").json
    assert opened["opened"] == {"addresses": ["127.0.0.1/32"], "hosts": []}
    assert [one["level"] for one in opened["findings"]] == ["warning"]  # 404 at the root
    assert addresses(rig) == ("127.0.0.1/32",)


def test_nothing_is_asked_with_no_look_and_in_a_dry_run(rig: Rig, site: Site) -> None:
    rig.call("site", "add", site.origin, "--yes", "--dry-run")
    rig.call("site", "add", site.origin, "--yes", "--no-look")
    assert addresses(rig) == ()
    assert site.asked("/robots.txt") == 0


@pytest.mark.parametrize(
    ("hosts", "url", "lacks"),
    [
        (("*",), "http://127.0.0.1/", ((), ("127.0.0.1/32",))),
        ((".corp.example",), "http://127.0.0.1/", (("127.0.0.1",), ("127.0.0.1/32",))),
        (("127.0.0.1",), "http://127.0.0.1/", ((), ("127.0.0.1/32",))),
        (("*",), "http://169.254.169.254/", ((), ())),
        (("*",), "http://192.0.78.24/", ((), ())),
    ],
)
def test_what_a_source_lacks(hosts: tuple[str, ...], url: str, lacks: tuple[tuple[str, ...], ...]) -> None:
    found = opening_for(SourceConf(hosts=hosts), [url])
    assert (found.hosts, found.addresses) == lacks
    assert bool(found.closed) == ("169.254" in url)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[source.web]\naddresses = ["10.0.0.1/32"]'),
        ("[source.web]\ndelay = '2s'\n", "delay = '2s'"),
        ("[source.web]\naddresses = ['10.9.0.0/16'] # ours\n", "'10.9.0.0/16', \"10.0.0.1/32\"] # ours"),
    ],
)
def test_all_else_in_the_settings_stays(rig: Rig, before: str, after: str) -> None:
    path = rig.path / "ingather.toml"
    path.write_text(before, "utf-8")
    open_addresses(Home.open(rig.path), Opening("web", ("10.0.0.1/32",)))
    text = path.read_text("utf-8")
    assert after in text
    assert "10.0.0.1/32" in text
