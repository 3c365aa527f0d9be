"""The vendor's documents of data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.syndication.datapage import data_controls, data_page, is_document_data
from ingather.syndication.esdocument import NAMESPACE, read_esdocument
from ingather.syndication.sitemaps import list_sitemap


def test_fields_values_dependencies_and_the_dirty_mark() -> None:
    found = read_esdocument(
        f"""<?xml version="1.0" encoding="utf-8"?>
        <esdocument xmlns="{NAMESPACE}" xmlns:o="urn:other" dirty="true"><doc_title>A &amp; b</doc_title>
        <doc_keywords><value>one</value><value> two </value></doc_keywords><doc_body><![CDATA[<p>x</p>]]></doc_body><extra_none/>
        <o:else>x</o:else><dependencies><dependency>item:7</dependency><dependency>item:7</dependency><dependency/></dependencies></esdocument>""".encode()
    )
    assert found.fields == {
        "doc_title": ("A & b",),
        "doc_keywords": ("one", "two"),
        "doc_body": ("<p>x</p>",),
        "extra_none": ("",),
    }
    assert (found.dependencies, found.dirty, found.error) == (("item:7",), True, "")
    assert found.remarks == ("line 4: <else> is of another namespace: passed over",)


@pytest.mark.parametrize(
    "body",
    [b"", b"<rss/>", f"<esdocument xmlns='{NAMESPACE}'><a>".encode(), b"<esdocument xmlns='urn:x'/>",
     f"<!DOCTYPE esdocument [<!ENTITY a 'b'>]><esdocument xmlns='{NAMESPACE}'><a>&a;</a></esdocument>".encode(),
     f"<esdocument xmlns='{NAMESPACE}'>\xff</esdocument>".encode("latin-1")],
)  # fmt: skip
def test_what_is_none(body: bytes) -> None:
    found = read_esdocument(body)
    assert found.error
    assert not found.fields


@given(st.binary(max_size=80))
def test_any_bytes_are_read(body: bytes) -> None:
    read_esdocument(body)
    read_esdocument(b"<esdocument>" + body + b"</esdocument>")


DATA = f"""<esdocument xmlns="{NAMESPACE}"{{dirty}}><doc_title>A walrus</doc_title><doc_body><![CDATA[<p>She &amp; <b>he</b></p><p>two</p>]]></doc_body>
<doc_url>http://n.test/walrus</doc_url><doc_keywords><value>ice</value><value>clams</value></doc_keywords><doc_created>2018-03-20T08:33:00Z</doc_created>
<system_location_modified>2018-03-21</system_location_modified><dependencies><dependency>item:7</dependency></dependencies></esdocument>"""


def test_a_document_of_data_is_a_page_with_metadata_of_its_own() -> None:
    body = DATA.format(dirty="").encode()
    assert is_document_data(body)
    found = read_esdocument(body)
    page, controls = data_page(found, "http://n.test/7.xml"), data_controls(found)
    assert (page.title, page.text) == ("A walrus", "She & he\ntwo")
    assert page.date is not None
    assert (page.date.value, page.date.source) == ("2018-03-20T08:33:00Z", "field:doc_created")
    assert controls.metadata == (
        ("doc_keywords", "ice"), ("doc_keywords", "clams"), ("doc_created", "2018-03-20T08:33:00Z"),
        ("system_location_modified", "2018-03-21"), ("es_dependencies", "item:7"),
    )  # fmt: skip
    assert (controls.display_url, controls.heeded) == ("http://n.test/walrus", True)
    assert not is_document_data(b"<html>esdocument</html>")


def test_a_document_of_data_in_place_of_a_sitemap_lists_itself() -> None:
    clean = list_sitemap(DATA.format(dirty="").encode(), url="http://n.test/7.xml")
    assert [(item.link, item.modified) for item in clean.items] == [
        ("http://n.test/walrus", "2018-03-21T00:00:00Z")
    ]
    dirty = list_sitemap(DATA.format(dirty=' dirty="1"').encode(), url="http://n.test/7.xml")
    assert dirty.items[0].modified.startswith("dirty ")
    assert not dirty.error
    bare = f'<esdocument xmlns="{NAMESPACE}"><doc_url>javascript:x</doc_url></esdocument>'
    assert "without doc_url" in list_sitemap(bare.encode(), url="http://n.test/").error
