"""Cases 50 to 70 of the robot specification, section 15: attributes and links."""

from collections.abc import Callable

import pytest

from ingather.filters import Convert, Decision, Engine
from ingather.model.candidate import Candidate
from ingather.model.counted import Count
from ingather.model.page import Heading, Link, Page
from ingather.model.phase import Role
from ingather.model.resource import Response

Judge = Callable[..., Decision]
Make = Callable[..., Engine]

SIROE = (
    'Generate fn="generate-by-exact" match="www.siroe.com:80" src="host" value="Siroe" dst="classification"\n'
)
WEB = 'Generate fn="generate-by-prefix" match="http" src="protocol" value="World Wide Web" dst="classification"\n'


def described(
    judge: Judge, lines: str, url: str = "http://www.siroe.com/", **more: object
) -> dict[str, tuple[str, ...]]:
    return dict(judge(lines, url, robot="enable-ip=no", **more).attributes)


def test_robot_case_50_by_exact_host_and_port(judge: Judge) -> None:
    assert described(judge, SIROE) == {"classification": ("Siroe",)}
    assert described(judge, SIROE, "https://www.siroe.com/") == {}


@pytest.mark.parametrize(("scheme", "found"), [("http", True), ("https", True), ("ftp", False)])
def test_robot_case_51_by_prefix_of_the_protocol(judge: Judge, scheme: str, found: bool) -> None:  # noqa: FBT001
    expected = {"classification": ("World Wide Web",)} if found else {}
    assert described(judge, WEB, f"{scheme}://a.example/") == expected


@pytest.mark.parametrize(
    ("host", "found"), [("developer.siroe.com", True), ("home.siroe.com", True), ("www.example.com", False)]
)
def test_robot_case_52_by_pattern_of_the_host(judge: Judge, host: str, found: bool) -> None:  # noqa: FBT001
    line = r'Generate fn="generate-by-regex" match="\\\\*.siroe.com" src="host" value="Siroe" dst="classification"'
    assert described(judge, line, f"http://{host}/") == ({"classification": ("Siroe",)} if found else {})


def test_robot_case_53_classifications_gather(judge: Judge) -> None:
    assert described(judge, SIROE + WEB + WEB) == {"classification": ("Siroe", "World Wide Web")}


def test_a_generated_source_of_an_earlier_phase_is_extracted_later(judge: Judge) -> None:
    lines = SIROE.replace("Generate fn", "Data fn") + WEB.replace("Generate fn", "MetaData fn")
    lines += "Generate fn=extract-source src=classification"
    assert described(judge, lines) == {"classification": ("World Wide Web", "Siroe")}


FOX = Page(media_type="text/html", text="The quick brown fox")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("truncate=7 clean=true", "The"),
        ("truncate=7 clean=false", "The qui"),
        ("truncate=9 clean=true", "The quick"),
        ("truncate=10 clean=true", "The quick"),
        ("truncate=2 clean=true", "Th"),
        ("truncate=500 clean=true", "The quick brown fox"),
        ("", "The quick brown fox"),
    ],
)
def test_robot_case_54_copies_are_cut_at_words(judge: Judge, options: str, expected: str) -> None:
    lines = f"Generate fn=extract-html-text\nGenerate fn=copy-attribute src=partial-text dst=description {options}"
    assert described(judge, lines, page=FOX)["description"] == (expected,)


def test_robot_case_55_nothing_to_copy(judge: Judge) -> None:
    lines = (
        "Generate fn=assign-source dst=description value=kept\nGenerate fn=extract-source src=description\n"
        "Generate fn=copy-attribute src=partial-text dst=description"
    )
    assert described(judge, lines) == {"description": ("kept",)}


def test_a_copy_may_wait_for_a_gap(judge: Judge) -> None:
    page = Page(media_type="text/html", text="text", metas={"description": ["said"]})
    lines = (
        "Generate fn=extract-html-meta\nGenerate fn=extract-html-text\n"
        "Generate fn=copy-attribute src=partial-text dst={} if-missing=true"
    )
    assert described(judge, lines.format("description"), page=page)["description"] == ("said",)
    assert described(judge, lines.format("summary"), page=page)["summary"] == ("text",)


