"""The RD schema: what its lines say, what is refused and where, and what the shipped one has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.conf.rd.rdschema import NAME, RdAttribute, RdType, parse_schema, shipped_schema
from ingather.conf.report import Report


def test_a_line_says_everything() -> None:
    report = Report()
    text = 'Attribute name=Author-Email description="Mail" aliases="e-mail, MAIL" editable=no indexable=no score=3 type=url multi=no\n'
    schema = parse_schema(text, NAME, report)
    assert not report.diagnostics
    assert schema.attributes == {
        "author-email": RdAttribute(
            "author-email", "Mail", ("e-mail", "mail"), editable=False, indexable=False, score=3, type=RdType.URL, multi=False
        )
    }  # fmt: skip
    assert schema.unindexed == {"author-email"}
    assert schema.renamed({"mail": ("a",), "author-email": ("b",), "x": ("c",)}) == {
        "author-email": ("b", "a"),
        "x": ("c",),
    }


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("Nonsense name=x", 1),
        ("Attribute", 1),
        ("Attribute name=x type=blob", 23),
        ("Attribute name=x score=11", 24),
        ("Attribute name=x score=-1", 24),
        ("Attribute name=x multi=maybe", 24),
        ("Attribute name=x colour=red", 18),
        ("Attribute name=x bare", 18),
        ('Attribute name="a b"', 1),
        ("Attribute name=x aliases=y\nAttribute name=y", 1),
    ],
)
def test_mistakes_are_named_with_their_place(line: str, column: int) -> None:
    report = Report()
    parse_schema(line + "\n", NAME, report)
    assert [d.code for d in report.diagnostics] == ["E-SCHEMA"]
    assert report.diagnostics[0].column == column


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    parse_schema(text, NAME, Report())
    parse_schema("Attribute " + text, NAME, Report())


def test_the_shipped_schema_has_the_vendor_s_attributes() -> None:
    schema = shipped_schema()
    vendor = (
        "author author-email content-charset content-encoding content-language content-length content-type description expires "
        "full-text keywords last-modified partial-text phone readacl title url virtual-db classification md5 depth rd-expires "
        "rd-last-modified toc ip"
    )
    assert set(vendor.split()) == set(schema.attributes)
    assert "readacl" in schema.unindexed
    assert not schema.scores


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (RdType.INTEGER, "-12", "1.5"),
        (RdType.DATE, "2026-11-22T01:02:03Z", "yesterday"),
        (RdType.DATE, "Sun, 22 Nov 2026 01:02:03 GMT", ""),
        (RdType.URL, "http://a/", "a b"),
    ],
)
def test_types(kind: RdType, good: str, bad: str) -> None:
    attribute = RdAttribute("x", type=kind, multi=False)
    assert attribute.fault([good]) == ""
    assert "x" in attribute.fault([bad])
    assert "one value" in attribute.fault([good, good])
