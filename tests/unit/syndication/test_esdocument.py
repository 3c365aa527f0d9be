"""The vendor's documents of data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.syndication.esdocument import NAMESPACE, read_esdocument


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
