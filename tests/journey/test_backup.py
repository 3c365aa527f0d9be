"""Backups: taken while a crawl runs, restored into an empty home, with deletions, holds and secrets as they were."""

import json
from pathlib import Path

import apsw
import pytest

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

pytestmark = pytest.mark.timeout(300)

PAGES = 40


def _paths(home: Path) -> dict[str, int]:
    """Return every file of a home that a backup takes, with its permission bits."""
    left_out = ("index/", "log/", "run/", "catalog/", "bodies/")
    files = (path for path in home.rglob("*") if path.is_file())
    return {
        name: path.stat().st_mode & 0o777
        for path in files
        if not (name := path.relative_to(home).as_posix()).startswith(left_out)
    }


def test_what_is_taken_while_a_crawl_runs_is_whole(rig: Rig, site: Site, tmp_path: Path) -> None:
    links = [f"/p{number}" for number in range(PAGES)]
    site.page("/", "All", *links)
    for number, link in enumerate(links):
        site.page(link, f"Page {number}", text=f"walrus number{number}")
    (rig.path / "credentials.toml").write_text("# none\n")
    (rig.path / "credentials.toml").chmod(0o600)
    host = site.origin.partition("://")[2]
    with Site() as slow:  # its second page is due in an hour: the crawl cannot end before it is killed
        slow.page("/", "Slow", "/next")
        asked = rig.crawling(
            site.url("/"), slow.url("/"), own=False, flags=("--own-host", host, "--delay", "1h")
        )
        with rig.start(*asked) as crawl:
            taken = []
            for least in (1, PAGES // 2, PAGES + 1):
                wait_until(lambda least=least: _described(rig) >= least)  # type: ignore[misc]
                said = rig.call("backup", str(tmp_path / f"backup{least}"), "--json")
                assert said.status == 0, said.err
                assert said.json["damage"] == []
                taken.append((least, said.json))
            assert crawl.process.poll() is None
            crawl.kill()
    for least, said in taken:
        copy = Rig(tmp_path / f"home{least}", **rig.settings)
        done = copy.call("restore", said["backup"], "--json")
        assert done.status == 0, done.err
        assert (done.json["damage"], done.json["sequence"]) == ([], said["sequence"])
        assert copy.complaints() == []
        assert len(copy.shown()) >= least
        assert _paths(copy.path) == _paths(rig.path)
    # The earliest one goes on where it was: nothing is lost, nothing is there twice.
    first = Rig(tmp_path / "home1", **rig.settings)
    assert first.crawl(site.url("/")).status == 0
    assert {site.url(link) for link in links} <= first.shown()
    assert first.complaints() == []
    assert first.found("number7") == [site.url("/p7")]


def _described(rig: Rig) -> int:
    try:
        [(count,)] = rig.rows("select count(*) from url where version is not null")
    except apsw.Error:  # it is just being made
        return 0
    return int(count)


def test_deletions_and_holds_survive(rig: Rig, site: Site, tmp_path: Path) -> None:
    birds = [f"/bird{number}" for number in range(5)]
    site.page("/", "Birds", *birds)
    for bird in birds:
        site.page(bird, f"The {bird[1:]}", text="feathers")
    assert rig.crawl(site.url("/")).status == 0
    assert rig.call("remove", site.url("/bird0")).status == 0
    rig.alter(
        "insert into hold (source, reason, opened, urls) select source, 'gone', 1, 1 from url where path = '/bird1'"
    )
    rig.alter(
        "insert into hold_item (id, hold, at) select u.id, h.id, 1 from url u, hold h where u.path = '/bird1'"
    )
    rig.alter("update url set held = 1 where path = '/bird1'")
    assert rig.call("backup", str(tmp_path / "copy"), "--quiet").status == 0
    copy = Rig(tmp_path / "restored", **rig.settings)
    assert copy.call("restore", str(tmp_path / "copy"), "--quiet").status == 0
    assert site.url("/bird0") not in copy.found("feathers")
    assert len(copy.found("feathers")) == len(birds) - 1
    assert copy.call("holds", "list", "--json").json == rig.call("holds", "list", "--json").json != []
    assert copy.rows("select id, at, reason from tombstone") == rig.rows(
        "select id, at, reason from tombstone"
    )
    # It is not brought back by a crawl of the restored home, and can be undone there.
    site.page("/bird0", "Another", text="feathers anew")
    assert copy.crawl(site.url("/")).status == 0
    assert site.url("/bird0") not in copy.shown()
    assert copy.call("undelete", site.url("/bird0")).status == 0
    assert site.url("/bird0") in copy.found("feathers")


def test_a_served_home_is_backed_up(rig: Rig, site: Site, tmp_path: Path) -> None:
    site.page("/", "Walrus", text="walrus")
    rig.site(site.origin)
    with rig.serving():
        wait_until(lambda: _described(rig) > 0)
        said = rig.call("backup", str(tmp_path / "copy"), "--json")
    assert said.status == 0, said.err
    copy = Rig(tmp_path / "restored", **rig.settings)
    assert copy.call("restore", str(tmp_path / "copy"), "--quiet").status == 0
    assert copy.complaints() == []
    manifest = json.loads((tmp_path / "copy" / "backup.json").read_text())
    assert not any(entry["path"].startswith(("index/", "run/", "log/")) for entry in manifest["files"])
