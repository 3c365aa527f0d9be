"""Where tokens, full feeds, ACLs that wait for a visit, cut links and taking over meet: none undoes what another promises."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replaced

from ingather.app.access.accessing import HomeAccess
from ingather.app.feeds.local import feed_home
from ingather.app.sourcerules import policies_of
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.sources.source import SourceConf
from ingather.feeds.authority import Grant
from ingather.feeds.senders import standard_grant
from ingather.testing.feedrobot import FeedRobot
from ingather.testing.feeds import FeedRig, content, record

LISTS = "metadata-and-url"
ALPHA = standard_grant("alpha")
HR = replaced(ALPHA, prefixes=("http://alpha.test/hr/",))
USERS = ("", "ann", "joe", "mallory")
LOST = record("{url}", '<acl><principal scope="user" access="deny">M&uuml;ller</principal')


def permits(*names: str) -> str:
    return "".join(f'<principal scope="user" access="permit">{name}</principal>' for name in names)


def acl(*names: str) -> str:
    return f"<acl>{permits(*names)}</acl>"


def free(url: str, *names: str) -> str:
    return f'<acl url="{url}">{permits(*names)}</acl>'


def who(rig: FeedRig, url: str) -> str:
    """Who of :data:`USERS` sees a document, as it is explained; what the index is told agrees in what everybody sees."""
    access = HomeAccess(rig.home)
    found = [user or "all" for user in USERS if access.explain(url, user)["permitted"]]
    if rig.described(url):
        assert ("all" in found) == rig.public(url)
    return "+".join(found) or "nobody"


def take_overs(rig: FeedRig) -> None:
    """Let alpha take what belongs to beta: both sides say so."""
    sources = {
        "alpha": SourceConf(name="alpha", takes_over=True),
        "beta": SourceConf(name="beta", taken_over=True),
    }
    policies = policies_of(rig.read.settings, sources, frozenset({"web"}))
    made = feed_home(rig.home, sources, lambda: pytest.fail("no worker is made"), policies)
    rig.local.feeding._home = replace(rig.local.feeding._home, policy=made.policy)


def crawled(rig: FeedRig, robot: FeedRobot, url: str) -> None:
    """Make *url* a document that a crawl found; its source is ``feed-web``."""
    rig.push(record(url), datasource="web")

    def forget(writer: CatalogWriter) -> None:
        found = writer.feeds.row(url)
        assert found is not None
        writer.feeds.unlist(found.row.id)

    rig.local.writer.transaction(forget)
    assert robot.visit(url)


# -- full feeds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grant", "refused"),
    [
        (HR, record("{url}", content("b"))),
        (HR, record("{url}", action="delete")),
        (replaced(ALPHA, acls=False), record("{url}", acl("ann") + content("b"))),
    ],
    ids=["prefix", "delete", "acls"],
)
def test_a_full_feed_does_not_leave_out_a_document_whose_record_was_refused(
    own: FeedRig, grant: Grant, refused: str
) -> None:
    kept, url = "http://alpha.test/hr/a", "http://alpha.test/old/b"
    own.push(record(kept, content("a")), record(url, acl("ann") + content("b")), datasource="alpha")
    told = own.push(
        record(kept, content("a")),
        refused.replace("{url}", url),
        datasource="alpha",
        feedtype="full",
        grant=grant,
    )
    assert [one["state"] for one in own.records(told)][1:] == ["rejected"]
    assert (own.described(url), who(own, url)) == (True, "ann")


def test_a_token_leaves_out_nothing_of_which_it_may_not_speak(own: FeedRig) -> None:
    """Prefixes and the right to ACLs bound what a full feed says by leaving out, for documents and for folders."""
    inside = [f"http://alpha.test/hr/{n}" for n in range(4)]
    outside, folder = [f"http://alpha.test/old/{n}" for n in range(4)], "http://alpha.test/hr/folder/"
    far = "http://alpha.test/old/"
    everything = [
        *(record(url, content("x")) for url in (*inside, *outside)),
        free(folder, "ann"),
        free(far, "ann"),
    ]
    own.push(*everything, datasource="alpha")
    no_lists = replaced(HR, acls=False)
    told = own.push(record(inside[0], content("x")), datasource="alpha", feedtype="full", grant=no_lists)
    assert [one["url"] for one in own.records(told) if one["action"] == "omitted"] == inside[1:]
    assert [own.described(url) for url in outside] == [True] * 4
    assert (who(own, folder), who(own, far)) == ("ann", "ann")
    own.push(record(inside[0], content("x")), datasource="alpha", feedtype="full", grant=HR)
    assert (who(own, folder), who(own, far)) == ("nobody", "ann")


# -- taking over with a token: never more open than what was said ---------------------------------


@pytest.mark.parametrize(
    "said",
    [
        (record("{url}", acl("joe")), LISTS, "joe"),
        (record("{url}", acl("joe")), "incremental", "joe"),
        (free("{url}", "joe"), "incremental", "joe"),
        (LOST, "incremental", "nobody"),
        (LOST, LISTS, "nobody"),
    ],
)
@pytest.mark.parametrize("kind", ["pushed", "listed"])
def test_an_acl_of_a_token_that_may_take_over_counts_for_what_it_is_given_to(
    own: FeedRig, robot: FeedRobot, said: tuple[str, str, str], kind: str
) -> None:
    statement, feedtype, then = said
    url = "http://beta.test/a"
    if kind == "pushed":
        own.push(record(url, acl("ann", "joe") + content("b")), datasource="beta")
    else:
        own.push(record(url, acl("ann", "joe")), datasource="beta", feedtype=LISTS)
        robot.visit(url)
    take_overs(own)
    for _ in range(2):
        own.push(statement.replace("{url}", url), datasource="alpha", feedtype=feedtype, grant=ALPHA)
        assert who(own, url) == then
    robot.visit(url)
    assert who(own, url) == then


def test_a_token_narrows_what_its_source_lists_of_a_site(own: FeedRig, robot: FeedRobot) -> None:
    """A trusted sender listed a page that a site gathers; the row stays the site's, and the ACL goes on counting."""
    url = "http://site.test/a"
    crawled(own, robot, url)
    own.push(record(url, acl("ann")), datasource="alpha", feedtype=LISTS)
    robot.visit(url)
    for inner, feedtype in ((acl("ann", "joe"), "incremental"), (acl("joe"), LISTS)):
        own.push(free(url, "joe"), datasource="alpha", grant=ALPHA)
        assert who(own, url) == "joe"
        own.push(record(url, inner), datasource="alpha", feedtype=feedtype, grant=ALPHA)
        robot.visit(url)
        assert "all" not in who(own, url)


