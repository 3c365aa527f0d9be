"""Documents that are not what they should be, one slip each; and whatever else may come."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingather.syndication import Listing, read_listing

URL = "http://f.test/feed"
A = "<item><link>http://n.test/a</link><pubDate>Tue, 20 Mar 2018 08:33:00 GMT</pubDate></item>"
B = "<item><link>http://n.test/b</link><pubDate>Tue, 20 Mar 2018 08:33:01 GMT</pubDate></item>"
EXPECTED = [("http://n.test/a", "2018-03-20T08:33:00Z"), ("http://n.test/b", "2018-03-20T08:33:01Z")]


def read(body: str | bytes, content_type: str | None = None) -> Listing:
    return read_listing(body.encode() if isinstance(body, str) else body, url=URL, content_type=content_type)


def pairs(listing: Listing) -> list[tuple[str, str]]:
    return [(item.link, item.published) for item in listing.items]


def rss(inner: str) -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>{inner}</channel></rss>'


@pytest.mark.parametrize(
    "body",
    [
        rss(f"<description>a & b</description>{A}{B}"),
        rss(f"<description>&nbsp;&hellip;&unheard;</description>{A}{B}"),
        rss(f"<description>\x0b\x00 control</description>{A}{B}"),
        rss(f"<media:title>undeclared</media:title>{A}<dc:date>2001</dc:date>{B}"),
        rss(A.replace("<item>", "<item><description><p>not closed<br></description>") + B),
        rss(A.replace("<item>", "<item><title>a < b</title>") + B),
        rss(f"{A}{B}").replace("</channel>", ""),
        rss(f"{A}{B}") + "<script>tracker()</script>",
        "<br>Warning: something in line 3<br>\n" + rss(A + B),
        "junk before\n" + rss(A + B),
        rss(A + B).replace('version="2.0"', "version=2.0"),
        rss(A.replace("<item>", "<ITEM>") + B),
    ],
    ids=["ampersand", "names", "control", "prefix", "unclosed", "less-than", "no-end", "after-the-end", "warning", "before", "unquoted",
         "case"],
)  # fmt: skip
def test_slips_of_markup_lose_nothing(body: str) -> None:
    found = read(body)
    assert pairs(found) == EXPECTED
    assert found.malformed
    assert found.remarks


def test_a_broken_document_without_an_item_is_an_error() -> None:
    assert (
        read(rss("<description>a & b</description>")).error == "not well-formed, and nothing was found in it"
    )
    assert not read(rss("<description>a &amp; b</description>")).error


def test_elements_left_open_in_many_items_are_not_deep() -> None:
    many = "".join(A.replace("<item>", f"<item><title>{n} <b></title>") for n in range(6000))
    assert len(read(rss(many)).items) == 6000


@pytest.mark.parametrize(
    "piece", ["&", "<", "&eacute;", "<![CDATA[", "<!--", "<?x ", "<a:", "<item ", "a=b "]
)
def test_floods_of_slips_are_errors(piece: str) -> None:
    assert read("<rss><channel>" + piece * 20_000).error


def test_more_tags_than_are_read_leniently() -> None:
    assert "more tags" in read("<rss><channel>" + "<a:" * 400_001).error


def test_an_external_doctype_does_not_swallow_a_letter() -> None:
    head = '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">'
    found = read(f"{head}<rss><channel><item><link>http://n.test/caf&eacute;?x</link></item></channel></rss>")
    assert [item.link for item in found.items] == ["http://n.test/caf%C3%A9?x"]
    assert found.malformed
    inside = f"{head}<rss><channel>{A}<description><![CDATA[&nbsp;]]></description>{B}</channel></rss>"
    assert pairs(read(inside)) == EXPECTED
    assert not read(inside).malformed


@pytest.mark.parametrize(
    "stop", ["http://n.test/b", "http://n.t", "<link", "<it", "08:33:01", "Tue, 20 Mar 2018 08:3"]
)
def test_a_cut_never_shortens_a_link_or_a_date(stop: str) -> None:
    whole = rss(A + B)
    found = read(whole[: whole.rindex(stop) + len(stop)])
    assert pairs(found) == EXPECTED[:1]
    assert found.malformed


def test_a_cut_between_items_keeps_both() -> None:
    whole = rss(A + B)
    assert pairs(read(whole[: whole.rindex("</item>") + len("</item>")])) == EXPECTED


def test_malformed_atom_never_takes_an_id_for_a_link() -> None:
    found = read(
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:uuid:1</id><title>a <b></title></entry>'
        '<entry><link rel="edit" href="http://n.test/e"/><link rel="enclosure" href="http://n.test/m"/><link href="http://n.test/a"/><updated>2018-03-20</updated></entry></feed>'
    )
    assert [(item.link, item.modified) for item in found.items] == [
        ("http://n.test/a", "2018-03-20T00:00:00Z")
    ]
    assert found.rejected_count == 1


def test_the_lenient_tier_dates_as_the_strict_one_does() -> None:
    good = rss(
        "<item><link>http://n.test/a</link><dc:date xmlns:dc='http://purl.org/dc/elements/1.1/'>2018-03-20</dc:date></item>"
    )
    bad = good.replace("<item>", "<item><title>a <b></title>")
    assert pairs(read(good)) == pairs(read(bad)) == [("http://n.test/a", "2018-03-20T00:00:00Z")]


def test_a_guid_that_is_no_permalink_stays_none_when_malformed() -> None:
    found = read(rss("<item><title>a <b></title><guid isPermaLink='false'>http://n.test/g</guid></item>"))
    assert (found.items, found.rejected_count) == ((), 1)


@pytest.mark.parametrize(
    "label",
    ["utf-8", "utf-16", "utf-32", "iso-8859-1", "iso-8859-2", "iso-8859-5", "iso-8859-7", "iso-8859-15", "windows-1250", "windows-1251",
     "windows-1252", "koi8-r", "koi8-u", "big5", "euc-jp", "shift_jis", "iso-2022-jp", "euc-kr", "gb2312", "gbk", "gb18030", "cp037",
     "cp437", "cp850", "cp1026", "mac-roman", "us-ascii", "hz-gb-2312"],
)  # fmt: skip
def test_declared_encodings(label: str) -> None:
    letters = "中äéýЖЯλ한"
    codec = "hz" if label == "hz-gb-2312" else label
    some = next((letter for letter in letters if letter.encode(codec, "ignore")), "x")
    text = f'<?xml version="1.0" encoding="{label}"?><rss><channel><item><title>{some}</title><link>http://n.test/a</link></item></channel></rss>'
    found = read(text.encode(codec))
    assert [(item.link, item.title) for item in found.items] == [("http://n.test/a", some)]
    assert not found.malformed


def test_the_header_counts_where_nothing_is_declared() -> None:
    body = "<rss><channel><item><title>Ж</title><link>http://n.test/a</link></item></channel></rss>".encode(
        "koi8-r"
    )
    assert read(body, "text/xml; charset=koi8-r").items[0].title == "Ж"
    declared = b'<?xml version="1.0" encoding="koi8-r"?>' + body
    assert read(declared, "text/xml; charset=iso-8859-1").items[0].title == "Ж"


def test_an_unknown_encoding_is_a_remark() -> None:
    found = read(rss(A + B).replace('"1.0"?', '"1.0" encoding="klingon"?'))
    assert pairs(found) == EXPECTED
    assert "klingon" in found.remarks[0]


PIECES = st.sampled_from(
    ["<rss>", "<channel>", "<item>", "<link>", "http://h/a?b&c", "</link>", "</item>", "<feed xmlns='http://www.w3.org/2005/Atom'>", "<entry>",
     "<link href='", "'/>", "<![CDATA[", "]]>", "<!--", "-->", "&", "&amp;", "&#x0;", "&eacute;", "<!DOCTYPE", "<?xml encoding='utf-16'?>", "\x00",
     "<guid>", "xml:base='//['", "<pubDate>", "0000-99-99", "\ud800", "{", '"items":[', "}", "<a:b", "'", '"', ">", "\r\n", "é"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["utf-8", "utf-16", "latin-1"]))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_a_listing(text: str, codec: str) -> None:
    check(text.encode(codec, "replace"))


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"<rss>", b"<?xml version='1.0' encoding='", b"\xff\xfe", b"{"]),
)
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_a_listing(body: bytes, start: bytes) -> None:
    check(start + body)


@given(st.integers(0, 5000), st.integers(0, 5000), st.binary(max_size=3))
@example(1924, 1924, b"")
@settings(max_examples=100, deadline=None)
def test_a_damaged_feed_invents_no_link(start: int, length: int, instead: bytes) -> None:
    body = rss("".join(A.replace("/a<", f"/article-{n}<") for n in range(20))).encode()
    found = check(body[: start % len(body)] + instead + body[start % len(body) + length % 40 :])
    assert (
        len(found.items) <= 20
    )  # one that fell apart may have left two pieces without a link, which are rejected


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers(-(10**30), 10**30) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "url", "external_url", "title", "hubs", "items", "date_published"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
@settings(deadline=None)
def test_any_json_gives_a_listing(value: object) -> None:
    check(
        json.dumps(
            {"version": "https://jsonfeed.org/version/1", "items": [value], "hubs": value, "next_url": value}
        ).encode()
    )


def check(body: bytes) -> Listing:
    found = read(body)
    assert read(body) == found
    for item in found.items:
        assert item.link.startswith(("http://", "https://"))
        assert "#" not in item.link
        item.title.encode()
        item.guid.encode()
    return found


RSS_HINTS = (
    "<ttl>90</ttl><skipHours><hour>3</hour><hour> 24 </hour><hour>25</hour></skipHours><skipDays><day>Sunday</day></skipDays>"
    "<fh:complete/><at:deleted-entry ref='http://n.test/x?a=1&amp;b=2' when='2018-03-20T08:33:00Z'/>"
)


def test_the_lenient_tier_knows_the_hints_and_the_dead() -> None:
    broken = A.replace("<item>", "<item><title>a <b></title><skipHours><hour>9</hour></skipHours>")
    hidden = "<description><![CDATA[<skipHours><hour>8</hour></skipHours>]]></description>"
    good, bad = read(rss(RSS_HINTS + A + B)), read(rss(RSS_HINTS + hidden + broken + B))
    assert good.hints.ttl_minutes == bad.hints.ttl_minutes == 90
    assert good.hints.skip_hours == bad.hints.skip_hours == {0, 3}
    assert good.hints.skip_days == bad.hints.skip_days == {6}
    assert (bad.hints.complete, bad.malformed) == (True, True)
    assert [(stone.ref, stone.when) for stone in bad.tombstones] == [
        ("http://n.test/x?a=1&b=2", "2018-03-20T08:33:00Z")
    ]


def test_the_lenient_tier_knows_tombstones_by_their_namespace_and_their_link() -> None:
    head = '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://purl.org/atompub/tombstones/1.0" xmlns:at="urn:other">'
    found = read(
        f"{head}<at:deleted-entry ref='urn:no'/><d:deleted-entry ref='urn:1'><link rel='self' href='/s'/><link href='/gone'/></d:deleted-entry>"
        "<entry><title>a <b></title><link href='http://n.test/a'/></entry></feed>"
    )
    assert found.malformed
    assert [(stone.ref, stone.link) for stone in found.tombstones] == [("urn:1", "http://f.test/gone")]


def test_a_document_that_lost_an_item_is_not_believed_to_be_complete() -> None:
    whole = rss("<fh:complete/>" + A + B)
    cut = read(whole[: whole.rindex("http://n.test/b")])
    assert (len(cut.items), cut.hints.complete) == (1, False)
