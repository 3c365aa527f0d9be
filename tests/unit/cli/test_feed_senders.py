"""``ingather feed trust`` and ``ingather feed token``."""

import json
from pathlib import Path

import pytest

from ingather.app.feedgate import refused_senders, source_tokens, trust_list
from ingather.app.home import Home
from ingather.feeds.senders import RefusedSenders
from ingather.feeds.trust import parse_peer
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
    assert trust_list(at).trusts(parse_peer("10.1.2.3"))
    assert "as before" in rig.call("feed", "trust", "10.1.2.0/24").out
    found = json.loads(rig.call("feed", "trust", "--list", "--json").out)
    assert found["trusted"] == ["127.0.0.0/8", "::1/128", "10.1.2.0/24"]
    assert found["refused"][0]["count"] == 1
    assert rig.call("feed", "trust", "10.1.2.0/24", "--remove").status == 0
    assert rig.call("feed", "trust", "10.1.2.0/24", "--remove").status == 1
    assert not trust_list(at).trusts(parse_peer("10.1.2.3"))


@pytest.mark.parametrize("arguments", [(), ("example.com",), ("10.1.2.3", "--list")])
def test_wrong_use_is_one_line(rig: Rig, arguments: tuple[str, ...]) -> None:
    ran = rig.call("feed", "trust", *arguments)
    assert ran.status == 2
    assert ran.err.count("\n") == 1


def test_a_token_is_shown_once(rig: Rig) -> None:
    ran = rig.call("feed", "token", "intranet_hr")
    assert source_tokens(Home(rig.path)).source_of(ran.out.strip()) == "intranet_hr"
    assert rig.call("feed", "token", "9bad").status != 0
    assert rig.call("feed", "token", "intranet_hr", "--remove").status == 0
    assert rig.call("feed", "token", "intranet_hr", "--remove").status == 1
    assert source_tokens(Home(rig.path)).source_of(ran.out.strip()) is None