def test_an_acl_of_a_token_goes_along_with_its_document(own: FeedRig, robot: FeedRobot) -> None:
    """A data source is deleted; what another lists, too, becomes its document, and no more open."""
    url = "http://heirs.test/a"
    own.push(record(url, acl("ann")), datasource="alpha", feedtype=LISTS, grant=ALPHA)
    robot.visit(url)
    own.push(record(url), datasource="gamma", feedtype=LISTS)
    own.push(record(url), datasource="alpha", feedtype=LISTS)
    robot.visit(url)

    def hand_over(writer: CatalogWriter) -> bool:
        found = writer.feeds.row(url)
        assert found is not None
        return writer.feeds.list_for_next(found.row.id, own=True, applied=Applied())

    assert own.local.writer.transaction(hand_over)
    row = own.row(url)
    assert row is not None
    assert (row.source, who(own, url)) == ("gamma", "ann")


# -- ACLs that wait for a visit -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "feedtype", "then"),
    [
        (record("{url}", acl("ann")), "incremental", "ann"),
        (
            record("{url}", '<metadata><meta name="google:aclusers" content="ann"/></metadata>'),
            "incremental",
            "ann",
        ),
        (LOST, "incremental", "nobody"),
        (LOST, LISTS, "nobody"),
    ],
)
def test_a_visit_does_not_undo_what_was_said_after_the_push_that_it_is_for(
    own: FeedRig, robot: FeedRobot, statement: str, feedtype: str, then: str
) -> None:
    url = "http://waits.test/a"
    own.push(record(url, acl("ann", "joe")), datasource="beta", feedtype=LISTS)
    robot.visit(url)
    own.push(record(url, acl("ann", "joe", "mallory")), datasource="beta", feedtype=LISTS)
    own.push(statement.replace("{url}", url), datasource="beta", feedtype=feedtype)
    assert who(own, url) == then
    assert robot.visit(url)
    assert who(own, url) == then


# -- URLs that links are cut from -----------------------------------------------------------------


@pytest.mark.parametrize("pushed", [["ann"], ["ann", "joe"]], ids=["one", "several that differ"])
@pytest.mark.parametrize("statement", [free("{url}", "mallory"), record("{url}", content("mine"))])
def test_what_pushed_urls_are_cut_to_belongs_to_who_pushed_them(
    own: FeedRig, pushed: list[str], statement: str
) -> None:
    """The ACL that a cut URL inherits is a source's like another: a token gives it none, neither does who takes nothing over."""
    short = "http://cut.test/view"
    own.push(
        *(record(f"{short}?sid={name}", acl(name)) for name in pushed), datasource="beta", feedtype=LISTS
    )
    before = own.local.writer.transaction(lambda writer: writer.access.chain_of(short))
    told = own.push(statement.replace("{url}", short), datasource="alpha", grant=ALPHA)
    assert [(one["state"], "it belongs to beta" in one["note"]) for one in own.records(told)] == [
        ("rejected", True)
    ]
    assert before is not None
    assert own.local.writer.transaction(lambda writer: writer.access.chain_of(short)) == before


