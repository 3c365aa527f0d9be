"""The numbered vectors of the feeds protocol that concern reading."""

import base64
import gzip
import io
import zlib

import pytest

from ingather.errors import FeedError
from ingather.feeds.groups_reading import read_group_items
from ingather.model.acl import AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.model.feed import FeedContent, FeedEnd, FeedHeader, GroupMembership
from ingather.testing.feedtext import SEED, acls, end, feed, only, read, records, rejections

WORDS = {
    "Shift_JIS": "日本語ソ表能",
    "EUC-JP": "日本語のフィード",
    "ISO-8859-1": "Müller & Söhne",
    "UTF8": "Zoë → Ω",
    "UTF-8": "Zoë → Ω 😀",
    "windows-1251": "Привет",
    "GB18030": "汉字",
}


def _text(encoding: str, word: str) -> str:
    escaped = word.replace("&", "&amp;")
    return (
        f"<?xml version='1.0' encoding='{encoding}'?>\n<gsafeed><header><datasource>ä</datasource></header><group>\n"
        f"<record url='http://x/1'><metadata><meta name='t' content='{escaped}'/></metadata>"
        f"<content>{escaped}</content></record>\n"
        f"<record url='http://x/2'><content><![CDATA[{word}]]></content></record></group></gsafeed>"
    ).replace("ä", "a")


@pytest.mark.parametrize("encoding", WORDS)
def test_gsa_T12_declared_encodings_give_the_text_lines_and_offsets(encoding: str) -> None:
    word = WORDS[encoding]
    data = _text(encoding, word).encode(encoding)
    one, two = records(items := read(data))
    assert one.metadata == (("t", word),)
    assert one.content == two.content == FeedContent(word.encode(), text=True)
    assert (one.line, two.line) == (3, 4)
    assert data[one.offset :].startswith(b"<record url='http://x/1'")
    assert data[two.offset :].startswith(b"<record url='http://x/2'")
    assert end(items).may_delete


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
def test_gsa_T12_byte_order_marks_and_wide_encodings(codec: str) -> None:
    data = _text(codec.upper(), "Zoë 😀").encode(codec)
    one, two = records(read(data))
    assert two.content == FeedContent("Zoë 😀".encode(), text=True)
    width = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(codec, codec)
    assert data[one.offset :].startswith("<record url='http://x/1'".encode(width))
    assert one.line == 3


@pytest.mark.parametrize("before", ["\n", "\r\n\n  ", "\ufeff\n"])
def test_gsa_T12_blank_lines_before_the_declaration(before: str) -> None:
    data = (before + _text("UTF-8", "ü")).encode()
    one, two = records(items := read(data))
    assert one.line == 3 + before.count("\n")
    assert data[two.offset :].startswith(b"<record url='http://x/2'")
    assert end(items).may_delete


def test_gsa_T12_utf_16_in_the_declaration_alone_is_utf_8() -> None:
    items = read(_text("utf-16", "ü").encode())
    assert isinstance(items[0], FeedHeader)
    assert items[0].warnings == ("the declaration says utf-16, the bytes are not: read as UTF-8",)
    assert len(records(items)) == 2


def test_gsa_T12_an_encoding_that_nobody_knows_is_refused() -> None:
    with pytest.raises(FeedError, match="'klingon'"):
        read("<?xml version='1.0' encoding='klingon'?><gsafeed/>")


def test_gsa_T13_the_sample_as_printed_costs_two_records_and_moves_nothing() -> None:
    items = read(SEED)
    first, second = rejections(items)
    assert (first.line, second.line) == (7, 30)
    assert first.reason == (
        "its url is empty (broken markup was repaired: meta elements that are not closed)"
    )
    assert second.reason == "its url is empty"
    (third,) = records(items)
    assert third.url == "http://test.com/page1.html"
    assert third.display_url == "http://test.com/pagesIndex.html"
    assert third.metadata is None
    assert third.acl is None
    assert third.content is not None
    assert not third.content.body.strip()
    assert end(items).complete
    assert end(items).repaired
    assert not end(items).may_delete


