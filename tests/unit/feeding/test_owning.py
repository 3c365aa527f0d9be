"""Who owns a URL, and what goes wrong on purpose (GSA feeds specification, sections 8.2, 8.3, 10, 11)."""

from ingather.access import NOBODY
from ingather.app.access.accessing import HomeAccess
from ingather.feeds.receipts import UNCHANGED
from ingather.model.lifecycle import State
from ingather.testing.feeds import FeedRig, content, record


def test_gsa_T24_another_source_may_delete_with_a_warning(rig: FeedRig) -> None:
    url = "http://t24.test/a"
    rig.push(record(url, content("x")), datasource="t24a")
    told = rig.push(record(url, action="delete"), datasource="t24b")
    assert not rig.described(url)
    assert "belonged to t24a" in rig.records(told)[0]["note"]


def test_gsa_T25_the_last_content_source_owns(rig: FeedRig) -> None:
    url = "http://t25.test/a"
    rig.push(record(url, content("of a")), datasource="t25a", feedtype="full")
    told = rig.push(record(url, content("of b")), datasource="t25b")
    row = rig.row(url)
    assert row is not None
    assert (row.source, rig.text(url)) == ("t25b", "of b")
    assert "belongs to t25b now" in rig.records(told)[0]["note"]
    rig.push(datasource="t25a", feedtype="full")  # what another source owns is not left out
    assert rig.described(url)


def test_gsa_T26_a_web_feed_changes_no_metadata_of_a_content_feed(rig: FeedRig) -> None:
    url = "http://t26.test/a"
    rig.push(
        record(url, '<metadata><meta name="x" content="1"/></metadata>' + content("t")), datasource="t26"
    )
    told = rig.push(
        record(url, '<metadata><meta name="x" content="2"/></metadata>'),
        datasource="t26",
        feedtype="metadata-and-url",
    )
    assert rig.attributes(url)["x"] == ("1",)
    assert "not changed" in rig.records(told)[0]["note"]
    row = rig.row(url)
    assert row is not None
    assert row.state is State.DONE


def test_a_feed_of_the_wrong_type_is_mended_by_the_right_one(rig: FeedRig) -> None:
    url = "http://mended.test/a"
    rig.push(record(url), datasource="mended")
    told = rig.push(record(url), datasource="mended", feedtype="metadata-and-url")
    row = rig.row(url)
    assert row is not None
    assert row.state is State.WAITING
    assert "for the crawler now" in rig.records(told)[0]["note"]


def test_gsa_T27_a_url_that_no_rule_lets_in_is_dropped_with_a_line_in_the_log(rig: FeedRig) -> None:
    deep = "http://t27.test" + "/a" * 30
    told = rig.push(
        record(deep), record("http://t27.test/good"), datasource="t27", feedtype="metadata-and-url"
    )
    assert told["state"] == "completed with errors"
    first, second = rig.records(told)
    assert (first["state"], second["state"]) == ("rejected", "waiting for crawl")
    assert "Not match URL patterns, skipping record with URL" in first["log"]


def test_a_web_feed_lists_urls_and_a_content_feed_takes_them_over(rig: FeedRig) -> None:
    url = "http://listed.test/a"
    rig.push(record(url), datasource="web")
    assert rig.row(url).state is State.WAITING  # type: ignore[union-attr]
    rig.push(record(url, content("pushed")), datasource="listed")
    row = rig.row(url)
    assert row is not None
    assert (row.state, row.source, row.described) == (State.DONE, "listed", True)


def test_gsa_T28_crawl_immediately_fetches_a_known_url_again(rig: FeedRig) -> None:
    url = "http://t28.test/a"
    _fetched(rig, url, "t28")
    rig.push(record(url), datasource="t28", feedtype="metadata-and-url")
    assert rig.row(url).state is State.DONE  # type: ignore[union-attr] # fetched moments ago
    rig.clock.advance(100)
    told = rig.push(record(url, crawl_immediately="true"), datasource="t28", feedtype="metadata-and-url")
    row = rig.row(url)
    assert row is not None
    assert row.state is State.WAITING
    assert rig.records(told)[0]["state"] == "waiting for crawl"


