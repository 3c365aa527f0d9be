"""Feeds by the rules of link and date: the numbered cases about reading, and every format."""

import pytest

from ingather.syndication import Listing, read_listing

URL = "http://f.test/feed/x"
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'


def read(text: str | bytes, content_type: str | None = None, url: str = URL) -> Listing:
    return read_listing(text.encode() if isinstance(text, str) else text, url=url, content_type=content_type)


def rss(*items: str, head: str = "") -> str:
    inner = "".join(f"<item>{item}</item>" for item in items)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>{head}{inner}</channel></rss>'


def atom(*entries: str, head: str = "", attributes: str = "") -> str:
    inner = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f"<feed {ATOM} {attributes}>{head}{inner}</feed>"


def links(listing: Listing) -> list[str]:
    return [item.link for item in listing.items]


def dates(text: str) -> list[tuple[str, str]]:
    return [(item.published, item.modified) for item in read(text).items]


def test_rss_case_01_link_and_date() -> None:
    found = read(
        rss("<link>https://n.test/a</link><pubDate>Tue, 20 Mar 2018 08:33:00 GMT</pubDate><title>A</title>")
    )
    (item,) = found.items
    assert (item.link, item.published, item.modified, item.title, item.link_rule) == (
        "https://n.test/a", "2018-03-20T08:33:00Z", "", "A", "link",
    )  # fmt: skip
    assert (found.kind, found.version, found.title, found.malformed, found.error) == (
        "rss", "2.0", "T", False, "",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["Tue, 20 Mar 2018 08:33:00 +0000", "2018-03-20T09:33:00+01:00", "Tue,  20 Mar 2018\n 08:33:00 GMT",
     "20 Mar 2018 08:33 UT", "2018-03-20T08:33:00.250Z", "Tue, 20 Mar 2018 09:33:00 CET", "Di, 20 Mar 2018 08:33:00 GMT"],
)  # fmt: skip
def test_rss_case_05_a_date_spelt_otherwise_is_the_same(text: str) -> None:
    assert dates(rss(f"<link>http://n.test/a</link><pubDate>{text}</pubDate>")) == [
        ("2018-03-20T08:33:00Z", "")
    ]


def test_rss_case_24_and_25_hints() -> None:
    hints = read(
        rss(
            head="<ttl> 180 </ttl><skipHours><hour>24</hour><hour>7</hour><hour>x</hour></skipHours>"
            "<skipDays><day>Sunday</day><day>monday</day></skipDays>"
        )
    ).hints
    assert hints.ttl_minutes == 180
    assert hints.skip_hours == {0, 7}
    assert hints.skip_days == {0, 6}


def test_rss_case_27_one_link_twice_stays_two_items() -> None:
    item = "<link>http://n.test/a</link><pubDate>2018-03-2{}</pubDate>"
    assert [i.published[:10] for i in read(rss(item.format(0), item.format(1))).items] == [
        "2018-03-20", "2018-03-21",
    ]  # fmt: skip


def test_rss_case_28_no_date_is_no_date() -> None:
    assert dates(rss("<link>http://n.test/a</link>")) == [("", "")]


def test_rss_case_30_guid_is_the_link_when_permalink() -> None:
    found = read(
        rss(
            "<guid>https://n.test/g</guid>",
            '<guid isPermaLink="false">https://n.test/h</guid>',
            "<guid>12345</guid>",
            '<guid ispermalink="False">https://n.test/i</guid>',
        )
    )
    assert [(item.link, item.guid, item.link_rule) for item in found.items] == [
        ("https://n.test/g", "https://n.test/g", "guid")
    ]
    assert found.rejected_count == 3
    assert [(rejected.number, rejected.guid) for rejected in found.rejected] == [
        (2, "https://n.test/h"), (3, "12345"), (4, "https://n.test/i"),
    ]  # fmt: skip


def test_rss_case_31_alternate_is_taken_whatever_comes_first() -> None:
    found = read(
        atom(
            '<link rel="self" href="http://n.test/self"/><link rel="edit" href="http://n.test/edit"/>'
            '<link rel="related" href="http://n.test/r"/><link rel="enclosure" href="http://n.test/e.mp3"/>'
            '<link rel="alternate" type="application/json" href="http://n.test/j"/>'
            '<link rel="alternate" type="text/html" href="http://n.test/a"/>'
        )
    )
    assert links(found) == ["http://n.test/a"]


def test_rss_case_32_bases_are_chained() -> None:
    entry = '<entry xml:base="../"><link href="1"/></entry><entry><link xml:base="deep/" href="2"/></entry>'
    assert links(read(f'<feed {ATOM} xml:base="http://a.test/z/">{entry}</feed>')) == [
        "http://a.test/1", "http://a.test/z/deep/2",
    ]  # fmt: skip


