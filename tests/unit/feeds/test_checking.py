"""Checking a feed for the author of a client: every finding with its line."""

import io

import pytest

from ingather.feeds.checking import FeedReport, Severity, check
from ingather.testing.feedtext import DOCTYPE, SEED, feed


def checked(text: str, *, groups: bool = False) -> FeedReport:
    return check(io.BytesIO(text.encode()), groups=groups)


def found(report: FeedReport) -> list[str]:
    return [
        f"{finding.line} {finding.severity} {finding.element}: {finding.text}" for finding in report.findings
    ]


def test_a_good_feed_has_no_findings() -> None:
    report = checked(
        feed(
            '<acl url="http://x/" inheritance-type="child-overrides"><principal scope="user" access="permit">a</principal></acl>',
            '<record url="http://x/1" mimetype="text/html" last-modified="Tue, 06 Nov 2007 12:45:26 GMT" lock="true">',
            '<acl inherit-from="http://x/"/><metadata><meta name="a" content="b"/></metadata><content>c</content></record>',
        )
    )
    assert found(report) == []
    assert report.valid
    assert report.complete
    assert (report.records, report.acls, report.rejected) == (1, 1, 0)
    assert (report.datasource, report.feedtype) == ("test", "incremental")


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ('<record url="http://x/1"/>', "5 error record: the attribute 'mimetype' is missing"),
        (
            '<record url="http://x/1" mimetype="" action="ADD"/>',
            "5 error record: action='ADD' is none of add, delete",
        ),
        (
            '<record\nURL="http://x/1" mimetype=""/>',
            "6 error record: the DTD knows no attribute 'URL' here; the DTD writes url",
        ),
        (
            '<record url="http://x/1" mimetype="" x="y"/>',
            "5 error record: the DTD knows no attribute 'x' here",
        ),
        (
            '<record url="http://x/1" mimetype=""><content/>\n<metadata/></record>',
            "5 error record: its content (content, metadata) does not follow the DTD: (acl?, metadata*, content*)",
        ),
        (
            '<record url="http://x/1" mimetype=""><metadata>\n<meta name="a" content=""/></metadata></record>',
            "6 error meta: an empty content made an appliance skip the whole record",
        ),
        ('<record url="http://x/1" mimetype="">\n<x/></record>', "6 error x: the DTD knows no such element"),
        (
            '<record url="http://x/1" mimetype="">joe</record>',
            "5 error record: text stands where the DTD allows none",
        ),
        (
            '<record url="http://x/1" mimetype="" last-modified="soon"/>',
            "5 error record: last-modified='soon' is no RFC 822 date",
        ),
        ("<acl/>", "5 error acl: an acl in a group needs a url"),
        (
            '<acl url="http://x/"><principal scope="user">a</principal></acl>',
            "5 error principal: the attribute 'access' is missing",
        ),
        (
            '<record url="x" mimetype=""/>',
            "5 error : rejected: its url is relative: it must begin with a scheme, like http:// (url x)",
        ),
        (
            '<record url="http://x/?a=1&b=2" mimetype=""/>',
            "5 error : rejected: broken markup: '&' that begins no reference (write &amp;) (url http://x/?a=1&b=2)",
        ),
    ],
)
def test_findings(piece: str, expected: str) -> None:
    report = checked(feed(piece))
    assert expected in found(report)
    assert not report.valid


def test_headers_are_checked() -> None:
    report = checked(
        "<gsafeed><header><datasource>9bad</datasource><feedtype>Full</feedtype></header><group/></gsafeed>"
    )
    assert found(report) == [
        "0 error datasource: '9bad' does not match [a-zA-Z_][a-zA-Z0-9_-]*",
        "0 error feedtype: 'Full' is none of full, incremental, metadata-and-url",
    ]


def test_the_sample_of_the_description_has_its_findings() -> None:
    report = checked(SEED)
    assert not report.valid
    assert [finding.line for finding in report.findings if finding.text.startswith("rejected")] == [7, 30]
    assert any("displayURL" in finding.text for finding in report.findings)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "there is no gsafeed element"),
        ("<html/>", "the root element is 'html'"),
        (feed(doctype='<!DOCTYPE gsafeed [<!ENTITY a "b">]>'), "declares entities"),
        (feed('<record url="http://x/1"')[:-20], "the feed ends inside"),
        (feed().replace("</group>", "</gruop>"), "</gruop> closes nothing"),
    ],
)
def test_feeds_that_are_none_are_findings_too(text: str, what: str) -> None:
    assert any(what in line for line in found(checked(text)))


def test_group_feeds_are_checked() -> None:
    good = "<xmlgroups><membership source='a'><principal scope='GROUP'>g</principal><members/></membership></xmlgroups>"
    assert found(checked(good, groups=True)) == []
    bad = good.replace("GROUP", "group")
    assert found(checked(bad, groups=True)) == ["1 error principal: scope='group' is none of GROUP, USER"]


def test_what_is_tolerated_is_a_warning() -> None:
    report = checked(
        feed('<record url="http://x/1" mimetype=""><content>&uuml;</content></record>', doctype=DOCTYPE)
    )
    assert [finding.severity for finding in report.findings] == [Severity.WARNING]
    assert report.valid


def test_json_lines_have_findings_without_a_dtd() -> None:
    report = check(io.BytesIO(b'{"url": "x"}\n{"url": "http://x/1", "nonsense": 1}\n'), json_lines=True)
    assert [(finding.line, finding.severity) for finding in report.findings if finding.line] == [
        (1, Severity.ERROR),
        (2, Severity.WARNING),
        (3, Severity.ERROR),
    ]
