"""What a feed looks like, what is refused, and what becomes of a folder."""

import io
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingather.client import FeedWriteError, FeedWriter, GroupWriter, check_datasource, feed_of_folder
from ingather.feeds.checking import check
from ingather.feeds.reading import read_items
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.feed import FeedAcl, FeedContent, FeedRecord

JOE = Principal(PrincipalScope.USER, "joe")
URL = "http://hr.example/a"


def written(act: Callable[[FeedWriter], object], kind: str = "incremental") -> bytes:
    out = io.BytesIO()
    with FeedWriter(out, "hr", kind) as writer:
        act(writer)
    return out.getvalue()


def record(act: Callable[[FeedWriter], object]) -> FeedRecord:
    _, first, *_ = read_items(io.BytesIO(written(act)))
    assert isinstance(first, FeedRecord)
    return first


def test_a_feed_of_everything_keeps_to_the_dtd() -> None:
    def everything(feed: FeedWriter) -> None:
        feed.acl(Acl("http://hr.example/", (AclEntry(Right.DENY, JOE),)))
        feed.add(
            URL,
            content="<p>ü & ü</p>",
            mimetype="text/html",
            metadata={"author": "Ann", "lines": "one\ntwo", "empty": ""},
            acl=Acl("", (), "http://hr.example/"),
            last_modified=datetime(2007, 11, 6, 12, 45, 26, tzinfo=UTC),
            authmethod="httpsso",
            pagerank=99,
        )
        feed.delete("http://hr.example/old")

    report = check(io.BytesIO(written(everything)))
    assert (report.findings, report.records, report.acls) == ((), 2, 1)


def test_what_add_makes_of_its_arguments() -> None:
    made = record(
        lambda feed: feed.add(
            f" {URL}.pdf ",
            content=b"%PDF",
            metadata=[("a", "1"), ("a", "2"), ("b", " ")],
            last_modified=datetime(2007, 11, 6, 12, 45, 26, tzinfo=UTC),
        )
    )
    assert (made.url, made.mimetype) == (f"{URL}.pdf", "application/pdf")
    assert made.metadata == (("a", "1"), ("a", "2"))
    assert made.last_modified == "Tue, 06 Nov 2007 12:45:26 GMT"
    assert made.content == FeedContent(b"%PDF", text=False)
    assert record(lambda feed: feed.add(URL, content="x")).mimetype == "text/plain"
    assert record(lambda feed: feed.add(URL, content=b"x")).mimetype == "application/octet-stream"


def test_text_that_xml_cannot_hold_goes_as_bytes_in_utf_8() -> None:
    made = record(lambda feed: feed.add(URL, content="a\x00ü"))
    assert made.content == FeedContent(b"\xef\xbb\xbfa\x00\xc3\xbc", text=False)


@pytest.mark.parametrize("name", ["", "1a", "a b", "ä", "a.b", "a\n", "a" * 201])
def test_names_that_no_appliance_takes(name: str) -> None:
    with pytest.raises(FeedWriteError):
        check_datasource(name)
    with pytest.raises(FeedWriteError):
        FeedWriter(io.BytesIO(), name, "full")


@pytest.mark.parametrize("name", ["a", "_a", "a-b_9", "a" * 200])
def test_names_that_are_taken(name: str) -> None:
    assert check_datasource(name) == name


