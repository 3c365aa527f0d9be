"""What a token may say, statement by statement: everything else is a receipt with its reason and changes nothing."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replaced

from ingather.access import decide
from ingather.access.groups import expand
from ingather.app.access.accessing import HomeAccess
from ingather.app.feeds.local import feed_home
from ingather.app.feeds.office import again_job
from ingather.app.feeds.process import FeedProcess
from ingather.app.homeparts import database_of
from ingather.app.sourcerules import policies_of
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.access.sqlite_groups_reader import GroupReader as MembershipReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.sources.source import SourceConf
from ingather.explain.access_printing import explanation_text
from ingather.feeds.authority import FeedAuthority, Grant, UnauthorizedError
from ingather.feeds.desk import FeedKind
from ingather.feeds.senders import standard_grant
from ingather.model.acl import Principal, PrincipalScope
from ingather.robot.indexing.linkpass import link_pass
from ingather.testing.feeds import FeedRig, content, record

MALLORY = '<principal scope="user" access="permit">mallory</principal>'
JOE = '<principal scope="user" access="permit">joe</principal>'
HR = standard_grant("hr")
WEB = "metadata-and-url"


def sees(rig: FeedRig, url: str, who: str) -> bool:
    """Whether the user *who* sees a document, as its ACLs say."""
    reader = AccessReader(database_of(rig.home))
    try:
        chain = reader.chain_of(url)
    finally:
        reader.close()
    return rig.public(url) if not chain else decide(chain, Principal(PrincipalScope.USER, who), ()).permitted


def refused(rig: FeedRig, told: dict[str, Any], why: str) -> None:
    """See that every record of a feed was refused, and that each receipt says *why*."""
    receipts = rig.records(told)
    assert receipts
    assert [(one["state"], why in one["note"]) for one in receipts] == [("rejected", True)] * len(receipts)


@pytest.mark.parametrize("feedtype", ["incremental", "full", WEB])
@pytest.mark.parametrize(
    "statement",
    [
        record("{url}", content("mine now")),
        record("{url}", f"<acl>{MALLORY}</acl>" + content("mine now")),
        record("{url}", '<metadata><meta name="x" content="mine"/></metadata>'),
        record("{url}", '<metadata><meta name="google:aclusers" content="mallory"/></metadata>'),
        record("{url}", authmethod="httpbasic"),
        record("{url}", authmethod="none"),
        record("{url}", crawl_immediately="true"),
        record("{url}", action="delete"),
        record(
            "{url}", '<acl><principal scope="user" access="deny">M&uuml;ller</principal' + content("torn")
        ),
        f'<acl url="{{url}}">{MALLORY}</acl>',
        '<acl url="{url}"/>',
    ],
)
@pytest.mark.parametrize("owner", ["pushed", "listed", "crawled"])
def test_a_token_changes_nothing_of_what_belongs_to_another_source(
    rig: FeedRig, feedtype: str, statement: str, owner: str
) -> None:
    url = f"http://{owner}.of-others.test/{abs(hash((feedtype, statement)))}"
    theirs = f"theirs-{owner}"
    if owner == "pushed":
        rig.push(record(url, f"<acl>{JOE}</acl>" + content("theirs")), datasource=theirs)
    elif owner == "listed":
        rig.push(record(url, f"<acl>{JOE}</acl>"), datasource=theirs, feedtype=WEB)
    else:
        rig.push(record(url), datasource="web")  # as a crawl knows a page that it is to visit
        crawled(rig, url)
    before = look(rig, url)
    told = rig.push(statement.replace("{url}", url), datasource="hr", feedtype=feedtype, grant=HR)
    refused(rig, told, "it belongs to")
    assert look(rig, url) == before


def crawled(rig: FeedRig, url: str) -> None:
    """Make a URL that a feed listed one that a crawl found, and is to visit."""

    def forget(writer: CatalogWriter) -> None:
        found = writer.feeds.row(url)
        assert found is not None
        writer.feeds.unlist(found.row.id)

    rig.local.writer.transaction(forget)


def look(rig: FeedRig, url: str) -> tuple[Any, ...]:
    """Everything that matters of a URL."""
    row = rig.row(url)
    assert row is not None
    reader = AccessReader(database_of(rig.home))
    try:
        acls = reader.chain_of(url), reader.acl(url)
    finally:
        reader.close()
    fed = rig.local.writer.transaction(lambda w: w.feeds.row(url))
    assert fed is not None
    return (
        row.state,
        row.source,
        row.due_s,
        row.described,
        rig.text(url),
        rig.attributes(url),
        rig.chain(url),
        acls,
        fed.listing,
    )


def test_a_sender_that_is_trusted_by_its_address_keeps_its_rights(rig: FeedRig) -> None:
    url = "http://rights-kept.test/a"
    rig.push(record(url, content("x")), datasource="rights-a")
    rig.push(f'<acl url="{url}">{JOE}</acl>', datasource="rights-b")
    assert sees(rig, url, "joe")
    assert not sees(rig, url, "mallory")
    rig.push(record(url, action="delete"), datasource="rights-b")
    assert not rig.described(url)


@pytest.mark.parametrize(
    "statement", ['<acl url="{url}"/>', record("{url}", action="delete"), record("{url}", content("y"))]
)
@pytest.mark.parametrize("setting", ["taken_over", "takes_over"])
def test_settings_narrow_what_a_trusted_sender_may_say(
    rig: FeedRig, monkeypatch: pytest.MonkeyPatch, setting: str, statement: str
) -> None:
    url = f"http://narrowed.test/{setting}/{abs(hash(statement))}"
    settle(rig, monkeypatch, {f"n-a-{setting}": {"taken_over": False} if setting == "taken_over" else {},
                              f"n-b-{setting}": {"takes_over": False} if setting == "takes_over" else {}})  # fmt: skip
    rig.push(record(url, content(url)), datasource=f"n-a-{setting}")
    told = rig.push(statement.replace("{url}", url), datasource=f"n-b-{setting}")
    refused(rig, told, f"it belongs to n-a-{setting}")
    assert (rig.text(url), rig.public(url)) == (url, True)


def settle(rig: FeedRig, monkeypatch: pytest.MonkeyPatch, settings: dict[str, dict[str, Any]]) -> None:
    """Let sources have settings, until the test ends."""
    sources = {name: SourceConf(name=name, **given) for name, given in settings.items()}
    made = feed_home(
        rig.home,
        sources,
        lambda: pytest.fail("no worker is made"),
        policies_of(rig.read.settings, sources, frozenset({"web"})),
    )
    monkeypatch.setattr(rig.local.feeding, "_home", replace(rig.local.feeding._home, policy=made.policy))


def test_both_sides_may_allow_that_a_token_takes_over(rig: FeedRig, monkeypatch: pytest.MonkeyPatch) -> None:
    url, acl = "http://both-sides.test/a", "http://both-sides.test/b"
    both = {"both-hr": {"takes_over": True}, "both-beta": {"taken_over": True}}
    grant = standard_grant("both-hr")
    for one in (url, acl):
        rig.push(record(one, content("theirs")), datasource="both-beta")
    for one_side in ({"both-hr": {"takes_over": True}}, {"both-beta": {"taken_over": True}}):
        settle(rig, monkeypatch, one_side)
        refused(
            rig,
            rig.push(record(url, content("mine")), datasource="both-hr", grant=grant),
            "it belongs to both-beta",
        )
    settle(rig, monkeypatch, both)
    told = rig.push(
        record(url, content("mine")), f'<acl url="{acl}">{JOE}</acl>', datasource="both-hr", grant=grant
    )
    assert "belongs to both-hr now" in rig.records(told)[0]["note"]
    assert rig.text(url) == "mine"
    assert sees(rig, acl, "joe")
    assert not rig.public(acl)


@pytest.mark.parametrize("feedtype", ["incremental", WEB])
def test_a_token_speaks_below_its_prefixes_alone(rig: FeedRig, feedtype: str) -> None:
    place = f"http://prefix.{feedtype}.test"
    grant = replaced(standard_grant(f"prefix-{feedtype}"), prefixes=(f"{place}/hr",))
    inside, outside = f"{place}/hr/a", (f"{place}/hrx", f"{place}/", "http://prefix.test.evil/hr/a")
    told = rig.push(
        *(record(url, content("x")) for url in outside),
        *(record(url, action="delete") for url in outside),
        *(f'<acl url="{url}"/>' for url in outside),
        datasource=grant.token,
        feedtype=feedtype,
        grant=grant,
    )
    refused(rig, told, f"the token {grant.token} may not speak about this URL: it is for {place}/hr")
    assert [rig.row(url) for url in outside] == [None] * 3
    told = rig.push(
        record(inside, content("x")),
        record(f"{place}/hr?x=1", content("x")),
        datasource=grant.token,
        feedtype=feedtype,
        grant=grant,
    )
    assert told["rejected"] == 0


def test_a_token_without_the_right_to_access_lists_brings_none(rig: FeedRig) -> None:
    grant = replaced(standard_grant("no-lists"), acls=False)
    url = "http://no-lists.test/a"
    told = rig.push(
        record(url, f"<acl>{JOE}</acl>" + content("x")),
        f'<acl url="{url}">{JOE}</acl>',
        f'<acl url="{url}" action="delete"/>',
        record(url, '<metadata><meta name="google:aclusers" content="joe"/></metadata>' + content("x")),
        datasource="no-lists",
        grant=grant,
    )
    refused(rig, told, "may not write access lists")
    told = rig.push(record(url, content("x"), authmethod="httpbasic"), datasource="no-lists", grant=grant)
    assert told["rejected"] == 0
    assert rig.hidden(url)


def test_links_in_what_a_token_pushes_are_followed_below_its_prefixes_alone(rig: FeedRig) -> None:
    page = '<content><![CDATA[<a href="http://links-in.test/hr/b">b</a> <a href="http://links-out.test/c">c</a>]]></content>'
    grant = replaced(standard_grant("links-in"), prefixes=("http://links-in.test/hr/",))
    rig.push(
        record("http://links-in.test/hr/a", page, mimetype="text/html"), datasource="links-in", grant=grant
    )
    assert rig.row("http://links-in.test/hr/b") is not None
    assert rig.row("http://links-out.test/c") is None
    rig.push(record("http://links-free.test/a", page), datasource="links-free")
    assert rig.row("http://links-out.test/c") is not None


def test_an_acl_that_a_token_brought_early_is_none_of_another_source(rig: FeedRig) -> None:
    """A token names a URL before its owner does: what it said does not open the document, nor close it."""
    opened, closed, both = (f"http://early.test/{name}" for name in ("opened", "closed", "both"))
    early = standard_grant("early-hr")
    told = rig.push(
        *(f'<acl url="{url}">{MALLORY}</acl>' for url in (opened, closed, both)),
        datasource="early-hr",
        grant=early,
    )
    assert told["rejected"] == 0
    rig.push(
        record(opened, content("x"), authmethod="httpbasic"),
        record(closed, content("x")),
        record(both, f"<acl>{JOE}</acl>" + content("x")),
        datasource="early-beta",
    )
    assert rig.hidden(opened)
    assert rig.public(closed)
    assert (sees(rig, both, "mallory"), sees(rig, both, "joe")) == (False, True)
    own = "http://early.test/own"
    rig.push(f'<acl url="{own}">{JOE}</acl>', record(own, content("x")), datasource="early-hr", grant=early)
    assert (rig.public(own), sees(rig, own, "joe")) == (False, True)


def test_a_token_gives_no_acl_to_what_documents_of_others_inherit_from(rig: FeedRig) -> None:
    folder, url = "http://parents.test/folder/", "http://parents.test/folder/a"
    rig.push(
        record(url, f'<acl inherit-from="{folder}">{JOE}</acl>' + content("x")), datasource="parents-beta"
    )
    told = rig.push(
        f'<acl url="{folder}" inheritance-type="parent-overrides">{MALLORY}{JOE}</acl>',
        datasource="parents-hr",
        grant=standard_grant("parents-hr"),
    )
    refused(rig, told, "documents of other sources inherit from it")
    assert not sees(rig, url, "joe")  # the chain is broken, as it was
    rig.push(f'<acl url="{folder}" inheritance-type="child-overrides"/>', datasource="parents-beta")
    assert sees(rig, url, "joe")


def test_across_sources_both_acls_must_permit_unless_the_parents_source_allows(
    rig: FeedRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, mine, both = (f"http://across.test/{name}" for name in ("folder", "mine", "both"))
    grant = standard_grant("across-hr")
    rig.push(f'<acl url="{folder}" inheritance-type="child-overrides">{JOE}</acl>', datasource="across-beta")
    records = (
        record(mine, f'<acl inherit-from="{folder}">{MALLORY}</acl>' + content("x")),
        record(both, f'<acl inherit-from="{folder}">{MALLORY}{JOE}</acl>' + content("x")),
    )
    rig.push(*records, datasource="across-hr", grant=grant)
    assert [sees(rig, mine, who) for who in ("mallory", "joe")] == [False, False]
    assert [sees(rig, both, who) for who in ("mallory", "joe")] == [False, True]
    answer: Any = HomeAccess(rig.home).explain(both, "mallory")
    assert [acl["foreign"] for acl in answer["acls"]] == [True, False]
    assert "a token brought one of both: both must permit" in explanation_text(answer, "mallory")
    settle(rig, monkeypatch, {"across-beta": {"acls_inherited": True}})
    rig.push(f'<acl url="{folder}/x"/>', datasource="across-beta")
    assert [sees(rig, mine, who) for who in ("mallory", "joe")] == [True, True]
    assert [sees(rig, both, who) for who in ("mallory", "joe")] == [True, True]


def test_equal_contents_that_a_token_pushed_hide_nothing(rig: FeedRig) -> None:
    theirs, mine = "http://z-equal.test/long/way", "http://a.test/"
    rig.push(record(theirs, content("the very same")), datasource="equal-beta")
    rig.push(record(mine, content("the very same")), datasource="equal-hr", grant=standard_grant("equal-hr"))
    assert (rig.public(theirs), rig.public(mine)) == (True, True)
    rig.push(record("http://b.test/", content("the very same")), datasource="equal-trusted")
    assert not rig.public(theirs)  # a trusted sender's may, as ever


def membership(space: str, group: str) -> str:
    """Return what makes mallory a member of *group*."""
    key = f'<principal scope="GROUP" namespace="{space}">{group}</principal>'
    return f'<membership>{key}<members><principal scope="USER">mallory</principal></members></membership>'


def test_a_token_names_members_in_its_name_spaces_alone(rig: FeedRig) -> None:
    rows = (membership("Default", "beta"), membership("HR", "staff"), membership("", "x"))
    body = f"<xmlgroups>{''.join(rows)}</xmlgroups>".encode()
    grant = replaced(standard_grant("hr-groups"), namespaces=("hr",))
    told = rig.push(
        body=body, datasource="hr-groups", kind=FeedKind.GROUPS, groupsource="hr-groups", grant=grant
    )
    assert (told["state"], told["rejected"]) == ("completed with errors", 2)
    notes = [one["note"] for one in rig.records(told)]
    assert [("may not name members of groups in the name space 'Default'" in note) for note in notes] == [
        True,
        True,
    ]
    assert groups_of(rig, "mallory") == {("hr", "staff")}
    before = rig.push(body=body, datasource="hr-groups", kind=FeedKind.GROUPS, groupsource="hr-groups")
    assert (before["rejected"], len(groups_of(rig, "mallory"))) == (0, 3)  # the sender is trusted
    rig.push(
        body=body,
        datasource="hr-groups",
        feedtype="full",
        kind=FeedKind.GROUPS,
        groupsource="hr-groups",
        grant=grant,
    )
    assert groups_of(rig, "mallory") == {("hr", "staff")}  # what may not be said is not kept either


def groups_of(rig: FeedRig, who: str) -> set[tuple[str, str]]:
    """Return (name space, name) of the groups that a user is in."""
    reader = MembershipReader(database_of(rig.home))
    try:
        found = expand(reader, (Principal(PrincipalScope.USER, who),))
    finally:
        reader.close()
    return {(group.namespace.lower(), group.name) for group in found.groups}


def test_a_feed_keeps_what_its_sender_might_say_when_it_is_applied_again(rig: FeedRig) -> None:
    rig.push(record("http://again.test/a", content("theirs")), datasource="again-beta")
    told = rig.push(
        record("http://again.test/a", content("mine")),
        datasource="again-hr",
        grant=standard_grant("again-hr"),
    )
    assert told["grant"]["token"] == told["datasource"]
    rig.local.do(again_job([told["id"]]))
    rig.local.apply()
    assert rig.text("http://again.test/a") == "theirs"


@pytest.mark.parametrize(
    ("prefix", "url", "named"),
    [
        ("http://h/hr", "http://h/hr", True), ("http://h/hr", "http://h/hr/a", True), ("http://h/hr", "http://h/hr?a", True),
        ("http://h/hr", "http://h/hrx", False), ("http://h/", "http://h/a", True), ("http://h/", "http://h.evil/a", False),
        ("http://h/a?x=", "http://h/a?x=1", False), ("http://h/a?x=1", "http://h/a?x=1&y", True), ("http://h/", "https://h/", False),
    ],
)  # fmt: skip
def test_prefixes_end_where_names_end(prefix: str, url: str, named: bool) -> None:  # noqa: FBT001 - a case
    assert Grant("t", prefixes=(prefix,)).names(url) is named


@pytest.mark.parametrize("own", [None, True, False])
@pytest.mark.parametrize("theirs", [None, True, False])
@pytest.mark.parametrize("bounded", [True, False])
def test_who_may_take_what_belongs_to_others(own: bool | None, theirs: bool | None, bounded: bool) -> None:  # noqa: FBT001 - cells
    taken = {} if theirs is None else {"beta": theirs}
    authority = FeedAuthority(
        standard_grant("hr") if bounded else Grant(), "hr", takes_over=own, taken_over=taken
    )
    allowed = bool(own and theirs) if bounded else False not in (own, theirs)
    if allowed:
        authority.check_owner("Beta")
    else:
        with pytest.raises(UnauthorizedError, match="it belongs to Beta"):
            authority.check_owner("Beta")


# -- twins ------------------------------------------------------------------------------------------------

TWINS = 2_000
HOSTS = ("http://beta.test", "http://hr.test", "http://beta.test/folder", "http://crawled.test")


def statement(dice: random.Random) -> str:
    """Return something that a feed may say, of URLs of everybody."""
    url, parent = (
        f"{dice.choice(HOSTS)}/{dice.randrange(6)}{dice.choice(('', '', '?session_id=7', '?utm_source=x'))}"
        for _ in range(2)
    )
    entry = f'<principal scope="{dice.choice(("user", "group"))}" access="{dice.choice(("permit", "deny"))}">{dice.choice(("mallory", "joe", "staff"))}</principal>'
    kind = dice.choice(("leaf-node", "child-overrides", "parent-overrides", "and-both-permit"))
    inherits = dice.choice(("", f' inherit-from="{parent}"')) + dice.choice(
        ("", f' inheritance-type="{kind}"')
    )
    acl = dice.choice(("", f"<acl{inherits}>{entry}</acl>", "<acl/>"))
    text = dice.choice(
        (
            "",
            content(f"word{dice.randrange(4)}"),
            f'<content><![CDATA[<a href="{parent}">word3 {dice.random()}</a>]]></content>',
        )
    )
    metas = dice.choice(("", '<metadata><meta name="x" content="mallory"/></metadata>',
                         '<metadata><meta name="google:aclusers" content="mallory"/></metadata>'))  # fmt: skip
    given = dice.choice(
        (
            {},
            {"authmethod": "httpbasic"},
            {"authmethod": "none"},
            {"crawl_immediately": "true"},
            {"lock": "true"},
        )
    )
    return dice.choice((
        record(url, metas + acl + text, **given), record(url, metas + acl + text, **given), record(url, action="delete"),
        f'<acl url="{url}"{inherits}>{entry}</acl>', f'<acl url="{url}"/>', record(url, acl[:-7] + text),
    ))  # fmt: skip


def everything_of(rig: FeedRig, urls: Sequence[str]) -> list[Any]:
    """Return all that anybody finds of *urls*: owners, texts, attributes, who sees them, what is waited for, who links there."""
    reader = rig.reader()
    acls = AccessReader(database_of(rig.home))
    try:
        found: list[Any] = []
        for url in urls:
            row = reader.find(url)
            chain = acls.chain_of(url)
            seen = [
                decide(chain, Principal(PrincipalScope.USER, who), ()).permitted for who in ("mallory", "joe")
            ]
            of_row: tuple[Any, ...] = ()
            if row is not None and (
                row.described or row.source != HR.token
            ):  # else a link of hr's that leads nowhere
                shown = reader.shown_rows([row.id]).get(row.id)
                number = None if shown is None else min(shown.chain, 2)
                of_row = (row.source, row.state, row.due_s, row.described, number, reader.inlink(row.id))
            found.append((url, acls.acl(url), seen, rig.text(url), rig.attributes(url), of_row))
        return found
    finally:
        acls.close()
        reader.close()


def test_what_a_token_pushes_changes_nothing_of_what_is_found_of_others(tmp_path: Path) -> None:
    """2,000 random statements of a token: all that is known of the other sources stays what it was, after every feed."""
    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    dice = random.Random(17)  # noqa: S311 - the same statements each time
    beta = [
        record(f"http://beta.test/{n}", ("", f"<acl>{JOE}</acl>", f'<acl inherit-from="http://beta.test/folder/{n}">{JOE}</acl>')[n % 3] + content(f"word{n}"))
        for n in range(6)
    ]  # fmt: skip
    folders = [
        f'<acl url="http://beta.test/folder/{n}" inheritance-type="child-overrides">{JOE}</acl>' for n in (2,)
    ]
    rig.push(*beta, *folders, datasource="beta", grant=standard_grant("beta"))
    rig.push(*(record(f"http://crawled.test/{n}") for n in range(6)), datasource="web")
    for number in range(6):
        crawled(rig, f"http://crawled.test/{number}")
    others = [f"http://{place}/{n}" for place in ("beta.test", "crawled.test") for n in range(6)]
    others.append("http://beta.test/folder/2")
    before = everything_of(rig, others)
    assert all(of_row for *_, of_row in before[:-1])
    refusals = applied = 0
    try:
        for _ in range(TWINS // 50):
            feedtype = dice.choice(("incremental", "incremental", "full", WEB))
            told = rig.push(
                *(statement(dice) for _ in range(50)), datasource="hr", feedtype=feedtype, grant=HR
            )
            refusals, applied = refusals + told["rejected"], applied + told["applied"]
            link_pass_into(rig)
            assert everything_of(rig, others) == before
    finally:
        rig.close()
        process.stop()
    assert refusals > TWINS // 4
    assert applied > TWINS // 10


def link_pass_into(rig: FeedRig) -> None:
    """Count who links to whom, as the upkeep does when gathering is quiet."""
    reader = SqliteReader(database_of(rig.home), rig.home.bodies)
    try:
        found = link_pass(reader)
    finally:
        reader.close()
    rig.local.do(lambda writer, applied, _now: writer.registry.put_inlinks(found.changed, applied))
