"""The demo's site: our documents, whole, with a PDF and a Word file that are what they say."""

import http.client
import re
from collections.abc import Iterator

import pytest

import pypdfium2
from ingather.app.demo import Resource, StaticServer, documentation_folder, documentation_site
from ingather.conf.settings.table import SETTINGS
from ingather.extract import convert


@pytest.fixture(scope="module")
def site() -> dict[str, Resource]:
    return documentation_site(documentation_folder())


@pytest.fixture
def server(site: dict[str, Resource]) -> Iterator[StaticServer]:
    with StaticServer(site) as started:
        yield started


def text_of(resource: Resource) -> str:
    return resource.body.decode()


def test_every_document_is_a_page(site: dict[str, Resource]) -> None:
    sources = {
        path.relative_to(documentation_folder()).as_posix() for path in documentation_folder().rglob("*.md")
    }
    sources = {name for name in sources if not name.startswith("_build") and name != "index.md"}
    assert {name.removesuffix(".md") + ".html" for name in sources} <= set(site)


def test_the_index_links_to_everything(site: dict[str, Resource]) -> None:
    linked = set(re.findall(r'href="/([^"#]*)', text_of(site[""])))
    pages = {name for name, resource in site.items() if not resource.media_type.startswith("image/")}
    assert pages - {"", "robots.txt"} <= linked


def test_no_link_leads_nowhere(site: dict[str, Resource]) -> None:
    for name, resource in site.items():
        if resource.media_type.startswith("text/html"):
            targets = re.findall(r'(?:href|src)="/([^"#]*)', text_of(resource))
            assert [target for target in targets if target not in site] == [], name


def test_anchors_of_links_are_there(site: dict[str, Resource]) -> None:
    ids = {
        name: set(re.findall(r' id="([^"]+)"', text_of(r)))
        for name, r in site.items()
        if name.endswith("html")
    }
    for name, resource in site.items():
        if name.endswith("html"):
            for target, anchor in re.findall(r'href="/([^"#]+)#([^"]+)"', text_of(resource)):
                assert anchor in ids[target], (name, target, anchor)


def test_the_pdf_is_one_and_holds_the_glossary(site: dict[str, Resource]) -> None:
    document = pypdfium2.PdfDocument(site["files/glossary.pdf"].body)
    text = " ".join(document[number].get_textpage().get_text_range() for number in range(len(document)))
    document.close()
    assert "tombstone" in text
    assert "The row of a deleted URL, with the reason" in " ".join(text.split())


def test_both_files_are_read_by_our_own_readers(site: dict[str, Resource]) -> None:
    paper = convert(site["files/glossary.pdf"].body, name="glossary.pdf", content_type="application/pdf")
    word = convert(
        site["files/settings.docx"].body,
        name="settings.docx",
        content_type=site["files/settings.docx"].media_type,
    )
    assert "quarantine" in paper.text
    assert {f"{setting.section}.{setting.key}" for setting in SETTINGS} <= set(word.text.split())


def test_the_server_knows_validators_and_what_is_missing(server: StaticServer) -> None:
    connection = http.client.HTTPConnection(server.address, timeout=10)
    connection.request("GET", "/tutorial/first-search.html")
    first = connection.getresponse()
    body = first.read()
    connection.request("GET", "/tutorial/first-search.html", headers={"If-None-Match": first.headers["ETag"]})
    second = connection.getresponse()
    second.read()
    connection.request("HEAD", "/tutorial/first-search.html")
    third = connection.getresponse()
    third.read()
    connection.request("GET", "/nothing.html")
    fourth = connection.getresponse()
    fourth.read()
    connection.close()
    assert [r.status for r in (first, second, third, fourth)] == [200, 304, 200, 404]
    assert b"Your first search" in body
    assert third.headers["Content-Length"] == str(len(body))
