"""Homes of earlier versions: what a section without a site had left out is let in again, once; twins of a name keep what they have."""

import apsw
import pytest

from ingather.app.homeparts import database_of
from ingather.model.lifecycle import State
from ingather.testing.feeds import FeedRig, content, record

LISTS = "metadata-and-url"
HOST = "http://dms.test"
PLACED = {  # path or URL to: state, category of the verdict, decided (of a tombstone)
    "/excluded": (1, "site not allowed", None), "/gone": (3, "site not allowed", 0), "/removed": (3, "site not allowed", 2),
    "/by-a-rule": (1, "filter rules", None), "/good": (2, "", None),
}  # fmt: skip


def alter(rig: FeedRig, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Change the catalog by hand while nobody has it, then open it as a start does."""
    rig.local.close()
    with apsw.Connection(str(database_of(rig.home))) as db:
        for sql, values in statements:
            db.execute(sql, values)
    db.close()
    rig.read = rig.home.settings(environment={})
    assert not rig.read.refused
    rig.local = rig._open()


def left_out(rig: FeedRig) -> None:
    """Put the URLs into the states that an earlier version left them in, without a memory of the repair, and start."""
    rows = {url: rig.row(url) for url in (f"{HOST}{path}" for path in (*PLACED, "/linked"))}
    rows["http://far.test/"] = rig.row("http://far.test/")
    statements: list[tuple[str, tuple[object, ...]]] = [
        (
            "insert or ignore into directive (id, version, place, category, reason) values (?, 1, 'filterrules.conf:1', ?, 'x')",
            one,
        )
        for one in ((901, "site not allowed"), (902, "filter rules"))
    ]
    for url, row in rows.items():
        assert row is not None, url
        state, category, decided = PLACED.get(url.removeprefix(HOST), (1, "site not allowed", None))
        verdict = {"site not allowed": 901, "filter rules": 902}.get(category)
        statements.append(("update url set state = ?, verdict = ? where id = ?", (state, verdict, row.id)))
        if decided is not None:
            statements.append(
                (
                    "insert into tombstone (id, at, reason, seq, source, decided, gone) values (?1, 1.0, 'x', 1, (select source from url where id = ?1), ?2, 0)",
                    (row.id, decided),
                )
            )
    alter(rig, *statements, ("delete from meta where name = 'pushed-reopened'", ()))


def states(rig: FeedRig) -> dict[str, State]:
    found = {}
    for url in (*(f"{HOST}{path}" for path in (*PLACED, "/linked")), "http://far.test/"):
        row = rig.row(url)
        assert row is not None
        found[url.removeprefix(HOST)] = row.state
    return found


def events(rig: FeedRig) -> list[str]:
    with apsw.Connection(str(database_of(rig.home)), flags=apsw.SQLITE_OPEN_READONLY) as db:
        found = [
            str(detail) for (detail,) in db.execute("select detail from event where kind = 'pushed-reopened'")
        ]
    db.close()
    return found


@pytest.fixture
def old(own: FeedRig) -> FeedRig:
    """A home in which a section was taken for a site."""
    with (own.home.path / "ingather.toml").open("a") as file:
        file.write("\n[source.Dms]\ndelay = '5s'\n")
    own.push(*(record(f"{HOST}{path}") for path in PLACED), datasource="dms", feedtype=LISTS)
    links = f'<a href="{HOST}/linked">own</a> <a href="http://far.test/">far</a>'
    own.push(record(f"{HOST}/page", content(links)), datasource="dms")
    for url in (f"{HOST}/linked", "http://far.test/"):
        if own.row(url) is None:  # what nobody let in has no row: an earlier version made one for it
            own.push(record(url), datasource="dms", feedtype=LISTS)
            row = own.row(url)
            assert row is not None
            alter(own, ("delete from fed where id = ?", (row.id,)))
    left_out(own)
    return own


def test_what_a_section_had_left_out_is_let_in_once(old: FeedRig) -> None:
    assert states(old) == {
        "/excluded": State.WAITING, "/gone": State.WAITING, "/removed": State.GONE, "/by-a-rule": State.EXCLUDED, "/good": State.DONE,
        "/linked": State.WAITING, "http://far.test/": State.EXCLUDED,
    }  # fmt: skip
    said = "pushed URLs are visited that were left out because their source has a section and no site: 3"
    assert events(old) == [said]
    row = old.row(f"{HOST}/excluded")
    assert row is not None
    again = ("update url set state = 1, verdict = 901 where id = ?", (row.id,))
    alter(old, again)  # later on it is what the rules say now, and stays so over every start
    assert states(old)["/excluded"] == State.EXCLUDED
    assert events(old) == [said]


def test_a_fresh_home_repairs_nothing(own: FeedRig) -> None:
    own.push(record(f"{HOST}/a"), datasource="dms", feedtype=LISTS)
    own.reopen()
    assert events(own) == []


@pytest.mark.parametrize("declared", ["sharepoint", "SharePoint", "SHAREPOINT"])
def test_sources_that_differ_in_case_alone_keep_their_documents_and_share_a_section(
    own: FeedRig, declared: str, capfd: pytest.CaptureFixture[str]
) -> None:
    own.push(record("http://one.test/a", content("walrus")), datasource="SharePoint")
    own.push(record("http://two.test/a", content("walrus two")), datasource="other")
    alter(own, ("update source set name = 'sharepoint' where name = 'other'", ()))
    urls = ("http://one.test/a", "http://two.test/a")
    assert [own.public(url) for url in urls] == [True, True]
    own.local.close()
    with (own.home.path / "ingather.toml").open("a") as file:
        file.write(f"\n[source.{declared}]\naccess = 'secure'\n")
    capfd.readouterr()
    own.read = own.home.settings(environment={})
    own.local = own._open()
    assert "differ in case alone" in "".join(capfd.readouterr())
    assert [own.public(url) for url in urls] == [False, False]
    assert [own.described(url) for url in urls] == [True, True]
    rows = [own.row(url) for url in urls]
    assert [row and row.source for row in rows] == ["SharePoint", "sharepoint"]
    # a push goes to the twin of its very name, in another case to one of both, and never makes a third
    for name in ("SharePoint", "sharepoint", "SHAREpoint"):
        own.push(record(f"http://new.test/{name}", content(f"walrus new {name}")), datasource=name)
    assert own.local.writer.applier.names.twins() == [["SharePoint", "sharepoint"]]
    for name in ("SharePoint", "sharepoint"):
        row = own.row(f"http://new.test/{name}")
        assert row is not None
        assert row.source == name
    assert not any(
        own.public(f"http://new.test/{name}") for name in ("SharePoint", "sharepoint", "SHAREpoint")
    )
