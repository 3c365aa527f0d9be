"""Section 7.4 of the feeds protocol: what is tolerated, row by row, with the client that needs it."""

import io

import pytest

from ingather.feeds.groups_reading import read_group_items
from ingather.model.feed import FeedContent, FeedHeader, FeedType, GroupMembership
from ingather.testing.feedtext import end, feed, only, read, records, rejections


def test_tolerance_king_content_before_metadata() -> None:
    record = only(
        '<record url="http://x/1"><content>c</content><metadata><meta name="a" content="b"/></metadata></record>'
    )
    assert record.metadata == (("a", "b"),)
    assert record.content == FeedContent(b"c", text=True)


def test_tolerance_coveo_unknown_elements_and_attributes_warn_once_a_feed() -> None:
    piece = '<record url="http://x/{}" rank="1"><attachments><record-like/></attachments></record>'
    one, two = records(read(feed(piece.format(1), piece.format(2))))
    assert one.warnings == (
        "the attribute record@rank is not known and ignored",
        "the element record/attachments is not known and ignored",
    )
    assert two.warnings == ()


def test_tolerance_seed_attribute_and_value_case() -> None:
    record = only(
        '<record URL="http://x/1" displayURL="http://d/" ACTION="ADD" Last_Modified="x" LOCK="True" authmethod="HttpBasic"/>'
    )
    assert (record.url, record.display_url, record.delete) == ("http://x/1", "http://d/", False)
    assert (record.lock, record.authmethod) == (True, "httpbasic")


def test_tolerance_groups_feeds_underscores_in_values() -> None:
    record = only('<record url="http://x/1"><acl inheritance-type="AND_BOTH_PERMIT"/></record>')
    assert record.acl is not None
    assert record.acl.inheritance == "and-both-permit"


@pytest.mark.parametrize("where", ["record", "group"])
def test_tolerance_norconex_action_remove_deletes(where: str) -> None:
    if where == "record":
        record = only('<record url="http://x/1" action="remove"/>')
        assert record.warnings == ("the action 'remove' was read as 'delete'",)
    else:
        record = only('<record url="http://x/1"/>', group='<group action="remove">')
    assert record.delete


@pytest.mark.parametrize("attribute", ["", 'mimetype=""'], ids=["norconex-missing", "plone-empty"])
def test_tolerance_mimetype_missing_or_empty(attribute: str) -> None:
    record = only(f'<record url="http://x/1" action="delete" {attribute}/>')
    assert (record.mimetype, record.warnings) == ("", ())


def test_tolerance_seed_empty_meta_content_drops_that_meta_only() -> None:
    record = only(
        '<record url="http://x/1"><metadata><meta name="a" content=""/><meta name="b" content="c"/></metadata></record>'
    )
    assert record.metadata == (("b", "c"),)
    assert record.warnings == ("the meta 'a' is empty and was dropped",)


def test_tolerance_an_empty_acl_meta_is_kept_for_it_permits_nobody() -> None:
    record = only(
        '<record url="http://x/1"><metadata><meta name="google:aclusers" content=""/></metadata></record>'
    )
    assert record.metadata == (("google:aclusers", ""),)


def test_tolerance_handwritten_meta_without_name() -> None:
    record = only('<record url="http://x/1"><metadata><meta content="b"/></metadata></record>')
    assert record.metadata == ()
    assert record.warnings == ("a meta without a name was dropped",)


def test_tolerance_several_contents_the_first_that_is_not_empty() -> None:
    record = only('<record url="http://x/1"><content/><content>a</content><content>b</content></record>')
    assert record.content == FeedContent(b"a", text=True)


@pytest.mark.parametrize("by", ["header", "field"])
def test_tolerance_content_in_a_metadata_and_url_feed_is_ignored(by: str) -> None:
    piece = '<record url="http://x/1"><content>a</content></record>'
    if by == "header":
        items = read(feed(piece, feedtype="metadata-and-url"))
    else:
        items = read(feed(piece), feedtype=FeedType.METADATA_AND_URL)
    (record,) = records(items)
    assert record.content is None
    assert record.warnings == ("content in a metadata-and-url feed was ignored",)


def test_tolerance_gsa_feed_py_xmlgroups_under_a_gsafeed_doctype() -> None:
    text = '<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" ""><xmlgroups></xmlgroups>'
    assert len(list(read_group_items(io.BytesIO(text.encode())))) == 1


def test_tolerance_handwritten_no_header() -> None:
    items = read('<gsafeed><group><record url="http://x/1"/></group></gsafeed>')
    assert items[0] == FeedHeader()
    assert len(records(items)) == 1
    assert end(items).may_delete


def test_tolerance_gsa_feed_py_white_space_is_trimmed() -> None:
    items = read(
        "<gsafeed><header><datasource>\n a \n</datasource><feedtype>\tfull </feedtype></header></gsafeed>"
    )
    assert items[0] == FeedHeader("a", "full")
    text = "<xmlgroups><membership><principal scope='GROUP'>\n g \n</principal></membership></xmlgroups>"
    (item, _) = read_group_items(io.BytesIO(text.encode()))
    assert isinstance(item, GroupMembership)
    assert item.group.name == "g"


@pytest.mark.parametrize("url", ["", " ", "/a/b", "page.html", "//host/x", "C:\\x", "javascript:1"])
def test_tolerance_seed_relative_or_empty_url_costs_one_record(url: str) -> None:
    items = read(feed(f'<record url="{url}"/>', '<record url="http://x/2"/>'))
    assert len(rejections(items)) == 1
    assert [record.url for record in records(items)] == ["http://x/2"]
    assert end(items).complete
    assert not end(items).repaired