REFUSED: dict[str, Callable[[FeedWriter], object]] = {
    "relative": lambda feed: feed.add("/a"),
    "control": lambda feed: feed.add("http://hr.example/\x01"),
    "long": lambda feed: feed.add(URL * 1000),
    "authmethod": lambda feed: feed.add(URL, authmethod="open"),
    "scoring": lambda feed: feed.add(URL, scoring="best"),
    "naive": lambda feed: feed.add(URL, last_modified=datetime(2007, 11, 6)),  # noqa: DTZ001 (that is the case)
    "surrogate": lambda feed: feed.add(URL, content="\ud800"),
    "surrogate meta": lambda feed: feed.add(URL, metadata={"a": "\ud800"}),
    "no name": lambda feed: feed.add(URL, metadata={" ": "x"}),
    "empty ACL meta": lambda feed: feed.add(URL, metadata={"google:aclusers": ""}),
    "two ACLs": lambda feed: feed.add(URL, metadata={"google:aclusers": "joe"}, acl=Acl("")),
    "another's ACL": lambda feed: feed.add(URL, acl=Acl("http://hr.example/b")),
    "untrusted ACL": lambda feed: feed.acl(Acl(URL, problem="unknown scope")),
    "denied": lambda feed: feed.write(FeedRecord(0, 0, URL, denied="a lost reference")),
    "no UTF-8": lambda feed: feed.write(FeedRecord(0, 0, URL, content=FeedContent(b"\xff", text=True))),
    "no metadata": lambda feed: feed.add(URL, overwrite_acls=False),
    "empty name": lambda feed: feed.write(
        FeedAcl(0, 0, Acl(URL, (AclEntry(Right.DENY, Principal(PrincipalScope.USER, " ")),)))
    ),
    "domain": lambda feed: feed.write(
        FeedAcl(0, 0, Acl(URL, (AclEntry(Right.DENY, Principal(PrincipalScope.USER, "a", "b=c")),)))
    ),
}


@pytest.mark.parametrize("act", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_said_is_refused_and_leaves_nothing(act: Callable[[FeedWriter], object]) -> None:
    def refused(feed: FeedWriter) -> None:
        with pytest.raises(FeedWriteError):
            act(feed)

    assert written(refused) == written(lambda _feed: None)


def test_feeds_that_may_not_be_so() -> None:
    with pytest.raises(FeedWriteError, match="many tools"):
        FeedWriter(io.BytesIO(), "web", "full")
    with pytest.raises(FeedWriteError, match="not a feed type"):
        FeedWriter(io.BytesIO(), "hr", "FULL FEED")
    with pytest.raises(FeedWriteError, match="brings no content"):
        written(lambda feed: feed.add(URL, content="x"), "metadata-and-url")
    with pytest.raises(FeedWriteError, match="not a group"):
        GroupWriter(io.BytesIO()).add(JOE, [JOE])


def test_half_a_feed_has_no_end_tag() -> None:
    out = io.BytesIO()
    writer = FeedWriter(out, "hr", "full")

    def breaks() -> None:
        with writer:
            writer.add(URL, content="x")
            raise KeyError

    with pytest.raises(KeyError):
        breaks()
    assert b"</gsafeed>" not in out.getvalue()
    with pytest.raises(FeedWriteError, match="closed"):
        writer.delete(URL)


def test_a_folder_becomes_a_feed(tmp_path: Path) -> None:
    (tmp_path / "sub dir").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("hidden")
    (tmp_path / "sub dir" / "ü?.html").write_text("<p>page")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "b.txt.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "big").write_bytes(b"x" * 101)
    (tmp_path / "link").symlink_to(tmp_path / "a.pdf")
    os.utime(tmp_path / "a.pdf", (0, 86400))
    out = io.BytesIO()
    with FeedWriter(out, "files", "full") as writer:
        made = feed_of_folder(tmp_path, "file://srv/share/", writer, most_bytes=100)
    assert made.files == 3
    assert [path.name for path, _ in made.left_out] == ["big"]
    read = [item for item in read_items(io.BytesIO(out.getvalue())) if isinstance(item, FeedRecord)]
    assert [(item.url, item.mimetype) for item in read] == [
        ("file://srv/share/a.pdf", "application/pdf"),
        ("file://srv/share/b.txt.gz", "application/gzip"),
        ("file://srv/share/sub%20dir/%C3%BC%3F.html", "text/html"),
    ]
    assert read[0].last_modified == "Fri, 02 Jan 1970 00:00:00 GMT"
    assert read[0].content == FeedContent(b"%PDF-1.4", text=False)
