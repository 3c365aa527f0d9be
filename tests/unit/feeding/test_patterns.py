"""URL patterns and fed URLs (GSA feeds specification, section 8.4)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ingather.app.blueprint import Blueprint
from ingather.app.explaining import explainer_of
from ingather.app.feeds.order import FeedOrder
from ingather.app.feeds.process import FeedProcess
from ingather.app.homeparts import load_checked
from ingather.app.versions import packed
from ingather.feeds.prepared import FeedBatch
from ingather.model.lifecycle import State
from ingather.testing.feeds import FeedRig, content, record


def lists(rig: FeedRig, **texts: str) -> None:
    for name, text in texts.items():
        (rig.home.config / f"{name}.txt").write_text(text)
    rig.reopen()


def test_gsa_T27_a_url_outside_follow_is_dropped_with_a_line_in_the_log(rig: FeedRig) -> None:
    lists(rig, follow="good.test/\n")
    told = rig.push(
        record("http://t27.bad.test.other/"), record("http://good.test/a"), datasource="t27p", feedtype="metadata-and-url"
    )  # fmt: skip
    first, second = rig.records(told)
    assert (first["state"], second["state"]) == ("rejected", "waiting for crawl")
    wanted = "ProcessNode: Not match URL patterns, skipping record with URL http://t27.bad.test.other/"
    assert wanted in first["log"]
    assert "(follow.txt)" in first["log"]
    assert rig.row("http://t27.bad.test.other/") is None


def test_content_is_exempt_from_follow_and_do_not_follow_takes_a_document_away(rig: FeedRig) -> None:
    lists(rig, follow="good.test/\n", donotfollow="/secret/\n")
    url, secret = "googleconnector://p.localhost/doc?docid=1", "googleconnector://p.localhost/secret/1"
    told = rig.push(record(url, content("open")), record(secret, content("closed")), datasource="p")
    assert [receipt["state"] for receipt in rig.records(told)][1] == "rejected"
    assert "(donotfollow.txt:1)" in rig.records(told)[1]["log"]
    assert (rig.described(url), rig.described(secret)) == (True, False)
    lists(rig, donotfollow="/secret/\ncontains:docid\n")
    rig.push(record(url, content("newer")), datasource="p")
    assert not rig.described(url)
    row = rig.row(url)
    assert row is not None
    assert row.state is State.GONE


def test_gsa_T27_content_outside_follow_is_dropped_where_the_switch_says_so(tmp_path: Path) -> None:
    """The default exempts content (section 8.4, recommendation); ``feeds.follow-patterns`` and a source's own bind it."""
    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    known, outside, inside = (f"http://{name}.test/1" for name in ("known.other", "outside.other", "good"))
    try:
        lists(rig, follow="good.test/\n")
        rig.push(record(known, content("as it was")), datasource="bound")
        settings = rig.home.path / "ingather.toml"
        before = settings.read_text().replace("[feeds]\n", "[feeds]\nfollow-patterns = true\n")
        settings.write_text(f"{before}\n[source.free]\nfollow-patterns = false\n")
        rig.read = rig.home.settings(environment={})
        rig.reopen()
        told = rig.push(
            *(record(url, content("new")) for url in (known, outside, inside)), datasource="bound"
        )
        receipts = rig.records(told)
        assert [receipt["state"] for receipt in receipts] == ["rejected", "rejected", "applied"]
        assert (
            "Not match URL patterns, skipping record with URL http://outside.other.test/1"
            in receipts[1]["log"]
        )
        assert "no Follow pattern matches it (follow.txt)" in receipts[1]["log"]
        assert rig.described(known)
        assert rig.text(known) == "as it was"
        rig.push(record(outside, content("free")), datasource="free")
        assert rig.text(outside) == "free"
        explained = explainer_of(rig.home, rig.read.settings, rig.read.sources).explain(known)
        assert "no Follow pattern matches it" in str(explained)
    finally:
        rig.close()
        process.stop()


def test_a_new_do_not_follow_line_takes_pushed_documents_away_at_once(rig: FeedRig) -> None:
    urls = [f"http://line.test/{'secret' if n == 3 else 'open'}/{n}" for n in range(12)]
    lists(rig, follow="", donotfollow="")
    rig.push(*(record(url, content(f"text {url}")) for url in urls), datasource="line")
    assert rig.described(urls[3])
    lists(rig, follow="", donotfollow="line.test/secret/\n")
    assert [rig.described(url) for url in urls] == [n != 3 for n in range(12)]
    lists(rig, follow="", donotfollow="")
    rig.push(record(urls[3], content("again")), datasource="line")
    assert rig.described(urls[3])


def test_a_careless_do_not_follow_line_is_held(rig: FeedRig) -> None:
    urls = [f"http://careless.test/{n}" for n in range(12)]
    lists(rig, follow="", donotfollow="")
    rig.push(*(record(url, content(f"text {url}")) for url in urls), datasource="careless")
    lists(rig, follow="", donotfollow="careless.test/\n")
    assert all(rig.described(url) for url in urls)
    (hold,) = [
        h for h in rig.local.writer.transaction(lambda w: w.deletions.holds()) if h.source == "careless"
    ]
    assert (hold.reason, hold.urls) == ("the rules exclude it now", 12)


class Between(FeedProcess):
    """A worker, and something that happens once behind its next answer."""

    then: Callable[[], None] | None = None

    def ask(self, order: FeedOrder, blueprint: Blueprint, *, newest_segment: int) -> FeedBatch:
        batch = super().ask(order, blueprint, newest_segment=newest_segment)
        then, self.then = self.then, None
        if then is not None:
            then()
        return batch


def test_a_batch_that_was_read_under_other_patterns_is_read_again(tmp_path: Path) -> None:
    """Patterns come into force between the reading of a batch and its transaction."""
    process = Between()
    rig = FeedRig(tmp_path / "home", process)
    urls = [f"http://between.test/{'secret' if n == 1 else 'open'}/{n}" for n in range(3)]

    def publish() -> None:
        (rig.home.config / "donotfollow.txt").write_text("between.test/secret/\n")
        loaded = load_checked(rig.home)
        version = rig.local.writer.transaction(
            lambda w: w.registry.versions.publish(loaded.digest, packed(loaded.bodies), 1.0)
        )
        before = rig.local._blueprint  # what a running keeper does when it takes a configuration over
        rig.local._blueprint = replace(before, version=version, files=dict(loaded.bodies))

    process.then = publish
    try:
        told = rig.push(*(record(url, content(f"text {url}")) for url in urls), datasource="between")
        assert [rig.described(url) for url in urls] == [True, False, True]
        assert [receipt["state"] == "rejected" for receipt in rig.records(told)] == [False, True, False]
        assert "(donotfollow.txt:1)" in rig.records(told)[1]["log"]
    finally:
        rig.close()
        process.stop()
