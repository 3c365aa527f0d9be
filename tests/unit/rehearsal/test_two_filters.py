"""The two filters and their sources: evaluation order and the decisions that part 1, 2 and 7 of the language left open."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.conf import load_bodies
from ingather.filters import Decision, Engine
from ingather.filters.rafs.texts import cut_bytes, cut_characters
from ingather.model.candidate import Candidate
from ingather.model.page import Page
from ingather.model.resource import Response
from ingather.testing.rig import Rig
from ingather.testing.site import Site

URL = "http://www.example.com/a"


def decided(enumeration: str, generation: str, *, robot: str = "", page: Page | None = None) -> Decision:
    text = f'<Filter name="enumeration-default">\n{enumeration}\n</Filter>\n<Filter name="generation-default">\n{generation}\n</Filter>\n'
    loaded = load_bodies({"filter.conf": text.encode(), "robot.conf": robot.encode()})
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    response = Response(URL, 200, (("Content-Type", "text/html"),), b"x", address="192.0.2.1")
    given_page = page or Page(url=URL, media_type="text/html")
    return Engine(loaded).decide(Candidate(URL), response, read_page=lambda _: given_page, now_s=0.0)


# -- DEC-1 to DEC-4: order -------------------------------------------------------------------------------


def test_dec_1_both_filters_metadata_then_both_data_then_the_last_phases() -> None:
    lines = "MetaData fn=assign-source dst=a value=1\nData fn=assign-source dst=b value=1\n"
    found = decided(lines + "Enumerate fn=enumerate-urls", lines + "Generate fn=extract-source src=a")
    assert [(str(step.role), str(step.phase)) for step in found.trace] == [
        ("enumeration", "MetaData"), ("generation", "MetaData"), ("enumeration", "Data"), ("generation", "Data"),
        ("enumeration", "Enumerate"), ("generation", "Generate"),
    ]  # fmt: skip


def test_dec_1_a_denial_ends_one_filter_and_nothing_more_of_it_runs() -> None:
    found = decided(
        "MetaData fn=filter-by-exact src=protocol deny=http\nMetaData fn=assign-source dst=x value=1",
        "Generate fn=extract-source src=protocol",
    )
    assert (found.enumeration.allowed, found.generation.allowed) == (False, True)
    assert [step.directive for step in found.trace if str(step.role) == "enumeration"] == [
        "MetaData fn=filter-by-exact src=protocol deny=http"
    ]
    assert found.attributes["protocol"] == ("http",)


def test_dec_2_the_description_is_the_generation_filters_alone() -> None:
    found = decided("Data fn=assign-source dst=mine value=1", "Generate fn=extract-source src=mine,host")
    assert "mine" not in found.attributes
    assert found.attributes["host"] == ("www.example.com",)


def test_dec_3_phases_rule_before_the_order_of_the_file() -> None:
    found = decided(
        "Data fn=generate-md5",
        "Generate fn=extract-source src=late\nData fn=assign-source dst=late value=data\nMetaData fn=assign-source dst=late value=meta",
    )
    assert found.attributes["late"] == ("data",)


RULES = """<Rule name="Cut" enable=true action=exclude>
Match src=path method=is value="/nothing"
</Rule>
<Site name="here" host="{host}" type=server enable=true depth=5 source=web>
Start url="{origin}/"
Port allow="{port}"
Use rule="Cut"
</Site>
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def home_of(path: Path, site: Site) -> Rig:
    rig = Rig(path, **{"catalog.outcome-wait": "0.02s", "gather.batch-wait": "0.02s"}).init()
    host, _, port = site.origin.partition("://")[2].partition(":")
    text = RULES.format(host=host, origin=site.origin, port=port)
    (rig.path / "config" / "filterrules.conf").write_text(text)
    return rig.toml(f'[source.web]\naddresses = ["127.0.0.0/8"]\nown-hosts = ["{host}:{port}"]\n')


def test_dec_4_what_the_rules_exclude_goes_through_the_deletion_policy_with_its_reason(
    home: Path, site: Site
) -> None:
    site.page("/", "Start", *(f"/p{n}" for n in range(12)))
    for n in range(12):
        site.page(f"/p{n}", f"Page {n}")
    rig = home_of(home, site)
    assert rig.run("crawl", "--json").status == 0
    rules = rig.path / "config" / "filterrules.conf"
    rules.write_text(rules.read_text().replace('value="/nothing"', 'value="/p3"'))
    assert rig.run("crawl", "--json").status == 0
    assert not rig.known()[site.url("/p3")].described
    said = rig.explained(site.url("/p3"))
    assert "the rules exclude it now: filter rule Cut (filterrules.conf:1)." in said.partition("\n")[0]
    assert len(rig.shown()) == 12


