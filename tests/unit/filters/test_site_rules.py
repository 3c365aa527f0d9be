"""filterrules-process: decision order DEC-32 of the robot specification, section 9."""

from collections.abc import Callable

import pytest

from ingather.conf import Site, Start, load_bodies
from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.resource import Response
from ingather.model.verdict import Exclusion, Verdict

Make = Callable[..., Engine]

LINES = (
    "Setup fn=filterrules-setup config=./config/filterrules.conf\n"
    "Setup fn=setup-type-by-extension file=./config/mime.types\n"
    "MetaData fn=filterrules-process\n"
    "Data fn=assign-source dst=type src=content-type\n"
    "Data fn=filterrules-process\n"
    "Shutdown fn=filterrules-shutdown"
)


def before(made: Engine, url: str, *, depth: int = 0, max_depth: int | None = None) -> Verdict:
    ev = made.evaluation(Candidate(url, depth=depth, max_depth=max_depth))
    made.metadata(ev)
    assert ev.enumeration.allowed == ev.generation.allowed
    return ev.enumeration


def after(made: Engine, url: str, content_type: str) -> Verdict:
    ev = made.evaluation(Candidate(url))
    if made.metadata(ev):
        made.respond(ev, Response(url, 200, (("Content-Type", content_type),), b"x"), None)
        made.data(ev)
    return ev.generation


def site(*lines: str, host: str = "www.example.com", more: str = "") -> str:
    return f'<Site name="{host}" host="{host}" {more}>\n' + "\n".join(lines) + "\n</Site>\n"


def test_a_url_without_a_site_is_denied_at_the_directive(engine: Make) -> None:
    verdict = before(engine(LINES, rules=site()), "http://other.example/")
    assert (verdict.reason, verdict.category, verdict.where) == (
        "site not allowed",
        Exclusion.SITE_NOT_ALLOWED,
        "filter.conf:4",
    )


def test_each_filter_names_its_own_line(engine: Make) -> None:
    made = engine(LINES, rules=site())
    ev = made.evaluation(Candidate("http://other.example/"))
    made.metadata(ev)
    assert (ev.enumeration.where, ev.generation.where) == ("filter.conf:4", "filter.conf:12")


def test_a_disabled_site_is_denied_at_its_line(engine: Make) -> None:
    verdict = before(engine(LINES, rules=site(more="enable=false")), "http://www.example.com/")
    assert (verdict.reason, verdict.where) == ("site disabled", "filterrules.conf:1")


def test_the_most_specific_enabled_site_counts(engine: Make) -> None:
    rules = (
        site(host="example.com", more="type=domain source=wide")
        + site(host="deep.example.com", more="type=domain source=deep")
        + site(host="www.deep.example.com", more="source=server")
        + site(host="off.deep.example.com", more="enable=false source=off")
    )
    made = engine(LINES, rules=rules)

    def source(host: str) -> str:
        ev = made.evaluation(Candidate(f"http://{host}/"))
        made.metadata(ev)
        return ev.source

    hosts = [
        "example.com",
        "a.example.com",
        "x.deep.example.com",
        "www.deep.example.com",
        "off.deep.example.com",
    ]
    assert [source(host) for host in hosts] == ["wide", "wide", "deep", "server", "deep"]
    assert source("notexample.com") == ""


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://www.example.com/", ""),
        ("http://www.example.com/", "protocol not allowed"),
        ("https://www.example.com:8443/", ""),
        ("https://www.example.com:9443/", "port not allowed"),
    ],
)
def test_protocol_and_port(engine: Make, url: str, reason: str) -> None:
    rules = site('Protocol allow="https"', 'Port allow="443, 8443"')
    verdict = before(engine(LINES, rules=rules), url)
    assert verdict.reason == reason
    if reason:
        assert (verdict.category, verdict.where) == (Exclusion.PROTOCOL_NOT_ALLOWED, "filterrules.conf:1")


