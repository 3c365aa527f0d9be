"""The feed thread: order, deaths, groups, JSON lines, what operators may have done."""

import json
import os
import signal
from functools import partial

import pytest

from ingather.app.feeds.office import again_job, forget_job
from ingather.errors import UsageError
from ingather.feeds.desk import FeedFields, FeedFormat, FeedKind, GroupsFullError
from ingather.feeds.groups_applying import at_capacity
from ingather.testing.feeds import FeedRig, content, feed_xml, record


def test_feeds_of_a_source_are_applied_in_order_of_arrival(rig: FeedRig) -> None:
    url = "http://order2.test/a"
    for text in ("one", "two", "three"):
        rig.take(feed_xml(record(url, content(text)), datasource="order2"), "order2")
    assert rig.local.feeding.backlog() == 3
    rig.local.apply()
    assert rig.local.feeding.backlog() == 0
    assert rig.text(url) == "three"


def test_a_feed_goes_on_behind_its_cursor_after_a_death(rig: FeedRig) -> None:
    urls = [f"http://cursor.test/{n}" for n in range(1203)]
    body = feed_xml(*(record(url, content(f"t{n}")) for n, url in enumerate(urls)), datasource="cursor")
    ticket = rig.take(body, "cursor", "full")
    rig.local.feeding.step("cursor")
    done = rig.local.office.feed(ticket.name)["done"]
    assert 0 < done < len(urls)
    pid = rig.local.feeding.worker_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    rig.reopen()
    rig.local.apply()
    feed = rig.local.office.feed(ticket.name)
    assert (feed["state"], feed["applied"], feed["done"]) == ("completed", 1203, 1203)
    assert rig.text(urls[0]) == "t0"
    assert rig.text(urls[-1]) == "t1202"
    assert [r["n"] for r in rig.records(feed)][:1000] == list(range(1, 1001))


def test_a_batch_that_comes_twice_is_applied_once(rig: FeedRig) -> None:
    url = "http://twice.test/a"
    told = rig.push(record(url, content("x")), datasource="twice")
    before = rig.local.writer.applier.sequence
    rig.local.feeding.taken(told["id"], "twice", 1)
    rig.local.apply()
    assert rig.local.writer.applier.sequence == before


def test_what_is_no_feed_fails_with_a_reason(rig: FeedRig) -> None:
    told = rig.push(body=b"<rss><channel/></rss>", datasource="nofeed")
    assert told["state"] == "failed in error"
    assert "root element" in told["detail"]


def test_json_lines_say_the_same(rig: FeedRig) -> None:
    lines = [
        {"url": "http://jsonl.test/a", "mimetype": "text/plain", "content": "from a line"},
        {"type": "end"},
    ]
    body = "\n".join(json.dumps(line) for line in lines).encode()
    told = rig.push(body=body, datasource="jsonl", format=FeedFormat.JSON_LINES)
    assert told["state"] == "completed"
    assert rig.text("http://jsonl.test/a") == "from a line"


def test_groups_are_loaded_and_cleaned_up(rig: FeedRig) -> None:
    body = (
        b"<xmlgroups><membership><principal scope='GROUP'>staff</principal><members>"
        b"<principal scope='USER'>joe</principal><principal scope='USER'>ann</principal>"
        b"</members></membership></xmlgroups>"
    )
    told = rig.push(body=body, datasource="groups", kind=FeedKind.GROUPS, groupsource="REPL1", replace=True)
    assert (told["state"], told["kind"], told["feedtype"]) == ("completed", "groups", "full")
    again = rig.push(body=b"", datasource="groups", kind=FeedKind.GROUPS, groupsource="REPL1", cleanup=True)
    assert again["state"] == "completed"
    assert "2 memberships" in again["detail"]


def test_a_feed_may_be_applied_again_and_forgotten(rig: FeedRig) -> None:
    url = "http://office.test/a"
    told = rig.push(record(url, content("x")), datasource="office")
    rig.push(record(url, action="delete"), datasource="office")
    assert rig.local.do(again_job([told["id"]])) == [told["id"]]
    rig.local.apply()
    assert rig.text(url) == "x"
    assert rig.local.office.file(told["name"]).read_bytes().startswith(b"<?xml")
    assert rig.local.do(forget_job(told["id"]))
    with pytest.raises(UsageError, match="no feed"):
        rig.local.office.feed(told["name"])


def test_everything_of_a_data_source_is_deleted_at_a_command(rig: FeedRig) -> None:
    urls = [f"http://emptied.test/{n}" for n in range(30)]
    rig.push(*(record(url, content(url)) for url in urls), datasource="emptied")
    name = rig.local.empty("emptied")
    rig.local.apply()
    feed = rig.local.office.feed(name)
    assert (feed["feedtype"], feed["state"], feed["deleted"], feed["held"]) == ("deleted", "completed", 30, 0)
    assert not rig.described(urls[0])


def test_old_feeds_are_forgotten(rig: FeedRig) -> None:
    told = rig.push(record("http://old.test/a", content("x")), datasource="old")
    later = rig.clock.wall() + 100
    gone = rig.local.writer.transaction(lambda w: w.feeds.prune(later, 1000))
    assert told["id"] in [number for number, _ in gone]
    assert rig.described("http://old.test/a")
    assert rig.push(record("http://old.test/b", content("y")), datasource="old")["id"] > told["id"]


def test_names_are_in_the_appliance_s_form(rig: FeedRig) -> None:
    ticket = rig.take(feed_xml(datasource="sample_feed"), "sample_feed", "full")
    assert ticket.name == f"sample_feed_20260921_141320_000000_FULL_FEED_{ticket.id}"
    FeedFields("web", "incremental").check()
    rig.local.apply()


def test_every_membership_that_cannot_be_read_has_a_receipt(rig: FeedRig) -> None:
    bad = "".join("<membership><principal scope='NOBODY'>g</principal></membership>\n" for _ in range(1203))
    body = f"<xmlgroups>\n{bad}<membership><principal scope='GROUP'>g</principal></membership></xmlgroups>".encode()
    told = rig.push(body=body, datasource="manybad", kind=FeedKind.GROUPS)
    assert (told["applied"], told["rejected"]) == (1, 1203)
    office, found, after = rig.local.office, [], 0
    while page := office.records(str(told["id"]), after=after, limit=500, state="rejected"):
        found += page
        after = page[-1]["n"]
    assert [(one["n"], one["line"]) for one in found] == [(n, n + 1) for n in range(1, 1204)]
    rig.local.do(again_job([told["id"]]))
    rig.local.apply()
    assert len(office.records(str(told["id"]), limit=10_000)) == 1203


def test_groups_that_find_no_room_are_refused_before_success(
    rig: FeedRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = "<membership><principal scope='GROUP'>g</principal><members><principal scope='USER'>u</principal></members></membership>"
    body = f"<xmlgroups>{member}</xmlgroups>".encode()
    rig.push(body=body, datasource="room", kind=FeedKind.GROUPS, feedtype="full")
    monkeypatch.setattr("ingather.app.feeds.arriving.at_capacity", partial(at_capacity, most=1))
    with pytest.raises(GroupsFullError, match=r"^error: group db at capacity\.$"):
        rig.take(body, "more", kind=FeedKind.GROUPS)
    rig.push(body=body, datasource="more", kind=FeedKind.GROUPS, cleanup=True)
    rig.push(body=b"", datasource="room", kind=FeedKind.GROUPS, cleanup=True)