def test_gsa_T13_with_urls_every_record_has_its_own_and_nothing_else() -> None:
    text = SEED.replace('url=""', 'url="http://test.com/1"', 1).replace('url=""', 'url="http://test.com/2"')
    one, three = records(items := read(text))
    assert one.metadata == (
        ("state", "new york"),
        ("city", "buffalo"),
        ("google:aclusers", "siva,vaka"),
        ("google:aclgroups", "admins,hr"),
    )
    assert one.content is not None
    assert b"<title>my\ndoc</title>" in one.content.body
    assert one.warnings == ("broken markup was repaired: meta elements that are not closed",)
    assert three.metadata is None
    (two,) = rejections(items)
    assert (two.url, two.denies) == ("http://test.com/2", False)
    assert "not base64" in two.reason


def test_gsa_T15_a_feed_that_is_cut_is_not_complete() -> None:
    text = feed('<record url="http://x/1"/>', '<record url="http://x/2"/>', feedtype="full")
    items = read(text[: text.index("http://x/2")])
    assert len(records(items)) == 1
    assert not end(items).complete
    assert not end(items).may_delete


def test_gsa_T19_empty_metadata_is_told_from_none() -> None:
    assert only('<record url="http://x/1"><metadata/></record>').metadata == ()
    assert only('<record url="http://x/1"/>').metadata is None


def test_gsa_T21_name_and_content_of_a_base64_meta_are_decoded() -> None:
    name, content = (base64.b64encode(text.encode()).decode() for text in ("Größe", "a\nb\x0b"))
    record = only(
        f'<record url="http://x/1"><metadata><meta encoding=" Base64Binary" name="{name}" content="{content}"/>'
        "</metadata></record>"
    )
    assert record.metadata == (("Größe", "a\nb\x0b"),)


def test_gsa_T21_a_base64_meta_that_cannot_be_decoded_may_have_been_an_acl() -> None:
    record = only(
        '<record url="http://x/1"><metadata><meta encoding="base64binary" name="a" content="!"/></metadata></record>'
    )
    assert record.metadata == ()
    assert "may have been an ACL" in record.denied


_BODY = b"<html>\xff" + bytes(range(256)) * 20


def _raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        pytest.param("base64binary", _BODY, id="binary"),
        pytest.param("base64compressed", zlib.compress(_BODY), id="zlib"),
        pytest.param("base64compressed", gzip.compress(_BODY), id="gzip"),
        pytest.param("base64compressed", _raw_deflate(_BODY), id="raw-deflate"),
        pytest.param(" BASE64compressed ", zlib.compress(_BODY), id="case-and-space"),
    ],
)
@pytest.mark.parametrize("shape", ["plain", "unpadded", "lines", "around"])
def test_gsa_T22_encoded_content(encoding: str, data: bytes, shape: str) -> None:
    text = base64.b64encode(data).decode()
    if shape == "unpadded":
        text = text.rstrip("=")
    elif shape == "lines":
        text = "\r\n".join(text[at : at + 76] for at in range(0, len(text), 76))
    elif shape == "around":
        text = f"\n{text}\n"
    record = only(f'<record url="http://x/1"><content encoding="{encoding}">{text}</content></record>')
    assert record.content == FeedContent(_BODY, text=False)


def test_gsa_T22_the_guides_unpadded_sample() -> None:
    record = only('<record url="http://x/1"><content encoding="base64binary">Zm9vIGJhcgo</content></record>')
    assert record.content == FeedContent(b"foo bar\n", text=False)


def test_gsa_T23_a_records_action_wins_over_its_groups() -> None:
    items = read(
        feed(
            '<record url="http://x/1"/>',
            '<record url="http://x/2" action="add"/>',
            group='<group action="delete">',
        )
    )
    assert [record.delete for record in records(items)] == [True, False]


def test_gsa_T38_an_explicit_empty_acl_is_there() -> None:
    record = only('<record url="http://x/1"><acl/></record>')
    assert record.acl is not None
    assert (record.acl.entries, record.acl.inherit_from, record.acl.problem) == ((), "", "")


