"""The search page as HTML: whole without scripts, and nothing stored in it is markup."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from ingather.search import Fragment, SearchRequest, SearchResult, SearchResults, Segment
from ingather.web import SearchParts, search_app
from ingather.web.asking import Asked
from ingather.web.rendering import crumbs, link_target, plain, render, shown_target
from ingather.web.searchui.view import result_view

PAGE = {"accept": "text/html"}
OWN_TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "a",
        "header",
        "form",
        "label",
        "input",
        "button",
        "svg",
        "circle",
        "path",
        "main",
        "div",
        "h1",
        "span",
        "nav",
        "ul",
        "ol",
        "li",
        "aside",
        "details",
        "summary",
        "section",
        "h2",
        "bdi",
        "p",
        "mark",
        "time",
        "dl",
        "dt",
        "dd",
        "code",
        "img",
        "footer",
    ]
)


class Reader(HTMLParser):
    """Collects tags with their attributes, and the text of each element kind."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self._inside = [""]
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in {"meta", "link", "input", "img", "circle", "path"}:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while len(self._inside) > 1 and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts.append((self._inside[-1], data))

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def marked(self) -> list[str]:
        return [text for tag, text in self.texts if tag == "mark"]


def read(client: TestClient, address: str, status: int = 200) -> Reader:
    answer = client.get(address, headers=PAGE)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Reader(answer.text)


def test_the_start_page_asks_and_shows_nothing(search: TestClient) -> None:
    for address in ("/", "/?q=", "/?q=%20&type=pdf"):
        page = read(search, address)
        assert [form["action"] for form in page.named("form")] == ["/"]
        assert not page.named("ol")


def test_a_result_has_title_path_snippet_type_and_date(search: TestClient) -> None:
    text = search.get("/?q=holiday+form", headers=PAGE).text
    item = text[text.index('class="result"') :]
    item = item[: item.index("</li>")]
    assert 'href="https://intranet.example/hr/holiday%20form?y=2026" rel="noopener">Holiday form</a>' in item
    assert [t for tag, t in Reader(item).texts if tag == "bdi"] == [
        "intranet.example",
        "hr",
        "holiday form",
        "?y=2026",
    ]
    assert "<mark>holiday</mark>" in item
    assert '<time datetime="2026-09-21">2026-09-21</time>' in item
    assert ">html</span>" in item


def test_links_go_to_http_https_and_ftp_alone(search: TestClient) -> None:
    page = read(search, "/?q=holiday&num=100")
    schemes = {urlsplit(a["href"]).scheme for a in page.named("a")}
    assert schemes <= {"", "http", "https", "ftp"}
    assert "<script>alert(1)</script> holiday" in "".join(text for tag, text in page.texts if tag == "h2")


def test_nothing_stored_becomes_markup(search: TestClient) -> None:
    page = read(search, "/?q=holiday&num=100")
    assert {tag for tag, _ in page.tags} <= OWN_TAGS
    assert all(s["src"].startswith("/static/") for s in page.named("script"))
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith(("on", "hx-on")) or name == "style"]


def test_filters_are_links_with_counts(search: TestClient) -> None:
    page = read(search, "/?q=holiday&type=pdf")
    links = {
        parse_qs(urlsplit(a["href"]).query).get("type", [""])[-1]: a
        for a in page.named("a")
        if "type=" in a["href"]
    }
    assert {"pdf", "html", "txt"} >= set(links) - {""}
    chosen = [
        a
        for a in page.named("a")
        if a.get("aria-current") == "true" and "type" not in a["href"] and "sort" not in a["href"]
    ]
    assert chosen, "the chosen filter links to its own removal"
    assert [
        i["value"] for i in page.named("input") if i.get("name") == "type" and i.get("form") == "ask"
    ] == ["pdf"]


def test_pages_are_links(search: TestClient) -> None:
    page = read(search, "/?q=minutes&page=3")
    links = {a["aria-label"]: a["href"] for a in page.named("a") if a.get("aria-label")}
    assert links["Previous page"].endswith("page=2")
    assert links["Next page"].endswith("page=4")
    assert links["Page 5"].endswith("page=5")
    assert read(search, "/?q=minutes&page=5").named("a")[-1].get("rel") != "next"
    assert "not so many results" in search.get("/?q=minutes&page=50", headers=PAGE).text


def test_the_span_form_replaces_the_named_date(search: TestClient) -> None:
    text = search.get("/?q=holiday&date=year&type=pdf&sort=date", headers=PAGE).text
    form = Reader(text[text.index('class="span"') :].partition("</form>")[0])
    assert {i["name"] for i in form.named("input")} == {"q", "type", "sort", "after", "before"}


