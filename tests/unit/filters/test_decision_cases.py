"""Cases 31 to 49 of the robot specification, section 15: allow or deny."""

from collections.abc import Callable

import pytest

from ingather.filters import Decision, Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Link, Page
from ingather.model.phase import Phase
from ingather.model.resource import Response
from ingather.model.verdict import Exclusion

Judge = Callable[..., Decision]
Make = Callable[..., Engine]
ASSIGN = "Data fn=assign-source dst=type src=content-type\n"


def test_robot_case_31_a_deny_that_does_not_match_goes_on(judge: Judge) -> None:
    assert judge(
        ASSIGN + "Data fn=filter-by-exact src=type deny=text/plain", content_type="text/html"
    ).allowed


def test_robot_case_32_a_type_is_compared_without_parameters(judge: Judge) -> None:
    decision = judge(
        ASSIGN + "Data fn=filter-by-exact src=type deny=text/plain", content_type="text/plain; charset=utf-8"
    )
    assert not decision.enumeration.allowed
    assert not decision.generation.allowed
    assert decision.generation.category is Exclusion.FILTER_RULES
    assert decision.generation.where == "filter.conf:7"
    assert decision.enumeration.where == "filter.conf:3"
    assert decision.generation.phase is Phase.DATA


@pytest.mark.parametrize("source", ["type", "no-such-source", "URL"])
def test_robot_case_33_deny_all_always_denies(judge: Judge, source: str) -> None:
    assert not judge(f"Data fn=filter-by-exact src={source} deny=all").allowed
    assert not judge(f"MetaData fn=filter-by-exact src={source} deny=all", fetched=False).allowed
    assert judge(f"MetaData fn=filter-by-exact src={source} allow=all", fetched=False).allowed


@pytest.mark.parametrize("stated", ["text/html", "text/plain"])
def test_robot_case_34_a_prefix_that_matches_goes_on(judge: Judge, stated: str) -> None:
    assert judge(ASSIGN + "Data fn=filter-by-prefix src=type allow=text", content_type=stated).allowed


def test_robot_case_35_a_prefix_that_does_not_match_denies(judge: Judge) -> None:
    decision = judge(ASSIGN + "Data fn=filter-by-prefix src=type allow=text", content_type="application/pdf")
    assert not decision.allowed


def test_robot_case_36_an_undefined_source_is_no_action_before_and_empty_after_the_fetch(
    judge: Judge,
) -> None:
    assert judge("MetaData fn=filter-by-prefix src=type allow=text", fetched=False).allowed
    assert not judge("Data fn=filter-by-prefix src=type allow=text", content_type="text/html").allowed
    strict = judge(
        "MetaData fn=filter-by-prefix src=type allow=text", fetched=False, robot="undefined-source=empty"
    )
    assert not strict.allowed


def test_robot_case_37_paths_have_case(judge: Judge) -> None:
    line = "MetaData fn=filter-by-prefix src=path deny=/private/"
    assert judge(line, "http://a.example/Private/x", fetched=False).allowed
    assert not judge(line, "http://a.example/private/x", fetched=False).allowed


@pytest.mark.parametrize(("depth", "allowed"), [(10, True), (11, False)])
def test_robot_case_38_depth(judge: Judge, depth: int, allowed: bool) -> None:  # noqa: FBT001
    decision = judge("MetaData fn=filter-by-max src=depth value=10", depth=depth, fetched=False)
    assert decision.allowed is allowed


@pytest.mark.parametrize(("size", "allowed"), [(1_048_576, True), (1_048_577, False)])
@pytest.mark.parametrize("phase", ["MetaData", "Data"])
def test_robot_case_39_content_length_counts_kilobytes(
    judge: Judge,
    phase: str,
    size: int,
    allowed: bool,  # noqa: FBT001
) -> None:
    line = f"{phase} fn=filter-by-max src=content-length value=1024"
    assert judge(line, headers=(("Content-Length", str(size)),)).allowed is allowed
    assert judge(line, fetched=False).allowed


def test_content_length_in_bytes_and_with_a_suffix(judge: Judge) -> None:
    header = (("Content-Length", "2000"),)
    assert judge("Data fn=filter-by-max src=content-length value=2000 unit=bytes", headers=header).allowed
    assert not judge("Data fn=filter-by-max src=content-length value=1999 unit=bytes", headers=header).allowed
    assert not judge("Data fn=filter-by-max src=content-length value=1K", headers=header).allowed
    assert judge("Data fn=filter-by-max src=content-length value=1", body=b"x" * 1024).allowed
    assert not judge("Data fn=filter-by-max src=content-length value=1", body=b"x" * 1025).allowed


