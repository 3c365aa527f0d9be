"""One site with one page for each thing that a page or a host may say about being gathered."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingather.model.lifecycle import Outcome, State
from ingather.testing.documents import docx, odf, pdf
from ingather.testing.rig import Known, Rig
from ingather.testing.site import Site, html

NOINDEX = '<meta name="robots" content="noindex">'
NOFOLLOW = '<meta name="robots" content="nofollow">'
WORD_DOCUMENT = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"


def build(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /closed/\n")
    site.page(
        "/", "Start", "/noindex", "/header-noindex", "/nofollow", "/rel-nofollow", "/closed/page", "/old", "/gone", "/missing",
        "/locked", "/broken", "/a-copy", "/copy", "/paper.pdf", "/letter.docx", "/story.odt", "/notes.txt", "/picture.png", "/damaged.pdf",
        "/unlinked-title", "mailto:somebody@example.org", "ftp://ftp.example/x", "http://[::1",
    )  # fmt: skip
    site.page("/noindex", "Not to be indexed", "/below-noindex", head=NOINDEX, text="quetzalnoindex")
    site.page("/below-noindex", "Below noindex", text="quetzalbelow")
    site.page("/header-noindex", "Header noindex", "/below-header", headers=(("X-Robots-Tag", "noindex"),))
    site.page("/below-header", "Below header")
    site.page("/nofollow", "Leads nowhere", "/only-from-nofollow", head=NOFOLLOW, text="quetzalnofollow")
    site.page("/only-from-nofollow", "Never met")
    site.put("/rel-nofollow", '<title>Rel</title><a rel="nofollow" href="/only-from-rel">x</a>')
    site.page("/only-from-rel", "Never met either")
    site.page("/closed/page", "Closed by robots.txt")
    site.status("/old", 301, ("Location", "/new"))
    site.page("/new", "Where it moved", text="quetzalmoved")
    site.status("/gone", 410)
    site.status("/locked", 403)
    site.status("/broken", 500)
    twin = html("Twins", text="quetzaltwin")
    site.put("/a-copy", twin)
    site.put("/copy", twin)
    site.put("/paper.pdf", pdf(["A paper about quetzalpdf birds"]), kind="application/pdf")
    body = '<w:p><w:r><w:t>A letter about quetzaldocx birds </w:t></w:r><w:hyperlink r:id="l"><w:r><w:t>see this</w:t></w:r></w:hyperlink></w:p>'
    site.put(
        "/letter.docx", docx(body, rels=[("l", "hyperlink", site.url("/from-letter"))]), kind=WORD_DOCUMENT
    )
    site.page("/from-letter", "Linked from a letter only")
    site.put("/story.odt", odf("text", "<text:p>A story about quetzalodt birds</text:p>"), kind=ODT)
    site.put("/notes.txt", "notes about quetzaltext birds", kind="text/plain")
    site.put("/picture.png", b"\x89PNG\r\n\x1a\n" + bytes(50), kind="image/png")
    site.put("/damaged.pdf", b"%PDF-1.7\nnothing of the kind", kind="application/pdf")
    site.put("/unlinked-title", "<p>quetzaluntitled text without any title</p>")


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, Site, dict[str, Any]]]:
    rig = Rig(tmp_path_factory.mktemp("site") / "home").init()
    with Site() as site:
        build(site)
        ran = rig.crawl(site.url("/"))
        assert ran.status == 0, ran.err
        yield rig, site, ran.json


Gathered = tuple[Rig, Site, dict[str, Any]]


@pytest.fixture(scope="module")
def pages(gathered: Gathered) -> dict[str, Known]:
    """What the catalog knows, by path."""
    rig, site, _ = gathered
    return {url.removeprefix(site.origin): known for url, known in rig.known().items()}


def test_robots_txt_forbids_and_explain_names_the_line(gathered: Gathered, pages: dict[str, Known]) -> None:
    rig, site, _ = gathered
    assert pages["/closed/page"].outcome is Outcome.ROBOTS
    assert site.asked("/closed/page") == 0
    said = rig.explained(site.url("/closed/page"))
    assert "robots.txt" in said.partition("\n")[0]
    assert "robots.txt:2" in said


@pytest.mark.parametrize(
    ("path", "below"), [("/noindex", "/below-noindex"), ("/header-noindex", "/below-header")]
)
def test_noindex_keeps_a_page_out_and_lets_its_links_be_followed(
    pages: dict[str, Known], path: str, below: str
) -> None:
    assert pages[path].outcome is Outcome.NOINDEX
    assert not pages[path].described
    assert pages[below].described


def test_noindex_pages_are_not_found(gathered: Gathered) -> None:
    rig, _, _ = gathered
    assert rig.found("quetzalnoindex") == []


def test_nofollow_pages_are_indexed_and_lead_nowhere(gathered: Gathered, pages: dict[str, Known]) -> None:
    rig, site, _ = gathered
    assert rig.found("quetzalnofollow") == [site.url("/nofollow")]
    for path in ("/only-from-nofollow", "/only-from-rel"):
        assert path not in pages
        assert site.asked(path) == 0


def test_a_redirect_is_kept_as_such_and_its_target_is_indexed(
    gathered: Gathered, pages: dict[str, Known]
) -> None:
    rig, site, _ = gathered
    assert (pages["/old"].outcome, pages["/old"].described) == (Outcome.REDIRECTED, False)
    assert pages["/new"].depth == pages["/old"].depth == 1
    assert rig.found("quetzalmoved") == [site.url("/new")]
    assert site.url("/new") in rig.explained(site.url("/old"))


def test_each_refusal_of_a_host_is_its_own_outcome(pages: dict[str, Known]) -> None:
    assert (pages["/gone"].outcome, pages["/gone"].status) == (Outcome.NOT_FOUND, 410)
    assert (pages["/missing"].outcome, pages["/missing"].status) == (Outcome.NOT_FOUND, 404)
    assert (pages["/locked"].outcome, pages["/locked"].status) == (Outcome.REFUSED, 403)
    assert (pages["/broken"].outcome, pages["/broken"].status) == (Outcome.SERVER_ERROR, 500)


def test_of_equal_pages_the_smallest_url_is_shown(gathered: Gathered, pages: dict[str, Known]) -> None:
    rig, site, _ = gathered
    assert pages["/copy"].duplicate
    assert pages["/copy"].outcome is Outcome.DUPLICATE
    assert not pages["/a-copy"].duplicate
    assert rig.found("quetzaltwin") == [site.url("/a-copy")]
    assert site.url("/a-copy") in rig.explained(site.url("/copy")).partition("\n")[0]


@pytest.mark.parametrize(
    ("word", "path"),
    [("quetzalpdf", "/paper.pdf"), ("quetzaldocx", "/letter.docx"), ("quetzalodt", "/story.odt"), ("quetzaltext", "/notes.txt"), ("quetzaluntitled", "/unlinked-title")],
)  # fmt: skip
def test_documents_are_found_by_their_text(gathered: Gathered, word: str, path: str) -> None:
    rig, site, _ = gathered
    assert rig.found(word) == [site.url(path)]


def test_links_inside_documents_are_followed_where_the_enumeration_filter_converts(
    rig: Rig, site: Site
) -> None:
    line = "Data enable=false fn=convert-to-html type=application/pdf\n"
    path = rig.path / "config" / "filter.conf"
    text = path.read_text()
    assert text.count(line) == 1
    path.write_text(
        text.replace(
            line,
            f"Data fn=convert-to-html type=application/pdf\nData fn=convert-to-html type={WORD_DOCUMENT}\n",
        )
    )
    site.page("/", "Start", "/letter.docx", "/paper.pdf")
    site.put(
        "/letter.docx",
        docx(
            "<w:p><w:hyperlink r:id='l'><w:r><w:t>more</w:t></w:r></w:hyperlink></w:p>",
            rels=(("l", "hyperlink", site.url("/from-letter")),),
        ),
        kind=WORD_DOCUMENT,
    )
    site.put("/paper.pdf", pdf([f"read {site.url('/from-paper')} first"]), kind="application/pdf")
    site.page("/from-letter", "From the letter")
    site.page("/from-paper", "From the paper")

    assert rig.crawl(site.url("/")).status == 0

    known = rig.known()
    assert known[site.url("/from-letter")].described
    assert known[site.url("/from-paper")].described


def test_a_document_that_cannot_be_read_is_found_by_its_name_and_says_so(
    gathered: Gathered, pages: dict[str, Known]
) -> None:
    rig, site, _ = gathered
    assert pages["/damaged.pdf"].outcome is Outcome.CONVERSION_FAILED
    assert pages["/damaged.pdf"].state is State.DONE
    assert site.url("/damaged.pdf") in rig.found("damaged")
    assert "conversion-failed" in rig.explained(site.url("/damaged.pdf"))


def test_explain_says_what_told_the_language_and_the_date(rig: Rig, site: Site) -> None:
    told = {
        "/meta": ('<meta name="dcterms.modified" content="2021-03-04">', (), "2021-03-04T00:00:00Z", "meta:dcterms.modified"),
        "/ld": ('<script type="application/ld+json">{"datePublished": "2022-05-06"}</script>', (), "2022-05-06T00:00:00Z", "json-ld"),
        "/head": ("", (("Last-Modified", "Sat, 07 Jan 2023 08:09:10 GMT"),), "2023-01-07T08:09:10Z", "last-modified"),
        "/none": ("", (), None, None),
    }  # fmt: skip
    site.page("/", "Start", *told)
    for path, (head, headers, _, _) in told.items():
        site.page(path, f"Page {path}", head=head, headers=headers)
    site.put(
        "/guess",
        "<title>Urlaub</title><p>Der Antrag auf Urlaub liegt im dritten Stock bei der Verwaltung aus.",
    )
    assert rig.crawl(site.url("/"), site.url("/guess")).status == 0

    for path, (_, _, date, source) in told.items():
        answer = rig.call("explain", "--json", site.url(path)).json
        assert (answer["date"], answer["date_source"]) == (date, source), path
        assert (answer["language"], answer["language_source"]) == ("en", "html")
    assert "date       2022-05-06T00:00:00Z (json-ld)" in rig.explained(site.url("/ld"))
    assert "language   de (detected)" in rig.explained(site.url("/guess"))


def test_without_bodies_pages_are_found_shown_and_explained_all_the_same(rig: Rig, site: Site) -> None:
    rig.tune("gather.keep-bodies", "none")
    site.page("/", "Start", "/one")
    site.page("/one", "One", text="the quetzal sat there")
    assert rig.crawl(site.url("/")).status == 0

    found = rig.call("search", "--json", "quetzal").json["results"]
    assert [result["url"] for result in found] == [site.url("/one")]
    assert "quetzal" in str(found[0]["snippet"])
    assert rig.rows("select count(*) from url where len > 0") == [(0,)]
    assert rig.explained(site.url("/one")).startswith("In search.")
    assert rig.call("catalog", "check").status == 0
    assert rig.call("index", "rebuild").status == 0
    assert rig.found("quetzal") == [site.url("/one")]
    assert rig.complaints() == []


def test_what_the_rules_exclude_is_never_asked_for(gathered: Gathered, pages: dict[str, Known]) -> None:
    rig, site, _ = gathered
    assert pages["/picture.png"].state is State.EXCLUDED
    assert site.asked("/picture.png") == 0
    assert "filterrules.conf:" in rig.explained(site.url("/picture.png")).partition("\n")[0]


def test_links_that_are_no_pages_are_not_followed(pages: dict[str, Known]) -> None:
    odd = {path: known.state for path, known in pages.items() if not path.startswith("/")}
    assert odd in ({}, {"ftp://ftp.example/x": State.EXCLUDED})


def test_index_and_catalog_agree(gathered: Gathered) -> None:
    rig, _, _ = gathered
    assert rig.complaints() == []
