"""Sites are added, changed and taken out in place: everything else stays byte for byte."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.conf import Loaded, Site, load_bodies, shipped
from ingather.conf.sites.newsite import NewSite, with_site
from ingather.conf.sites.siteedit import SiteChange, changed_site, find_site, without_site
from ingather.errors import ConfigurationError, UsageError

SHIPPED = shipped()["filterrules.conf"].encode()
FILE = "filterrules.conf"
ODD = b"""\xef\xbb\xbf# ours\r
<Rule name="a, b" action=exclude>\r
Match src=path method=is value="/x"\r
</Rule>\r
\r
  <site  NAME='x' HOST="siroe.com" \\\r
     type=domain depth = "3"  > # the whole company\r
# begins here\r
\tstart url="http://siroe.com/" depth=2   # two\r
Protocol allow="http,\\\r
https"\r
Use rule="a, b"\r
</Site> # end\r
<Site name=two host=two.siroe.com>\r
</Site>\r
""".replace(b"NAME='x'", b"NAME=x")


def loaded(body: bytes) -> Loaded:
    return load_bodies({**{name: text.encode() for name, text in shipped().items()}, FILE: body})


def sites(body: bytes) -> dict[str, Site]:
    found = loaded(body)
    assert found.ok, found.diagnostics
    return {site.name: site for site in found.rules.sites}


def test_a_new_site_leaves_everything_else_as_it_was() -> None:
    made = with_site(SHIPPED, NewSite("intranet.corp.example", depth=4), file=FILE)
    site = sites(made)["intranet.corp.example"]
    assert (site.depth, [s.url for s in site.starts]) == (4, ["https://intranet.corp.example/"])
    rules = loaded(made).rules.rules
    assert site.use == tuple(rule.name for rule in rules if rule.enabled and rule.new_sites)
    asked = NewSite(
        "http://other.example:8080/start", name="other", domain=True, source="web", database="news", delay="2.5",
        connections=1, credentials="robot", starts=("https://www.other.example/",), rules=("Archive",),
    )  # fmt: skip
    other = sites(with_site(made, asked, file=FILE))["other"]
    assert (other.domain, other.database, other.delay_s, other.connections, other.credentials) == (
        True, "news", 2.5, 1, "robot",
    )  # fmt: skip
    assert other.ports == {80, 443, 8080}
    assert [s.url for s in other.starts] == ["http://other.example:8080/start", "https://www.other.example/"]
    assert other.use == ("Archive",)


@pytest.mark.parametrize("body", [SHIPPED, ODD, b"", b"# nothing", ODD.rstrip()], ids=range(5))
def test_what_is_added_and_taken_out_again_leaves_the_same_bytes(body: bytes) -> None:
    made = with_site(body, NewSite("new.example", rules=()), file=FILE)
    again = without_site(made, "new.example", file=FILE)
    end = (
        b"" if body.endswith(b"\n") or not body else again[-1:]
    )  # only a line end that was missing is there now
    assert again == body + (b"\r\n" if body == ODD.rstrip() else end)


@pytest.mark.parametrize(
    "where", ["intranet.example", "http://", "a b", "mailto:a@b.example", "http://intranet.example/x"]
)
def test_what_is_no_new_site(where: str) -> None:
    made = with_site(SHIPPED, NewSite("intranet.example"), file=FILE)
    with pytest.raises(UsageError):
        with_site(made, NewSite(where), file=FILE)


@pytest.mark.parametrize(
    "new",
    [
        NewSite("a.example", delay="soon"), NewSite("a.example", delay="-1"), NewSite("a.example", connections=0),
        NewSite("a.example", credentials="me:secret"), NewSite("a.example", rules=("no such",)),
        NewSite("a.example", ports=(0,)), NewSite("a.example", protocols=("gopher",)), NewSite("a.example", name="a\nb"),
        NewSite("a.example", starts=("nowhere",)), NewSite("a.example", depth=-2),
    ],
)  # fmt: skip
def test_a_new_site_with_a_wrong_part_is_refused(new: NewSite) -> None:
    with pytest.raises(UsageError) as refused:
        with_site(SHIPPED, new, file=FILE)
    assert "secret" not in str(refused.value)


def test_a_broken_rules_file_is_not_touched() -> None:
    broken = b"<Site name=a>\n"
    with pytest.raises(ConfigurationError):
        with_site(broken, NewSite("b.example"), file=FILE)
    with pytest.raises(ConfigurationError):
        without_site(broken, "a", file=FILE)
    with pytest.raises(ConfigurationError):
        changed_site(broken, "a", SiteChange(enable=False), file=FILE)


def test_a_file_site_has_no_ports() -> None:
    site = sites(with_site(b"", NewSite("file:///srv/docs/"), file=FILE))["files"]
    assert (site.host, list(site.protocols), list(site.ports)) == ("", ["file"], [])


def test_disabling_changes_one_word_and_enabling_gives_the_bytes_back() -> None:
    for name in ("x", "two"):
        off = changed_site(ODD, name, SiteChange(enable=False), file=FILE)
        assert [site.enabled for site in sites(off).values()].count(False) == 1
        assert off.replace(b" enable=false", b"") == ODD
        assert changed_site(off, name, SiteChange(enable=True), file=FILE) == ODD
        assert changed_site(off, name, SiteChange(enable=False), file=FILE) == off
    assert changed_site(ODD, "x", SiteChange(enable=True), file=FILE) == ODD


def test_a_change_of_everything_keeps_comments_and_line_ends() -> None:
    change = SiteChange(
        parameters={"delay": "2m", "depth": "5", "connections": "3", "credentials": "robot", "database": "news"},
        add_starts=("https://siroe.com/new",), remove_starts=("http://siroe.com/",), protocols=("http", "sftp"), ports=("22", "80"),
        rules=(),
    )  # fmt: skip
    made = changed_site(ODD, "x", change, file=FILE)
    site = sites(made)["x"]
    assert (site.delay_s, site.depth, site.connections, site.credentials, site.database) == (
        120.0, 5, 3, "robot", "news",
    )  # fmt: skip
    assert [s.url for s in site.starts] == ["https://siroe.com/new"]
    assert (set(site.protocols), set(site.ports), site.use or ()) == ({"http", "sftp"}, {22, 80}, ())
    assert b"# the whole company\r\n# begins here\r\n" in made
    assert b"\n" not in made.replace(b"\r\n", b"")
    cleared = changed_site(
        made, "x", SiteChange(parameters={"delay": "", "database": ""}, ports=()), file=FILE
    )
    site = sites(cleared)["x"]
    assert (site.delay_s, site.database, list(site.ports), site.depth) == (None, "", [], 5)


@pytest.mark.parametrize(
    "change",
    [
        SiteChange(parameters={"colour": "red"}), SiteChange(parameters={"host": ""}), SiteChange(parameters={"delay": "x"}),
        SiteChange(remove_starts=("http://elsewhere.example/",)), SiteChange(parameters={"name": "two"}), SiteChange(rules=("z",)),
    ],
)  # fmt: skip
def test_a_change_that_cannot_be_is_refused(change: SiteChange) -> None:
    with pytest.raises(UsageError):
        changed_site(ODD, "x", change, file=FILE)


def test_a_site_is_found_by_name_or_by_host() -> None:
    rules = loaded(ODD).rules
    assert find_site(rules, "siroe.com").name == "x"
    with pytest.raises(UsageError, match="did you mean two"):
        find_site(rules, "tow")
    both = loaded(with_site(ODD, NewSite("siroe.com", name="server"), file=FILE)).rules
    with pytest.raises(UsageError, match="several sites"):
        find_site(both, "siroe.com")


def test_pace_and_credentials_judge_no_url_another_way() -> None:
    assert SiteChange(
        parameters={"delay": "1", "credentials": ""}, add_starts=("http://a.example/",)
    ).judges_nothing
    for change in (
        SiteChange(enable=True),
        SiteChange(parameters={"depth": "1"}),
        SiteChange(parameters={"delay": "1"}, ports=()),
        SiteChange(rules=("r",)),
    ):
        assert not change.judges_nothing


def test_latin_1_stays_latin_1() -> None:
    body = b"# caf\xe9\n<Site name=a host=a.example>\n</Site>\n"
    assert changed_site(body, "a", SiteChange(enable=False), file=FILE).startswith(b"# caf\xe9\n")
    with pytest.raises(UsageError, match="Latin-1"):
        changed_site(body, "a", SiteChange(parameters={"name": "\u0416"}), file=FILE)


words = st.text("ab-.", min_size=1, max_size=6).map(lambda s: f"n{s}n")


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Rules files of a few sites, commented and spread out in the ways that people do."""

    def gap() -> Iterator[str]:
        for _ in range(draw(st.integers(0, 2))):
            yield draw(st.sampled_from(["", "# a remark", "   # indented"]))

    lines: list[str] = list(gap())
    for number in range(draw(st.integers(1, 3))):
        lead = draw(st.sampled_from(["", "  "]))
        more = draw(st.sampled_from(["", " enable=on", " delay=1", ' database="x"']))
        end = draw(st.sampled_from([">", " >", "> # why"]))
        lines += [
            f"{lead}<Site name=s{number} host={draw(words).strip('.')}{number}.example{more}{end}",
            *gap(),
        ]
        for line in draw(
            st.lists(
                st.sampled_from(['Start url="http://a.example/"', "Port allow=80 # one", "Use rule=r"]),
                unique=True,
            )
        ):
            lines += [lead + line, *gap()]
        lines += ["</Site>", *gap()]
    lines += ["<Rule name=r>", "Match src=path method=is value=/x", "</Rule>"]
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""]).encode()