@pytest.mark.parametrize("identity", ["urn:uuid:60a76c80-d399-11d9-b93C-0003939e0af6", "tag:n.test,2018:1"])
def test_rss_case_33_an_id_that_is_no_url_is_no_link(identity: str) -> None:
    found = read(atom(f"<id>{identity}</id>", "<id>http://n.test/a</id>"))
    assert links(found) == ["http://n.test/a"]
    assert [rejected.guid for rejected in found.rejected] == [identity]


def test_rss_case_34_a_bare_ampersand_is_kept_and_flagged() -> None:
    found = read(
        rss("<link>http://a.test/1?x=1&y=2</link>", "<link>http://a.test/2?a=1&copy=2&amp;b=3</link>")
    )
    assert links(found) == ["http://a.test/1?x=1&y=2", "http://a.test/2?a=1&copy=2&b=3"]
    assert found.malformed


TEN = rss(
    *(
        f"<title>n {n}</title><link>http://n.test/article-{n}</link><pubDate>Tue, 20 Mar 2018 08:33:0{n} GMT</pubDate>"
        for n in range(10)
    )
)


@pytest.mark.parametrize("number", [4, 8])
def test_rss_case_35_a_cut_document_gives_whole_items_only(number: int) -> None:
    whole = read(TEN).items
    start, end = TEN.index(f"<title>n {number - 1}"), TEN.index(f"<title>n {number}</title>")
    for at in range(start, end - len("</item><item>")):
        found = read(TEN[:at])
        assert found.items == whole[: number - 1], TEN[at - 20 : at]
        assert found.malformed


def test_rss_case_36_encodings_blank_lines_and_capitals() -> None:
    text = '<?xml version="1.0" encoding="utf-8"?><rss><channel><item><link>http://a.test/caf\xe9</link></item></channel></rss>'
    assert links(read(text.encode("cp1252"))) == ["http://a.test/caf%C3%A9"]
    assert links(read("\n\n  " + text)) == ["http://a.test/caf%C3%A9"]
    assert read("\n\n  " + text).malformed
    shout = '<RSS VERSION="2.0"><CHANNEL><ITEM><LINK>http://a.test/1</LINK><PUBDATE>2018-03-20</PUBDATE></ITEM></CHANNEL></RSS>'
    assert [(i.link, i.published) for i in read(shout).items] == [("http://a.test/1", "2018-03-20T00:00:00Z")]
    assert not read(shout).malformed


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(8)
) + "]><rss><channel><item><link>http://h/&i;</link></item></channel></rss>"  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        BOMB.encode(),
        b"<rss><channel>" + b"<a>" * 100_000,
        b"<rss><channel><item>&x" + b"<a>" * 100_000,
        b"<rss>" + b" " * (60 << 20),
        b"",
        b"  \n",
        b"<html><body>maintenance</body></html>",
        b"<!doctype html><p>not even <b>well-formed",
        b"maintenance",
        b'{"error": "gone"}',
        b"<urlset><url><loc>http://h/</loc></url></urlset>",
    ],
    ids=[
        "bomb",
        "deep",
        "deep-malformed",
        "large",
        "empty",
        "blank",
        "html",
        "html5",
        "text",
        "json",
        "sitemap",
    ],
)
def test_rss_case_37_what_is_no_list_is_an_error(body: bytes) -> None:
    found = read(body)
    assert found.error
    assert (found.items, found.kind) == ((), "")


def test_rss_case_37_more_items_than_a_document_may_list() -> None:
    item = "<link>http://n.test/{}</link>"
    assert len(read(rss(*(item.format(n) for n in range(10_000)))).items) == 10_000
    assert read(rss(*(item.format(n) for n in range(10_001)))).error == "more than 10000 items"


@pytest.mark.parametrize(
    "link", ["file:///etc/passwd", "javascript:alert(1)", "mailto:a@b", "ftp://h/x", "N/A", "see below", "#x"]
)
def test_rss_case_38_foreign_schemes_are_rejected(link: str) -> None:
    found = read(rss(f"<link>{link}</link>"))
    assert (found.items, found.rejected_count) == ((), 1)
    assert link in found.rejected[0].reason


def test_rss_case_44_paging_and_hubs() -> None:
    head = (
        '<link rel="self" href="/s"/><link rel="hub" href="http://hub.test/"/><link rel="next" href="?p=2"/>'
        '<link rel="prev-archive" href="/2017"/><fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/>'
    )
    hints = read(atom(head=head)).hints
    assert (hints.self_url, hints.hubs, hints.next_url) == (
        "http://f.test/s", ("http://hub.test/",), "http://f.test/feed/x?p=2",
    )  # fmt: skip
    assert (hints.prev_archive, hints.complete, hints.archive) == ("http://f.test/2017", True, False)
    inside = '<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="next" href="/2"/>'
    assert read(rss(head=inside)).hints.next_url == "http://f.test/2"


