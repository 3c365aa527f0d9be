"""A sitemap source lists documents of data in place of pages: title and text are theirs, their fields are metadata of their own."""

from hashlib import md5
from typing import Any

import pytest

from ingather.model.intent import Intent
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.testing.hand import answer

XML = ("Content-Type", "text/xml; charset=utf-8")
DATA = (
    '<?xml version="1.0"?><esdocument xmlns="http://smartsite.nl/namespaces/documentdata/1.0"{dirty}><doc_title>Walrus</doc_title>'
    "<doc_body>She eats clams.</doc_body><doc_url>https://zoo.test/walrus</doc_url>"
    "<doc_keywords><value>ice</value><value>clams</value></doc_keywords></esdocument>"
)


def visit(bench: Any, said: str, *, source: str = "maps", **claim: Any) -> Report:
    bench.server.said["/7.xml"] = answer(said, 200, XML)
    report: Report = bench.run(
        bench.hand.visit(bench.server.origin + "/7.xml", Intent.REINDEX, source=source, **claim)
    )
    return report


def test_its_fields_make_the_document(bench: Any) -> None:
    report = visit(bench, DATA.format(dirty=""))
    assert (Outcome(report.outcome), report.described) == (Outcome.INDEXED, True)
    assert (report.title, report.text) == ("Walrus", "She eats clams.")
    assert report.controls is not None
    assert report.controls.metadata == (("doc_keywords", "ice"), ("doc_keywords", "clams"))
    assert report.controls.display_url == "https://zoo.test/walrus"


@pytest.mark.parametrize(("dirty", "outcome"), [("", Outcome.UNCHANGED), (' dirty="true"', Outcome.INDEXED)])
def test_what_is_dirty_is_indexed_anew_although_nothing_changed(
    bench: Any, dirty: str, outcome: Outcome
) -> None:
    body = DATA.format(dirty=dirty)
    digest = md5(body.encode(), usedforsecurity=False).digest()
    assert Outcome(visit(bench, body, digest=digest).outcome) is outcome


def test_a_broken_one_brings_no_text_and_no_metadata(bench: Any) -> None:
    report = visit(bench, DATA.format(dirty="").replace("</doc_body>", ""))
    assert "conversion-failed:esdocument" in report.flags
    assert (report.text, report.controls) == ("", None)


def test_for_other_sources_it_is_a_text_like_any(bench: Any) -> None:
    report = visit(bench, DATA.format(dirty=""), source="news")
    assert report.controls is None
    assert report.title == ""
