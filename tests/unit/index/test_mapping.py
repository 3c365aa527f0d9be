"""RD to index document: the one place where attributes become fields."""

import pytest

from ingather.index import document, kind_of
from ingather.model.description import Description
from ingather.model.lifecycle import State
from ingather.ports.catalog import UrlRecord
from ingather.ports.index import IndexDocument

URL = "https://www.example.com:8443/docs/Holiday_form.html?lang=en"


def mapped(
    text: str = "", *, url: str = URL, flags: tuple[str, ...] = (), **attributes: tuple[str, ...]
) -> IndexDocument:
    return mapped_page(
        {name.replace("_", "-"): values for name, values in attributes.items()}, text, url, flags
    )


def mapped_page(
    page: dict[str, tuple[str, ...]], text: str = "", url: str = URL, flags: tuple[str, ...] = ()
) -> IndexDocument:
    record = UrlRecord(7, url, "web", State.DONE, 1, size=4321, flags=flags)
    return document(record, Description(url, {"page": page}), text, ("Holiday form",), 1)


def test_fields_come_from_record_description_text_and_links() -> None:
    made = mapped(
        "Body text",
        title=(" Holiday form ",),
        toc=("One\nTwo",),
        content_type=("text/html; charset=utf-8",),
        content_language=("de-AT, en",),
        last_modified=("Sat, 21 Nov 2026 11:02:00 GMT",),
        keywords=("leave, vacation",),
    )
    assert (made.id, made.chain, made.url, made.source, made.size) == (7, 1, URL, "web", 4321)
    assert (made.site, made.path) == ("www.example.com:8443", "/docs/Holiday_form.html")
    assert (made.title, made.headings, made.body) == ("Holiday form", "One\nTwo", "Body text")
    assert (made.media_type, made.kind, made.language) == ("text/html", "html", "de-AT")
    assert made.date_s == 1_795_258_920
    assert made.anchors == ("Holiday form",)
    assert made.meta == {"keywords": ("leave, vacation",)}
    assert made.snippet


def test_the_effective_layer_counts() -> None:
    record = UrlRecord(1, URL, "web", State.DONE, 0)
    layers = {"page": {"title": ("Page",)}, "feed": {"title": ("Feed",)}, "editor": {"title": ("Editor",)}}
    assert document(record, Description(URL, layers), "", (), 1).title == "Editor"


def test_a_page_without_title_goes_by_its_first_heading() -> None:
    assert mapped(toc=("First\nSecond",)).title == "First"
    assert mapped().title == ""


def test_default_ports_are_not_part_of_the_site() -> None:
    assert mapped(url="https://a.example:443/x").site == "a.example"
    assert mapped(url="http://a.example:443/x").site == "a.example:443"
    assert mapped(url="http://a.example").path == ""


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("2026-11-21T11:02:00Z", 1_795_258_920),
        ("2026-11-21T12:02:00+01:00", 1_795_258_920),
        ("2026-11-21", 1_795_219_200),
        ("Sat, 21 Nov 2026 11:02:00 GMT", 1_795_258_920),
        ("Saturday, 21-Nov-26 11:02:00 GMT", 1_795_258_920),
        ("Sat, 99 Nov 2026 11:02:00 GMT", None),
        ("Sat, 21 Nix 2026 11:02:00 GMT", None),
        ("yesterday", None),
        ("99999-01-01", None),
        ("", None),
    ],
)
def test_dates_are_read_and_never_made_up(said: str, seconds: int | None) -> None:
    assert mapped(date=(said,)).date_s == seconds


def test_the_documents_own_date_comes_before_the_servers() -> None:
    made = mapped(date=("2020-01-01T00:00:00Z",), last_modified=("Sat, 21 Nov 2026 11:02:00 GMT",))
    assert made.date_s == 1_577_836_800


def test_technical_attributes_are_not_text() -> None:
    made = mapped(
        viewport=("width=device-width",), generator=("x",), md5=("0" * 32,), twitter_card=("a",), author=("Ms Author",),
        rd_last_modified=("now",),
    )  # fmt: skip
    assert made.meta == {"author": ("Ms Author",)} | (
        {"twitter-card": ("a",)} if "twitter-card" in made.meta else {}
    )


def test_reserved_names_are_never_shown_to_searchers() -> None:
    """GSA feeds specification, section 9.4: such metas may stand in pages, too."""
    said: dict[str, tuple[str, ...]] = {
        "google:aclusers": ("joe",),
        "google:anything": ("x",),
        "topic": ("y",),
    }
    assert mapped_page(said).meta == {"topic": ("y",)}


def test_a_description_copied_from_the_text_is_not_indexed_twice() -> None:
    assert mapped("Heading\nThe quick fox runs", description=("Heading The quick",)).meta == {}
    assert mapped("Heading", description=("Something else",)).meta == {"description": ("Something else",)}


def test_a_value_that_is_part_of_a_longer_word_of_the_text_is_indexed() -> None:
    assert mapped("The Annual report, by Joe", author=("Ann", "Joe")).meta == {"author": ("Ann",)}
    assert mapped("Annual, by Ann", author=("Ann",)).meta == {}


def test_endless_metadata_is_bounded() -> None:
    made = mapped_page({f"topic{n}": ("x" * 5000,) * 20 for n in range(50)})
    assert sum(len(values) for values in made.meta.values()) <= 64
    assert all(len(value) <= 1000 for values in made.meta.values() for value in values)


def test_a_page_can_forbid_excerpts() -> None:
    assert not mapped(flags=("nosnippet",)).snippet
    assert not mapped(robots=("noarchive, NOSNIPPET",)).snippet


@pytest.mark.parametrize(
    ("media_type", "path", "kind"),
    [
        ("application/pdf", "/x", "pdf"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "/x", "docx"),
        ("image/svg+xml", "/a/b.svg", "svg"),
        ("application/x-unknown", "/a/b", "unknown"),
        ("application/vnd.something.very-long", "/a", "application"),
        ("", "/a/b.tar", "tar"),
        ("", "/a.b/c", ""),
    ],
)
def test_kinds_are_what_people_call_the_file(media_type: str, path: str, kind: str) -> None:
    assert kind_of(media_type, path) == kind


def test_the_display_url_is_the_word_of_feeds_and_not_of_the_page() -> None:
    record = UrlRecord(1, URL, "web", State.DONE, 0)
    page = {"display-url": ("https://bank.example/",), "title": ("Page",)}
    assert document(record, Description(URL, {"page": page}), "", (), 1).display == ""
    feed = {"display-url": ("https://shown.example/a",)}
    made = document(record, Description(URL, {"page": page, "feed": feed}), "", (), 1)
    assert (made.display, made.url, "display-url" in made.meta) == ("https://shown.example/a", URL, False)
