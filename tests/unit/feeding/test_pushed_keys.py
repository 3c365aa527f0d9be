"""A pushed URL is a key: all its parameters count, and links that are cut find it (GSA feeds specification, section 8.2)."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingather.app.feeds.local import LocalFeeds
from ingather.app.feeds.process import FeedProcess
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.operating import undelete_job
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.packing import unpack_keys
from ingather.model.lifecycle import State
from ingather.testing.feeds import FeedRig, content, record

FORMS = (
    "sid=1",
    "session_id=7",
    "CFID=3",
    "utm_source=mail",
    "PHPSESSID=0123456789abcdef0123456789abcdef",
    "gclid=x",
)


def _acl(name: str) -> str:
    return f'<acl><principal scope="user" access="permit">{name}</principal></acl>'


def _chain(rig: FeedRig, url: str) -> list[str]:
    """Return the URLs whose ACLs govern *url*, its own first."""
    with closing(AccessReader(database_of(rig.home))) as reader:
        return [acl.url for acl in reversed(reader.chain_of(url))]


def _links(rig: FeedRig, url: str) -> list[str]:
    """Return where the links of a page lead, as far as that is known."""
    rows = rig.local.writer.syndication.query(
        "select p.out from page p join url u on u.id = p.id join host h on h.id = u.host where h.origin || u.path = ?",
        (url,),
    )
    keys = unpack_keys(rows[0][0])
    found = [
        rig.local.writer.syndication.query(
            "select h.origin || u.path from url u join host h on h.id = u.host where u.key = ?", (key,)
        )
        for key in keys
    ]
    return [str(one[0][0]) for one in found if one]


@pytest.mark.parametrize("form", FORMS)
def test_gsa_8_2_a_session_or_campaign_parameter_of_a_pushed_url_is_kept(rig: FeedRig, form: str) -> None:
    host = form.partition("=")[0].lower().replace("_", "-")
    url = f"http://kept-{host}.test/view?{form}"
    told = rig.push(record(url, content("x")), datasource="kept")
    assert [one["url"] for one in rig.records(told)] == [url]
    assert rig.described(url)
    assert rig.row(f"http://kept-{host}.test/view") is None


def test_records_that_differ_by_a_session_alone_are_documents_with_rights_of_their_own(rig: FeedRig) -> None:
    base = "http://apart.test/view?"
    rig.push(
        record(f"{base}session_id=1", _acl("ann") + content("one")),
        record(f"{base}session_id=2", _acl("bob") + content("two")),
        record(f"{base}utm_id=7", content("seven")),
        datasource="apart",
    )
    assert [rig.text(f"{base}{form}") for form in ("session_id=1", "session_id=2", "utm_id=7")] == [
        "one",
        "two",
        "seven",
    ]
    assert rig.chain(f"{base}session_id=1") != rig.chain(f"{base}session_id=2")
    assert rig.public(f"{base}utm_id=7")
    rig.push(record(f"{base}session_id=1", action="delete"), datasource="apart")
    assert [rig.described(f"{base}{form}") for form in ("session_id=1", "session_id=2", "utm_id=7")] == [
        False,
        True,
        True,
    ]


def test_gsa_metadata_and_url_asks_for_what_was_named(rig: FeedRig) -> None:
    url = "http://asked.test/view?session_id=1&page=2;jsessionid=ABCDEF0123456789"
    rig.push(record(url), datasource="asked", feedtype="metadata-and-url")
    row = rig.row(url)
    assert row is not None
    assert row.state is State.WAITING
    assert rig.row("http://asked.test/view?page=2") is None


def test_acls_deletes_and_parents_speak_of_the_same_key(rig: FeedRig) -> None:
    url, folder = "http://same.test/view?session_id=1", "http://same.test/folder?sid=9"
    rig.push(
        f'<acl url="{folder}"><principal scope="user" access="permit">ann</principal></acl>',
        f'<acl url="{url}" inherit-from="{folder}"/>',
        record(url, content("x")),
        datasource="same",
    )
    assert _chain(rig, url) == [url, folder]
    told = rig.push(f'<acl url="{url}" action="delete"/>', datasource="same")
    assert rig.records(told)[0]["note"] == ""


def test_a_parent_in_a_meta_keeps_its_parameters(rig: FeedRig) -> None:
    url, folder = "http://meta.test/a", "http://meta.test/folder?sid=9"
    meta = f'<metadata><meta name="google:aclinheritfrom" content="{folder}"/></metadata>'
    rig.push(record(url, meta + content("x")), datasource="meta")
    with closing(AccessReader(database_of(rig.home))) as reader:
        assert reader.chain_of(url)[0].inherit_from == folder


# -- links that we find ---------------------------------------------------------------------------


def _page(*hrefs: str) -> str:
    return content(" ".join(f'<a href="{href}">to it</a>' for href in hrefs))


@pytest.mark.parametrize(
    "href", ["/view?sid=abcdef1234567", "/view", "/view?session_id=1", "/view?utm_source=x"]
)
def test_a_link_that_differs_by_cut_parameters_alone_means_what_was_pushed(rig: FeedRig, href: str) -> None:
    host = f"http://link{len(href)}.test"
    rig.push(record(f"{host}/view?utm_source=feed", content("x")), datasource="links")
    rig.push(record(f"{host}/", _page(href)), datasource="links")
    assert rig.row(f"{host}/view") is None
    assert rig.row(f"{host}{href}") is None
    assert _links(rig, f"{host}/") == [f"{host}/view?utm_source=feed"]


def test_of_several_pushed_urls_a_link_means_the_one_it_spells_else_the_first(rig: FeedRig) -> None:
    host = "http://several.test"
    urls = [f"{host}/view?utm_source={name}" for name in ("one", "two", "three")]
    rig.push(*(record(url, content(url[-3:])) for url in urls), datasource="several")
    rig.push(
        record(f"{host}/a", _page("/view?utm_source=two")),
        record(f"{host}/b", _page("/view?utm_source=other")),
        datasource="several",
    )
    assert rig.row(f"{host}/view") is None
    assert rig.row(f"{host}/view?utm_source=other") is None
    assert _links(rig, f"{host}/b") == urls[:1]


def test_a_url_that_is_pushed_without_parameters_too_is_what_links_to_it_mean(rig: FeedRig) -> None:
    host = "http://both.test"
    rig.push(
        record(f"{host}/view?utm_source=x", content("with")),
        record(f"{host}/view", content("without")),
        datasource="both",
    )
    rig.push(record(f"{host}/", _page("/view")), datasource="both")
    assert (rig.text(f"{host}/view"), rig.text(f"{host}/view?utm_source=x")) == ("without", "with")
    assert _links(rig, f"{host}/") == [f"{host}/view"]


def test_what_was_found_before_it_was_pushed_goes(rig: FeedRig) -> None:
    host = "http://found.test"
    rig.push(record(f"{host}/", _page("/view?utm_source=x")), datasource="found")
    assert rig.row(f"{host}/view") is not None
    told = rig.push(record(f"{host}/view?utm_source=x", _acl("ann") + content("x")), datasource="found")
    gone = rig.row(f"{host}/view")
    assert gone is not None
    assert gone.state is State.GONE
    assert f"found as {host}/view" in rig.records(told)[0]["note"]


def test_once_nobody_pushes_it_links_lead_where_they_did(rig: FeedRig) -> None:
    host = "http://freed.test"
    rig.push(record(f"{host}/view?utm_source=x", content("x")), datasource="freed")
    rig.push(record(f"{host}/view?utm_source=x", action="delete"), datasource="freed")
    rig.push(record(f"{host}/", _page("/view?utm_source=y")), datasource="freed")
    row = rig.row(f"{host}/view")
    assert row is not None
    assert row.state is State.WAITING


def test_an_acl_of_a_url_that_only_links_lead_to_counts_for_what_they_lead_to(rig: FeedRig) -> None:
    host = "http://acl-only.test"
    rig.push(
        f'<acl url="{host}/view?utm_source=x"><principal scope="user" access="permit">ann</principal></acl>',
        record(f"{host}/", _page("/view?utm_source=x")),
        datasource="acl-only",
    )
    assert _chain(rig, f"{host}/view") == [
        f"{host}/view",
        f"{host}/view?utm_source=x",
    ]


def test_acls_that_differ_and_meet_in_one_found_url_show_it_to_nobody(rig: FeedRig) -> None:
    host = "http://acl-two.test"
    told = rig.push(
        *(
            f'<acl url="{host}/view?utm_source={name}"><principal scope="user" access="permit">{name}</principal></acl>'
            for name in ("ann", "bob")
        ),
        datasource="acl-two",
    )
    assert "nobody sees that one" in rig.records(told)[1]["note"]
    with closing(AccessReader(database_of(rig.home))) as reader:
        assert reader.chain_of(f"{host}/view")[0].problem


# -- homes of earlier releases ------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Iterator[FeedRig]:
    """A home in which ``/view`` is the key that an earlier release cut from ``/view?sid=...``."""
    process = FeedProcess()
    made = FeedRig(tmp_path / "home", process)
    made.push(
        record(f"{OLD}/view", _acl("ann") + content("old")),
        record(f"{OLD}/other", content("o")),
        datasource="old",
    )
    made.local.writer.transaction(
        lambda w: w.syndication.query("update meta set value = 1000000 where name in ('short-feed')")
    )
    made.local.writer.transaction(
        lambda w: w.syndication.query("update meta set value = 9e12 where name in ('short-until')")
    )
    made.reopen()
    yield made
    made.close()
    process.stop()


OLD = "http://old.test"
URL = f"{OLD}/view?utm_source=x"


def test_the_next_push_puts_the_right_document_in_place_of_the_cut_one(old: FeedRig) -> None:
    told = old.push(record(URL, _acl("bob") + content("new")), datasource="old")
    assert not old.described(f"{OLD}/view")
    assert old.text(URL) == "new"
    assert "kept by an earlier release as" in old.records(told)[0]["note"]
    assert old.described(f"{OLD}/other")


def test_a_delete_or_a_change_without_content_means_the_cut_document(old: FeedRig) -> None:
    meta = '<metadata><meta name="colour" content="red"/></metadata>'
    told = old.push(record(URL, meta), datasource="old")
    assert old.attributes(f"{OLD}/view")["colour"] == ("red",)
    assert "an earlier release keeps it as" in old.records(told)[0]["note"]
    assert old.row(URL) is None
    old.push(record(URL, action="delete"), datasource="old")
    assert not old.described(f"{OLD}/view")


def test_a_narrower_acl_acts_on_the_cut_document_at_once(old: FeedRig) -> None:
    old.push(
        f'<acl url="{URL}"><principal scope="user" access="permit">bob</principal></acl>', datasource="old"
    )
    assert _chain(old, f"{OLD}/view") == [f"{OLD}/view", URL]


def test_another_data_source_changes_nothing_of_a_cut_document(old: FeedRig) -> None:
    before = old.chain(f"{OLD}/view")
    old.push(record(URL, action="delete"), datasource="stranger")
    assert old.described(f"{OLD}/view")
    assert old.chain(f"{OLD}/view") == before


# -- two spellings of one key -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://meet1.test/a#one", "http://meet1.test/a#two"),
        ("http://meet2.test:80/a", "http://meet2.test/a"),
        ("http://meet3.test/a", "http://MEET3.test/a"),
        ("http://meet4.test/a/../b", "http://meet4.test/b"),
        ("gc://Meet5/a#x", "gc://meet5/a"),
    ],
    ids=["fragment", "port", "case-of-host", "dots", "connector"],
)
@pytest.mark.parametrize("apart", [0, 600], ids=["one-batch", "batches"])
def test_both_receipts_tell_of_two_spellings_of_one_url(
    rig: FeedRig, one: str, other: str, apart: int
) -> None:
    one, other = (url.replace(".test", f"-{apart}.test") for url in (one, other))
    between = [record(f"http://between.test/{number}") for number in range(apart)]
    told = rig.push(record(one, content("one")), *between, record(other, content("two")), datasource="meet")
    receipts = {receipt["n"]: receipt["note"] for receipt in rig.records(told)}
    last = apart + 2
    receipts[last] = rig.local.office.records(str(told["id"]), after=last - 1)[0]["note"]
    assert f"record {last} of this feed, {other}, is kept as the same URL" in receipts[1]
    assert f"record 1 of this feed, {one}, is kept as the same URL" in receipts[last]


def test_one_spelling_twice_is_no_news(rig: FeedRig) -> None:
    url = "http://TWICE.test/a#b"
    told = rig.push(record(url, content("one")), record(url, content("two")), datasource="twice")
    assert [receipt["note"] for receipt in rig.records(told)] == ["", ""]


# -- what a person types ---------------------------------------------------------------------------------


def test_a_person_names_a_pushed_url_whole_or_as_links_are_cut(rig: FeedRig) -> None:
    url = "http://typed.test/view?utm_source=x"
    rig.push(record(url, content("x")), datasource="typed")
    with closing(rig.reader()) as reader:
        assert reader.meant(url) == reader.meant("http://typed.test/view") == url
        assert reader.meant("http://typed.test/unknown?utm_source=x") == "http://typed.test/unknown"
    assert rig.remove(url)["target"] == url
    assert not rig.described(url)
    told = rig.push(record(url, content("y")), datasource="typed")
    assert rig.records(told)[0]["state"] == "rejected"
    assert rig.local.do(undelete_job(url))["restored"] == 1
    assert rig.described(url)


def test_what_a_person_removed_as_links_are_cut_no_push_brings_back(rig: FeedRig) -> None:
    rig.remove("http://typed2.test/view")
    told = rig.push(record("http://typed2.test/view?utm_source=x", content("x")), datasource="typed")
    assert rig.records(told)[0]["state"] == "rejected"


def test_where_a_listed_url_may_redirect_to_its_cut_form_that_is_seen_by_the_same(rig: FeedRig) -> None:
    url = "http://sent.test/view?utm_source=x"
    rig.push(record(url, _acl("ann")), datasource="sent", feedtype="metadata-and-url")
    assert _chain(rig, "http://sent.test/view") == ["http://sent.test/view", url]


def test_a_home_whose_setting_changes_finds_pushed_urls_by_the_new_list(tmp_path: Path) -> None:
    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    url = "http://setting.test/view?own=1"
    rig.push(record(url, content("x")), datasource="setting")
    with closing(rig.reader()) as reader:
        assert reader.meant("http://setting.test/view") == "http://setting.test/view"
    rig.close()
    process.stop()
    Home(tmp_path / "home").path.joinpath("ingather.toml").write_text('[urls]\ndrop-parameters = ["own"]\n')
    again = Home(tmp_path / "home")
    read = again.settings(environment={})
    local = LocalFeeds(again, read.settings, read.sources)
    with closing(rig.reader()) as reader:
        assert reader.meant("http://setting.test/view") == url
    local.close()


def test_a_denial_that_is_lost_hides_the_cut_document_too(old: FeedRig) -> None:
    """An ACL that cannot be read comes without content: the document that earlier releases kept is what it denies."""
    broken = '<acl><principal scope="nobody-knows" access="deny">eve</principal></acl>'
    old.push(record(URL, broken), datasource="old")
    with closing(AccessReader(database_of(old.home))) as reader:
        assert reader.chain_of(f"{OLD}/view")[-1].problem


def test_a_full_feed_with_the_new_keys_leaves_no_cut_document(old: FeedRig) -> None:
    pages = [record(URL, _acl("bob") + content("new")), record(f"{OLD}/other", content("o"))]
    old.push(*pages, datasource="old", feedtype="full")
    assert [old.described(url) for url in (URL, f"{OLD}/other", f"{OLD}/view")] == [True, True, False]