def test_nothing_found_is_helped_along(search: TestClient) -> None:
    text = search.get("/?q=holliday&type=pdf", headers=PAGE).text
    assert "Nothing was found" in text
    assert "q=holiday&amp;type=pdf" in text
    assert "filetype:pdf" in text
    text = search.get("/?q=travel&type=pdf", headers=PAGE).text
    assert 'href="/?q=travel"' in text


def test_some_of_the_words_are_said_to_be_some(search: TestClient) -> None:
    text = search.get("/?q=travel+zebrafish", headers=PAGE).text
    assert "No page has all of these words" in text
    assert "zebrafish" in text


@pytest.mark.parametrize(
    ("query", "status"),
    [("q=x&num=1000", 400), ("q=" + "x" * 2_049, 400), ("q=x&start=9999", 400), ("q=x&q=y", 400)],
)
def test_what_cannot_be_answered_is_said_on_the_page(search: TestClient, query: str, status: int) -> None:
    page = read(search, f"/?{query}", status)
    assert [attributes for _, attributes in page.tags if attributes.get("role") == "alert"]
    assert page.named("form"), "the box to ask again is there"


def test_the_query_comes_back_as_text(search: TestClient) -> None:
    query = '"><script>alert(1)</script>\u202e'
    page = read(search, "/?q=" + query.replace("&", "%26").replace('"', "%22"))
    boxes = [i["value"] for i in page.named("input") if i.get("id") == "q"]
    assert boxes == ['"><script>alert(1)</script>']
    assert len(page.named("script")) == 2


def test_other_directions_and_languages_keep_to_themselves(search: TestClient) -> None:
    page = read(search, "/?q=holiday&num=100")
    titles = page.named("h2")
    arabic = [t for t in titles if t.get("lang") == "ar"]
    assert arabic
    assert all(t["dir"] == "auto" for t in titles if "dir" in t)


def test_the_page_can_be_used_with_keyboard_and_screen_reader(search: TestClient) -> None:
    for address in ("/", "/?q=holiday", "/?q=nothinghere", "/?q=x&num=0"):
        status = 400 if "num" in address else 200
        page = read(search, address, status)
        assert page.named("html")[0]["lang"] == "en"
        assert len(page.named("main")) == len(page.named("h1")) == 1
        skip = page.named("a")[0]
        assert skip["class"] == "skip"
        assert skip["href"].removeprefix("#") in {t.get("id") for _, t in page.tags}
        labelled = {label["for"] for label in page.named("label")}
        assert all(i["id"] in labelled for i in page.named("input") if i.get("type") != "hidden")
        assert all(b.get("aria-label") or b.get("type") for b in page.named("button"))
        names = [t["id"] for _, t in page.tags if "id" in t]
        assert len(names) == len(set(names))
        pointed = {t[k] for _, t in page.tags for k in ("aria-labelledby", "aria-describedby") if k in t}
        assert pointed <= set(names)
        assert all("alt" in i for i in page.named("img"))


def test_the_page_needs_nothing_from_elsewhere(search: TestClient) -> None:
    page = read(search, "/?q=holiday")
    own = (
        [s["src"] for s in page.named("script")]
        + [k["href"] for k in page.named("link")]
        + [i["src"] for i in page.named("img")]
    )
    for address in own:
        answer = search.get(address)
        assert answer.status_code == 200
        if address.startswith("/static/"):
            assert "immutable" in answer.headers["cache-control"]
            assert search.get(address, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
            assert search.get(address, headers={"accept-encoding": "identity"}).content == answer.content


def test_static_files_are_those_of_the_table_alone(search: TestClient) -> None:
    for name in ("page.css", "..%2f__init__.py", "%2e%2e/parts.py", "", "htmx.min.js"):
        assert search.get(f"/static/{name}").status_code == 404


def test_htmx_is_the_file_that_its_licence_names() -> None:
    folder = files("ingather.web") / "static"
    version = re.search(r"htmx (\d+\.\d+\.\d+)", (folder / "htmx.LICENSE.txt").read_text("utf-8"))
    assert version
    assert f'version="{version[1]}"' in (folder / "htmx.min.js").read_text("utf-8")
    assert "Zero-Clause BSD" in (folder / "htmx.LICENSE.txt").read_text("utf-8")


def test_browsers_and_robots_are_told(search: TestClient) -> None:
    text = search.get("/opensearch.xml").text
    assert "http://search.example/?q={searchTerms}&amp;page={startPage?}" in text
    assert search.get("/opensearch.xml", headers={"host": 'a"><x'}).status_code == 400
    assert search.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript://x/%0aalert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "https:",
        "//x.example/",
        "",
        "http://[",
        "\x01https://x.example/",
        "https://x.example/\u202e",
        "mailto:a@b",
    ],
)
def test_what_is_no_web_address_is_no_link(url: str) -> None:
    assert link_target(url) == ""


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://shown.example/a", True),
        ("smb://server/share/a.pdf", True),
        ("file:///srv/a.pdf", True),
        ("notes://server/db/1", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("smb://server/\u202ea", False),
        ("file:", False),
    ],
)
def test_a_display_url_may_lead_to_a_share(url: str, linked: bool) -> None:  # noqa: FBT001
    assert shown_target(url) == (url if linked else "")