def test_robot_case_56_renaming(judge: Judge) -> None:
    line = 'Generate fn=extract-html-meta\nGenerate fn=rename-attribute src="author -> author-name, a->b"'
    page = Page(media_type="text/html", metas={"author": ["X"]})
    assert described(judge, line, page=page) == {"author-name": ("X",)}
    other = Page(media_type="text/html", metas={"editor": ["X"]})
    assert described(judge, line, page=other) == {"editor": ("X",)}


def test_a_renamed_attribute_replaces_one_value_and_joins_several(judge: Judge) -> None:
    lines = "Generate fn=extract-html-meta\nGenerate fn=rename-attribute src=a->b"
    one = Page(media_type="text/html", metas={"a": ["1"], "b": ["2"]})
    assert described(judge, lines, page=one) == {"b": ("1",)}
    several = Page(media_type="text/html", metas={"a": ["1", "3"], "b": ["2", "3"]})
    assert described(judge, lines, page=several) == {"b": ("2", "3", "1")}


def test_robot_case_57_a_source_under_another_name(judge: Judge) -> None:
    lines = 'Data fn=assign-source dst=type value=text/html\nGenerate fn=extract-source src="type->content-type, none"'
    assert described(judge, lines, content_type="application/pdf") == {"content-type": ("text/html",)}


@pytest.mark.parametrize(
    ("headers", "metas", "expected"),
    [
        ((), {}, "2027-02-16T11:06:40Z"),
        ((("Expires", "Sun, 06 Jun 2027 08:49:37 GMT"),), {}, "2027-06-06T08:49:37Z"),
        ((("Expires", "0"),), {}, "2027-02-16T11:06:40Z"),
        ((("Expires", "-1"),), {}, "2027-02-16T11:06:40Z"),
        ((("Expires", "Sun, 06 Jun 1999 08:49:37 GMT"),), {}, "2027-02-16T11:06:40Z"),
        ((("Expires", "Fri, 99 Foo 99999 99:99:99 XYZ"),), {}, "2027-02-16T11:06:40Z"),
        ((), {"expires": ["2028-01-01"]}, "2028-01-01T00:00:00Z"),
    ],
)
def test_robot_case_58_expiry(
    judge: Judge, headers: tuple[tuple[str, str], ...], metas: dict[str, list[str]], expected: str
) -> None:
    page = Page(media_type="text/html", metas=metas)
    lines = "Generate fn=generate-rd-expires\nGenerate fn=extract-source src=rd-expires->copy"
    found = described(judge, lines, headers=headers, page=page)
    assert found == {"rd-expires": (expected,), "copy": (expected,)}


def test_the_time_of_the_description_is_an_argument(judge: Judge) -> None:
    lines = "Generate fn=generate-last-modified\nGenerate fn=generate-rd-expires dst=until"
    assert described(judge, lines) == {
        "rd-last-modified": ("2026-11-18T11:06:40Z",),
        "until": ("2027-02-16T11:06:40Z",),
    }


def test_robot_case_59_bytes_are_cut_between_characters(judge: Judge) -> None:
    page = Page(
        media_type="text/html", title="naïve café", metas={"keywords": ["äöü", "b"], "refresh": ["0"]}
    )
    found = described(judge, "Generate fn=extract-html-meta truncate=4 type=text/html", page=page)
    assert found == {"title": ("naï",), "keywords": ("äö", "b")}


def test_robot_case_60_text_without_headings(judge: Judge) -> None:
    page = Page(media_type="text/html", text="Head\nBody", headings=[Heading(1, "Head")])
    found = described(judge, "Generate fn=extract-html-text truncate=255 skip-headings=true", page=page)
    assert found == {"partial-text": ("Body",)}
    found = described(judge, "Generate fn=extract-html-text truncate=6", page=page)
    assert found == {"partial-text": ("Head\nB",)}


