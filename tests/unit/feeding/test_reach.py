"""Where the crawler may go for what feeds push."""

import asyncio
from pathlib import Path

import pytest

from ingather.app.sourcescopes import SourceScopes, pushed_scope
from ingather.conf.settings.file import read_settings
from ingather.conf.sources.source import SourceConf
from ingather.feeds.admitting import admitted_by
from ingather.feeds.trust import TrustList
from ingather.fetch.egress import EgressGate, Refusal


def test_a_trusted_sender_is_a_target_and_everybody_is_none(tmp_path: Path) -> None:
    trusted = TrustList(tmp_path / "trusted")
    assert pushed_scope(SourceConf(name="s"), trusted).addresses == ()
    trusted.add("10.1.2.3")
    trusted.add("all")
    assert pushed_scope(SourceConf(name="s"), trusted).addresses == ("10.1.2.3/32",)
    assert pushed_scope(SourceConf(name="s"), trusted).hosts == ("*",)


@pytest.mark.parametrize(
    ("detail", "declared", "said"),
    [
        ("refused-address: 10.9.8.7 is a private address that the source does not name", False,
         "10.9.8.7 is a private address that the source does not name; admit it with: ingather feed fetch-from 10.9.8.7"),
        ("robots.txt is unreachable: refused-address: dms.test: fd00::7 is a unique local address that the source does not name", False,
         "admit it with: ingather feed fetch-from fd00::7"),
        ("refused-address: 10.9.8.7 is a private address that the source does not name", True,
         'name it in [source.dms]: addresses = ["10.9.8.7"]'),
        ("refused-address: source dms does not allow port 6379 of 10.1.2.3", False, "add 6379 to feeds.fetch-ports"),
        ("refused-address: source dms does not allow port 6379 of 10.1.2.3", True, "add 6379 to feeds.fetch-ports"),
        ("refused-address: source dms does not allow port 8080", True, "add 8080 to ports of [source.dms]"),
        ("refused-address: 169.254.169.254 is a cloud metadata address", False, "it is never fetched"),
        ("refused-address: 127.0.0.1 port 19900 is a listener of Ingather itself", False, "it is never fetched"),
    ],
)  # fmt: skip
def test_what_waits_for_scope_says_what_admits_it(detail: str, declared: bool, said: str) -> None:  # noqa: FBT001 - a case
    assert admitted_by(detail, "dms", declared=declared).endswith(said)


def test_the_ports_of_trusted_senders_may_be_listed(tmp_path: Path) -> None:
    trusted = TrustList(tmp_path / "trusted")
    trusted.add("10.1.2.3")
    scope = pushed_scope(SourceConf(name="s"), trusted, frozenset({5678}))

    class Names:
        async def resolve(self, host: str) -> tuple[str, ...]:
            return {"adaptor.test": ("10.1.2.3",), "public.test": ("93.184.216.34",)}[host]

    async def refused(host: str, port: int) -> bool:
        return isinstance(await EgressGate(Names()).admit("http", host, port, scope), Refusal)

    async def ask() -> list[bool]:
        asked = (("adaptor.test", 5678), ("adaptor.test", 6379), ("public.test", 6379))
        return [await refused(host, port) for host, port in asked]

    assert asyncio.run(ask()) == [False, True, False]
    assert "port 6379" in EgressGate(Names()).peer_refusal("10.1.2.3", 6379, scope)
    assert EgressGate(Names()).peer_refusal("10.1.2.3", 5678, scope) == ""


@pytest.mark.parametrize("name", ["dms", "DMS"])
@pytest.mark.parametrize(
    ("section", "addresses"),
    [
        ("", ("10.1.2.3/32",)),
        ("[source.dms]\naccess = 'secure'\n", ("10.1.2.3/32",)),
        ("[source.Dms]\nuser-agent = 'us'\n", ("10.1.2.3/32",)),
        ("[source.dms]\naddresses = ['10.9.0.0/16']\n", ("10.9.0.0/16",)),
        ("[source.dms]\naddresses = []\n", ()),
    ],
)
def test_a_section_takes_away_no_address_of_a_sender_unless_it_names_its_own(
    tmp_path: Path, name: str, section: str, addresses: tuple[str, ...]
) -> None:
    TrustList(tmp_path / "trusted").add("10.1.2.3")
    found = read_settings(section.encode())
    assert not found.diagnostics
    scopes = SourceScopes(tmp_path, found.settings, found.sources, frozenset({"web"}))
    assert scopes.of(name).addresses == addresses


def test_a_source_that_a_site_crawls_goes_where_its_section_says_alone(tmp_path: Path) -> None:
    TrustList(tmp_path / "trusted").add("10.1.2.3")
    found = read_settings(b"[source.dms]\naccess = 'secure'\n")
    scopes = SourceScopes(tmp_path, found.settings, found.sources, frozenset({"web", "dms"}))
    assert scopes.of("dms").addresses == ()
    assert scopes.of("web").addresses == ()
