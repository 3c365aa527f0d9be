"""What full, incremental, metadata-and-url and web feeds do (GSA feeds specification, sections 8 and 9)."""

import pytest

from ingather.feeds.desk import FeedRefusedError
from ingather.model.lifecycle import State
from ingather.testing.feeds import FeedRig, content, feed_xml, record


def test_gsa_T14_a_full_feed_replaces_its_source(rig: FeedRig) -> None:
    one, two = "http://t14.test/1", "http://t14.test/2"
    first = rig.push(
        record(one, content("first")), record(two, content("second")), datasource="t14", feedtype="full"
    )
    assert (first["state"], first["applied"], first["deleted"]) == ("completed", 2, 0)
    assert rig.text(one) == "first"
    second = rig.push(record(two, content("again")), datasource="t14", feedtype="full")
    assert (second["state"], second["deleted"]) == ("completed", 1)
    assert not rig.described(one)
    assert rig.text(two) == "again"
    assert [(r["action"], r["state"], r["url"]) for r in rig.records(second)][1:] == [
        ("omitted", "deleted", one)
    ]


def test_gsa_T15_a_full_feed_that_is_cut_deletes_nothing(rig: FeedRig) -> None:
    kept, named = "http://t15.test/kept", "http://t15.test/named"
    rig.push(record(kept, content("kept")), datasource="t15", feedtype="full")
    body = feed_xml(
        record(named, content("new")), record(kept, content("x")), datasource="t15", feedtype="full"
    )
    cut = rig.push(body=body[: body.rindex(b"<record") + 20], datasource="t15", feedtype="full")
    assert cut["state"] in {"completed with errors", "failed in error"}
    assert cut["deleted"] == 0
    assert rig.described(kept)


@pytest.mark.parametrize("feedtype", ["incremental", "full"])
def test_gsa_a_feed_that_was_repaired_is_completed_with_errors_and_deletes_nothing(
    rig: FeedRig, feedtype: str
) -> None:
    kept, named = f"http://slip-{feedtype}.test/kept", f"http://slip-{feedtype}.test/named"
    rig.push(record(kept, content("kept")), datasource=f"slip-{feedtype}", feedtype="full")
    body = feed_xml(record(named, content("bell")), datasource=f"slip-{feedtype}", feedtype=feedtype)
    slipped = rig.push(
        body=body.replace(b"bell", b"bell\x0b caf\xe9"), datasource=f"slip-{feedtype}", feedtype=feedtype
    )
    assert (slipped["state"], slipped["applied"], slipped["rejected"]) == ("completed with errors", 1, 0)
    assert slipped["deleted"] == 0
    assert rig.described(kept)
    assert rig.text(named) == "bell café"


def test_gsa_T16_an_empty_full_feed_empties_its_source(rig: FeedRig) -> None:
    rig.push(record("http://t16.test/1", content("one")), datasource="t16", feedtype="full")
    empty = rig.push(datasource="t16", feedtype="full")
    assert (empty["state"], empty["deleted"]) == ("completed", 1)
    assert not rig.described("http://t16.test/1")


def test_gsa_T16_an_empty_full_feed_is_held_above_the_threshold(rig: FeedRig) -> None:
    urls = [f"http://t16b.test/{n}" for n in range(12)]
    rig.push(*(record(url, content(url)) for url in urls), datasource="t16b", feedtype="full")
    empty = rig.push(datasource="t16b", feedtype="full")
    assert (empty["deleted"], empty["held"]) == (0, 12)
    assert all(rig.described(url) for url in urls)
    assert {r["state"] for r in rig.records(empty)} == {"held"}
    (hold,) = [h for h in rig.local.writer.deletions.holds() if h.source == "t16b"]
    assert (hold.urls, hold.reason) == (12, "missing from a full feed")
    # Named again, a document is no longer proposed.
    rig.push(record(urls[0], content("back")), datasource="t16b")
    (hold,) = [h for h in rig.local.writer.deletions.holds() if h.source == "t16b"]
    assert hold.urls == 11


def test_gsa_T17_metadata_alone_leaves_the_content(rig: FeedRig) -> None:
    url = "http://t17.test/a"
    rig.push(record(url, content("the text", "A title")), datasource="t17")
    told = rig.push(
        record(
            url, '<metadata><meta name="Author" content="Ann"/><meta name="author" content="Bo"/></metadata>'
        ),
        datasource="t17",
    )
    assert told["state"] == "completed"
    assert rig.text(url) == "the text"
    assert rig.attributes(url)["author"] == ("Ann", "Bo")
    assert rig.attributes(url)["title"] == ("A title",)


def test_gsa_T18_content_alone_leaves_the_metadata(rig: FeedRig) -> None:
    url = "http://t18.test/a"
    meta = '<metadata><meta name="author" content="Ann"/></metadata>'
    rig.push(record(url, meta + content("old")), datasource="t18")
    rig.push(record(url, content("new")), datasource="t18")
    assert rig.text(url) == "new"
    assert rig.attributes(url)["author"] == ("Ann",)


