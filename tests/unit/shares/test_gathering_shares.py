"""A crawl of WebDAV folders and of an SMB share: no page links to their documents, and all of them are found."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.unit.shares.dav import dav_server
from tests.unit.shares.smbd import PASSWORD, smb_server
from tests.unit.shares.test_gathering import add_site

from ingather.app.secrets import KeyFile, SecretStore
from ingather.model.lifecycle import Outcome
from ingather.testing.rig import Rig


@pytest.fixture
def rig(home: Path, tmp_path: Path) -> Rig:
    """A fresh home and its commands."""
    settings = {
        "catalog.outcome-wait": "0.02s",
        "gather.batch-wait": "0.02s",
        "secrets.key-file": str(tmp_path / "key"),
    }
    return Rig(home, **settings).init()


def test_webdav_and_smb_are_followed_by_their_folders(rig: Rig, tmp_path: Path) -> None:
    with dav_server() as dav, smb_server() as smbd:
        web, share = f"http://localhost:{dav.port}", f"smb://127.0.0.1:{smbd.port}"
        add_site(rig, "dav", "localhost", f"{web}/pub/", "http")
        add_site(rig, "smb", "127.0.0.1", f"{share}/docs/", "smb")
        rig.toml(
            f'[source.dav]\nwebdav = true\naddresses = ["127.0.0.0/8"]\nown-hosts = ["localhost:{dav.port}"]\n'
            f'[source.smb]\nschemes = ["smb"]\naddresses = ["127.0.0.0/8"]\nown-hosts = ["127.0.0.1:{smbd.port}"]\ncredentials = ["share"]\n'
            f'[credential.share]\nkind = "password"\nurl = "{share}/docs/"\nuser = "{smbd.facts["user"]}"\nsecret = "share"'
        )
        SecretStore(rig.path, KeyFile.of(rig.path, str(tmp_path / "key"), os.environ)).set(
            "share", PASSWORD, 1.0
        )
        for folder in (f"{web}/pub/", f"{share}/docs/pub/"):
            assert "listing" in rig.call("simulate", "--data", folder).out
        ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err
    known = rig.known()
    for folder in (f"{web}/pub", f"{share}/docs/pub"):
        assert known[f"{folder}/"].outcome is Outcome.ENUMERATED
        assert known[f"{folder}/page.html"].described
        assert known[f"{folder}/sub%20dir/%C3%A4%3Bb.txt"].described
    # The web's pages are for everybody, what an account opened is not.
    assert rig.found("umlaut") == [f"{web}/pub/sub%20dir/%C3%A4%3Bb.txt"]
    assert PASSWORD not in ran.err + ran.out


def test_smb_without_its_package_is_told_at_the_check(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.toml('[source.smb]\nschemes = ["smb"]')
    assert rig.call("config", "check").status == 0
    monkeypatch.setattr(
        "ingather.conf.sources.sections.find_spec",
        lambda name: None if name == "smbprotocol" else find_spec(name),
    )
    told = rig.call("config", "check")
    assert told.status != 0
    assert "source.smb.schemes: what speaks SMB is not installed" in told.out + told.err
    assert "pip install 'ingather[smb]'" in told.out + told.err