def test_robot_case_62_table_of_contents(judge: Judge) -> None:
    page = Page(media_type="text/html", headings=[Heading(1, "One"), Heading(2, "Two"), Heading(3, "Three")])
    assert described(judge, "Generate fn=extract-html-toc truncate=255 level=2", page=page) == {
        "toc": ("One\nTwo",)
    }


def test_robot_case_63_full_text_elsewhere(judge: Judge) -> None:
    page = Page(media_type="text/html", text="whole text")
    assert described(judge, "Generate fn=extract-full-text dst=body", page=page) == {"body": ("whole text",)}
    assert described(judge, "Generate fn=extract-full-text truncate=5", page=page) == {
        "full-text": ("whole",)
    }


@pytest.mark.parametrize("option", [" type=text/html", ""])
def test_robot_case_64_no_meta_out_of_what_is_not_html(judge: Judge, option: str) -> None:
    page = Page(media_type="application/pdf", title="T", metas={"author": ["X"]})
    found = described(
        judge, f"Generate fn=extract-html-meta{option}", content_type="application/pdf", page=page
    )
    assert found == {}


def pdf(made: Engine, *, converted: Page | None) -> Decision:
    url = "http://a.example/doc.pdf"
    response = Response(url, 200, (("Content-Type", "application/pdf"),), b"%PDF-")

    def convert(wanted: Convert, got: Response) -> Page:
        assert wanted.media_type == "application/pdf"
        assert got is response
        if converted is None:
            raise MemoryError
        return converted

    return made.decide(
        Candidate(url),
        response,
        read_page=lambda _: Page(media_type="application/pdf"),
        convert=convert,
        now_s=0.0,
    )


PDF_LINES = (
    "Data fn=convert-to-html type=application/pdf\n"
    "{}\n"
    "Generate fn=extract-html-meta\nGenerate fn=extract-source src=content-type,type"
)


def test_robot_case_65_links_in_a_converted_document(engine: Make) -> None:
    lines = "Data fn=convert-to-html type=application/pdf\nEnumerate fn=enumerate-urls type=text/html"
    made = engine(lines, PDF_LINES.format(""), robot="enable-ip=no")
    decision = pdf(made, converted=Page(title="Doc", links=[Link("http://a.example/next", kind="document")]))
    assert [link.url for link in decision.links] == ["http://a.example/next"]
    assert decision.attributes == {
        "title": ("Doc",),
        "content-type": ("application/pdf",),
        "type": ("text/html",),
    }


def test_a_document_is_converted_once_for_both_filters(engine: Make) -> None:
    lines = "Data fn=convert-to-html type=application/pdf"
    made = engine(lines, lines)
    ev = made.evaluation(Candidate("http://a.example/"))
    made.metadata(ev)
    made.respond(ev, Response(ev.url, 200, (("content-type", "application/pdf"),), b"x"), None)
    wanted = made.data(ev)
    assert wanted == Convert("application/pdf", "filter.conf:2", Role.ENUMERATION)
    page = Page(text="t")
    ev.converted(page)
    assert made.data(ev) is None
    assert ev.enumerating.page() is page
    assert ev.generating.page() is page


def test_a_failed_conversion_leaves_body_and_type(engine: Make) -> None:
    made = engine("", PDF_LINES.format("Data fn=convert-to-html type=application/pdf"), robot="enable-ip=no")
    decision = pdf(made, converted=None)
    assert decision.generation.allowed
    assert decision.attributes == {"content-type": ("application/pdf",)}
    assert decision.flags == ("conversion-failed:MemoryError",)


def test_a_conversion_that_no_filter_wants_is_not_asked_for(engine: Make) -> None:
    made = engine("", "Data fn=convert-to-html type=application/msword\nData fn=convert-to-html type=unknown")
    ev = made.evaluation(Candidate("http://a.example/"))
    made.metadata(ev)
    made.respond(
        ev,
        Response(ev.url, 200, (("content-type", "text/html"),), b"x"),
        lambda: Page(media_type="text/html"),
    )
    assert made.data(ev) is None