def test_the_largest_body_that_any_filter_lets_pass_is_known_before_the_transfer(engine: Make) -> None:
    line = "MetaData fn=filter-by-max src=content-length value={}"
    assert engine(line.format(1), line.format(2)).body_limit == 2048
    assert engine(line.format(1), "").body_limit is None


def passes(made: Engine, url: str) -> bool:
    return made.metadata(made.evaluation(Candidate(url)))


def test_robot_case_40_hosts_of_a_run(engine: Make) -> None:
    made = engine("MetaData fn=filter-by-max src=hosts value=1")
    urls = ["http://a.x/", "http://a.x/2", "http://b.x/"]
    assert [passes(made, url) for url in urls] == [True, True, False]
    made.start_run()
    assert passes(made, "http://b.x/")


def test_robot_case_41_objects_of_a_run(engine: Make) -> None:
    made = engine("MetaData fn=filter-by-max src=objects value=2")
    urls = ["http://a.x/1", "http://a.x/2", "http://a.x/2", "http://a.x/3"]
    assert [passes(made, url) for url in urls] == [True, True, True, False]


def test_asking_why_counts_nothing(engine: Make) -> None:
    made = engine("MetaData fn=filter-by-max src=objects value=1")
    assert made.decide(Candidate("http://a.x/1")).allowed
    assert made.decide(Candidate("http://a.x/2")).allowed


@pytest.mark.parametrize("pattern", [r"\\\\*.gov", r"\\*.gov"], ids=["four", "two"])
@pytest.mark.parametrize("url", ["http://www.nasa.gov/", "http://www.nasa.gov:8080/"])
def test_robot_case_42_the_vendors_wildcard(judge: Judge, pattern: str, url: str) -> None:
    assert not judge(f"MetaData fn=filter-by-regex src=host deny={pattern}", url, fetched=False).allowed


@pytest.mark.parametrize("host", ["www.governor.com", "www.gov.uk"])
def test_robot_case_43_the_wildcard_does_not_reach_further(judge: Judge, host: str) -> None:
    assert judge(
        r"MetaData fn=filter-by-regex src=host deny=\\\\*.gov", f"http://{host}/", fetched=False
    ).allowed


@pytest.mark.parametrize("pattern", [r"\\\\*", r"\\*", "*", "all"])
def test_robot_case_44_the_wildcard_for_anything(judge: Judge, pattern: str) -> None:
    assert not judge(f"MetaData fn=filter-by-regex src=URL deny={pattern}", fetched=False).allowed


def test_robot_case_45_equal_bytes_under_a_second_url(engine: Make) -> None:
    digests: dict[str, str] = {}
    lines = "Data fn=generate-md5\nData fn=filter-by-md5"
    made = engine("", lines, digests=digests)

    def decide(path: str) -> Decision:
        url = f"http://a.example{path}"
        return made.decide(Candidate(url), Response(url, 200, (), b"same"))

    assert decide("/a").generation.allowed
    ev = made.evaluation(Candidate("http://a.example/a"))
    made.metadata(ev)
    made.respond(ev, Response(ev.url, 200, (), b"same"), None)
    assert made.data(ev) is None
    assert ev.dedupe == "filter.conf:6"
    assert ev.dedupe_enumeration == ""
    digests[ev.md5] = "http://a.example/a"
    second = decide("/b").generation
    assert second.reason == "duplicate of http://a.example/a"
    assert second.category is Exclusion.DUPLICATION
    assert decide("/a").generation.allowed


def test_robot_case_46_the_raw_header_is_copied_and_compared_as_a_type(judge: Judge) -> None:
    decision = judge(
        ASSIGN + "Data fn=filter-by-exact src=type allow=text/html", content_type="Text/HTML; charset=x"
    )
    assert decision.allowed
    assert any("type=Text/HTML; charset=x" in step.reason for step in decision.trace)


def test_robot_case_47_a_cleared_source_is_empty(judge: Judge) -> None:
    assert judge("Data fn=clear-source src=path\nData fn=filter-by-prefix src=path deny=/").allowed
    assert not judge("Data fn=clear-source src=path\nData fn=filter-by-prefix src=path allow=/").allowed


@pytest.mark.parametrize(
    ("path", "allowed"), [("/a.HTML", True), ("/a.zip", False), ("/a", True), ("/x.tar.zip", False)]
)
def test_robot_case_48_types_by_extension(judge: Judge, path: str, allowed: bool) -> None:  # noqa: FBT001
    lines = (
        "Setup fn=setup-type-by-extension file=./config/mime.types\n"
        "MetaData fn=assign-type-by-extension\n"
        "MetaData fn=filter-by-prefix src=type allow=text"
    )
    assert judge(lines, f"http://a.example{path}", fetched=False).allowed is allowed


