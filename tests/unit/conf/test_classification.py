"""classification.conf and taxonomy.rdm (robot specification, section 13, DEC-37)."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.conf import Loaded, load_bodies
from ingather.conf.rd.taxonomy import Category, Taxonomy, category_name, parse_taxonomy, write_taxonomy
from ingather.conf.report import Report
from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Page
from ingather.model.resource import Response

Configure = Callable[..., Loaded]

FILTERS = (
    '<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\n{lines}\n</Filter>\n'
)


def load(rules: str, *, taxonomy: bytes | None = None, lines: str = "", robot: str = "") -> Loaded:
    bodies = {
        "filter.conf": FILTERS.format(lines=lines).encode(),
        "robot.conf": f"enable-ip=no\n{robot}".encode(),
        "classification.conf": rules.encode(),
    }
    return load_bodies(bodies if taxonomy is None else {**bodies, "taxonomy.rdm": taxonomy})


def classes(
    loaded: Loaded,
    url: str = "http://www.siroe.com/a.html",
    page: Page | None = None,
    content_type: str = "text/html",
) -> tuple[str, ...]:
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    found = page or Page(
        media_type="text/html", title="Holiday form", metas={"keywords": ["leave, days", "forms"]}
    )
    response = Response(url, 200, (("Content-Type", content_type),), b"x")
    decision = Engine(loaded).decide(Candidate(url), response, read_page=lambda _: found, now_s=1.0)
    return tuple(decision.attributes.get("classification", ()))


def codes(loaded: Loaded) -> list[tuple[str, int, int]]:
    return [(d.code, d.line, d.column) for d in loaded.diagnostics if d.file == "classification.conf"]


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("src=host method=ends-with value=.siroe.com", True),
        ("src=host method=ends-with value=.SIROE.com", True),
        ("src=host method=is value=siroe.com", False),
        ("src=host method=is value=www.siroe.com:80", True),
        ("src=URL method=begins-with value=http://www", True),
        ("src=protocol method=is value=HTTP", True),
        ("src=path method=contains value=A.h", False),
        ("src=path method=contains value=A.h ignore-case=true", True),
        (r"src=path method=regex value=\.html$", True),
        (r"src=host method=regex value=\\*.siroe.com", True),
        ('src="mime type" method=is value=text/html', True),
        ("src=type method=begins-with value=text/", True),
        ("src=keywords method=is value=forms", True),
        ("src=title method=contains value=Holiday", True),
        ("src=nothing method=contains value=x", False),
        ('src=title method="begins with" value=Holiday', True),
        ('src=title method="regular expression" value="^Holiday form$"', True),
        ("src=title method=contains value=Holiday enable=false", False),
    ],
)
def test_a_rule_of_every_source_and_method(rule: str, holds: bool) -> None:  # noqa: FBT001 - a table
    assert classes(load(f"Classify {rule} category=Found")) == (("Found",) if holds else ())


def test_all_rules_are_tested_and_categories_come_in_order_once() -> None:
    rules = "\n".join(
        f"Classify src=path method=contains value=a category={name}" for name in ("B", "A:x", "B", "C")
    )
    assert classes(load(rules)) == ("B", "A:x", "C")


def test_the_lines_of_the_filter_come_first_and_the_whole_is_cut() -> None:
    line = "Generate fn=generate-by-exact src=protocol match=http value=Web dst=classification"
    rules = "\n".join(f"Classify src=path method=contains value=a category=C{n}" for n in range(9))
    assert classes(load(rules, lines=line)) == ("Web", "C0", "C1", "C2", "C3")
    assert classes(load(rules, lines=line, robot="max-categories=2")) == ("Web", "C0")
    assert classes(load(f"max-categories=3\n{rules}", lines=line, robot="max-categories=2")) == (
        "Web",
        "C0",
        "C1",
    )
    assert classes(load(f"# x\n\n max-categories = 1 # y\n{rules}", lines=line)) == ("Web",)


def test_rules_see_what_generate_lines_made() -> None:
    lines = 'Generate fn=extract-html-meta\nGenerate fn=rename-attribute src="title->name"'
    assert classes(load("Classify src=name method=contains value=form category=F", lines=lines)) == ("F",)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("Classify src=host method=is value=a", [("E-PARAM-MISSING", 1, 1)]),
        ("Classify src=host method=is value=a category=", [("E-PARAM-EMPTY", 1, 37)]),
        ("Classify src=host method=is value=a category=A::B", [("E-RANGE", 1, 46)]),
        ("Classify src=host method=almost value=a category=A", [("E-RANGE", 1, 26)]),
        ("Classify src=host method=regex value=( category=A", [("E-REGEX", 1, 38)]),
        ("Classify src=host method=is value=a category=A sorce=x", [("W-PARAM-UNKNOWN", 1, 48)]),
        ("Classify src=host method=is value=a category=A enable=perhaps", [("E-ENABLE", 1, 55)]),
        ("Classify src=host method=is value=a category=A category=B", [("E-DUP-PARAM", 1, 48)]),
        ("# x\nmax-categories=0", [("E-RANGE", 2, 16)]),
        ("Classify max-categories=none", [("E-TYPE", 1, 25)]),
        ("Sort src=host", [("E-STRAY", 1, 1)]),
        ("Classify src=host stray method=is value=a category=A", [("E-PARAM", 1, 19)]),
    ],
)
def test_mistakes_are_located(rules: str, found: list[tuple[str, int, int]]) -> None:
    assert codes(load(rules)) == found


TAXONOMY = b"""@TAXONOMY { -
id{5}:\tsiroe
}

