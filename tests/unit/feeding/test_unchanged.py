"""Content that was pushed before is not read again; all else that its record says counts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingather.app.feeds.marks import steady
from ingather.app.feeds.process import FeedProcess
from ingather.app.operating import undelete_job
from ingather.feeds.receipts import UNCHANGED, log_line
from ingather.testing.feeds import FeedRig, content, record

SAID = UNCHANGED


def _written(rig: FeedRig) -> int:
    """Return how many bytes of bodies there are."""
    return sum(path.stat().st_size for path in rig.home.bodies.rglob("*") if path.is_file())


def _notes(rig: FeedRig, told: dict[str, Any]) -> list[str]:
    return [one["note"] for one in rig.records(told)]


def _acl(name: str) -> str:
    return f'<acl><principal scope="user" access="permit">{name}</principal></acl>'


def test_the_same_again_is_neither_read_nor_written(rig: FeedRig) -> None:
    pages = [record(f"http://same-again.test/{n}", content(f"page {n}")) for n in range(20)]
    first = rig.push(*pages, datasource="again")
    assert _notes(rig, first) == [""] * 20
    before = _written(rig)
    told = rig.push(*pages, datasource="again")
    assert _notes(rig, told) == [SAID] * 20
    assert _written(rig) == before
    assert not any("Warning" in log_line(one) for one in rig.records(told))
    assert (told["state"], told["applied"], told["rejected"]) == ("completed", 20, 0)
    assert rig.text("http://same-again.test/7") == "page 7"


@pytest.mark.parametrize(
    "change",
    [
        lambda url: record(url, content("other")),
        lambda url: record(url, content("it"), mimetype="text/plain"),
        lambda url: record(url, content("it"), last_modified="Tue, 20 Mar 2018 08:33:00 GMT"),
    ],
    ids=["bytes", "mimetype", "last-modified"],
)
def test_what_differs_in_anything_that_its_description_is_made_from_is_read(
    rig: FeedRig, change: Callable[[str], str], request: pytest.FixtureRequest
) -> None:
    url = f"http://differs.test/{request.node.callspec.id}"
    rig.push(record(url, content("it")), datasource="differs")
    assert SAID not in _notes(rig, rig.push(change(url), datasource="differs"))[0]
    assert _notes(rig, rig.push(change(url), datasource="differs")) == [SAID]


def test_metadata_and_rights_count_although_the_content_is_the_same(rig: FeedRig) -> None:
    url = "http://beside.test/a"

    def meta(colour: str) -> str:
        return f'<metadata><meta name="colour" content="{colour}"/></metadata>'

    rig.push(record(url, _acl("ann") + meta("red") + content("it")), datasource="beside")
    before, changes = rig.chain(url), rig.local.writer.applier.sequence
    told = rig.push(record(url, _acl("bob") + meta("blue") + content("it")), datasource="beside")
    assert _notes(rig, told) == [SAID]
    assert rig.attributes(url)["colour"] == ("blue",)
    assert rig.chain(url) not in {before, None}
    assert rig.local.writer.applier.sequence > changes  # the index learns of it
    told = rig.push(record(url, content("it"), authmethod="httpbasic"), datasource="beside")
    assert _notes(rig, told) == [SAID]


def test_a_document_that_was_deleted_comes_back_with_its_content(rig: FeedRig) -> None:
    url = "http://back.test/a"
    rig.push(record(url, content("it")), datasource="back")
    rig.push(record(url, action="delete"), datasource="back")
    told = rig.push(record(url, content("it")), datasource="back")
    assert _notes(rig, told) == [""]
    assert rig.text(url) == "it"
    rig.remove(url)
    assert rig.records(rig.push(record(url, content("it")), datasource="back"))[0]["state"] == "rejected"
    rig.local.do(undelete_job(url))
    rig.push(record(url, content("it")), datasource="back")
    assert rig.text(url) == "it"


def test_what_housekeeping_removed_is_written_again(rig: FeedRig) -> None:
    url = "http://pruned.test/a"
    rig.push(record(url, content("it")), datasource="pruned")
    row = rig.row(url)
    assert row is not None
    rig.local.writer.transaction(
        lambda w: w.syndication.query(
            "update url set seg = null, off = null, len = null, toff = null, tlen = null where id = ?",
            (row.id,),
        )
    )
    assert rig.text(url) == ""
    assert _notes(rig, rig.push(record(url, content("it")), datasource="pruned")) == [""]
    assert rig.text(url) == "it"


def test_one_feed_that_changes_a_document_and_changes_it_back_is_obeyed(rig: FeedRig) -> None:
    url = "http://forth.test/a"
    rig.push(record(url, content("one")), datasource="forth")
    told = rig.push(record(url, content("two")), record(url, content("one")), datasource="forth")
    assert SAID not in _notes(rig, told)
    assert rig.text(url) == "one"


def test_so_is_one_that_does_so_across_batches(rig: FeedRig) -> None:
    """The reader reads on while a batch is applied: what it took for kept may be another by then, and is read after all."""
    url = "http://across.test/a"
    rig.push(record(url, content("one")), datasource="across")
    between = [record(f"http://across.test/{n}") for n in range(700)]
    rig.push(record(url, content("two")), *between, record(url, content("one")), datasource="across")
    assert rig.text(url) == "one"
    rig.push(record(url, action="delete"), *between, record(url, content("one")), datasource="across")
    assert rig.text(url) == "one"


def test_another_owner_pushes_it_as_its_own(rig: FeedRig) -> None:
    url = "http://owners.test/a"
    rig.push(record(url, content("it")), datasource="owner1")
    told = rig.push(record(url, content("it")), datasource="owner2")
    assert SAID not in _notes(rig, told)[0]
    row = rig.row(url)
    assert row is not None
    assert row.source == "owner2"


def test_a_restart_forgets_no_mark_and_a_new_rule_or_plug_in_is_applied(tmp_path: Path) -> None:
    url = "http://restart.test/a"
    page = record(url, content("it"))
    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    rig.push(page)
    process.stop()
    rig.reopen()
    assert _notes(rig, rig.push(page)) == [SAID]
    folder = rig.home.path / "plugins"
    folder.mkdir(exist_ok=True)
    (folder / "own.py").write_text("VALUE = 1\n")
    process.stop()
    rig.reopen()
    assert _notes(rig, rig.push(page)) == [""]
    process.stop()
    rules = next(rig.home.path.rglob("filter.conf"))
    rules.write_text(rules.read_text() + "\n# another line is another version\n")
    rig.reopen()
    assert _notes(rig, rig.push(page)) == [""]
    assert _notes(rig, rig.push(page)) == [SAID]
    rig.close()
    process.stop()


def test_equal_values_have_one_steady_text_whatever_their_order() -> None:
    assert steady({"b": frozenset({2, 1}), "a": [(1,)]}) == steady({"a": ((1,),), "b": {1, 2}})
    assert steady({"a": 1}) != steady({"a": "1"})