def test_robot_case_49_the_filters_do_not_know_each_other(engine: Make) -> None:
    made = engine(
        "Data fn=filter-by-exact src=content-type deny=text/html\nEnumerate fn=enumerate-urls",
        "Generate fn=extract-html-meta",
    )
    url = "http://a.example/"
    page = Page(url=url, media_type="text/html", title="T", links=[Link("http://a.example/b")])
    response = Response(url, 200, (("Content-Type", "text/html"),), b"x")
    decision = made.decide(Candidate(url), response, read_page=lambda _: page, now_s=0.0)
    assert not decision.enumeration.allowed
    assert decision.links == ()
    assert decision.generation.allowed
    assert decision.attributes["title"] == ("T",)


def test_what_one_filter_assigns_the_other_does_not_see(engine: Make) -> None:
    made = engine(
        "MetaData fn=clear-source src=query\nMetaData fn=assign-source dst=mark value=1",
        "MetaData fn=clear-source src=query\nMetaData fn=filter-by-exact src=mark deny=1",
    )
    ev = made.evaluation(Candidate("http://a.example/"))
    assert made.metadata(ev)
    assert ev.generation.allowed
    assert ev.enumerating.get("mark") == "1"
    assert ev.generating.get("mark") is None


@pytest.mark.parametrize(
    ("line", "denied"),
    [
        ("MetaData fn=filter-by-exact src=host deny=www.example.com", True),
        ("MetaData fn=filter-by-exact src=host deny=WWW.example.com:80", True),
        ("MetaData fn=filter-by-exact src=host deny=www.example.com:8080", False),
        ("MetaData fn=filter-by-exact src=protocol deny=HTTP", True),
        ("MetaData fn=filter-by-exact src=query deny=q=1", True),
        ("MetaData fn=filter-by-exact src=path deny=/a", True),
        ("MetaData fn=filter-by-exact src=URL deny=http://www.example.com/a?q=1", True),
        ("MetaData fn=filter-by-exact src=depth deny=3", True),
        ('MetaData fn=filter-by-exact src="enumeration filter" deny=enumeration-default', True),
        ("MetaData fn=filter-by-exact src=generation-filter deny=generation-default", True),
        ("MetaData fn=filter-by-exact src=IP deny=192.0.2.7", True),
        ("MetaData fn=filter-by-exact src=csid deny=x-catalog://h:80/n", True),
    ],
)
def test_sources_that_are_known_before_the_fetch(engine: Make, line: str, denied: bool) -> None:  # noqa: FBT001
    made = engine(line, robot="csid=x-catalog://h:80/n")
    ev = made.evaluation(Candidate("http://www.example.com/a?q=1", depth=3), ip=lambda: "192.0.2.7")
    assert made.metadata(ev) is not denied


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("content-type", "unknown"),
        ("content-length", "3"),
        ("content-charset", "koi8-r"),
        ("last-modified", "yesterday"),
        ("author", "Ada"),
        ("meta:author", "Ada"),
        ("title", "Hello"),
        ("sniffed-type", "text/html"),
    ],
)
def test_sources_that_are_known_after_the_fetch(judge: Judge, source: str, value: str) -> None:
    page = Page(
        media_type="text/html",
        title="Hello",
        charset="koi8-r",
        metas={"author": ["Ada", "Bob"], "type": ["x"]},
    )
    headers = (("Last-Modified", "yesterday"),)
    line = f"Data fn=filter-by-exact src={source} allow={value}"
    assert judge(line, headers=headers, body=b"abc", page=page).allowed
    assert judge(f"MetaData fn=filter-by-exact src={source} allow=other", fetched=False).allowed


def test_a_page_cannot_define_what_the_robot_itself_says(judge: Judge) -> None:
    page = Page(media_type="text/html", metas={"type": ["text/evil"], "md5": ["0"]})
    assert not judge("Data fn=filter-by-exact src=type allow=text/evil", page=page).allowed
    assert not judge("Data fn=filter-by-exact src=md5 allow=0", page=page).allowed


@pytest.mark.parametrize(
    ("host", "denied"), [("developer.siroe.com", True), ("www.siroe.com", False), ("siroe.com", False)]
)
@pytest.mark.parametrize("port", ["", ":8080"])
def test_a_wildcard_with_an_exception(judge: Judge, host: str, port: str, denied: bool) -> None:  # noqa: FBT001
    line = "MetaData fn=filter-by-regex src=host deny=*siroe.com~(www.siroe.com|siroe.com)"
    assert judge(line, f"http://{host}/", fetched=False).allowed is not denied
    line = "MetaData fn=filter-by-regex src=host deny=(*.siroe.com|*.siroe.com:*)~www.siroe.com"
    assert judge(line, f"http://{host}{port}/", fetched=False).allowed is not denied