@CLASSIFICATION { -
id{20}:\tArchive:Chat:January
description{11}:\tWhat was on
matching-rule{10}:\ttitle:chat
x-owner{3}:\tAnn
}
"""


def test_a_category_that_the_taxonomy_lacks_is_kept_with_a_warning() -> None:
    rules = "Classify src=path method=contains value=a category=Archive:Chat\nClassify src=path method=contains value=a category=Archive:Chad"
    loaded = load(rules, taxonomy=TAXONOMY)
    assert codes(loaded) == [("W-CATEGORY", 2, 52)]
    assert "Archive:Chat" in str(loaded.diagnostics[-1].hint)
    assert classes(loaded) == ("Archive:Chat", "Archive:Chad")


def test_the_taxonomy_is_read_with_parents_and_strange_attributes() -> None:
    found = load("", taxonomy=TAXONOMY).classification.taxonomy
    assert found.names == ("Archive", "Archive:Chat", "Archive:Chat:January")
    leaf = found.categories["Archive:Chat:January"]
    assert (leaf.description, leaf.query, leaf.more, leaf.parent) == (
        "What was on", "title:chat", {"x-owner": ("Ann",)}, "Archive:Chat",
    )  # fmt: skip
    assert [c.name for c in found.children()] == ["Archive"]
    assert [c.name for c in found.below("Archive:Chat")] == ["Archive:Chat", "Archive:Chat:January"]
    assert load("").classification.taxonomy.names == ()


def test_a_broken_taxonomy_is_located_and_what_is_whole_is_kept() -> None:
    report = Report()
    found = parse_taxonomy(TAXONOMY + b"@CLASSIFICATION { -\nid{99}:\tcut", "taxonomy.rdm", report)
    assert "Archive" in found
    assert [(d.code, d.line) for d in report.diagnostics] == [("E-SOIF-TRUNC", 12)]
    report = Report()
    parse_taxonomy(b"@CLASSIFICATION { -\nid{2}:\ta:\n}\n", "taxonomy.rdm", report)
    assert [d.code for d in report.diagnostics] == ["W-CATEGORY"]


NAMES = (
    st.lists(
        st.text("ab \u00fc}{\n", min_size=1, max_size=4).filter(lambda s: s.strip()), min_size=1, max_size=3
    )
    .map(":".join)
    .map(category_name)
)


@given(
    st.dictionaries(NAMES, st.tuples(st.text(max_size=20), st.text(max_size=20), st.dictionaries(st.sampled_from(["x-a", "x-b"]), st.tuples(st.text(max_size=5))))),
    st.text(max_size=10),
)  # fmt: skip
def test_what_is_written_reads_back(
    categories: Mapping[str, tuple[str, str, dict[str, tuple[str]]]], description: str
) -> None:
    taxonomy = Taxonomy.of(
        (Category(name, said, query, more) for name, (said, query, more) in categories.items()),
        name="t",
        description=description,
    )
    report = Report()
    again = parse_taxonomy(write_taxonomy(taxonomy), "taxonomy.rdm", report)
    assert report.diagnostics == []
    assert (again.name, again.description, again.names) == ("t", description, taxonomy.names)
    for name, category in taxonomy.categories.items():
        other = again.categories[name]
        assert (other.description, other.query, dict(other.more)) == (
            category.description,
            category.query,
            dict(category.more),
        )
