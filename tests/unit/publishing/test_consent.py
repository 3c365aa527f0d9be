"""What would be lost is asked before it is published, not after."""

from pathlib import Path

from ingather.testing.rig import Rig
from ingather.testing.site import Site


def test_a_configuration_that_would_delete_much_needs_a_word(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home", **{"deletion.documents": "2", "deletion.share": "10%"}).init()
    with Site() as site:
        pages = [f"/old/{number}" for number in range(8)]
        site.page("/", "Start", *pages)
        for page in pages:
            site.page(page, f"Page {page}")
        rig.site(site.origin)
        assert rig.run("crawl", "--quiet").status == 0
        _ask(rig, tmp_path)
        rig.run("recheck", "--prefix", site.url("/old/"))
        rig.run("crawl", "--quiet")
    assert rig.call("holds", "list", "--json").json
    back = rig.call("conf", "rollback", "1")  # it deletes nothing itself: what is held is no reason to ask
    assert (back.status, back.err.splitlines()[0]) == (
        0,
        "documents that it excludes leave search when serve is started",
    )


def _ask(rig: Rig, tmp_path: Path) -> None:
    changed = tmp_path / "next"
    changed.mkdir()
    for path in (rig.path / "config").iterdir():
        text = path.read_text()
        if path.name == "filter.conf":
            deny = "MetaData fn=filter-by-prefix src=path deny=/old/\nData fn=assign-source"
            text = text.replace("Data fn=assign-source", deny)
        (changed / path.name).write_text(text)
    refused = rig.call("conf", "publish", str(changed))
    assert refused.status == 1, refused
    assert "--yes" in refused.err
    assert "/old/" in refused.out
    assert [row["version"] for row in rig.call("conf", "history", "--json").json] == [1]
    assert (rig.path / "config" / "filter.conf").read_text() != (changed / "filter.conf").read_text()
    assert rig.call("conf", "publish", str(changed), "--yes").status == 0
    assert [row["version"] for row in rig.call("conf", "history", "--json").json] == [2, 1]