@settings(max_examples=50)
@given(body=files(), data=st.data())
def test_whatever_a_file_looks_like_only_the_site_changes(body: bytes, data: st.DataObject) -> None:
    there = sites(body)
    name = data.draw(st.sampled_from(sorted(there)))
    change = SiteChange(
        enable=data.draw(st.sampled_from([None, True, False])),
        parameters=data.draw(
            st.sampled_from([{}, {"delay": "7"}, {"database": ""}, {"depth": "2", "source": "web"}])
        ),
        add_starts=data.draw(st.sampled_from([(), ("https://b.example/",)])),
        ports=data.draw(st.sampled_from([None, (), ("80", "8080")])),
        rules=data.draw(st.sampled_from([None, (), ("r",)])),
    )
    made = changed_site(body, name, change, file=FILE)
    after = sites(made)
    assert [n for n in after if n != name] == [n for n in there if n != name]
    if change.enable is not None:
        assert after[name].enabled is change.enable
    if change.ports is not None:
        assert after[name].ports == set(map(int, change.ports))
    if change.rules is not None:
        assert after[name].use == change.rules
    remarks = [line for line in body.splitlines() if line.strip().startswith(b"#")]
    assert [line for line in made.splitlines() if line.strip().startswith(b"#")] == remarks
    assert changed_site(made, name, SiteChange(), file=FILE) == made
    gone = without_site(body, name, file=FILE)
    assert list(sites(gone)) == [n for n in there if n != name]