def test_rss_case_45_tombstones() -> None:
    found = read(
        atom(
            head='<at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="tag:n,1" when="2018-03-20T08:33:00Z"><link href="/a"/></at:deleted-entry>'
        )
    )
    (stone,) = found.tombstones
    assert (stone.ref, stone.when, stone.link) == ("tag:n,1", "2018-03-20T08:33:00Z", "http://f.test/a")


@pytest.mark.parametrize(
    ("item", "link", "rule"),
    [
        ("<link>http://t.test/r</link><feedburner:origLink xmlns:feedburner='http://rssnamespace.org/feedburner/ext/1.0'>http://n.test/o</feedburner:origLink>", "http://n.test/o", "origLink"),
        ("<link><![CDATA[\n http://n.test/a?x=1&y=2 \n]]></link>", "http://n.test/a?x=1&y=2", "link"),
        ("<link>\nhttp://n.test/\n  a</link>", "http://n.test/a", "link"),
        ("<link>http://n.test/1</link><link>http://n.test/2</link><link/>", "http://n.test/2", "link"),
        ("<link>http://n.test/a</link><a:link xmlns:a='http://www.w3.org/2005/Atom' rel='self' href='http://n.test/s'/>", "http://n.test/a", "link"),
        ("<a:link xmlns:a='http://www.w3.org/2005/Atom' href='http://n.test/s'/>", "http://n.test/s", "atom:link"),
        ("<link>http://n.test/a#frag</link>", "http://n.test/a", "link"),
        ("<link>/rel?a=b</link>", "http://f.test/rel?a=b", "link"),
        ("<link>http://n.test/a<!-- x -->b</link>", "http://n.test/ab", "link"),
        ("<link>http://n.test/a</link><m:group xmlns:m='http://search.yahoo.com/mrss/'><m:link>http://n.test/m</m:link></m:group>", "http://n.test/a", "link"),
        ("<m:link xmlns:m='http://search.yahoo.com/mrss/'>http://n.test/m</m:link><guid>http://n.test/g</guid>", "http://n.test/g", "guid"),
    ],
)  # fmt: skip
def test_the_link_rule(item: str, link: str, rule: str) -> None:
    (found,) = read(rss(item)).items
    assert (found.link, found.link_rule) == (link, rule)


def test_atom_s_other_ways_to_a_link() -> None:
    found = read(
        atom(
            '<content src="http://n.test/c"/><id>urn:1</id>',
            '<link rel="http://www.iana.org/assignments/relation/alternate" href="/i"/>',
            '<source><link href="http://other.test/"/><id>http://other.test/</id><updated>2001</updated></source><link href="/mine"/>',
            '<link rel="replies" href="/x"/><link rel="via" href="/y"/><id>http://n.test/id</id>',
        )
    )
    assert [(item.link, item.link_rule, item.modified) for item in found.items] == [
        ("http://n.test/c", "content@src", ""), ("http://f.test/i", "link", ""), ("http://f.test/mine", "link", ""),
        ("http://n.test/id", "id", ""),
    ]  # fmt: skip


def test_atom_s_dates() -> None:
    assert dates(
        atom(
            "<link href='/a'/><published>2018-03-20T08:33:00Z</published><updated>2018-03-21T08:33:00Z</updated>"
        )
    ) == [("2018-03-20T08:33:00Z", "2018-03-21T08:33:00Z")]
    old = "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry><link rel='alternate' href='/a'/><issued>2018</issued><modified>2019</modified><created>2017</created></entry></feed>"
    assert dates(old) == [("2018-01-01T00:00:00Z", "2019-01-01T00:00:00Z")]
    assert read(old).version == "0.3"


def test_dates_that_cannot_be_read_are_their_text() -> None:
    assert dates(rss("<link>http://n.test/a</link><pubDate> some  day\nin May </pubDate>")) == [
        ("some day in May", "")
    ]


def test_dublin_core_dates() -> None:
    item = "<link>http://n.test/a</link><d:date xmlns:d='http://purl.org/dc/elements/1.1/'>2018-03-20</d:date><t:modified xmlns:t='http://purl.org/dc/terms/'>2018-03-21</t:modified>"
    assert dates(rss(item)) == [("2018-03-20T00:00:00Z", "2018-03-21T00:00:00Z")]


def test_rdf_items_are_siblings_of_the_channel() -> None:
    found = read(
        "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        "<channel r:about='http://n.test/'><title>T</title><link>http://n.test/</link></channel>"
        "<item r:about='http://n.test/1'><link>http://n.test/one</link><dc:date>2018-03-20T08:33:00Z</dc:date></item><item r:about='http://n.test/2'/></r:RDF>"
    )
    assert [(item.link, item.link_rule, item.guid) for item in found.items] == [
        ("http://n.test/one", "link", "http://n.test/1"), ("http://n.test/2", "rdf:about", "http://n.test/2"),
    ]  # fmt: skip
    assert (found.kind, found.title) == ("rdf", "T")


