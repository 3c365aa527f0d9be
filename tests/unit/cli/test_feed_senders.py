"""``ingather feed trust`` and ``ingather feed token``."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from ingather.app.feeds.senders import feed_tokens, refused_senders, trust_list
from ingather.app.home import Home
from ingather.feeds.senders import RefusedSenders, standard_grant
from ingather.feeds.trust import TrustRight, parse_peer
from ingather.testing.rig import Rig


@pytest.fixture
def rig(home: Path) -> Rig:
    return Rig(home).init()


def test_an_address_is_trusted_listed_and_forgotten(rig: Rig) -> None:
    at = Home(rig.path)
    senders = RefusedSenders(refused_senders(at))
    senders.note("10.1.2.3", 1_700_000_000.0)
    senders.save()
    listed = rig.call("feed", "trust", "--list")
    assert "refused  10.1.2.3  1 times, last 2023-11-14 22:13:20 UTC" in listed.out
    assert rig.call("feed", "trust", "10.1.2.0/24").status == 0
    trusted = trust_list(at.feeds, at.settings(environment={}).settings)
    assert trusted.trusts(parse_peer("10.1.2.3"))
    assert "as before" in rig.call("feed", "trust", "10.1.2.0/24").out
    found = json.loads(rig.call("feed", "trust", "--list", "--json").out)
    assert found["trusted"] == ["127.0.0.0/8", "::1/128", "10.1.2.0/24"]
    assert found["refused"][0]["count"] == 1
    assert rig.call("feed", "trust", "10.1.2.0/24", "--remove").status == 0
    assert rig.call("feed", "trust", "10.1.2.0/24", "--remove").status == 1
    assert not trusted.trusts(parse_peer("10.1.2.3"))


def test_to_push_and_to_be_fetched_from_are_two_rights(rig: Rig) -> None:
    at = Home(rig.path)
    trusted = trust_list(at.feeds, at.settings(environment={}).settings)

    def rights() -> tuple[list[str], list[str]]:
        accept, fetch = (trusted.networks(right) for right in (TrustRight.ACCEPT, TrustRight.FETCH))
        return [str(network) for network in accept], [str(network) for network in fetch]

    said = rig.call("feed", "accept-from", "10.1.2.3")
    assert said.out == "feeds from 10.1.2.3 are taken\n"
    assert rights() == (["10.1.2.3/32"], [])
    assert rig.call("feed", "fetch-from", "10.2.0.0/16").status == 0
    assert rights() == (["10.1.2.3/32"], ["10.2.0.0/16"])
    assert not trusted.trusts(parse_peer("10.2.0.1"))
    assert rig.call("feed", "fetch-from", "10.1.2.3").status == 0
    assert rights() == (["10.1.2.3/32"], ["10.1.2.3/32", "10.2.0.0/16"])
    assert rig.call("feed", "accept-from", "10.2.0.0/16", "--remove").status == 1
    listed = json.loads(rig.call("feed", "trust", "--list", "--json").out)
    assert (listed["accept"][2:], listed["fetch"]) == (["10.1.2.3/32"], ["10.1.2.3/32", "10.2.0.0/16"])
    assert rig.call("feed", "trust", "10.1.2.3", "--remove").status == 0
    assert rights() == ([], ["10.2.0.0/16"])


def test_a_line_of_an_older_version_gives_both_rights_and_a_wrong_one_none(rig: Rig) -> None:
    at = Home(rig.path)
    at.feeds.mkdir(exist_ok=True)
    (at.feeds / "trusted").write_text(
        "10.1.2.3\n10.1.2.4 accept\n10.1.2.5 fetch # adaptor\n10.1.2.6 everything\n"
    )
    trusted = trust_list(at.feeds, at.settings(environment={}).settings)
    assert [str(n) for n in trusted.networks()] == ["10.1.2.3/32", "10.1.2.4/32"]
    assert [str(n) for n in trusted.networks(TrustRight.FETCH)] == ["10.1.2.3/32", "10.1.2.5/32"]


def test_addresses_of_the_settings_count_beside_those_of_the_verbs(home: Path) -> None:
    written = {"feeds.accept-from": '["10.7.0.0/16"]', "feeds.fetch-from": '["10.8.0.1"]'}
    at, rig = Home.create(home, written=written), Rig(home)
    trusted = trust_list(at.feeds, at.settings(environment={}).settings)
    assert trusted.trusts(parse_peer("10.7.1.1"))
    assert not trusted.trusts(parse_peer("10.8.0.1"))
    assert [str(n) for n in trusted.networks(TrustRight.FETCH)] == ["10.8.0.1/32"]
    rig.call("feed", "accept-from", "10.9.0.1")
    assert [str(n) for n in trusted.networks()] == ["10.9.0.1/32", "10.7.0.0/16"]


@pytest.mark.parametrize("arguments", [(), ("example.com",), ("10.1.2.3", "--list")])
def test_wrong_use_is_one_line(rig: Rig, arguments: tuple[str, ...]) -> None:
    ran = rig.call("feed", "trust", *arguments)
    assert ran.status == 2
    assert ran.err.count("\n") == 1


def test_a_token_is_shown_once(rig: Rig) -> None:
    ran = rig.call("feed", "token", "intranet_hr")
    found = feed_tokens(Home(rig.path)).grant_of(ran.out.strip())
    assert found is not None
    assert found.sources == ("intranet_hr",)
    assert rig.call("feed", "token", "9bad").status == 2
    assert rig.call("feed", "token").status == 2
    assert rig.call("feed", "token", "intranet_hr", "--remove").status == 0
    assert rig.call("feed", "token", "intranet_hr", "--remove").status == 1
    assert feed_tokens(Home(rig.path)).grant_of(ran.out.strip()) is None


def test_a_token_may_what_it_is_given_and_stays_the_same(rig: Rig) -> None:
    tokens = feed_tokens(Home(rig.path))
    made = rig.call("feed", "token", "HR", "--prefix", "HTTP://HR.Example/Docs", "--no-acls").out.strip()
    wanted = replace(standard_grant("HR"), prefixes=("http://hr.example/Docs",), acls=False)
    assert tokens.grant_of(made) == wanted
    more = (
        "--prefix",
        "http://hr.example/more/",
        "--namespace",
        "HR",
        "--group-source",
        "ad",
        "--source",
        "hr2",
        "--acls",
    )
    for _ in range(2):  # the same again is no other token
        assert rig.call("feed", "token", "hr", *more).status == 0
    wanted = replace(
        wanted,
        sources=("hr", "hr2"),
        prefixes=("http://hr.example/Docs", "http://hr.example/more/"),
        acls=True,
        group_sources=("hr", "ad"),
        namespaces=("hr",),
    )
    assert tokens.grant_of(made) == wanted
    assert json.loads(rig.call("feed", "token", "--list", "--json").out)[0]["prefixes"] == list(
        wanted.prefixes
    )
    renewed = rig.call("feed", "token", "hr").out.strip()
    assert tokens.grant_of(made) is None
    assert tokens.grant_of(renewed) == wanted
    assert rig.call("feed", "token", "hr", "--reset").status == 0
    assert tokens.grant_of(renewed) == standard_grant("HR")
    assert rig.call("feed", "token", "hr", "--prefix", "no url").status == 2


def test_a_token_of_an_older_version_speaks_for_its_source_and_pushes_no_memberships(rig: Rig) -> None:
    at = Home(rig.path)
    at.feeds.mkdir(exist_ok=True)
    digests = {"Alpha": hashlib.sha256(b"secret").hexdigest(), "beta": {"digest": 5}, "gamma": 7}
    (at.feeds / "tokens").write_text(json.dumps(digests))
    grant = feed_tokens(at).grant_of("secret")
    assert grant == standard_grant("Alpha")
    assert grant.admits("ALPHA", groups=False)
    assert not grant.admits("alpha", groups=True)
    assert [one.token for one in feed_tokens(at).grants()] == ["Alpha"]


def test_memberships_are_of_sources_that_a_push_could_name(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("group,member\neng,joe\n")
    ran = rig.call("groups", "import", str(file), "--source", "9bad")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "'9bad' is not the name of a data source" in ran.err
    assert rig.call("groups", "import", str(file), "--source", "ad-REPL1").status == 0
    torn = tmp_path / "torn.xml"
    torn.write_text("junk")
    ran = rig.call("groups", "load", str(torn), "--source", "ad")
    assert (ran.status, ran.err) == (1, f"ingather: {torn}: there is no xmlgroups element\n")


def test_a_password_is_read_from_a_pipe_without_a_word(rig: Rig) -> None:
    """As cron or a container gives it: no terminal anywhere."""
    command = [sys.executable, "-m", "ingather", "user", "add", "anna", "--home", str(rig.path)]
    ran = subprocess.run(
        command, input="a password of hers\n", capture_output=True, text=True, check=False,
        start_new_session=True, timeout=120,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "user anna added\n", "")
