"""The plain functions of a probe: forms, schemes, names, certificates' names, ports, targets, the suggested site, robots.txt's lines."""

from hypothesis import given
from hypothesis import strategies as st

from ingather.app.siteprobe.certificate import matches
from ingather.app.siteprobe.forms import login_forms, schemes_of
from ingather.app.siteprobe.names import judge_names, twin_of
from ingather.app.siteprobe.ports import ports_to_try
from ingather.app.siteprobe.suggestion import suggest, understood
from ingather.app.siteprobe.targets import target_of_text, targets_of
from ingather.conf import Site, Start
from ingather.conf.report import Report
from ingather.conf.sites.rulesconf import parse_rules
from ingather.fetch.names import HostNames
from ingather.fetch.robots import parse

FORM = b"""<html><!-- <form action="/no"><input type=password name=x></form> -->
<FORM method='POST' action="/login?a=1&amp;b=2"><input type=hidden name=token value=1><INPUT name="user">
<input type="checkbox" name="stay"><input type=password name='pass'><input type=submit name=go></FORM>
<form action="/search"><input name=q></form>"""


def test_a_form_with_a_password_is_read_and_others_are_not() -> None:
    (form,) = login_forms(FORM, "https://a.test/x/")
    assert (form.action, form.method) == ("https://a.test/login?a=1&b=2", "post")
    assert (form.user, form.password, form.hidden) == ("user", "pass", ("token",))
    assert form.fields == ("token", "user", "stay", "pass", "go")


def test_a_password_without_a_form_counts_as_one() -> None:
    (form,) = login_forms(b"<input name=u><input type=password name=p>", "https://a.test/")
    assert (form.action, form.user, form.password) == ("https://a.test/", "u", "p")


@given(st.binary(max_size=400))
def test_any_bytes_have_forms_or_none(body: bytes) -> None:
    assert len(login_forms(body, "https://a.test/")) <= 5


def test_hostile_markup_is_read_in_linear_time() -> None:
    for piece in (b"<form", b"<form ", b'<input type="', b"<!--", b"<input a=", b"<form x='"):
        login_forms(piece * 20_000, "https://a.test/")  # a quadratic reading would take hours


def test_schemes_of_several_challenges() -> None:
    header = (
        'Negotiate, NTLM, Basic realm="The, house", charset="UTF-8", Digest realm="d", nonce="x=", qop="auth"'
    )
    assert [scheme for scheme, _ in schemes_of(header)] == ["Negotiate", "NTLM", "Basic", "Digest"]
    assert dict(schemes_of(header))["Basic"] == "The, house"
    assert schemes_of("") == ()


def test_names_of_a_certificate() -> None:
    names = ["a.test", "*.b.test", "10.0.0.1", "::1"]
    assert matches("A.test.", names)
    assert matches("x.b.test", names)
    assert matches("[::1]", names)
    assert matches("10.0.0.1", names)
    assert not any(matches(host, names) for host in ("b.test", "x.y.b.test", "10.0.0.2", "xa.test"))
    assert not matches("test", ["*.test"])


def test_the_other_spelling_of_a_name() -> None:
    assert twin_of("www.a.test") == "a.test"
    assert twin_of("a.test") == "www.a.test"
    assert twin_of("localhost") == twin_of("[::1]") == twin_of("10.0.0.1") == ""


def test_names_are_judged() -> None:
    gone = list(judge_names(HostNames("a.test", trouble="Name or service not known")))
    assert [one.level for one in gone] == ["problem"]
    names = HostNames("a.test", ("10.0.0.1", "10.0.0.2"), canonical="c.test", aliases=("c.test", "d.test"))
    said = [one.text for one in judge_names(names, HostNames("www.a.test", ("10.0.0.2",)))]
    assert "a.test is also called c.test, d.test" in said
    assert "www.a.test has an address in common with a.test" in said
    assert any(text.startswith("not public: 10.0.0.1") for text in said)


def test_ports_are_the_usual_ones_and_the_site_s_bounded() -> None:
    assert ports_to_try({8000}) == (80, 443, 8000, 8080, 8443)
    assert len(ports_to_try(range(1, 100))) == 8


def test_targets_are_hosts_urls_and_sites() -> None:
    sites = (
        Site("shop", "shop.test", starts=(Start("https://shop.test:8443/a"),), source="shop"),
        Site("all", "b.test", domain=True),
        Site("off", "off.test", enabled=False),
    )
    assert [target.asked for target in targets_of((), sites)] == ["shop", "off"]
    assert [target.asked for target in targets_of((), sites, domains=True)] == ["shop", "all", "off"]
    shop, host, below, plain = targets_of(("shop", "shop.test", "x.b.test", "c.test:8080"), sites)
    assert shop.roots == ("https://shop.test:8443/",)
    assert (shop.ports, shop.source) == (frozenset({8443}), "shop")
    assert (host.site, host.starts) == ("shop", ("https://shop.test:8443/a",))
    assert (below.site, below.host, below.domain) == ("all", "x.b.test", True)
    assert plain.roots == ("http://c.test:8080/",)
    assert target_of_text("c.test").roots == ("http://c.test/", "https://c.test/")
    assert target_of_text("https://c.test/x?y").starts == ("https://c.test/x?y",)
    assert [target_of_text(text).roots for text in ("ftp://c.test/", "a b", "", "http://")] == [()] * 4
    assert all(target_of_text(text).trouble for text in ("ftp://c.test/", "a b", "", "mailto:x"))


@given(
    st.from_regex(r"[a-z0-9]{1,10}(\.[a-z]{2,5}){0,2}", fullmatch=True),
    st.sets(st.integers(1, 65535), max_size=5),
    st.text(max_size=50),
)
def test_a_suggested_site_parses(host: str, ports: set[int], remark: str) -> None:
    target = target_of_text(f"{host}.test")
    text = suggest(target.roots[0], ports=ports, schemes={"https"}, remarks=(remark,))
    assert understood(text) == ""
    report = Report()
    (site,) = parse_rules(text, "x", report).sites
    assert (site.host, site.ports) == (target.host, frozenset({80, *ports}))
    assert site.starts[0].url == target.roots[0]


ROBOTS = b"""# ours
User-agent: *
Disallow: /all

User-agent: other
User-agent: ingather
Crawl-delay: 5
Disallow: /private
Sitemap: https://a.test/map.xml
Allow: /private/open

User-agent: third
Disallow: /
"""


def test_the_lines_of_robots_txt_that_concern_us() -> None:
    rules = parse(ROBOTS)
    assert [line.number for line in rules.concerning("ingather")] == [5, 6, 7, 8, 9, 10]
    assert [line.number for line in rules.concerning("somebody")] == [2, 3, 9]
    assert parse(b"").concerning("ingather") == ()


@given(
    st.lists(
        st.sampled_from(
            [
                "User-agent: a",
                "User-agent: *",
                "Disallow: /x",
                "Allow: /",
                "Crawl-delay: 3",
                "",
                "Sitemap: /m",
                "hm",
            ]
        ),
        max_size=12,
    )
)
def test_the_line_that_decides_is_among_those_that_concern_us(lines: list[str]) -> None:
    rules = parse("\n".join(lines).encode())
    verdict = rules.decide("a", "http://a.test/x")
    assert verdict.line in {0, *(line.number for line in rules.concerning("a"))}
