"""What a visit says of a page beside its description: whether it is one, what it is like, what it calls its own address."""

from typing import Any, Final

import pytest

from ingather.extract.simhash import fingerprint, signed
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.model.urlparts import key
from ingather.testing.hand import answer

HTML = ("Content-Type", "text/html; charset=utf-8")
WORDS: Final = " ".join(f"word{number}" for number in range(80))


def page(title: str, text: str = WORDS, head: str = "") -> bytes:
    return answer(
        f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p></body></html>", 200, HTML
    )


class Soft(dict[str, Any]):
    """A host that says "not found" with 200, of everything that is not there."""

    def get(self, path: str, default: Any = None) -> Any:
        if path in self or path == "/robots.txt":
            return super().get(path, default)
        return page("Page not found", f"Sorry, {path} is not here")


@pytest.fixture(scope="module")
def soft(make_bench: Any) -> Any:
    made = make_bench(soft_404=True)
    made.server.said = Soft()
    return made


def visit(bench: Any, path: str, **claim: Any) -> Report:
    report: Report = bench.run(bench.hand.visit(bench.server.origin + path, source="web", **claim))
    return report


def test_a_soft_404_gets_no_description_and_names_the_probe(soft: Any) -> None:
    soft.clear()
    report = visit(soft, "/gone/page.html")
    first, probe = soft.server.paths()
    assert (first, probe.startswith("/gone/ingather-"), probe.endswith(".html")) == (
        "/gone/page.html",
        True,
        True,
    )
    assert (Outcome(report.outcome), report.status, report.described) == (Outcome.SOFT_404, 200, False)
    assert (
        report.detail == f"soft 404: it is like the answer to {soft.server.origin}{probe}, which cannot exist"
    )
    assert report.found == []
    assert Outcome(visit(soft, "/gone/other.html").outcome) is Outcome.SOFT_404
    assert len(soft.server.paths()) == 3, "the answer is remembered"


def test_a_page_of_that_host_is_a_page(soft: Any) -> None:
    soft.clear()
    soft.server.said["/there.html"] = page("Here it is")
    assert Outcome(visit(soft, "/there.html").outcome) is Outcome.INDEXED
    assert soft.server.paths() == ["/there.html"]


def test_robots_txt_binds_the_probe(make_bench: Any) -> None:
    bench = make_bench(soft_404=True)
    bench.server.said = Soft()
    bench.server.said["/robots.txt"] = answer(
        "User-agent: *\nDisallow: /closed/ingather-\n", 200, ("Content-Type", "text/plain")
    )
    assert Outcome(visit(bench, "/closed/page").outcome) is Outcome.INDEXED
    assert bench.server.paths() == ["/closed/page"]


def test_a_text_has_its_fingerprint_and_a_canonical_address_is_found(bench: Any) -> None:
    bench.server.said["/a"] = page("A", head='<link rel="canonical" href="/b#top">')
    report = visit(bench, "/a")
    named = f"{bench.server.origin}/b"
    assert report.near == signed(fingerprint(report.text)) != 0
    assert (report.canonical, report.canonical_key) == (named, key(named, bench.hand.pipeline.seed))
    assert [one.path for one in report.found] == ["/b"]


@pytest.mark.parametrize(
    "head", ["", '<link rel="canonical" href="/a">', '<link rel="canonical" href="mailto:x">']
)
def test_a_page_that_names_no_other_has_no_canonical_address(bench: Any, head: str) -> None:
    bench.server.said["/a"] = page("A", head=head)
    assert visit(bench, "/a").canonical == ""


def test_a_canonical_address_is_not_followed_from_a_page_that_says_nofollow(bench: Any) -> None:
    bench.server.said["/n"] = page(
        "N", head='<link rel="canonical" href="/c"><meta name="robots" content="nofollow">'
    )
    report = visit(bench, "/n")
    assert report.canonical.endswith("/c")
    assert report.found == []


def test_the_header_names_a_canonical_address_too(bench: Any) -> None:
    bench.server.said["/h"] = answer(
        f"<title>H</title><p>{WORDS}</p>", 200, HTML, ("Link", '</c.html>; rel="canonical"')
    )
    assert visit(bench, "/h").canonical == f"{bench.server.origin}/c.html"


def test_a_short_text_has_no_fingerprint(bench: Any) -> None:
    bench.server.said["/s"] = page("S", "a few words")
    assert visit(bench, "/s").near == 0