def test_gsa_T50_declared_entities_are_refused_before_a_record_is_read() -> None:
    declared = '<!DOCTYPE gsafeed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>'
    with pytest.raises(FeedError, match="line 2: the feed declares entities") as caught:
        read(feed('<record url="http://x/&b;"/>', doctype=declared))
    assert caught.value.reason == "refused"


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE gsafeed SYSTEM "http://127.0.0.1:1/gsafeed.dtd" [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
        "<!DOCTYPE gsafeed [<!-- ]> --><!entity x 'y'>]>",
    ],
)
def test_gsa_T50_no_shape_of_declaration_passes(doctype: str) -> None:
    with pytest.raises(FeedError):
        read(feed(doctype=doctype))


@pytest.mark.parametrize(
    "doctype",
    [
        "",
        '<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "http://127.0.0.1:1/gsafeed.dtd">',
        '<!DOCTYPE gsafeed SYSTEM "gsafeed.dtd">',
        "<!DOCTYPE gsafeed [<!-- <!ENTITY --><!ELEMENT gsafeed (header, group+)><!ATTLIST record lock (true|false) 'false'>]>",
    ],
)
def test_document_types_without_entities_are_read_and_never_fetched(doctype: str) -> None:
    items = read(feed('<record url="http://x/1"/>', doctype=doctype))
    assert len(records(items)) == 1
    assert end(items).may_delete


def test_an_acl_is_read_with_all_its_parts() -> None:
    (item,) = acls(
        read(
            feed(
                '<acl url="http://x/f/" inherit-from=" http://x/ " inheritance-type="PARENT_OVERRIDES">'
                '<principal scope="user" access="permit"> corp\\joe </principal>'
                '<principal scope="GROUP" access="deny" namespace="ns" principal-type="unqualified"'
                ' case-sensitivity-type="everything_case_insensitive">a/b</principal>'
                '<principal scope="user" access="permit">  </principal></acl>'
            )
        )
    )
    assert item.acl.url == "http://x/f/"
    assert item.acl.inherit_from == "http://x/"
    assert item.acl.inheritance is Inheritance.PARENT_OVERRIDES
    assert item.acl.problem == ""
    assert item.acl.entries == (
        AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, "joe", "corp")),
        AclEntry(Right.DENY, Principal(PrincipalScope.GROUP, "a/b", "", "ns", case_sensitive=False)),
    )
    assert item.warnings == ("an empty principal (permit) was skipped",)


@pytest.mark.parametrize(
    "acl",
    [
        '<acl url="http://x/"><principal scope="robot" access="deny">a</principal></acl>',
        '<acl url="http://x/"><principal access="deny">a</principal></acl>',
        '<acl url="http://x/"><principal scope="user" access="dney">a</principal></acl>',
        '<acl url="http://x/"><principal scope="user">a</principal></acl>',
        '<acl url="http://x/" inheritance-type="none"/>',
        '<acl url="http://x/"><principal scope="user" access="deny" case-sensitivity-type="x">a</principal></acl>',
        '<acl url="http://x/"><principle scope="user" access="deny">a</principle></acl>',
        '<acl url="http://x/">joe</acl>',
        '<acl url="http://x/"><principal scope="user" access="deny">a&foo;</principal></acl>',
        '<acl url="http://x/" inherit-from="http://x/&foo;"/>',
        '<acl url="http://x/"><principal scope="user" access="deny">a\x0b</principal></acl>',
    ],
)
def test_what_is_not_understood_in_an_acl_is_its_problem(acl: str) -> None:
    (item,) = acls(read(feed(acl)))
    assert item.acl.problem


def test_html_references_become_characters_and_deny_whom_they_mean() -> None:
    items = read(
        feed(
            '<acl url="http://x/"><principal scope="user" access="deny">M&uuml;ller</principal></acl>',
            '<record url="http://x/1"><metadata><meta name="n" content="a&nbsp;b &lt;"/></metadata>'
            "<content>5 &euro; &amp;uuml; &#228;</content></record>",
        )
    )
    (acl,) = acls(items)
    assert acl.acl.entries[0].principal.name == "Müller"
    assert acl.acl.problem == ""
    (record,) = records(items)
    assert record.metadata == (("n", "a\xa0b <"),)
    assert record.content == FeedContent("5 € &uuml; ä".encode(), text=True)
    assert record.warnings == ("references of HTML, not of XML, became their characters: &nbsp;, &euro;",)
    assert end(items).may_delete


