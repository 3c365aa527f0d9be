"""Feeds as programs of other people read them: records and rejections, and nothing else."""

import io

import pytest

from ingather.errors import FeedError
from ingather.feeds import Record, Rejection, read_feed, read_groups
from ingather.model.feed import FeedAcl, FeedHeader, FeedRecord, GroupMembership
from ingather.testing.feedtext import feed

GROUPS = """<?xml version="1.0"?><xmlgroups><membership><principal scope="GROUP">eng</principal>
<members><principal scope="USER">ann</principal></members></membership>
<membership><members/></membership></xmlgroups>"""


class OneByte(io.RawIOBase):
    """A stream that tells how far it was read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def read(self, size: int = -1) -> bytes:
        piece = self.data[self.at : self.at + min(size, 512) if size >= 0 else None]
        self.at += len(piece)
        return piece


def test_a_feed_gives_records_and_rejections_and_nothing_else() -> None:
    text = feed(
        '<record url="http://x/1" mimetype="text/html"><content>one</content></record>',
        '<acl url="http://x/"><principal scope="user" access="permit">ann</principal></acl>',
        "<record><content>nowhere</content></record>",
        '<record url="http://x/2" action="delete"/>',
        feedtype="full",
    )
    stream = read_feed(io.BytesIO(text.encode()))
    one, acl, nowhere, two = stream
    assert isinstance(one, FeedRecord)
    assert one.content
    assert (one.url, one.action, one.content.body) == ("http://x/1", "add", b"one")
    assert isinstance(acl, FeedAcl)
    assert isinstance(acl, Record)
    assert acl.action == "add"
    assert isinstance(nowhere, Rejection)
    assert not isinstance(nowhere, Record)
    assert nowhere.line == 7
    assert nowhere.reason
    assert isinstance(two, FeedRecord)
    assert (two.url, two.action, two.delete) == ("http://x/2", "delete", True)
    assert stream.header == FeedHeader("test", "full")
    assert stream.end
    assert (stream.end.complete, stream.end.items, stream.end.rejected) == (True, 4, 1)
    assert list(stream) == []


def test_the_header_may_be_asked_first_and_nothing_is_lost() -> None:
    stream = read_feed(io.BytesIO(feed('<record url="http://x/1"/>').encode()))
    assert stream.end is None
    assert stream.header.datasource == "test"
    assert stream.header.feedtype == "incremental"
    (one,) = stream
    assert isinstance(one, FeedRecord)
    assert one.url == "http://x/1"
    empty = read_feed(io.BytesIO(feed().encode()))
    assert empty.header.datasource == "test"
    assert list(empty) == []


def test_records_come_before_the_feed_is_read_to_its_end() -> None:
    source = OneByte(feed(*(f'<record url="http://x/{n}"/>' for n in range(50_000))).encode())
    first = next(read_feed(source))
    assert isinstance(first, FeedRecord)
    assert source.at < len(source.data) // 2


@pytest.mark.parametrize("cut", ["</record>\n", '<record url="http://x/2"'])
def test_a_feed_that_is_cut_off_ends_with_a_rejection(cut: str) -> None:
    whole = feed('<record url="http://x/1"></record>', '<record url="http://x/2"></record>')
    stream = read_feed(io.BytesIO(whole[: whole.index(cut) + len(cut)].encode()))
    one, last = stream
    assert isinstance(one, FeedRecord)
    assert isinstance(last, Rejection)
    assert last.reason
    assert stream.end
    assert not stream.end.complete


@pytest.mark.parametrize("text", ["", "<rss/>", "no feed", '<!DOCTYPE gsafeed [<!ENTITY a "b">]><gsafeed/>'])
def test_what_is_no_feed_is_said(text: str) -> None:
    with pytest.raises(FeedError):
        list(read_feed(io.BytesIO(text.encode())))
    with pytest.raises(FeedError):
        read_feed(io.BytesIO(text.encode())).header  # noqa: B018 - asking reads
    with pytest.raises(FeedError):
        list(read_groups(io.BytesIO(text.encode())))


def test_groups_give_memberships_and_rejections_and_nothing_else() -> None:
    stream = read_groups(io.BytesIO(GROUPS.encode()))
    one, nobody = stream
    assert isinstance(one, GroupMembership)
    assert one.group.name == "eng"
    assert [member.name for member in one.members] == ["ann"]
    assert isinstance(nobody, Rejection)
    assert stream.end
    assert stream.end.complete