# -- DEC-13: undefined sources ---------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["exact", "prefix", "regex"])
@pytest.mark.parametrize(
    ("phase", "word", "robot", "allowed"),
    [
        ("MetaData", "allow", "", True),
        ("MetaData", "deny", "", True),
        ("Data", "allow", "", False),
        ("Data", "deny", "", True),
        ("MetaData", "allow", "undefined-source=empty", False),
        ("MetaData", "deny", "undefined-source=empty", True),
        ("Data", "allow", "undefined-source=noaction", False),
    ],
)
def test_dec_13_an_undefined_source_is_no_action_in_metadata_and_empty_later(
    function: str, phase: str, word: str, robot: str, *, allowed: bool
) -> None:
    found = decided("", f"{phase} fn=filter-by-{function} src=nowhere {word}=something", robot=robot)
    assert found.generation.allowed is allowed


# -- DEC-21: truncation ----------------------------------------------------------------------------------


@given(text=st.text(), length=st.integers(1, 40))
def test_dec_21_bytes_never_cut_a_character_and_characters_count_code_points(text: str, length: int) -> None:
    clean = "".join(c for c in text if not 0xD800 <= ord(c) <= 0xDFFF)
    cut = cut_bytes(clean, length)
    assert clean.startswith(cut)
    assert len(cut.encode()) <= length
    assert cut == clean or len(clean[: len(cut) + 1].encode()) > length
    assert cut_characters(clean, length, clean=False) == clean[:length]
    assert len(cut_characters(clean, length, clean=True)) <= length


@pytest.mark.parametrize("value", ["0", "-1"])
@pytest.mark.parametrize(
    "line",
    [
        "Generate fn=extract-full-text truncate={}", "Generate fn=extract-html-meta truncate={}",
        "Generate fn=extract-html-text truncate={}", "Generate fn=extract-html-toc truncate={}",
        "Generate fn=copy-attribute src=a dst=b truncate={}",
    ],
)  # fmt: skip
def test_dec_21_zero_and_less_are_out_of_range(line: str, value: str) -> None:
    text = f'<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\n{line.format(value)}\n</Filter>\n'
    loaded = load_bodies({"filter.conf": text.encode()})
    assert [d.code for d in loaded.diagnostics if d.is_error] == ["E-RANGE"]


# -- DEC-24: equal bodies --------------------------------------------------------------------------------


def test_dec_24_the_table_of_bodies_serves_both_filters(home: Path, site: Site) -> None:
    """The copy's links lead to other URLs, which would be copies again: they are not followed."""
    copy = '<title>Twin</title><a href="next">next</a>'
    site.page("/", "Start", "/a/", "/between")
    site.page("/between", "Between", "/b/")
    for folder in ("a", "b"):
        site.put(f"/{folder}/", copy)
        site.page(f"/{folder}/next", f"Next in {folder}")
    rig = home_of(home, site)
    config = rig.path / "config" / "filter.conf"
    text = config.read_text()
    for name in ("generate-md5", "filter-by-md5"):
        assert f"Data enable=false fn={name}" in text
        text = text.replace(f"Data enable=false fn={name}", f"Data fn={name}", 1)
    config.write_text(text)
    assert rig.run("crawl", "--json").status == 0
    known = rig.known()
    assert not known[site.url("/a/")].duplicate
    assert known[site.url("/b/")].duplicate
    assert site.url("/a/next") in known
    assert site.url("/b/next") not in known
    assert rig.complaints() == []


# -- DEC-25: several values ------------------------------------------------------------------------------


def test_dec_25_generated_values_gather_where_several_belong_and_replace_elsewhere() -> None:
    lines = "\n".join(
        f'Generate fn=generate-by-prefix src=host match=www dst={dst} value="{value}"'
        for dst in ("classification", "author", "keywords", "section")
        for value in ("One", "Two", "One")
    )
    found = decided("", lines).attributes
    assert [found[name] for name in ("classification", "author", "keywords")] == [("One", "Two")] * 3
    assert found["section"] == ("One",)