def test_gsa_T29_crawl_once_is_never_due_again(rig: FeedRig) -> None:
    url = "http://t29.test/a"
    _fetched(rig, url, "t29", crawl_once="true")
    row = rig.row(url)
    assert row is not None
    assert (row.state, row.due_s) == (State.DONE, None)
    rig.clock.advance(90_000)
    rig.push(record(url, crawl_once="true"), datasource="t29", feedtype="metadata-and-url")
    assert rig.row(url).state is State.DONE  # type: ignore[union-attr]


def test_a_visit_that_was_under_way_does_not_overwrite_what_a_feed_brought(rig: FeedRig) -> None:
    url = "http://race.test/a"
    rig.push(record(url), datasource="race", feedtype="metadata-and-url")
    late = _visit(rig, url)
    rig.push(record(url, content("of the feed")), datasource="race")
    _settle(rig, *late)
    assert rig.text(url) == "of the feed"


def test_gsa_T38_an_explicit_empty_acl_lets_nobody_see(rig: FeedRig) -> None:
    url = "http://t38.test/a"
    rig.push(record(url, "<acl/>" + content("x")), datasource="t38")
    assert not rig.public(url)
    assert rig.chain(url) not in {None, NOBODY}  # a chain of its own, without entries


def test_gsa_T39_denials_are_split_and_kept_whole(rig: FeedRig) -> None:
    url = "http://t39.test/a"
    told = rig.push(
        record(
            url,
            '<metadata><meta name="google:acldenyusers" content="a,b"/>'
            '<meta name="google:aclusers" content="Smith, John"/></metadata>' + content("x"),
        ),
        datasource="t39",
    )
    assert not rig.public(url)
    assert "has a comma" in rig.records(told)[0]["note"]


def test_gsa_T40_an_authmethod_without_an_acl_hides(rig: FeedRig) -> None:
    url = "http://t40.test/a"
    rig.push(record(url, content("x"), authmethod="httpbasic"), datasource="t40")
    assert rig.hidden(url)
    rig.push(record(url, content("x"), authmethod="none"), datasource="t40")
    assert rig.public(url)


def test_gsa_T13_a_record_with_lost_denials_is_hidden(rig: FeedRig) -> None:
    url = "http://lost.test/a"
    rig.push(record(url, content("x")), datasource="lost")
    body_ = record(url, '<acl><principal scope="user" access="deny">M&uuml;ller</principal' + content("y"))
    told = rig.push(body_, datasource="lost")
    assert told["rejected"] == 1
    assert not rig.public(url)


def test_an_acl_of_its_own_is_put_and_deleted(rig: FeedRig) -> None:
    url = "http://free.test/a"
    rig.push(record(url, content("x")), datasource="free")
    acl = f'<acl url="{url}"><principal scope="user" access="permit">joe</principal></acl>'
    told = rig.push(acl, datasource="free")
    assert [r["action"] for r in rig.records(told)] == ["acl"]
    assert not rig.public(url)


def test_an_acl_in_a_record_and_one_of_its_own_are_noted_and_the_later_counts(rig: FeedRig) -> None:
    url = "http://twice.test/a"
    free = f'<acl url="{url}"><principal scope="user" access="permit">joe</principal></acl>'
    bound = record(url, '<acl><principal scope="user" access="permit">ann</principal></acl>' + content("x"))
    rig.push(bound, bound, datasource="twice")
    anns = rig.chain(url)
    rig.push(free, datasource="twice")
    joes = rig.chain(url)
    assert anns != joes
    for parts, chain in (((free, bound), anns), ((bound, free), joes)):
        first, second = rig.records(rig.push(*parts, datasource="twice"))
        assert first["note"] in {"", UNCHANGED}
        assert second["note"] == "this feed gave it an ACL in a record and one of its own: the later counts"
        assert rig.chain(url) == chain
    assert {r["note"] for r in rig.records(rig.push(bound, bound, datasource="twice"))} <= {"", UNCHANGED}


