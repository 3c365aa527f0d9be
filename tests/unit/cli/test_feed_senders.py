"""``ingather feed trust`` and ``ingather feed token``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.app.feeds.gate import refused_senders, source_tokens, trust_list
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
    assert rig.call("feed", "token", "9bad").status == 2
    assert rig.call("feed", "token", "intranet_hr", "--remove").status == 0
    assert rig.call("feed", "token", "intranet_hr", "--remove").status == 1
    assert source_tokens(Home(rig.path)).source_of(ran.out.strip()) is None


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