@pytest.mark.parametrize(
    "url",
    [
        "googledb://db/table/1",
        "googleconnector://S.localhost/doc?docid=1",
        "smb://h/s/ä ö",
        "http://x/a%20b?c#d",
    ],
)
def test_urls_of_any_scheme_are_taken_as_written(url: str) -> None:
    assert only(f'<record url=" {url} "/>').url == url


BROKEN = {
    "bare-ampersand": '<record url="http://x/?a=1&b=2"/>',
    "no-end-tag": '<record url="http://x/b"><content>a</content>',
    "unclosed-content": '<record url="http://x/b"><content>a</record>',
    "torn-quote": '<record url="http://x/b mimetype="text/html"><content>a</content></record>',
    "torn-tag": '<record url="http://x/b"<content>a</content></record>',
    "less-than": '<record url="http://x/b"><content>a < b</content></record>',
    "twice": '<record url="http://x/b" url="http://x/c"/>',
    "crossed": '<record url="http://x/b"><metadata><content></metadata></content></record>',
    "end-in-cdata": '<record url="http://x/b"><content><![CDATA[</record>]]></content></metadata></record>',
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_tolerance_broken_markup_costs_its_own_record_and_no_other(broken: str, place: int) -> None:
    good = [f'<record url="http://x/{n}"><content>text {n}</content></record>' for n in range(2)]
    items = read(feed(*good[:place], broken, *good[place:], feedtype="full"))
    assert [(item.url, item.content) for item in records(items)] == [
        (f"http://x/{n}", FeedContent(f"text {n}".encode(), text=True)) for n in range(2)
    ]
    (rejected,) = rejections(items)
    assert rejected.line == 5 + place
    assert end(items).complete
    assert not end(items).may_delete


def test_a_rejected_record_that_spoke_of_access_closes_its_document() -> None:
    broken = '<record url="http://x/b"><acl inherit-from="http://x/"></record>'
    plain = '<record url="http://x/p"><content></record>'
    meta = '<record url="http://x/m"><metadata><meta name="google&#58;aclusers" content="a"></metadata></content></record>'
    found = {item.url: item.denies for item in rejections(read(feed(broken, plain, meta)))}
    assert found == {"http://x/b": True, "http://x/p": False, "http://x/m": True}


def test_known_slips_are_repaired_and_told() -> None:
    data = feed(
        '<record url="http://x/1"><metadata><meta name="a" content="b"><meta name="c" content="d"></meta></metadata>'
        "<content>x\x0by &#11; END</content></record>"
    ).encode()
    items = read(data.replace(b"END", b"M\xfcller"))
    (record,) = records(items)
    assert record.metadata == (("a", "b"), ("c", "d"))
    assert record.content == FeedContent("xy  Müller".encode(), text=True)
    (warning,) = record.warnings
    assert warning == (
        "broken markup was repaired: meta elements that are not closed, control characters,"
        " references to control characters, bytes outside the charset"
    )
    assert not end(items).may_delete


def test_bytes_outside_a_wide_charset_cost_a_character() -> None:
    text = "<?xml version='1.0' encoding='EUC-JP'?><gsafeed><group><record url='http://x/1'><content>日END本</content></record></group></gsafeed>"
    items = read(text.encode("euc-jp").replace(b"END", b"\xff"))
    (record,) = records(items)
    assert record.content == FeedContent("日\ufffd本".encode(), text=True)
    assert end(items).repaired


def test_broken_tags_around_records_cost_nothing_but_deletion_by_omission() -> None:
    items = read(
        '<gsafeed><header><datasource>a</header><group><record url="http://x/1"/></gorup>'
        '<group action="delete"><record url="http://x/2"/></group></gsafeed>'
    )
    assert [record.url for record in records(items)] == ["http://x/1", "http://x/2"]
    assert not end(items).may_delete


def test_records_of_a_group_whose_action_cannot_be_read_are_rejected() -> None:
    items = read(
        feed(
            '<record url="http://x/1"/>',
            '<record url="http://x/2" action="delete"/>',
            group='<group action="x">',
        )
    )
    assert [item.url for item in rejections(items)] == ["http://x/1"]
    assert [(item.url, item.delete) for item in records(items)] == [("http://x/2", True)]


def test_both_kinds_of_acl_in_a_record_the_last_counts() -> None:
    acl = '<acl><principal scope="user" access="permit">a</principal></acl>'
    metas = '<metadata><meta name="google:aclusers" content="b"/><meta name="t" content="u"/></metadata>'
    first = only(f'<record url="http://x/1">{acl}{metas}</record>')
    assert first.acl is None
    assert first.metadata == (("google:aclusers", "b"), ("t", "u"))
    second = only(f'<record url="http://x/1">{metas}{acl}</record>')
    assert second.acl is not None
    assert second.metadata == (("t", "u"),)


def test_markup_in_content_that_is_not_escaped_is_the_document() -> None:
    record = only('<record url="http://x/1"><content>a<b>c</b>d</content></record>')
    assert record.content == FeedContent(b"a<b>c</b>d", text=True)


def test_name_spaces_declared_at_the_root_reach_the_records() -> None:
    items = read(
        '<gsafeed xmlns:q="urn:q"><group><record url="http://x/1" q:a="1"><q:b/></record></group></gsafeed>'
    )
    assert len(records(items)) == 1
    assert end(items).may_delete