def test_without_lists_http_and_https_on_any_port(engine: Make) -> None:
    made = engine(LINES, rules=site())
    assert before(made, "https://www.example.com:8443/").allowed
    assert before(made, "ftp://www.example.com/").reason == "protocol not allowed"


@pytest.mark.parametrize(
    ("more", "depth", "max_depth", "allowed"),
    [
        ("depth=2", 2, None, True),
        ("depth=2", 3, None, False),
        ("depth=2", 3, 5, True),
        ("depth=2", 1, 0, False),
        ("depth=-1", 9999, None, True),
        ("depth=0", 9999, -1, True),
        ("", 4, None, True),
        ("", 5, None, False),
    ],
)
def test_depth_of_the_starting_point_else_of_the_site_else_of_the_robot(
    engine: Make,
    more: str,
    depth: int,
    max_depth: int | None,
    allowed: bool,  # noqa: FBT001
) -> None:
    made = engine(LINES, rules=site(more=more), robot="depth=4")
    verdict = before(made, "http://www.example.com/", depth=depth, max_depth=max_depth)
    assert verdict.allowed is allowed
    if not allowed:
        assert verdict.category is Exclusion.DEPTH
        assert verdict.reason.startswith("depth")


RULES = """\
<Rule name="drafts" action=exclude>
Match src=path method=begins-with value="/drafts/"
Match src=path method=ends-with value=".draft" ignore-case=true
</Rule>
<Rule name="pdf" action=include>
Match src=type method=is value="application/pdf"
</Rule>
<Rule name="odd" action=exclude>
Match src=host method=contains value="ODD."
Match src=url method=regex value="[?&]print=1"
Match src=path method=is value="/exact"
Match src=protocol method=is value="gopher"
</Rule>
<Rule name="off" enable=false action=exclude>
Match src=path method=begins-with value="/"
</Rule>
<Rule name="films" action=exclude>
Match src="mime type" method="begins with" value="video/"
</Rule>
"""


@pytest.mark.parametrize(
    ("path", "rule", "line"),
    [
        ("/drafts/a", "drafts", 1),
        ("/Drafts/a", "", 0),
        ("/a.DRAFT", "drafts", 1),
        ("/a?x=2&print=1", "odd", 8),
        ("/exact", "odd", 8),
        ("/exactly", "", 0),
    ],
)
def test_rules_by_what_the_url_says(engine: Make, path: str, rule: str, line: int) -> None:
    rules = RULES + site('Use rule="drafts, odd, off, films"')
    verdict = before(engine(LINES, rules=rules), f"http://www.example.com{path}")
    if not rule:
        assert verdict.allowed
        return
    assert verdict.reason == f"filter rule {rule}"
    assert verdict.category is Exclusion.FILTER_RULES
    assert verdict.where == f"filterrules.conf:{line}"


def test_rules_by_host_ignore_case(engine: Make) -> None:
    made = engine(LINES, rules=RULES + site("Use rule=odd", host="example.com", more="type=domain"))
    assert not before(made, "http://odd.example.com/").allowed
    assert before(made, "http://even.example.com/").allowed


def test_rules_by_type_wait_for_the_type(engine: Make) -> None:
    made = engine(LINES, rules=RULES + site("Use rule=films"))
    assert before(made, "http://www.example.com/a").allowed
    assert after(made, "http://www.example.com/a", "Video/MP4; codecs=x").reason == "filter rule films"
    assert after(made, "http://www.example.com/a", "text/html").allowed


def test_the_first_matching_rule_decides(engine: Make) -> None:
    made = engine(LINES, rules=RULES + site("Use rule=pdf", "Use rule=drafts"))
    assert after(made, "http://www.example.com/a", "application/pdf").allowed
    assert after(made, "http://www.example.com/drafts/a", "application/pdf").reason == "filter rule drafts"
    swapped = engine(LINES.replace("MetaData", "Data"), rules=RULES + site("Use rule=pdf", "Use rule=drafts"))
    assert after(swapped, "http://www.example.com/drafts/a", "application/pdf").allowed


