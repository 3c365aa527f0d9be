"""Crawls of trees, ftp and sftp: folders are followed and not described, files are found by whom their access list names."""

import os
from pathlib import Path

import pytest
from tests.unit.shares.conftest import Served, tree
from tests.unit.shares.ftpd import Ftpd, Script

from ingather.app.crawling import Wanted, plan_crawl
from ingather.app.home import Home
from ingather.app.searching import search_service, seen_by
from ingather.app.secrets import KeyFile, SecretStore
from ingather.model.lifecycle import Outcome
from ingather.model.url import canonical
from ingather.model.urlparts import split
from ingather.search import SearchRequest
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


def add_site(rig: Rig, name: str, host: str, start: str, protocol: str) -> None:
    rules = rig.path / "config" / "filterrules.conf"
    port = split(canonical(start)).port
    ports = f'Port allow="{port}"\n' if port else ""
    rules.write_text(
        f'<Site name="{name}" host="{host}" type=server enable=true source={name}>\nStart url="{start}"\n'
        f'Protocol allow="{protocol}"\n{ports}</Site>\n{rules.read_text()}'
    )


def test_a_tree_is_found_by_its_readers_alone_and_no_page_leads_to_it(rig: Rig, tmp_path: Path) -> None:
    docs = tree(tmp_path / "docs")
    (docs / "pub" / "a.txt").write_text("the wombat digs")
    (docs / "pub" / "page.html").write_text("<title>A page</title>the wombat of Ann")
    (docs / ".hidden").mkdir()
    (docs / ".hidden" / "alone.txt").write_text("alone")
    base = f"file://{docs}"
    page = f'<a href="{base}/.hidden/alone.txt">x</a><a href="/other.txt">o</a>'.encode()
    script = Script(
        folders={"/": b"type=file; a.html\r\n"}, files={"/a.html": page, "/other.txt": b"a wombat for all"}
    )
    with Ftpd(script) as server:
        ftp = f"ftp://localhost:{server.port}"
        add_site(rig, "docs", "file:", f"{base}/", "file")
        add_site(rig, "ftp", "localhost", f"{ftp}/", "ftp,file")
        # A careless operator: the source of the pages may read files as well.
        rig.toml(
            f'[source.docs]\nschemes = ["file"]\nroots = ["{docs}"]\nfile-metadata = true\naccess = "public"\n'
            f'[source.ftp]\nschemes = ["ftp", "file"]\nroots = ["{docs}"]\nfile-hidden = [".*"]\naddresses = ["127.0.0.0/8"]\n'
            f'own-hosts = ["localhost:{server.port}"]'
        )
        (rig.path / "config" / "policy-acl.txt").write_text(f"{base}/pub/page.html user:ann\n")
        ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err
    known = rig.known()
    assert {url.removeprefix(base) for url, page in known.items() if page.described and url.startswith(base)} == {
        "/pub/a.txt", "/pub/big.bin", "/pub/page.html", "/pub/sub%20dir/%C3%A4%3Bb.txt", "/robots.txt",
    }  # fmt: skip
    assert known[f"{base}/pub/"].outcome is Outcome.ENUMERATED
    assert f"{base}/pub/link" not in known
    assert f"{base}/.hidden/alone.txt" not in known
    assert rig.found("wombat") == [f"{ftp}/other.txt"]
    assert "listing" in rig.explained(f"{base}/pub/")
    home = Home.open(rig.path)
    service, _, texts = search_service(home, home.settings(environment=rig.given()).settings)
    try:
        seen = service.search(SearchRequest("wombat", limit=50, viewer=seen_by(home, service, "ann"))).results
        assert {one.url for one in seen} == {f"{ftp}/other.txt", f"{base}/pub/page.html"}
    finally:
        texts.close()
    assert "0644" in rig.call("rd", "show", f"{base}/pub/a.txt").out  # file-mode


