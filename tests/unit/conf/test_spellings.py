"""Patterns as files spell them: section 6's table through filter.conf and filterrules.conf, and old names of files."""

from collections.abc import Callable

import pytest

from ingather.conf import Loaded, load_bodies
from ingather.conf.patterns.dialects import Pattern
from ingather.conf.sites.rules import Match

Configure = Callable[..., Loaded]

HOSTS = ("www.nasa.gov", "nasa.gov", "www.governor.com", "www.gov.uk", "mygov.com")
SIROE = ("developer.siroe.com", "home.siroe.com", "www.siroe.com", "siroe.com")
TABLE = [
    (r"\\\\*.gov", HOSTS, "11000"),
    (r"\\*.gov", HOSTS, "11000"),
    ("*.gov", HOSTS, "11000"),
    (r".*\.gov$", HOSTS, "11000"),
    (r"\.gov$", HOSTS, "11000"),
    (r"\.gov", HOSTS, "11110"),
    (r"\\\\*", HOSTS, "11111"),
    (r"\\*", HOSTS, "11111"),
    ("*", HOSTS, "11111"),
    ("all", HOSTS, "11111"),
    ("*.siroe.com~www.siroe.com", SIROE, "1100"),
    ("(*.siroe.com|siroe.com)", SIROE, "1111"),
]


def of_line(configure: Configure, line: str, **texts: str) -> Pattern:
    loaded = configure(f'<Filter name="enumeration-default">\n{line}\n</Filter>\n', **texts)
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    assert loaded.enumeration is not None
    found = loaded.enumeration.directives[0].parameters["deny"]
    assert isinstance(found, Pattern)
    return found


def found_on(pattern: Pattern, hosts: tuple[str, ...]) -> str:
    """One digit a host, tested bare and with its port, as DEC-8 has it."""
    return "".join(str(int(pattern.any((host, f"{host}:80")))) for host in hosts)


@pytest.mark.parametrize(("written", "hosts", "expected"), TABLE, ids=[row[0] for row in TABLE])
@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
def test_a_spelling_in_filter_conf(
    configure: Configure, written: str, hosts: tuple[str, ...], expected: str, quote: str
) -> None:
    line = f"MetaData fn=filter-by-regex src=host deny={quote}{written}{quote}"
    assert found_on(of_line(configure, line), hosts) == expected


@pytest.mark.parametrize(("written", "hosts", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_a_spelling_in_filterrules_conf(
    configure: Configure, written: str, hosts: tuple[str, ...], expected: str
) -> None:
    # A rule's value is unescaped once (L12): a backslash is written twice.
    value = written.replace("\\", "\\\\")
    rules = f'<Rule name="r">\nMatch src=host method=regex value="{value}"\n</Rule>\n'
    loaded = configure(rules=rules)
    assert loaded.ok
    match: Match = loaded.rules.rules[0].matches[0]
    assert match.pattern is not None
    assert found_on(match.pattern, hosts) == expected


def test_a_line_or_the_whole_robot_may_name_the_dialect(configure: Configure) -> None:
    line = "MetaData fn=filter-by-regex src=host deny=*.gov{}"
    assert of_line(configure, line.format("")).dialect == "shexp"
    loaded = configure(f'<Filter name="enumeration-default">\n{line.format(" dialect=posix")}\n</Filter>\n')
    assert [d.code for d in loaded.diagnostics if d.is_error] == ["E-REGEX"]
    dotted = "MetaData fn=filter-by-regex src=host deny=a.gov{}"
    assert found_on(of_line(configure, dotted.format("")), ("xaxgov", "a.gov")) == "11"
    assert found_on(of_line(configure, dotted.format(" dialect=shexp")), ("xaxgov", "a.gov")) == "01"
    assert of_line(configure, dotted.format(""), robot="regex-dialect=shexp\n").dialect == "shexp"
    assert (
        of_line(configure, dotted.format(" dialect=python"), robot="regex-dialect=shexp\n").dialect
        == "python"
    )


def test_a_wildcard_warns_in_both_files_and_tells_of_the_bare_domain(configure: Configure) -> None:
    line = r"MetaData fn=filter-by-regex src=host deny=\\*.siroe.com"
    rules = '<Rule name="r">\nMatch src=host method=regex value="*.siroe.com"\n</Rule>\n'
    loaded = configure(f'<Filter name="enumeration-default">\n{line}\n</Filter>\n', rules=rules)
    found = [d for d in loaded.diagnostics if d.code == "W-REGEX-DIALECT"]
    hint = "it does not match siroe.com itself: for that write (*.siroe.com|siroe.com)"
    assert [(d.file, d.line, d.text, d.hint) for d in found] == [
        ("filter.conf", 2, "read as wildcard *.siroe.com", hint),
        ("filterrules.conf", 2, "read as wildcard *.siroe.com", hint),
    ]


FILTERS = "".join(
    f'<Filter name="{name}">\nSetup fn=filterrules-setup config=filterrules.conf\nShutdown fn=filterrules-shutdown\n'
    "</Filter>\n"
    for name in ("enumeration-default", "generation-default")
)


def test_process_conf_with_starting_points_inside_it() -> None:
    files = {
        "process.conf": (
            '<Process csid="x-catalog://budgie.siroe.com:80/jack" \\\n   depth=4\n'
            "   http://www.siroe.com/\n   http://home.siroe.com/a?b=c depth=1\n</Process>\n"
        ),
        "filter.conf": FILTERS,
        "filterrules.conf": '<Site name="siroe" host="siroe.com" type=domain>\n</Site>\n',
        "mime.types": "",
    }
    loaded = load_bodies({name: text.encode() for name, text in files.items()})
    assert loaded.diagnostics == ()
    assert [(s.url, s.depth, s.where) for s in loaded.starting_points] == [
        ("http://www.siroe.com/", 4, "process.conf:3"),
        ("http://home.siroe.com/a?b=c", 1, "process.conf:4"),
    ]


def test_robot_conf_counts_when_both_names_are_there() -> None:
    files = {"robot.conf": "depth=2\n", "process.conf": "depth=7\n", "filter.conf": FILTERS}
    files |= {"filterrules.conf": "", "mime.types": ""}
    loaded = load_bodies({name: text.encode() for name, text in files.items()})
    assert loaded.robot.depth == 2
