"""A connector that pushes changes, revokes and repeats itself while its documents are visited by a running serve."""

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from ingather.testing.adaptor import Adaptor, AdaptorDocument
from ingather.testing.connector import Connector
from ingather.testing.feeds import record
from ingather.testing.rig import Rig
from ingather.testing.running import wait_until
from ingather.testing.site import html

pytestmark = pytest.mark.timeout(300)

JOE = {"entries": [{"access": "permit", "scope": "user", "name": "joe"}]}


@pytest.fixture
def adaptor() -> Iterator[Adaptor]:
    with Adaptor() as made:
        yield made


def page(text: str, **said: Any) -> AdaptorDocument:
    return AdaptorDocument(html("Document", text=text).encode(), **said)


def test_gsa_T28_what_is_pushed_while_it_is_visited_is_visited_again(rig: Rig, adaptor: Adaptor) -> None:
    url = adaptor.url("/doc")
    adaptor.documents = {"/doc": page("walrus")}
    assert rig.call("feed", "trust", "127.0.0.1").status == 0
    with rig.serving() as served:
        connector = Connector(served)
        first = connector.push(record(url))
        wait_until(lambda: served.found("walrus"))
        wait_until(lambda: connector.receipt(first)["state"] == "indexed")
        assert connector.receipt(first)["visited"].endswith("Z")

        # an update while the page is on its way
        adaptor.held["/doc"] = Event()
        connector.push(record(url, crawl_immediately="true"))
        wait_until(lambda: adaptor.asked.count("/doc") == 2)
        adaptor.documents["/doc"] = page("narwhal")
        during = connector.push(record(url, crawl_immediately="true"))
        wait_until(lambda: connector.receipt(during).get("state") == "waiting for crawl")
        wait_until(lambda: connector.backlog() == 1)
        adaptor.held.pop("/doc").set()
        wait_until(lambda: served.found("narwhal"))
        wait_until(lambda: connector.receipt(during)["state"] == "indexed")
        assert adaptor.asked.count("/doc") == 3

        # a poll that repeats itself is late, and not lost
        asked = adaptor.asked.count("/doc")
        names = [connector.push(record(url)) for _ in range(5)]
        wait_until(lambda: connector.receipt(names[-1]))
        shown = connector.receipt(names[-1])
        assert (shown["state"], "visited again at the earliest at" in shown["note"]) == (
            "waiting for crawl",
            True,
        )
        assert shown["until"] in shown["note"]
        wait_until(lambda: connector.backlog() == 0)
        assert adaptor.asked.count("/doc") == asked

        # a change of metadata is no repetition
        meta = '<metadata><meta name="author" content="Ann"/></metadata>'
        connector.push(record(url, meta))
        wait_until(lambda: adaptor.asked.count("/doc") == asked + 1)


def test_a_revocation_that_is_pushed_acts_at_once_and_for_good(rig: Rig, adaptor: Adaptor) -> None:
    in_feed, in_head = adaptor.url("/in-feed"), adaptor.url("/in-head")
    adaptor.documents = {"/in-feed": page("walrus"), "/in-head": page("narwhal")}
    assert rig.call("feed", "trust", "127.0.0.1").status == 0
    closed = '<acl><principal scope="user" access="permit">joe</principal></acl>'
    with rig.serving() as served:
        connector = Connector(served)
        connector.push(record(in_feed), record(in_head))
        wait_until(lambda: served.found("walrus") and served.found("narwhal"))

        # the feed says it while a visit is under way that was asked before
        adaptor.held["/in-feed"] = Event()
        connector.push(record(in_feed, crawl_immediately="true"))
        wait_until(lambda: adaptor.asked.count("/in-feed") == 2)
        connector.push(record(in_feed, closed))
        wait_until(lambda: not served.found("walrus"))
        adaptor.documents["/in-feed"] = page("walrus", acl=JOE)
        adaptor.held.pop("/in-feed").set()
        wait_until(lambda: adaptor.asked.count("/in-feed") == 3)
        last = connector.push(record(in_feed, crawl_immediately="true"))
        wait_until(lambda: connector.receipt(last).get("state") in {"unchanged", "indexed"})
        assert not served.found("walrus")

        # the head of the answer says it: moments after its last visit
        adaptor.documents["/in-head"] = page("narwhal", acl=JOE)
        connector.push(record(in_head, crawl_immediately="true"))
        wait_until(lambda: not served.found("narwhal"))
    assert not rig.complaints(bodies=False)
