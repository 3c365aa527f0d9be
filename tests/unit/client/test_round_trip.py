"""What the writers write, the readers read: for any records that can be said."""

import io
from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ingather.client import FeedWriter, GroupWriter
from ingather.feeds.groups_reading import read_group_items
from ingather.feeds.reading import read_items
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.model.feed import (
    FeedAcl,
    FeedContent,
    FeedEnd,
    FeedHeader,
    FeedRecord,
    FeedType,
    GroupMembership,
)

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20)
NAME = LINE.map(str.strip).filter(bool)
DOMAIN = NAME.map(lambda text: text.replace("\\", "").replace("=", "").strip())
URL = LINE.map(lambda text: f"http://files.example/{text}".strip())
SCOPE = st.sampled_from(PrincipalScope)
NAMESPACE = st.just("Default") | NAME
PRINCIPAL = st.builds(Principal, SCOPE, NAME, st.just("") | DOMAIN, NAMESPACE, st.booleans())
ENTRIES = st.lists(st.builds(AclEntry, st.sampled_from(Right), PRINCIPAL), max_size=4).map(tuple)
ACL = st.builds(Acl, URL, ENTRIES, st.just("") | URL, st.sampled_from(Inheritance))
META = st.tuples(
    ANY_TEXT.map(str.strip).filter(lambda text: bool(text) and not text.lower().startswith("google:")),
    ANY_TEXT.filter(lambda text: bool(text.strip())),
)
XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r<>&]\"'"),
    max_size=60,
)
CONTENT = st.builds(FeedContent, st.binary(max_size=200), text=st.just(value=False)) | st.builds(
    lambda text: FeedContent(text.encode(), text=True), XML_TEXT
)


@st.composite
def records(draw: st.DrawFn, *, content: bool) -> FeedRecord:
    """A record as a reader would give it, but for places and warnings."""
    url = draw(URL)
    metadata = draw(st.none() | st.lists(META, max_size=3).map(tuple))
    acl = draw(st.none() | ACL)
    return FeedRecord(
        line=0,
        offset=0,
        url=url,
        delete=draw(st.booleans()),
        display_url=draw(LINE).strip(),
        mimetype=draw(st.sampled_from(["", "text/html", "application/pdf"])),
        last_modified=draw(st.sampled_from(["", "Tue, 06 Nov 2007 12:45:26 GMT"])),
        lock=draw(st.booleans()),
        authmethod=draw(st.sampled_from(["", "none", "httpsso"])),
        pagerank=draw(st.none() | st.integers(0, 100)),
        crawl_immediately=draw(st.booleans()),
        crawl_once=draw(st.booleans()),
        scoring=draw(st.sampled_from(["", "content", "web"])),
        metadata=metadata,
        overwrite_acls=metadata is None or draw(st.booleans()),
        acl=None if acl is None else replace(acl, url=url),
        content=draw(st.none() | CONTENT) if content else None,
    )


FREE = st.builds(FeedAcl, st.just(0), st.just(0), ACL, st.booleans())


@given(st.data(), st.sampled_from(FeedType), st.booleans())
def test_a_feed_is_read_as_it_was_written(data: st.DataObject, kind: FeedType, compressed: bool) -> None:  # noqa: FBT001
    one = records(content=kind is not FeedType.METADATA_AND_URL) | FREE
    items = data.draw(st.lists(one, max_size=4))
    out = io.BytesIO()
    with FeedWriter(out, "hr_1", kind, compressed=compressed) as writer:
        for item in items:
            writer.write(item)
    assert (writer.records, writer.size) == (len(items), len(out.getvalue()))
    header, *read, end = read_items(io.BytesIO(out.getvalue()))
    assert header == FeedHeader("hr_1", kind)
    assert isinstance(end, FeedEnd)
    assert (end.may_delete, end.rejected, end.warnings) == (True, 0, ())
    assert [bare(item) for item in read] == items


@given(st.lists(st.tuples(PRINCIPAL, st.lists(PRINCIPAL, max_size=4)), max_size=4))
def test_memberships_are_read_as_they_were_written(
    groups: list[tuple[Principal, list[Principal]]],
) -> None:
    groups = [(replace(group, scope=PrincipalScope.GROUP), members) for group, members in groups]
    out = io.BytesIO()
    with GroupWriter(out) as writer:
        for group, members in groups:
            writer.add(group, members)
    *read, end = read_group_items(io.BytesIO(out.getvalue()))
    assert isinstance(end, FeedEnd)
    assert end.may_delete
    found = [(item.group, list(item.members)) for item in read if isinstance(item, GroupMembership)]
    assert found == groups


def bare(item: object) -> object:
    """Leave out where it stood; a writer does not know that."""
    if isinstance(item, FeedRecord):
        return msgspec.structs.replace(item, line=0, offset=0, warnings=())
    if isinstance(item, FeedAcl):
        return replace(item, line=0, offset=0, warnings=())
    return item
