"""A spooled file that is not what was acknowledged: named, set aside, and nothing of it is applied or taken for an omission."""

from pathlib import Path
from typing import Any

import pytest

from ingather.feeds.spool import DAMAGED, damage_of
from ingather.testing.feeds import FeedRig, content, feed_xml, record


def _file(rig: FeedRig, feed: dict[str, Any]) -> Path:
    return rig.local.office.file(feed["name"])


@pytest.mark.parametrize("harm", ["flipped", "cut", "grown", "gone"])
def test_a_damaged_file_costs_its_feed_and_no_other(rig: FeedRig, harm: str) -> None:
    source = f"damaged-{harm}"
    kept, new, after = (f"http://{source}.test/{name}" for name in ("kept", "new", "after"))
    rig.push(record(kept, content("kept")), datasource=source, feedtype="full")
    body = feed_xml(record(new, content("new")), datasource=source, feedtype="full")
    bad = rig.take(body, source, "full")
    good = rig.take(feed_xml(record(after, content("after")), datasource=source), source)
    file = _file(rig, {"name": bad.name})
    whole = file.read_bytes()
    harmed = {"flipped": whole.replace(b"new", b"naw"), "cut": whole[:-30], "grown": whole + b"<!-- -->"}
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(harmed[harm])
    rig.local.apply()
    feed = rig.local.office.feed(bad.name)
    assert feed["state"] == "failed in error"
    assert feed["deleted"] == 0
    assert rig.local.office.feed(good.name)["state"] == "completed"
    assert (rig.described(kept), rig.described(new), rig.described(after)) == (True, False, True)
    if harm == "gone":
        assert "not in the spool" in feed["detail"]
        return
    assert "its file is damaged" in feed["detail"]
    aside = _file(rig, feed)
    assert aside.name == file.name + DAMAGED
    assert aside.read_bytes() == harmed[harm]
    assert not file.exists()


def test_a_file_that_was_mended_is_applied_when_it_is_tried_again(rig: FeedRig) -> None:
    url = "http://mended.test/1"
    ticket = rig.take(feed_xml(record(url, content("mended")), datasource="mended"), "mended")
    file = _file(rig, {"name": ticket.name})
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    rig.local.apply()
    aside = _file(rig, {"name": ticket.name})
    for mended in (False, True):
        if mended:
            aside.write_bytes(whole)
        rig.local.writer.transaction(lambda w: w.feeds.again(ticket.id))
        rig.local.apply()
        assert rig.described(url) is mended
        assert _file(rig, {"name": ticket.name}) == aside


def test_damage_is_said_in_words(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert not damage_of(file, 3, digest)
    assert "3 bytes, 4" in damage_of(file, 4, digest)
    assert "sha256" in damage_of(file, 3, digest.replace("b", "c"))