@pytest.mark.parametrize(
    "text",
    [
        "<rss xmlns='http://odd.test/ns'><channel><item><link>http://n.test/a</link></item></channel></rss>",
        "<rss xmlns='http://www.w3.org/2005/Atom'><channel><item><link>http://n.test/a</link></item></channel></rss>",
        "<rss><item><link>http://n.test/a</link></item><channel/></rss>",
        "<channel><item><link>http://n.test/a</link></item></channel>",
        "<feed><entry><link href='http://n.test/a'/></entry></feed>",
        f"<entry {ATOM}><link href='http://n.test/a'/></entry>",
    ],
)
def test_odd_but_legible(text: str) -> None:
    assert links(read(text)) == ["http://n.test/a"]


def test_json_feed() -> None:
    found = read(
        '\ufeff{"version":"https://jsonfeed.org/version/1.1","title":"T","next_url":"?p=2","hubs":[{"type":"WebSub","url":"http://hub.test/"}],"expired":true,'
        '"items":[{"id":1,"url":"/a","date_published":"2018-03-20T08:33:00Z","date_modified":"x"},{"id":"http://n.test/2","external_url":"http://o.test/"},{"id":"http://n.test/3"},{"id":"4"},7]}'
    )
    assert [(i.link, i.guid, i.published, i.modified, i.link_rule) for i in found.items] == [
        ("http://f.test/a", "1", "2018-03-20T08:33:00Z", "x", "url"),
        ("http://o.test/", "http://n.test/2", "", "", "external_url"),
        ("http://n.test/3", "http://n.test/3", "", "", "id"),
    ]
    assert (found.kind, found.version, found.rejected_count, found.malformed) == ("json", "1.1", 2, False)
    assert (found.hints.next_url, found.hints.hubs, found.hints.expired) == (
        "http://f.test/feed/x?p=2", ("http://hub.test/",), True,
    )  # fmt: skip


RSS_11 = (
    '<Channel xmlns="http://purl.org/net/rss1.1#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" rdf:about="http://n.test/f">'
    '<title>T</title><link>http://n.test/</link><items rdf:parseType="Collection">'
    '<item rdf:about="http://n.test/1"><title>One</title><link>http://n.test/1</link></item>'
    '<item rdf:about="http://n.test/2"><title>Two</title></item></items></Channel>'
)
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


@pytest.mark.parametrize("text", [RSS_11, f"<rdf:RDF {RDF}>{RSS_11}</rdf:RDF>"], ids=["alone", "in-rdf"])
def test_rss_1_1_has_its_items_in_a_collection(text: str) -> None:
    found = read(text)

    assert links(found) == ["http://n.test/1", "http://n.test/2"]
    assert (found.kind, found.version, found.title, found.items[0].title) == ("rdf", "1.1", "T", "One")


@pytest.mark.parametrize(
    "link",
    [
        '<link href="http://n.test/1"/>',
        '<link href="http://n.test/1">read more</link>',
        f'<link {RDF} rdf:resource="http://n.test/1"/>',
        '<link rel="self" href="http://n.test/f"/><link href="http://n.test/1"/>',
    ],
)
def test_a_link_of_rss_may_stand_in_an_attribute(link: str) -> None:
    assert links(read(rss(link))) == ["http://n.test/1"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (rss('<link>http://n.test/1</link><dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">A b</dc:title>'), "A b"),
        (rss('<link>http://n.test/1</link><dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">x</dc:title><title>A b</title>'), "A b"),
        ('<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><title mode="base64">QSBi</title><link rel="alternate" href="http://n.test/1"/></entry></feed>', "A b"),
        ('<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><title mode="base64">A b?</title><link rel="alternate" href="http://n.test/1"/></entry></feed>', "A b?"),
    ],
    ids=["dublin-core", "both", "base64", "not-base64"],
)  # fmt: skip
def test_titles_in_base_64_and_of_dublin_core(text: str, title: str) -> None:
    assert [item.title for item in read(text).items] == [title]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (rss(), "lists nothing: no item or entry was found in it"),
        (atom(), "lists nothing: no item or entry was found in it"),
        (
            rss("<link>urn:x</link>", "<title>t</title>"),
            "lists nothing that has a link: no http(s) link: urn:x",
        ),
    ],
)
def test_what_lists_nothing_says_why(text: str, why: str) -> None:
    found = read(text)

    assert (found.items, found.error) == ((), "")
    assert found.remarks == (why,)