def test_two_acls_of_one_url_are_noted_in_batches_of_their_own_too(rig: FeedRig) -> None:
    """500 records are applied together; what a feed said before them stands in the catalog."""
    said = "this feed gave it an ACL in a record and one of its own: the later counts"
    both, alone = "http://far.test/both", "http://far.test/alone"
    joe = '<principal scope="user" access="permit">joe</principal>'
    free = f'<acl url="{both}">{joe}</acl>'
    bound = record(both, f'<acl><principal scope="user" access="permit">ann</principal></acl>{content("x")}')
    other = record(alone, content("y"))
    fill = [f'<acl url="http://far.test/fill/{n}">{joe}</acl>' for n in range(600)]
    parts = [
        free,
        other,
        *fill,
        bound,
        *fill,
        bound,
        *fill,
        free,
        *fill,
        f'<acl url="{alone}">{joe}</acl>',
        free,
    ]
    told = rig.push(*parts, datasource="far")
    assert (told["state"], told["applied"]) == ("completed", len(parts))
    records = rig.local.office.records(str(told["id"]), limit=10_000)
    notes = {r["n"]: r["note"] for r in records if r["note"] not in {"", UNCHANGED}}
    noted = list(notes)
    assert noted == [603, 1805]  # the record after the free one, and the other way round
    assert set(notes.values()) == {said}
    assert [r["note"] for r in rig.records(rig.push(bound, datasource="far"))] == [UNCHANGED]  # another feed


def test_gsa_13_acls_of_fragments_are_parents_and_nothing_to_fetch(rig: FeedRig) -> None:
    url = "http://adaptor.test/doc"
    joe = '<principal scope="user" access="permit">joe</principal>'
    acls = [
        f'<acl url="{url}?{name}" inheritance-type="child-overrides">{joe}</acl>'
        for name in ("generated", "b")
    ]
    own = f'<acl url="{url}" inherit-from="{url}?generated"/>'
    told = rig.push(*acls, own, record(url), datasource="adaptor", feedtype="metadata-and-url")
    assert [r["state"] for r in rig.records(told)][3] == "waiting for crawl"
    assert [rig.row(f"{url}?{name}") for name in ("generated", "b")] == [None, None]
    access = HomeAccess(rig.home)
    assert [access.explain(url, user)["permitted"] for user in ("joe", "ann")] == [True, False]


def test_gsa_T49_a_display_url_has_a_scheme_that_may_be_linked(rig: FeedRig) -> None:
    bad, good = "http://t49.test/bad", "http://t49.test/good"
    told = rig.push(
        record(bad, content("x"), displayurl="javascript:alert(1)"),
        record(good, content("y"), displayurl="https://show.test/good"),
        datasource="t49",
    )
    assert "display-url" not in rig.attributes(bad)
    said, nothing = (r["note"] for r in rig.records(told))
    assert said == "its display URL 'javascript:alert(1)' has a scheme that is not shown: its URL is"
    assert not nothing
    assert rig.attributes(good)["display-url"] == ("https://show.test/good",)


def test_what_an_operator_removed_no_feed_brings_back(rig: FeedRig) -> None:
    url = "http://removed.test/a"
    rig.push(record(url, content("x")), datasource="removed")
    writer = rig.local.writer
    from ingather.catalog.sqlite_apply import Applied

    writer.transaction(lambda w: w.deletions.remove(url, rig.clock.wall(), Applied(), exact=True))
    told = rig.push(record(url, content("again")), datasource="removed")
    assert told["state"] == "failed in error"
    assert "by hand" in rig.records(told)[0]["note"]
    assert not rig.described(url)


def _visit(rig: FeedRig, url: str) -> tuple[object, object]:
    """Return a visit of *url* as a gatherer would report it, with the row as it was claimed."""
    from hashlib import md5

    from ingather.model.report import Report

    known = rig.local.writer.feeds.row(url)
    assert known is not None
    row = known.row
    body = b"fetched"
    report = Report(
        id=row.id, outcome=0, status=200, at_s=rig.clock.wall(), version=1, described=True, title="Fetched",
        digest=md5(body, usedforsecurity=False).digest(), attributes=b"\x80", anchors=b"\x90", size=len(body),
    )  # fmt: skip
    return report, row


def _settle(rig: FeedRig, report: object, row: object) -> None:
    from ingather.catalog.sqlite_apply import Applied
    from ingather.robot.settling.settle import SettleRules, settle

    settled = settle(report, row, rules=SettleRules(), chance=0.5)  # type: ignore[arg-type]
    rig.local.writer.transaction(lambda w: w.applier.settle(settled, Applied()))


def _fetched(rig: FeedRig, url: str, datasource: str, **attributes: str) -> None:
    rig.push(record(url, **attributes), datasource=datasource, feedtype="metadata-and-url")
    _settle(rig, *_visit(rig, url))