def test_references_in_cdata_and_comments_are_text() -> None:
    record = only(
        '<record url="http://x/1"><!-- &foo; <record> --><content><![CDATA[&foo; <record url="x">]]></content></record>'
    )
    assert record.content == FeedContent(b'&foo; <record url="x">', text=True)
    assert record.warnings == ()


@pytest.mark.parametrize(
    ("piece", "url", "denies"),
    [
        ('<record url="http://x/&foo;"/>', "http://x/&foo;", True),
        ('<record url="http://x/1"><content>&foo;</content></record>', "http://x/1", False),
        (
            '<record url="http://x/1"><acl inherit-from="http://x/"/><content>&foo;</content></record>',
            "http://x/1",
            True,
        ),
        (
            '<record url="http://x/1"><metadata><meta name="a" content="&foo;"/></metadata></record>',
            "http://x/1",
            False,
        ),
        ('<acl url="http://x/&foo;"/>', "http://x/&foo;", True),
    ],
)
def test_references_that_nobody_knows_reject(piece: str, url: str, denies: bool) -> None:  # noqa: FBT001
    (item,) = rejections(items := read(feed(piece)))
    assert (item.url.replace("\ufffd", "&foo;"), item.denies) == (url, denies)
    assert not end(items).may_delete


def test_a_lost_reference_in_an_acl_meta_closes_the_document() -> None:
    record = only(
        '<record url="http://x/1"><metadata><meta name="google:acldenyusers" content="M&foo;ller"/></metadata></record>'
    )
    assert record.denied


def test_a_lost_reference_in_a_bound_acl_closes_the_document() -> None:
    record = only(
        '<record url="http://x/1"><acl><principal scope="user" access="deny">&foo;</principal></acl></record>'
    )
    assert record.acl is not None
    assert record.acl.problem


def test_groups_are_read_in_both_cases_and_under_a_gsafeed_doctype() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "gsafeed.dtd"><xmlgroups>'
        '<membership source="ad"><principal scope="GROUP" case-sensitivity-type="EVERYTHING_CASE_INSENSITIVE"> g '
        '</principal><members><principal scope="user">corp\\joe</principal><principal scope="GROUP">h</principal>'
        "</members></membership><membership><principal scope='group'>e</principal></membership>"
        "<membership><principal scope='group'/></membership>"
        "<membership><principal scope='group'>m</principal><members><principal scope='user'>&foo;</principal>"
        "</members></membership></xmlgroups>"
    )
    one, two, empty, lost, last = read_group_items(io.BytesIO(text.encode()))
    assert isinstance(one, GroupMembership)
    assert one.group == Principal(PrincipalScope.GROUP, "g", case_sensitive=False)
    assert one.members == (
        Principal(PrincipalScope.USER, "joe", "corp"),
        Principal(PrincipalScope.GROUP, "h"),
    )
    assert one.source == "ad"
    assert isinstance(two, GroupMembership)
    assert two.members == ()
    assert [
        (item.url, item.denies) for item in (empty, lost) if not isinstance(item, FeedEnd | GroupMembership)
    ] == [
        ("", True),
        ("m", True),
    ]
    assert isinstance(last, FeedEnd)
    assert (last.complete, last.items, last.rejected) == (True, 4, 2)


@pytest.mark.parametrize("text", ["<xmlgroups/>", "<xmlgroups></xmlgroups>"])
def test_an_empty_group_feed_is_complete(text: str) -> None:
    (last,) = read_group_items(io.BytesIO(text.encode()))
    assert isinstance(last, FeedEnd)
    assert last.may_delete


@pytest.mark.parametrize("text", ["", "hello", "<html><body/></html>", "<xmlgroups/>", "\0\0\0", "{}"])
def test_what_is_no_feed_says_so(text: str) -> None:
    with pytest.raises(FeedError) as caught:
        read(text)
    assert caught.value.reason == "failed"