def test_an_include_rule_denies_what_it_does_not_match_once_it_can_tell(engine: Make) -> None:
    made = engine(LINES, rules=RULES + site("Use rule=pdf"))
    assert before(made, "http://www.example.com/a").allowed
    verdict = after(made, "http://www.example.com/a", "text/html")
    assert (verdict.reason, verdict.category) == ("no include rule matched", Exclusion.FILTER_RULES)
    by_path = RULES.replace(
        'src=type method=is value="application/pdf"', "src=path method=ends-with value=.pdf"
    )
    made = engine(LINES, rules=by_path + site("Use rule=pdf"))
    assert before(made, "http://www.example.com/a").reason == "no include rule matched"
    assert before(made, "http://www.example.com/a.pdf").allowed


def test_assigned_sources_are_what_the_rules_see(engine: Make) -> None:
    lines = LINES.replace(
        "MetaData fn=filterrules-process",
        "MetaData fn=assign-source dst=path value=/drafts/\nMetaData fn=filterrules-process",
    )
    made = engine(lines, rules=RULES + site("Use rule=drafts"))
    assert before(made, "http://www.example.com/a").reason == "filter rule drafts"


def test_sites_of_one_run_use_the_rules_for_new_sites() -> None:
    rules = RULES.replace('name="films"', 'name="films" new-sites=false')
    files = {
        "filter.conf": f'<Filter name="a">\n{LINES}\n</Filter>\n',
        "robot.conf": "enumeration-filter=a\ngeneration-filter=a\n",
        "filterrules.conf": rules,
        "mime.types": "text/html html\n",
    }
    loaded = load_bodies({name: text.encode() for name, text in files.items()})
    assert loaded.ok
    made = Engine(loaded.with_sites([Site.for_run("HTTP://www.example.com")]))
    (start,) = made.starting_points
    assert (start.url, start.depth, start.site, start.source) == (
        "http://www.example.com/",
        10,
        "www.example.com",
        "web",
    )
    assert before(made, "http://www.example.com/drafts/x").reason == "filter rule drafts"
    # An include rule among them is obeyed too.
    assert after(made, "http://www.example.com/x", "application/pdf").allowed
    assert after(made, "http://www.example.com/x", "video/mp4").reason == "no include rule matched"


def test_a_site_of_a_run_joins_the_enabled_site_of_the_same_host(engine: Make) -> None:
    rules = RULES + site(
        "Use rule=drafts",
        "Port allow=80",
        "Start url=http://www.example.com/ depth=3",
        more="source=intranet",
    )
    loaded = engine(LINES, rules=rules).configuration
    added = Site(
        "run", "www.example.com", ports=frozenset({8080}), starts=(Start("http://www.example.com:8080/b"),)
    )
    made = Engine(loaded.with_sites([added]))
    assert [(p.url, p.depth, p.source) for p in made.starting_points] == [
        ("http://www.example.com/", 3, "intranet"),
        ("http://www.example.com:8080/b", 10, "intranet"),
    ]
    assert before(made, "http://www.example.com:8080/b").allowed
    assert before(made, "http://www.example.com:8080/drafts/").reason == "filter rule drafts"
    assert before(made, "http://www.example.com:9090/").reason == "port not allowed"


def test_ipv6_and_international_hosts(engine: Make) -> None:
    made = engine(LINES, rules=site(host="[::1]") + site(host="bücher.example") + site(host="10.0.0.1:8080"))
    assert before(made, "http://[::1]:8080/").allowed
    assert before(made, "http://xn--bcher-kva.example/").allowed
    assert before(made, "http://10.0.0.1:8080/").allowed
    assert before(made, "http://10.0.0.1/").reason == "port not allowed"
