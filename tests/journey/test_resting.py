"""A source is disabled and enabled while ``serve`` runs, and across a restart."""

from urllib.parse import quote

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site


def test_a_disabled_source_is_not_fetched_until_it_is_enabled_and_its_documents_stay(
    rig: Rig, site: Site
) -> None:
    site.page("/", "Walrus", "/next")
    site.page("/next", "Heron")
    rig.site(site.origin)
    rig.call("source", "add", "resting")
    assert rig.call("source", "disable", "web").out == "web is disabled\n"
    with rig.serving() as served:
        assert served.status["disabled_sources"] == ["web"]
        wait_until(rig.known)  # its starting points are in the frontier
        code, answer = served.admin(f"/api/v1/explain?url={quote(site.url('/'), safe='')}")
        assert code == 200, answer
        assert "its source web is disabled since" in answer["answer"]
        assert site.url("/next") not in rig.known()
        code, answer = served.admin("/api/v1/sources/web/enable", {})
        assert (code, answer["changed"], answer["disabled"]) == (200, True, None), answer
        wait_until(lambda: served.found("heron") == [site.url("/next")])
        before = served.running.gatherers()
        code, answer = served.admin("/api/v1/sources/web/disable", {})
        assert (code, answer["changed"]) == (200, True), answer
        wait_until(lambda: served.running.gatherers() and served.running.gatherers() != before)
        assert served.status["disabled_sources"] == ["web"]
        code, answer = served.admin("/api/v1/sources/nobody/disable", {})
        assert code == 404, answer
    assert "web  site, public, disabled: 2 documents" in rig.call("source", "list").out
    again = rig.run("crawl", "--quiet")
    assert "the source web is disabled: nothing was fetched for it" in again.err
    assert {known.visits for known in rig.known().values()} == {1}
    assert rig.call("search", "walrus").status == 0
    assert rig.complaints() == []


def test_a_crawled_source_is_deleted_in_two_steps_under_serve_and_at_rest(rig: Rig, site: Site) -> None:
    site.page("/", "Walrus", "/next")
    site.page("/next", "Heron")
    rig.site(site.origin)
    everything = {site.url("/"), site.url("/next")}
    with rig.serving() as served:
        wait_until(lambda: rig.shown() == everything)
        code, answer = served.admin("/api/v1/sources/web/destroy", {})
        assert (code, "still has 2 documents" in str(answer)) == (400, True), answer
        said = rig.run("source", "delete", "web", "--note", "not ours")  # the owner of the home is asked
        assert (said.status, said.out) == (0, "web: 2 documents deleted; it is disabled\n"), said.err
        assert rig.shown() == set()
        wait_until(lambda: not served.found("heron"))
        code, answer = served.admin("/api/v1/sources/web/delete", {})
        assert (code, answer["deleted"], answer["done"]) == (200, 0, True), answer
        code, answer = served.admin("/api/v1/sources/web/destroy", {})
        assert (code, answer["source"]) == (200, "web"), answer
        assert "ingather site delete" in answer["still"][0]
        code, answer = served.admin("/api/v1/undelete", {"source": "web"})
        assert (code, answer["restored"]) == (200, 2), answer
        wait_until(lambda: served.found("heron") == [site.url("/next")])
    assert rig.call("source", "delete", "web").out == "web: 2 documents deleted; it is disabled\n"
    assert rig.call("search", "walrus").status == 1
    assert rig.run("crawl", "--quiet").status == 1  # nothing was indexed
    assert rig.shown() == set()
    assert rig.call("source", "enable", "web").status == 0
    assert rig.run("crawl", "--quiet").status == 0
    assert rig.shown() == everything
    assert rig.complaints() == []