@pytest.mark.parametrize(
    ("stated", "taken", "wanted"),
    [
        (None, "application/pdf", "application/pdf"),
        ("application/octet-stream", "application/pdf", "application/pdf"),
        (None, "text/html", None),
        (None, "text/plain", None),
        (None, "image/png", None),
        (None, "", ""),
        ("application/pdf", "text/html", "text/html"),
    ],
)
def test_what_the_bytes_are_taken_for_counts_where_the_header_does_not_say(
    engine: Make, stated: str | None, taken: str, wanted: str | None
) -> None:
    lines = "Data fn=convert-to-html type=application/pdf\nData fn=convert-to-html type=unknown"
    made = engine("", lines)
    ev = made.evaluation(Candidate("http://a.example/"))
    made.metadata(ev)
    headers = (("content-type", stated),) if stated else ()
    made.respond(ev, Response(ev.url, 200, headers, b"x"), lambda: Page(media_type=taken))
    asked = made.data(ev)
    assert not isinstance(asked, Count)
    assert (asked.media_type if asked else None) == wanted


# --- links ---

ABAC = [
    Link("http://h.example/a"),
    Link("http://h.example/b"),
    Link("http://h.example/a"),
    Link("http://h.example/c"),
]


def test_robot_case_66_the_first_links_of_a_page(judge: Judge) -> None:
    page = Page(media_type="text/html", links=ABAC)
    decision = judge("Enumerate fn=enumerate-urls max=2 type=text/html", content_type="text/html", page=page)
    assert [link.url[-1] for link in decision.links] == ["a", "b"]
    assert decision.over_max == 1


def test_robot_case_67_links_of_another_type_of_resource(judge: Judge) -> None:
    page = Page(media_type="text/plain", links=ABAC)
    decision = judge("Enumerate fn=enumerate-urls max=2 type=text/html", content_type="text/plain", page=page)
    assert decision.links == ()


def test_robot_case_68_a_thousand_links_and_a_bit(judge: Judge) -> None:
    page = Page(media_type="text/html", links=[Link(f"http://h.example/{i}") for i in range(2000)])
    decision = judge("Enumerate fn=enumerate-urls", page=page)
    assert len(decision.links) == 1024
    assert decision.over_max == 976


def test_robot_case_69_urls_in_text(judge: Judge) -> None:
    text = (
        "URL:http://a/x\nsee <URL:http://b/y>.\nurl:http://c/\nURL: http://d/z). URL:mailto:x@y URL:relative"
    )
    page = Page(media_type="text/plain", text=text)
    decision = judge("Enumerate fn=enumerate-urls-from-text", content_type="text/plain", page=page)
    assert [link.url for link in decision.links] == ["http://a/x", "http://b/y", "http://d/z"]
    other = judge(
        "Enumerate fn=enumerate-urls-from-text", content_type="application/pdf", page=Page(text=text)
    )
    assert other.links == ()


def test_robot_case_70_depth_one_is_a_page_and_its_links(engine: Make) -> None:
    rules = '<Site name=s host=s.example depth=1>\nStart url="http://s.example/"\n</Site>\n'
    lines = (
        "Setup fn=filterrules-setup config=./config/filterrules.conf\n"
        "MetaData fn=filterrules-process\nShutdown fn=filterrules-shutdown"
    )
    made = engine(lines, rules=rules)
    urls = [("http://s.example/", 0), ("http://s.example/a", 1), ("http://s.example/b", 2)]
    assert [made.metadata(made.evaluation(Candidate(url, depth=depth))) for url, depth in urls] == [
        True,
        True,
        False,
    ]


def test_nofollow_links_are_not_followed_unless_robots_rules_are_off(judge: Judge) -> None:
    page = Page(
        links=[Link("http://h.example/a", rel="noopener nofollow"), Link("http://h.example/b", rel="next")]
    )
    assert [link.url[-1] for link in judge("Enumerate fn=enumerate-urls", page=page).links] == ["b"]
    decision = judge("Enumerate fn=enumerate-urls", page=page, robot="enable-robots-txt=no")
    assert [link.url[-1] for link in decision.links] == ["a", "b"]