@pytest.mark.parametrize(
    ("kind", "then"), [("", "nobody"), (' inheritance-type="child-overrides"', "ann")], ids=["leaf", "inherited"]
)  # fmt: skip
def test_what_links_are_cut_to_inherits_only_what_may_be_inherited(
    own: FeedRig, robot: FeedRobot, kind: str, then: str
) -> None:
    """The default type lets nobody inherit: the found document is hidden, never open, and the receipt says why."""
    short = "http://cut.test/view"
    given = free(f"{short}?sid=1", "ann").replace("<acl ", f"<acl{kind} ")
    page = f'<content><![CDATA[<a href="{short}?sid=7">b</a>]]></content>'
    told = own.push(given, record("http://cut.test/", page), datasource="beta")
    assert robot.visit(short)
    assert who(own, short) == then
    assert ("nobody sees that one" in own.records(told)[0]["note"]) == (then == "nobody")


@pytest.mark.parametrize("known", [False, True])
def test_links_of_others_do_not_lead_to_what_a_token_pushes(own: FeedRig, known: bool) -> None:  # noqa: FBT001 - a case
    short = "http://beta.test/view"
    page = f'<content><![CDATA[<a href="{short}?sid=7">b</a>]]></content>'
    if known:
        own.push(record(f"{short}?sid=9", content("x")), datasource="beta")
    own.push(record(f"{short}?sid=evil", content("x")), datasource="alpha", grant=ALPHA)
    own.push(record("http://beta.test/page", page), datasource="beta")
    assert (own.row(short) is None) == known
    named = replaced(ALPHA, prefixes=("http://alpha.test/",))
    own.push(record("http://alpha.test/view?sid=1", content("x")), datasource="alpha", grant=named)
    own.push(record("http://beta.test/other", page.replace("beta", "alpha")), datasource="beta")
    assert own.row("http://alpha.test/view") is None  # a prefix of the token names it


# -- what links lead to ---------------------------------------------------------------------------


@pytest.mark.parametrize("visited", [False, True])
@pytest.mark.parametrize("kind", ["content", "listed", "acl"])
def test_what_links_of_a_token_lead_to_keeps_no_other_token_out_of_its_prefixes(
    own: FeedRig,
    robot: FeedRobot,
    kind: str,
    visited: bool,  # noqa: FBT001 - a case
) -> None:
    """Two departments share a host; a page of one names a page of the other before that one pushes it."""
    url, page = "http://shared.test/finance/x", '<content><![CDATA[<a href="/finance/x">b</a>]]></content>'
    own.push(record("http://shared.test/hr/a", page), datasource="alpha", grant=ALPHA)
    if visited:
        assert robot.visit(url)
    free_hand = standard_grant("beta")
    named = replaced(free_hand, prefixes=("http://shared.test/finance/",))
    statement = {
        "content": record(url, acl("ann") + content("x")),
        "listed": record(url, acl("ann")),
        "acl": free(url, "ann"),
    }[kind]
    feedtype = LISTS if kind == "listed" else "incremental"
    told = own.push(statement, datasource="beta", feedtype=feedtype, grant=free_hand)
    assert ["it belongs to alpha" in one["note"] for one in own.records(told)] == [True]
    told = own.push(statement, datasource="beta", feedtype=feedtype, grant=named)
    assert told["rejected"] == 0
    robot.visit(url)
    if kind == "acl":
        for _ in range(2):
            own.push(free(url, "ann"), datasource="beta", grant=named)
            assert who(own, url) == "ann"
        own.push(record(url, content("x")), datasource="beta", grant=named)
    row = own.row(url)
    assert row is not None
    assert (row.source, who(own, url)) == ("beta", "ann")
    told = own.push(record(url, content("mine")), datasource="alpha", grant=ALPHA)
    assert ["it belongs to beta" in one["note"] for one in own.records(told)] == [True]


def test_what_a_site_gathers_yields_to_no_token(own: FeedRig) -> None:
    url, page = "http://shared.test/finance/x", '<content><![CDATA[<a href="/finance/x">b</a>]]></content>'
    own.push(record("http://shared.test/hr/a", page), datasource="alpha", grant=ALPHA)
    named = replaced(standard_grant("beta"), prefixes=("http://shared.test/finance/",))
    own.local.writer.transaction(
        lambda writer: setattr(writer.applier.names, "crawled", frozenset({"alpha"}))
    )
    told = own.push(record(url, content("x")), datasource="beta", grant=named)
    assert ["it belongs to alpha" in one["note"] for one in own.records(told)] == [True]
