"""The engine itself: one path, resumable, fails closed, tells what it did."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

from ingather.conf import ParameterSpec, load_bodies, shipped
from ingather.conf.filters.builtins import BUILTIN
from ingather.errors import ConfigurationError, UsageError
from ingather.filters import Engine, builtin_registry
from ingather.model.candidate import Candidate
from ingather.model.page import Link, Page
from ingather.model.phase import Phase, Role
from ingather.model.resource import Response
from ingather.model.verdict import Exclusion
from ingather.plugins import DENY, Answer, FilterView, Resource, builds, raf

Make = Callable[..., Engine]


def module(name: str, *functions: object) -> ModuleType:
    made = ModuleType(name)
    for number, function in enumerate(functions):
        function.__module__ = name
        setattr(made, f"f{number}", function)
    return made


@raf("deny-drafts", phases={Phase.METADATA}, parameters=(ParameterSpec("marker", required=True),))
def deny_drafts(params: Mapping[str, Any], _: FilterView, resource: Resource) -> Answer | None:
    """Deny a resource whose path holds *marker*."""
    marker = str(params["marker"])
    if marker in str(resource.get("path")):
        return DENY(f"path holds {marker!r}")
    return None


@raf("break", phases=set(Phase))
def break_down(_: Mapping[str, Any], __: FilterView, resource: Resource) -> Answer | None:
    """Fail."""
    raise RuntimeError(resource.url)


@raf("babble", phases={Phase.METADATA})
def babble(_: Mapping[str, Any], __: FilterView, ___: Resource) -> Any:
    """Return what no function may return."""
    return "yes"


def with_plugins(lines: str, generation: str = "") -> Engine:
    registry = builtin_registry()
    registry.add(module("mine", deny_drafts, break_down, babble))
    text = (
        f'<Filter name="enumeration-default">\n{lines}\n</Filter>\n'
        f'<Filter name="generation-default">\n{generation}\n</Filter>\n'
    )
    loaded = load_bodies({"filter.conf": text.encode()}, vocabulary=registry.vocabulary())
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    return Engine(loaded, registry=registry)


def test_every_function_that_the_language_supports_is_implemented() -> None:
    implemented = {function.spec.name for function in builtin_registry()}
    assert implemented == {spec.name for spec in BUILTIN.functions.values() if spec.phases}


def test_a_function_of_ones_own_enters_by_the_same_door() -> None:
    made = with_plugins("MetaData fn=deny_drafts marker=/drafts/")
    denied = made.decide(Candidate("http://a.example/drafts/1")).enumeration
    assert denied.reason == "deny-drafts: path holds '/drafts/'"
    assert made.decide(Candidate("http://a.example/1")).enumeration.allowed


def test_a_name_is_taken_once() -> None:
    registry = builtin_registry()
    registry.add(module("mine", deny_drafts))
    with pytest.raises(UsageError, match=r"deny-drafts.*mine.*theirs"):
        registry.add(module("theirs", raf("deny-drafts", phases={Phase.DATA})(lambda _, __, ___: None)))


def test_a_builder_without_specification_is_refused() -> None:
    @builds("nobody-knows-me")
    def build(_: object) -> object:
        return None

    with pytest.raises(UsageError, match="nobody-knows-me"):
        builtin_registry().add(module("mine", build))


@pytest.mark.parametrize("function", ["break", "babble"])
def test_a_function_that_fails_denies_with_its_line(function: str) -> None:
    made = with_plugins(f"MetaData fn=clear-source src=x\nMetaData fn={function}")
    ev = made.evaluation(Candidate("http://a.example/"))
    assert made.metadata(ev)  # the generation filter has no such line
    assert not ev.enumeration.allowed
    assert ev.enumeration.category is Exclusion.ERROR
    assert ev.enumeration.where == "filter.conf:3"
    assert ev.enumeration.phase is Phase.METADATA
    assert function in ev.enumeration.reason


def test_a_page_that_cannot_be_read_denies() -> None:
    made = with_plugins("Data fn=filter-by-exact src=title deny=x", "Generate fn=extract-full-text")

    def unreadable() -> Page:
        raise ValueError("no page")

    ev = made.evaluation(Candidate("http://a.example/"))
    made.metadata(ev)
    made.respond(ev, Response(ev.url, 200, (), b"x"), unreadable)
    assert made.data(ev) is None
    assert ev.enumeration.category is Exclusion.ERROR
    assert not ev.generation.allowed
    assert made.generate(ev, now_s=0.0) == {}


def test_a_failing_enumerate_or_generate_line_gives_nothing_at_all() -> None:
    made = with_plugins(
        "Enumerate fn=enumerate-urls\nEnumerate fn=break", "Generate fn=extract-html-meta\nGenerate fn=break"
    )
    page = Page(media_type="text/html", title="T", links=[Link("http://a.example/b")])
    ev = made.evaluation(Candidate("http://a.example/"))
    made.metadata(ev)
    made.respond(ev, Response(ev.url, 200, (), b"x"), lambda: page)
    made.data(ev)
    assert made.enumerate(ev) == []
    assert made.generate(ev, now_s=0.0) == {}
    assert (ev.enumeration.where, ev.generation.where) == ("filter.conf:3", "filter.conf:7")


def test_a_refused_configuration_makes_no_engine(engine: Make) -> None:
    loaded = load_bodies({"filter.conf": b'<Filter name="a">\nData fn=no-such\n</Filter>\n'})
    with pytest.raises(ConfigurationError, match="E-FILTER-UNDEF"):
        Engine(loaded)
    assert engine("").starting_points == ()


def test_steps_that_both_filters_share_run_once(engine: Make) -> None:
    lines = "MetaData fn=filter-by-regex src=IP deny=^192[.]0[.]2[.]1$\n"
    made = engine(lines + "MetaData fn=clear-source src=a", lines + "MetaData fn=clear-source src=b")
    assert [step.where for step in made._metadata.common] == ["filter.conf:2"]
    ev = made.evaluation(Candidate("http://a.example/"), ip="192.0.2.1")
    assert not made.metadata(ev)
    assert (ev.enumeration.where, ev.generation.where) == ("filter.conf:2", "filter.conf:6")
    assert ev.enumeration.reason == ev.generation.reason


def test_counting_steps_are_never_shared(engine: Make) -> None:
    made = engine("MetaData fn=filter-by-max src=objects value=1\nMetaData fn=clear-source src=a")
    assert made._metadata.common == ()


def test_sharing_ends_where_the_lines_differ(engine: Make) -> None:
    made = engine(
        "Data fn=assign-source dst=a value=1\nData fn=assign-source dst=b value=one",
        "Data fn=assign-source dst=a value=1\nData fn=assign-source dst=b value=other\nGenerate fn=extract-source src=a,b",
        robot="enable-ip=no",
    )
    ev = made.evaluation(Candidate("http://a.example/"))
    made.metadata(ev)
    made.respond(ev, Response(ev.url, 200, (), b""), None)
    assert made.data(ev) is None
    assert (ev.enumerating.get("b"), ev.generating.get("b")) == ("one", "other")
    assert made.generate(ev, now_s=0.0) == {"a": ("1",), "b": ("other",)}


def test_traced_and_plain_runs_agree(engine: Make) -> None:
    lines = (
        "MetaData fn=filter-by-prefix src=path deny=/no\nData fn=generate-md5\n"
        "Data fn=filter-by-exact src=content-type deny=text/plain\nEnumerate fn=enumerate-urls\n"
        "Generate fn=extract-html-meta\nGenerate fn=extract-source src=md5"
    )
    made = engine(lines)
    page = Page(media_type="text/html", title="T", links=[Link("http://a.example/b")])
    for path, kind in (("/no", "text/html"), ("/yes", "text/plain"), ("/yes", "text/html")):
        url = f"http://a.example{path}"
        response = Response(url, 200, (("Content-Type", kind),), b"x")
        told = made.decide(Candidate(url), response, read_page=lambda _: page, now_s=0.0)
        plain = made.decide(Candidate(url), response, read_page=lambda _: page, now_s=0.0, trace=False)
        assert plain.trace == ()
        assert (told.enumeration, told.generation) == (plain.enumeration, plain.generation)
        assert (told.links, told.attributes) == (plain.links, plain.attributes)


def test_the_trace_names_line_source_value_and_verdict(engine: Make) -> None:
    made = engine("MetaData fn=clear-source src=query\nMetaData fn=filter-by-prefix src=path deny=/no", "")
    decision = made.decide(Candidate("http://a.example/nowhere?x"))
    first, second = decision.trace
    assert (first.role, first.phase, first.where) == (Role.ENUMERATION, Phase.METADATA, "filter.conf:2")
    assert (first.source, first.value, first.verdict, first.reason) == (
        "query",
        "x",
        "continue",
        "query=undefined",
    )
    assert second.directive == "MetaData fn=filter-by-prefix src=path deny=/no"
    assert (second.where, second.value, second.verdict) == ("filter.conf:3", "/nowhere", "deny")
    assert second.reason == decision.enumeration.reason
    assert decision.generation.allowed


def test_the_trace_of_rules_names_site_and_rule(engine: Make) -> None:
    rules = (
        "<Rule name=r>\nMatch src=path method=is value=/x\n</Rule>\n"
        "<Site name=s host=a.example>\nUse rule=r\n</Site>\n"
    )
    lines = (
        "Setup fn=filterrules-setup config=./config/filterrules.conf\nMetaData fn=filterrules-process\n"
        "Shutdown fn=filterrules-shutdown"
    )
    made = engine(lines, "", rules=rules)
    (denied,) = made.decide(Candidate("http://a.example/x")).trace
    assert (denied.where, denied.rule, denied.reason) == (
        "filter.conf:3",
        "filterrules.conf:1",
        "filter rule r",
    )
    (passed,) = made.decide(Candidate("http://a.example/y")).trace
    assert (passed.rule, passed.reason) == ("filterrules.conf:4", "site s")


@pytest.mark.parametrize(
    ("headers", "robots", "links", "described"),
    [
        ((), frozenset(), True, True),
        ((), frozenset({"noindex"}), True, False),
        ((), frozenset({"nofollow"}), False, True),
        ((("X-Robots-Tag", "none"),), frozenset(), False, False),
        ((("X-Robots-Tag", "otherbot: noindex, nofollow"),), frozenset(), True, True),
        (
            (("X-Robots-Tag", "otherbot: none"), ("x-robots-tag", "Ingather: NoIndex")),
            frozenset(),
            True,
            False,
        ),
        (
            (("X-Robots-Tag", "unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"),),
            frozenset(),
            False,
            True,
        ),
    ],
)
def test_what_a_page_forbids(
    engine: Make,
    headers: tuple[tuple[str, str], ...],
    robots: frozenset[str],
    links: bool,  # noqa: FBT001
    described: bool,  # noqa: FBT001
) -> None:
    url = "http://a.example/"
    page = Page(media_type="text/html", robots=robots, links=[Link("http://a.example/b")])
    lines = "Enumerate fn=enumerate-urls\nGenerate fn=extract-source src=depth"
    decision = engine(lines).decide(
        Candidate(url), Response(url, 200, headers, b""), read_page=lambda _: page, now_s=0.0
    )
    assert bool(decision.links) is links
    assert bool(decision.attributes) is described
    for verdict, allowed in ((decision.enumeration, links), (decision.generation, described)):
        assert verdict.allowed is allowed
        assert allowed or verdict.category is Exclusion.ROBOTS
    off = engine(lines, robot="enable-robots-txt=no")
    decision = off.decide(
        Candidate(url), Response(url, 200, headers, b""), read_page=lambda _: page, now_s=0.0
    )
    assert decision.enumeration.allowed
    assert decision.generation.allowed


def test_the_address_is_an_attribute_unless_switched_off(engine: Make) -> None:
    url = "http://a.example/"
    response = Response(url, 200, (), b"", address="192.0.2.9")
    assert engine("").decide(Candidate(url), response, now_s=0.0).attributes == {"ip": ("192.0.2.9",)}
    assert engine("", robot="enable-ip=no").decide(Candidate(url), response, now_s=0.0).attributes == {}


def test_the_shipped_filters_describe_a_page_and_follow_its_links() -> None:
    loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
    assert loaded.diagnostics == ()
    from ingather.conf import Site

    made = Engine(loaded.with_sites([Site("s", "a.example")]))
    url = "http://a.example/"
    page = Page(
        media_type="text/html",
        title="Title",
        text="Some text of the page",
        metas={"author": ["A"]},
        links=[Link("http://a.example/b"), Link("http://elsewhere.example/")],
    )
    response = Response(url, 200, (("Content-Type", "text/html"),), b"<html>", address="192.0.2.9")
    decision = made.decide(Candidate(url), response, read_page=lambda _: page, now_s=0.0)
    assert [link.url for link in decision.links] == ["http://a.example/b", "http://elsewhere.example/"]
    assert set(decision.attributes) == {
        "author",
        "content-length",
        "content-type",
        "depth",
        "description",
        "full-text",
        "ip",
        "md5",
        "partial-text",
        "rd-expires",
        "rd-last-modified",
        "title",
    }


@pytest.mark.parametrize(
    "path", ["/a.zip", "/a.JPG", "/style.css", "/x/cgi-bin/y", "/CVS/Root", "/a.mp4", "/old~"]
)
def test_the_shipped_rules_leave_out_what_is_no_document(path: str) -> None:
    from ingather.conf import Site

    loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
    made = Engine(loaded.with_sites([Site("s", "a.example")]))
    decision = made.decide(Candidate(f"http://a.example{path}"))
    assert not decision.allowed
    assert decision.generation.reason.startswith("filter rule ")
    for document in (
        "/a.html",
        "/a.pdf",
        "/a.docx",
        "/a.xls",
        "/a.ppt",
        "/",
        "/a",
        "/image/",
        "/example.com",
    ):
        assert made.decide(Candidate(f"http://a.example{document}")).allowed