def test_gsa_T19_empty_metadata_clears_metadata_and_what_acl_metas_said(rig: FeedRig) -> None:
    url = "http://t19.test/a"
    meta = (
        '<metadata><meta name="author" content="Ann"/><meta name="google:aclusers" content="joe"/></metadata>'
    )
    rig.push(record(url, meta + content("text")), datasource="t19")
    assert not rig.public(url)
    assert not any(name.startswith("google:") for name in rig.attributes(url))
    rig.push(record(url, "<metadata/>"), datasource="t19")
    assert "author" not in rig.attributes(url)
    assert rig.public(url)


def test_gsa_T20_overwrite_acls_false_leaves_the_acl(rig: FeedRig) -> None:
    url = "http://t20.test/a"
    rig.push(
        record(url, '<metadata><meta name="google:aclusers" content="joe"/></metadata>' + content("text")),
        datasource="t20",
    )
    before = rig.chain(url)
    rig.push(
        record(url, '<metadata overwrite-acls="false"><meta name="a" content="b"/></metadata>'),
        datasource="t20",
    )
    assert rig.chain(url) == before
    assert rig.attributes(url)["a"] == ("b",)


def test_gsa_T23_a_record_of_a_deleting_group_may_add(rig: FeedRig) -> None:
    gone, added = "http://t23.test/gone", "http://t23.test/added"
    rig.push(record(gone, content("old")), datasource="t23")
    body = feed_xml(record(gone), record(added, content("new"), action="add"), datasource="t23").replace(
        b"<group>", b'<group action="delete">'
    )
    told = rig.push(body=body, datasource="t23")
    assert [r["state"] for r in rig.records(told)] == ["deleted", "applied"]
    assert not rig.described(gone)
    assert rig.described(added)


def test_gsa_T30_the_data_source_web_is_never_replaced_as_a_whole(rig: FeedRig) -> None:
    with pytest.raises(FeedRefusedError, match="web"):
        rig.push(record("http://t30.test/"), datasource="web", feedtype="full")


def test_gsa_T8_the_type_of_a_feed_is_read_in_any_case(rig: FeedRig) -> None:
    told = rig.push(record("http://t8.test/", content("x")), datasource="t8", feedtype="FULL")
    assert told["feedtype"] == "full"


@pytest.mark.parametrize("name", ["9bad", "", "a b", "ä", "x" * 201])
def test_gsa_T7_a_name_that_is_none_is_refused(rig: FeedRig, name: str) -> None:
    with pytest.raises(FeedRefusedError, match="name of a data source"):
        rig.push(record("http://t7.test/"), datasource=name)


@pytest.mark.parametrize("name", ["feed-web", "Feed-Web"])
def test_the_name_under_which_lists_of_web_are_kept_is_none_to_push_to(rig: FeedRig, name: str) -> None:
    with pytest.raises(FeedRefusedError, match="the lists of the data source 'web' are kept"):
        rig.push(record("http://t7.test/", content("x")), datasource=name, feedtype="full")


def test_a_delete_and_an_add_in_one_feed_apply_in_document_order(rig: FeedRig) -> None:
    url = "http://order.test/a"
    rig.push(record(url, content("one")), datasource="order")
    told = rig.push(record(url, action="delete"), record(url, content("two")), datasource="order")
    assert rig.text(url) == "two"
    assert [r["state"] for r in rig.records(told)] == ["superseded", "applied"]
    asked = {
        state: [r["n"] for r in rig.local.office.records(str(told["id"]), state=state)]
        for state in ("superseded", "needs-scope", "deleted", "applied")
    }
    assert asked == {"superseded": [1], "needs-scope": [], "deleted": [1], "applied": [2]}
    rig.push(record(url, content("three")), record(url, action="delete"), datasource="order")
    assert not rig.described(url)


def test_explicit_deletes_are_commands_and_never_held(rig: FeedRig) -> None:
    urls = [f"http://wipe.test/{n}" for n in range(20)]
    rig.push(*(record(url, content("x")) for url in urls), datasource="wipe")
    told = rig.push(*(record(url, action="delete") for url in urls), datasource="wipe")
    assert (told["state"], told["held"]) == ("completed", 0)
    assert {r["state"] for r in rig.records(told)} == {"deleted"}
    assert not any(rig.described(url) for url in urls)


def test_a_delete_of_an_unknown_url_is_no_error(rig: FeedRig) -> None:
    told = rig.push(record("http://unknown.test/a", action="delete"), datasource="unknown")
    assert (told["state"], told["rejected"]) == ("completed", 0)
    assert "not known" in rig.records(told)[0]["note"]