def test_a_file_on_the_command_line_opens_its_folder_and_public_opens_it_to_all(
    rig: Rig, tmp_path: Path
) -> None:
    docs = tree(tmp_path / "docs")
    (docs / "pub" / "a.txt").write_text("the wombat digs")
    rig.toml("[source.web]\npublic = true")
    ran = rig.run("crawl", "--json", f"file://{docs}/pub/")
    assert ran.status == 0, ran.err
    assert f"files below {docs}/pub: opened for this run" in ran.err
    assert "public = true: everybody may find its documents" in ran.err
    assert rig.found("wombat") == [f"file://{docs}/pub/a.txt"]
    settings, opened = rig.path / "ingather.toml", "[source.web]\npublic = true"
    before = opened
    for now in (opened.replace("true", "false"), opened):  # each visit says anew who may find it
        settings.write_text(settings.read_text().replace(before, now))
        before = now
        assert rig.run("crawl", "--json", f"file://{docs}/pub/").status == 0
        assert bool(rig.found("wombat")) == ("true" in now)
    missing = rig.call("crawl", "file:///nowhere/at/all")
    assert missing.status == 2
    assert "there is no such folder or file on this machine" in missing.err
    assert rig.call("crawl", "gopher://h/").status == 2


def test_a_run_opens_the_protocols_of_its_urls(rig: Rig, tmp_path: Path) -> None:
    docs = tree(tmp_path / "docs")
    home = Home.open(rig.path)
    sources = home.settings(environment=rig.given()).sources
    urls = (
        "sftp://127.0.0.1:2222/srv/",
        "ftps://127.0.0.1/",
        f"file://{docs}/pub/a.txt",
        f"file://{docs}/pub/",
    )
    plan, resolved = plan_crawl(home, sources, Wanted(urls=urls))
    source = plan.sources["web"]
    assert source.schemes == {"http", "https", "sftp", "ftps", "file"}
    assert source.reach.roots == (f"{docs}/pub",)
    assert [one.told for one in resolved if one.told] == [f"files below {docs}/pub: opened for this run"]
    sites = {site.host: site for site in plan.sites}
    assert {"sftp", "ftps"} < sites["127.0.0.1"].protocols
    assert {2222, 990} < sites["127.0.0.1"].ports
    assert "file" in sites[""].protocols
    again, _ = plan_crawl(home, plan.sources, Wanted(urls=(f"file://{docs}/pub/sub%20dir/",)))
    assert again.sources["web"].reach.roots == (f"{docs}/pub",)


def test_ftp_with_its_robots_txt_and_sftp_with_a_key(
    rig: Rig, vsftpd: Served, sshd: Served, tmp_path: Path
) -> None:
    secret = vsftpd.folder / "pub" / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "s.txt").write_text("secret")
    secret.chmod(0o755)
    base = f"ftp://localhost:{vsftpd.port}"
    safe = f"sftp://127.0.0.1:{sshd.port}{sshd.folder}"
    add_site(rig, "ftp", "localhost", f"{base}/", "ftp")
    add_site(rig, "ssh", "127.0.0.1", f"{safe}/pub/", "sftp")
    rig.toml(
        f'[source.ftp]\nschemes = ["ftp"]\naddresses = ["127.0.0.0/8"]\nown-hosts = ["localhost:{vsftpd.port}"]\n'
        f'[source.ssh]\nschemes = ["sftp"]\naddresses = ["127.0.0.0/8"]\nown-hosts = ["127.0.0.1:{sshd.port}"]\n'
        f'credentials = ["files"]\nssh-key = "{sshd.facts["key"]}"\nhost-keys = ["127.0.0.1 {sshd.facts["fingerprint"]}"]\n'
        f'[credential.files]\nkind = "password"\nurl = "{safe}/"\nuser = "{sshd.facts["user"]}"\nsecret = "files"'
    )
    SecretStore(rig.path, KeyFile.of(rig.path, str(tmp_path / "key"), os.environ)).set(
        "files", "no passphrase", 1.0
    )
    for folder in (f"{base}/pub/", f"{safe}/pub/"):
        simulated = rig.call("simulate", "--data", folder)
        assert "listing" in simulated.out
    ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err
    known = rig.known()
    for start in (base, safe):
        assert known[f"{start}/pub/page.html"].described
        assert known[f"{start}/pub/sub%20dir/%C3%A4%3Bb.txt"].described
        assert known[f"{start}/pub/"].outcome is Outcome.ENUMERATED
    assert known[f"{base}/pub/secret/"].outcome is Outcome.ROBOTS
    assert f"{base}/pub/secret/s.txt" not in known
    # Anonymous ftp is for everybody, what a key opened is not.
    assert rig.found("umlaut") == [f"{base}/pub/sub%20dir/%C3%A4%3Bb.txt"]
    assert "no passphrase" not in ran.err + ran.out