def test_a_result_shows_and_links_its_display_url() -> None:
    result = SearchResult(
        rank=1, id=1, url="https://key.example/doc?id=1", title="T", title_segments=(), snippet=(), site="", path="", kind="html",
        media_type="", language="", date_s=None, size=1, score=0.0, source="", display_url="https://shown.example/a",
    )  # fmt: skip
    row = result_view(Asked(query="x"), SearchResults("x", 1, (result,))).results[0]
    assert (row.href, row.crumbs) == ("https://shown.example/a", ["shown.example", "a"])


def test_values_of_metadata_classes_are_shown_with_their_labels() -> None:
    many = tuple(f"v{number}" for number in range(20))
    result = SearchResult(
        rank=1, id=1, url="https://a.example/", title="T", title_segments=(), snippet=(), site="", path="", kind="html",
        media_type="", language="", date_s=None, size=1, score=0.0, source="",
        classes={"dept": ("<b>Physics</b>", "R&D"), "k": many, "long": ("w" * 5_000,), **{f"c{n}": ("1",) for n in range(20)}},
    )  # fmt: skip
    found = SearchResults("x", 1, (result,), labels={"dept": "Department <i>"})
    view = result_view(Asked(query="x"), found)
    shown = dict(view.results[0].classes)
    assert shown["k"] == [*many[:6], "…"]
    assert len(shown["long"][0]) < 200
    assert len(shown) == 8
    text = render("search.html", {"page": view, "name": "x"})
    assert "<bdi>Department &lt;i&gt;</bdi>" in text
    assert "<dd><bdi>&lt;b&gt;Physics&lt;/b&gt;</bdi></dd><dd><bdi>R&amp;D</bdi></dd>" in text
    bare = SearchResults("x", 1, (replace(result, classes={}),))
    assert 'class="classes"' not in render(
        "search.html", {"page": result_view(Asked(query="x"), bare), "name": "x"}
    )


@pytest.mark.parametrize(
    ("url", "steps"),
    [
        ("https://a.example/", ["a.example"]),
        ("https://user:pw@a.example:8443/x", ["a.example:8443", "x"]),
        ("https://a.example/1/2/3/4/5/6", ["a.example", "1", "…", "5", "6"]),
        ("https://a.example/caf%C3%A9?q=a%20b", ["a.example", "café", "?q=a b"]),
        ("https://a.example/%E2%80%AEtxt.exe", ["a.example", "txt.exe"]),
        ("https://a.example/%00%0a<b>", ["a.example", "<b>"]),
        ("urn:x", ["urn:x"]),
    ],
)
def test_crumbs_are_what_people_read(url: str, steps: list[str]) -> None:
    assert [step.strip() for step in crumbs(url)] == steps


_TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from("<>&\"'`={}%\u202e\u0000"), max_size=30)


@given(stored=st.tuples(_TEXT, _TEXT, _TEXT, _TEXT, _TEXT), query=_TEXT)
def test_whatever_is_stored_the_page_has_only_our_tags(
    stored: tuple[str, str, str, str, str], query: str
) -> None:
    title, words, url, kind, language = stored
    result = SearchResult(
        rank=1, id=1, url=url, title=title, title_segments=(), snippet=(Fragment((Segment(words), Segment(words, marked=True))),),
        site="", path="", kind=kind, media_type="", language=language, date_s=-(10**14), size=1, score=0.0, source="",
        classes={"x": (words, kind), language: (title,)},
    )  # fmt: skip
    found = SearchResults(query, 1, (result,), labels={"x": url})
    page = Reader(render("search.html", {"page": result_view(Asked(query=query), found), "name": "x"}))
    assert {tag for tag, _ in page.tags} <= OWN_TAGS
    assert all(s["src"].startswith("/static/") for s in page.named("script"))
    assert {urlsplit(a["href"]).scheme for a in page.named("a")} <= {"", "http", "https", "ftp"}
    assert not [
        name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"
    ]
    assert "".join(page.marked()) == plain(words).replace("\r\n", "\n").replace("\r", "\n")


def test_documents_that_cannot_be_dated_have_no_date(search_parts: SearchParts) -> None:
    def found(request: SearchRequest) -> SearchResults:
        answer = search_parts.search(request)
        return replace(answer, results=tuple(replace(r, date_s=10**17) for r in answer.results))

    with TestClient(search_app(replace(search_parts, search=found))) as client:
        assert "<time" not in client.get("/?q=travel", headers=PAGE).text