def test_a_deleted_document_may_be_pushed_again(rig: FeedRig) -> None:
    url = "http://again.test/a"
    rig.push(record(url, content("one")), datasource="again")
    rig.push(record(url, action="delete"), datasource="again")
    rig.push(record(url, content("two")), datasource="again")
    assert rig.text(url) == "two"
    assert rig.public(url)


def test_a_repeated_push_changes_nothing(rig: FeedRig) -> None:
    url, meta = "http://repeat.test/a", '<metadata><meta name="x" content="y"/></metadata>'
    for _ in range(2):
        rig.push(record(url, meta + content("same")), datasource="repeat", feedtype="full")
    assert rig.text(url) == "same"
    assert rig.attributes(url)["x"] == ("y",)
    assert (
        rig.local.writer.deletions.facts(
            rig.local.writer.applier.source("repeat"), rig.clock.wall()
        ).documents
        == 1
    )


def test_without_content_an_unknown_url_makes_no_document(rig: FeedRig) -> None:
    url = "http://nothing.test/a"
    told = rig.push(record(url, '<metadata><meta name="x" content="y"/></metadata>'), datasource="nothing")
    assert not rig.described(url)
    assert "makes no document" in rig.records(told)[0]["note"]
    rig.push(record(url, content("late")), datasource="nothing")
    assert rig.attributes(url)["x"] == ("y",)


def test_urls_of_any_scheme_have_content(rig: FeedRig) -> None:
    url = "googleconnector://src.localhost/doc?docid=7"
    told = rig.push(record(url, content("from a connector", "C")), datasource="connector")
    assert told["state"] == "completed"
    assert rig.text(url) == "from a connector"
    assert rig.public(url)


def test_a_document_that_cannot_be_converted_stays_and_is_found_by_its_metadata(rig: FeedRig) -> None:
    url = "http://broken.test/a.pdf"
    told = rig.push(
        record(
            url,
            '<metadata><meta name="author" content="Ann"/></metadata>'
            '<content encoding="base64binary">JVBERi0xLjQKYnJva2Vu</content>',
            mimetype="application/pdf",
        ),
        datasource="broken",
    )
    assert told["state"] == "completed"
    assert "Conversion Error" in rig.records(told)[0]["note"]
    assert rig.attributes(url)["author"] == ("Ann",)


def test_a_blank_is_a_document(rig: FeedRig) -> None:
    url = "http://blank.test/a"
    rig.push(
        record(
            url,
            '<metadata><meta name="t" content="v"/></metadata><content> </content>',
            mimetype="text/plain",
        ),
        datasource="blank",
    )
    assert rig.described(url)
    assert rig.attributes(url)["t"] == ("v",)


def test_links_out_of_fed_content_wait_for_the_crawler(rig: FeedRig) -> None:
    page = '<content><![CDATA[<a href="/next">n</a> <a href="http://elsewhere.test/">e</a>]]></content>'
    rig.push(record("http://links.test/a", page), datasource="links")
    found, other = rig.row("http://links.test/next"), rig.row("http://elsewhere.test/")
    assert found is not None
    assert found.state is State.WAITING
    assert other is not None
    assert other.state is State.EXCLUDED


def test_parts_of_a_session_are_one_full_feed(rig: FeedRig) -> None:
    urls = [f"http://session.test/{n}" for n in range(3)]
    rig.push(*(record(u, content(u)) for u in urls), datasource="session", feedtype="full")
    one = rig.push(record(urls[0], content("a")), datasource="session", feedtype="full", session="s", part=1)
    assert one["deleted"] == 0
    two = rig.push(
        record(urls[1], content("b")), datasource="session", feedtype="full", session="s", part=2, last=True
    )
    assert two["deleted"] == 1
    assert [rig.described(u) for u in urls] == [True, True, False]


def test_a_readacl_among_fed_metadata_closes_its_document_at_once(rig: FeedRig) -> None:
    """A description's own access list that cannot be read: whoever wrote one did not mean everybody."""
    first, later = "http://readacl.test/first", "http://readacl.test/later"
    listed = '<metadata><meta name="readacl" content="staff"/></metadata>'
    rig.push(
        record(first, listed + content("at first")), record(later, content("open")), datasource="readacl"
    )
    assert rig.hidden(first)
    assert rig.public(later)
    rig.push(record(later, listed), datasource="readacl")
    assert rig.hidden(later)


def test_gsa_a_web_feed_brings_neither_content_nor_metadata_and_says_so(rig: FeedRig) -> None:
    url = "http://web-content.test/a"
    meta = '<metadata><meta name="author" content="Ann"/></metadata>'
    told = rig.push(record(url, meta + content("not this")), datasource="web")
    (receipt,) = rig.records(told)
    assert receipt["state"] == "waiting for crawl"
    assert "brings no metadata" in receipt["note"]
    assert "brings no content" in receipt["note"]
    assert not rig.described(url)
