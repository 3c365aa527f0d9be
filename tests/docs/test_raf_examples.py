"""Every example of the functions' pages is run, and does what stands below it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from ingather.conf import BUILTIN, load_bodies
from ingather.extract import read_page
from ingather.extract.harvest import summarize_html
from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Page
from ingather.model.resource import Response

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rafs"
RULES = """<Rule name=archives>
Match src=path method=ends-with value=.zip
</Rule>
<Site name=example host=www.example.com>
Use rule=archives
</Site>
"""
MIME = "text/html html htm\napplication/zip zip\n"
_GIVEN = re.compile(
    r"given (?:depth=(?P<depth>\d+) )?(?P<url>\S+)(?: at (?P<at>\S+))?(?: (?P<type>[^|]+?))?(?: \| (?P<body>.*))?$"
)


@dataclass
class Case:
    """A resource, and what is said of it."""

    given: re.Match[str]
    said: list[str] = field(default_factory=list)


@dataclass
class Example:
    """One function's lines and cases."""

    name: str
    lines: str
    cases: list[Case]


def examples() -> Iterator[Example]:
    for page in sorted(PAGES.glob("*.md")):
        for section in page.read_text("utf-8").split("\n## ")[1:]:
            name = section.splitlines()[0]
            blocks = re.findall(r"^```(\w*)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
            lines = next((body for info, body in blocks if not info), "")
            cases: list[Case] = []
            for line in next((body for info, body in blocks if info == "text"), "").splitlines():
                given = _GIVEN.match(line)
                if given:
                    cases.append(Case(given))
                else:
                    cases[-1].said.append(line)
            yield Example(name, lines, cases)


EXAMPLES = {example.name: example for example in examples()}
WITHOUT_RESULT = {"filterrules-shutdown", "load-modules"}
"""What does nothing to a resource; plug-ins are run by the tutorial's test."""


def test_every_function_has_an_example_with_a_result() -> None:
    assert set(EXAMPLES) == set(BUILTIN.functions)
    assert {name for name, example in EXAMPLES.items() if not example.cases} == WITHOUT_RESULT
    assert all(example.lines for example in EXAMPLES.values())
    assert all(case.said for example in EXAMPLES.values() for case in example.cases)


def judge(lines: str, case: Case) -> tuple[bool, str, dict[str, tuple[str, ...]], list[str]]:
    """Return whether it is allowed, why not, the attributes and the links."""
    asked = [re.match(r"(?:source|absent) (\S+)", said) for said in case.said]
    sources = [found[1] for found in asked if found and found[0].startswith("source")]
    extra = "".join(f"Generate fn=extract-source src={name}\n" for name in sources)
    text = f'<Filter name="enumeration-default">\n{lines}</Filter>\n<Filter name="generation-default">\n{lines}{extra}</Filter>\n'
    bodies = {
        "filter.conf": text,
        "robot.conf": "enable-ip=no\n",
        "filterrules.conf": RULES,
        "mime.types": MIME,
    }
    loaded = load_bodies({name: body.encode() for name, body in bodies.items()})
    assert not [str(d) for d in loaded.diagnostics if d.is_error]
    given = case.given
    body = (given["body"] or "").encode()
    headers = (("Content-Type", given["type"]),) if given["type"] else ()
    response = Response(given["url"], 200, headers, body)
    engine = Engine(loaded, digests=Same())
    decision = engine.decide(
        Candidate(given["url"], depth=int(given["depth"] or 0)),
        response,
        read_page=lambda got: read_page(got.body, url=got.url, content_type=given["type"]),
        convert=lambda _, got: Page(
            url=got.url, media_type="application/pdf", text="What the document says."
        ),
        summarize=lambda _, got: summarize_html(got.body),
        now_s=datetime.fromisoformat(given["at"] or "2026-11-21T11:15:00Z").timestamp(),
    )
    verdict = decision.enumeration if "Enumerate" in lines else decision.generation
    return verdict.allowed, verdict.reason, dict(decision.attributes), [link.url for link in decision.links]


class Same(dict[str, str]):
    """Says of every body that one URL has it already."""

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return "http://www.example.com/a"


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_does_what_stands_below_it(name: str) -> None:
    example = EXAMPLES[name]
    for case in example.cases:
        allowed, reason, attributes, links = judge(example.lines, case)
        for said in case.said:
            word, _, rest = said.partition(" ")
            if word == "allowed":
                assert allowed, (said, reason)
            elif word.startswith("denied"):
                assert not allowed, said
                assert rest in reason
            elif word == "follows":
                assert links == [url for url in rest.split() if url != "nothing"]
            elif word == "absent":
                assert rest not in attributes, said
            else:
                wanted, _, value = said.removeprefix("source ").partition(" = ")
                assert ", ".join(attributes.get(wanted, ())) == value.replace("\\n", "\n"), said
