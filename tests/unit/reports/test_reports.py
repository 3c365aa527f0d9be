"""What each report tells, over a real catalog."""

from typing import TYPE_CHECKING, Any

import pytest

from ingather.app.reports.desk import REPORTS, HomeReports
from ingather.app.reports.table import Table
from ingather.catalog.reports import sqlite_report_walks
from ingather.errors import CatalogError, UsageError
from ingather.model.lifecycle import Outcome
from ingather.model.report import HostReport
from ingather.testing.contracts_catalog import DAY_S

if TYPE_CHECKING:
    from tests.unit.reports.conftest import Robot

    from ingather.app.home import Home

A, B = "http://a.test", "http://b.test"
RULE = ("url", "filter.conf:12", "no archives")


def rows(reports: HomeReports, name: str, **fields: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = reports.report(name, fields)["rows"]
    return found


def urls(reports: HomeReports, name: str, **fields: str) -> list[str]:
    return [row["url"] for row in rows(reports, name, **fields)]


@pytest.fixture(params=[3, 20_000], ids=["small windows", "one window"])
def window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a walk finds does not depend on its windows."""
    monkeypatch.setattr(sqlite_report_walks, "_WINDOW", request.param)


@pytest.mark.usefixtures("window")
def test_excluded_counts_by_reason_and_lists_each_url_once(robot: "Robot", reports: HomeReports) -> None:
    run = robot.begin()
    robot.start(f"{A}/")
    robot.visit(f"{A}/", "a", [f"{A}/x.zip", robot.discovery(f"{B}/", depth=1, denied="site not allowed")])
    robot.deny(f"{A}/x.zip", *RULE, Outcome.EXCLUDED)
    robot.visit(f"{A}/", "a changed", [robot.discovery(f"{B}/", depth=1, denied="site not allowed")])
    robot.end(run)
    found = reports.report("excluded", {})
    assert (found["run"], found["count"]) == (run, 2)
    assert {(r["category"], r["detail"], r["where"], r["count"]) for r in found["rows"]} == {
        ("filter rules", "filter", "filter.conf:12", 1),
        ("site not allowed", "site", "filter.conf:3", 1),
    }
    for reason in ("url", "Filter", "filter rules", "filter.conf:12", "NO ARCHIVES"):
        assert urls(reports, "excluded", reason=reason) == [f"{A}/x.zip"]
    assert urls(reports, "excluded", reason="site not allowed") == [f"{B}/"]


@pytest.mark.usefixtures("window")
def test_exclusions_are_grouped_as_the_old_robot_s_report_groups_them(
    robot: "Robot", reports: HomeReports
) -> None:
    run = robot.begin()
    for name in ("one", "two", "missing", "down", "dns", "closed", "denied"):
        robot.start(f"{A}/{name}")
    robot.visit(f"{A}/one", "same")
    robot.visit(f"{A}/two", "same")
    robot.fail(f"{A}/missing", Outcome.NOT_FOUND, status=404, detail="HTTP 404")
    robot.fail(f"{A}/down", Outcome.SERVER_ERROR, status=500, detail="HTTP 500")
    robot.fail(f"{A}/dns", Outcome.FAILED, detail="dns: no such name")
    robot.deny(f"{A}/closed", "robots", "robots.txt:2", "Disallow: /", Outcome.ROBOTS)
    robot.deny(f"{A}/denied", *RULE, Outcome.EXCLUDED)
    robot.end(run)
    found = reports.report("excluded", {})
    assert found["categories"] == {"filter rules": 2, "error": 2, "file not found": 1, "duplication": 1}
    assert {reason: urls(reports, "excluded", reason=reason) for reason in (
        "duplication", "file not found", "error", "dns", "server", "robots", "filter",
    )} == {
        "duplication": [f"{A}/two"],
        "file not found": [f"{A}/missing"],
        "error": [f"{A}/down", f"{A}/dns"],
        "dns": [f"{A}/dns"],
        "server": [f"{A}/down"],
        "robots": [f"{A}/closed"],
        "filter": [f"{A}/denied"],
    }  # fmt: skip
    robot.now_s += DAY_S
    later = robot.begin()
    robot.visit(f"{A}/down", "up again")
    robot.end(later)
    assert urls(reports, "excluded", run=str(run), reason="server") == [f"{A}/down"]


@pytest.mark.usefixtures("window")
def test_what_a_later_run_settled_again_is_still_listed_for_the_older_one(
    robot: "Robot", reports: HomeReports
) -> None:
    first = robot.begin()
    robot.start(f"{A}/x")
    robot.deny(f"{A}/x", *RULE, Outcome.EXCLUDED)
    robot.end(first)
    robot.now_s += DAY_S
    second = robot.begin()
    robot.visit(f"{A}/x", "let in now")
    robot.end(second)
    assert urls(reports, "excluded", run=str(first), reason="url") == [f"{A}/x"]
    assert rows(reports, "excluded", run=str(second)) == []
    with pytest.raises(UsageError, match="excluded nothing for a reason like 'url'"):
        reports.report("excluded", {"run": str(second), "reason": "url"})


@pytest.mark.usefixtures("window")
def test_errors_are_counted_by_class_and_host_and_can_be_listed_page_by_page(
    robot: "Robot", reports: HomeReports
) -> None:
    for n in range(7):
        robot.start(f"{A}/{n}")
        robot.fail(f"{A}/{n}", Outcome.NOT_FOUND, status=404, detail="HTTP 404")
    robot.start(f"{B}/slow")
    robot.fail(f"{B}/slow", Outcome.FAILED, detail="connect-timeout: 10 s")
    robot.start(f"{B}/fine")
    robot.visit(f"{B}/fine", "b")
    found = reports.report("errors", {})
    assert (found["urls"], found["classes"]) == (8, {"http-404": 7, "connect-timeout": 1})
    assert found["rows"][0] == {"class": "http-404", "server": A, "urls": 7}
    assert urls(reports, "errors", host="b.test") == [f"{B}/slow"]
    assert urls(reports, "errors", **{"class": "http-404", "host": B}) == []
    listed: list[str] = []
    after = ""
    while True:
        page = reports.report("errors", {"class": "http-404", "limit": "2", "after": after})
        listed += [row["url"] for row in page["rows"]]
        if not page["more"]:
            break
        after = str(page["next"])
    assert listed == [f"{A}/{n}" for n in range(7)]


@pytest.mark.usefixtures("window")
def test_errors_of_one_run(robot: "Robot", reports: HomeReports) -> None:
    first = robot.begin()
    for name in ("missing", "dns", "mended", "one", "two"):
        robot.start(f"{A}/{name}")
    robot.fail(f"{A}/missing", Outcome.NOT_FOUND, status=404)
    robot.fail(f"{A}/dns", Outcome.FAILED, detail="dns: no such name")
    robot.fail(f"{A}/mended", Outcome.SERVER_ERROR, status=500)
    robot.visit(f"{A}/one", "same")
    robot.visit(f"{A}/two", "same")
    robot.start(f"{B}/closed")
    robot.fail(f"{B}/closed", Outcome.REFUSED, status=403)
    robot.end(first)
    robot.now_s += DAY_S
    second = robot.begin()
    robot.visit(f"{A}/mended", "well again")
    robot.fail(f"{A}/missing", Outcome.NOT_FOUND, status=410)
    robot.end(second)
    found = reports.report("errors", {"run": str(first)})
    assert found["run"] == first
    assert found["classes"] == {"http-404": 1, "dns": 1, "http-500": 1, "http-403": 1}
    assert {(row["class"], row["server"]) for row in found["rows"]} == {
        ("http-404", A), ("dns", A), ("http-500", A), ("http-403", B)
    }  # fmt: skip
    assert urls(reports, "errors", run=str(first), host="b.test") == [f"{B}/closed"]
    assert urls(reports, "errors", **{"run": str(first), "class": "http-500"}) == [f"{A}/mended"]
    assert reports.report("errors", {"run": "last"})["classes"] == {"http-410": 1}
    with pytest.raises(UsageError, match="there is no run 9"):
        reports.report("errors", {"run": "9"})


@pytest.mark.usefixtures("window")
def test_groups_beyond_the_bound_are_counted_together(
    robot: "Robot", reports: HomeReports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_report_walks, "MOST_GROUPS", 2)
    for n in range(5):
        for kind in ("missing", "forbidden"):
            robot.start(f"http://h{n}.test/{kind}")
        robot.fail(f"http://h{n}.test/missing", Outcome.NOT_FOUND, status=404)
        robot.deny(f"http://h{n}.test/forbidden", "robots", "robots.txt:2", "Disallow: /", Outcome.ROBOTS)
    for name in ("errors", "robots"):
        found = reports.report(name, {})
        assert found["urls"] == 5
        assert sorted(row["urls"] for row in found["rows"]) == [1, 1, 3]
        assert found["rows"][0]["server"] == "(others)"


@pytest.mark.usefixtures("window")
def test_urls_lost_to_robots_are_told_by_host_and_line(robot: "Robot", reports: HomeReports) -> None:
    for n in range(3):
        robot.start(f"{A}/{n}")
        robot.deny(f"{A}/{n}", "robots", "robots.txt:2", "Disallow: /", Outcome.ROBOTS)
    robot.start(f"{B}/")
    robot.host(
        B, HostReport(0, robots_kind="unreachable", robots_since_s=robot.now_s - DAY_S, robots_detail="dns")
    )
    found = reports.report("robots", {})
    assert (found["urls"], found["unreachable"]) == (3, 1)
    assert [(row["server"], row["reason"], row["urls"]) for row in found["rows"]] == [
        (A, "Disallow: /", 3),
        (B, "robots.txt is unreachable: dns", 1),
    ]
    assert urls(reports, "robots", host="a.test") == [f"{A}/{n}" for n in range(3)]


@pytest.mark.usefixtures("window")
def test_descriptions_of_a_run_are_new_changed_unchanged_and_removed(
    robot: "Robot", reports: HomeReports
) -> None:
    first = robot.begin()
    for name in "abcd":
        robot.start(f"{A}/{name}")
        robot.visit(f"{A}/{name}", name)
    robot.end(first)
    robot.now_s += DAY_S
    second = robot.begin()
    robot.visit(f"{A}/a", "a, changed")
    robot.answer(f"{A}/b", Outcome.UNCHANGED, status=304)
    robot.delete(f"{A}/c")
    robot.start(f"{A}/e")
    robot.visit(f"{A}/e", "e")
    robot.end(second)
    counts = {row["what"]: row["count"] for row in rows(reports, "rds")}
    assert counts == {"new": 1, "changed": 1, "unchanged": 1, "removed": 1, "restored": 0}
    assert {what: urls(reports, "rds", what=what) for what in ("new", "changed", "unchanged", "removed")} == {
        "new": [f"{A}/e"],
        "changed": [f"{A}/a"],
        "unchanged": [f"{A}/b"],
        "removed": [f"{A}/c"],
    }
    assert urls(reports, "rds", run=str(first), what="new") == [f"{A}/{name}" for name in "abcd"]
    with pytest.raises(UsageError, match="'gone' never becomes"):
        reports.report("rds", {"what": "gone"})


def test_groups_of_equal_bodies_have_their_head_and_members(robot: "Robot", reports: HomeReports) -> None:
    for name in "abc":
        robot.start(f"{A}/{name}")
        robot.visit(f"{A}/{name}", "same")
    robot.start(f"{A}/other")
    robot.visit(f"{A}/other", "other")
    (group,) = rows(reports, "duplicates")
    assert (group["shown"], group["urls"], group["behind"]) == (f"{A}/a", 3, [f"{A}/b", f"{A}/c"])
    assert urls(reports, "duplicates", group=group["group"]) == [f"{A}/b", f"{A}/c"]
    with pytest.raises(UsageError, match="no digest"):
        reports.report("duplicates", {"group": "zz"})


@pytest.mark.usefixtures("window")
def test_the_largest_documents_come_first(robot: "Robot", reports: HomeReports) -> None:
    for n in (3, 9, 1, 7, 5):
        robot.start(f"{A}/{n}")
        robot.visit(f"{A}/{n}", "x" * n)
    assert [row["bytes"] for row in rows(reports, "largest")] == [9, 7, 5, 3, 1]
    found = reports.report("largest", {"limit": "2"})
    assert ([row["url"] for row in found["rows"]], found["more"]) == ([f"{A}/9", f"{A}/7"], True)


@pytest.mark.usefixtures("window")
def test_orphans_are_documents_to_which_nothing_leads(robot: "Robot", reports: HomeReports) -> None:
    robot.start(f"{A}/")
    linked = [f"{A}/linked", f"{A}/lost", f"{A}/self", f"{A}/moved"]
    robot.visit(f"{A}/", "start", linked)
    for url in linked[:2]:
        robot.visit(url, url)
    robot.visit(f"{A}/self", "self", [f"{A}/self"])
    robot.answer(
        f"{A}/moved", Outcome.REDIRECTED, status=301, redirect=robot.discovery(f"{A}/target", depth=1)
    )
    robot.visit(f"{A}/target", "target")
    assert urls(reports, "orphans") == []
    robot.visit(f"{A}/", "start, changed", [f"{A}/linked", f"{A}/moved"])
    assert urls(reports, "orphans") == [f"{A}/lost", f"{A}/self"]


def test_orphans_are_the_same_however_many_parts_there_are(
    robot: "Robot", reports: HomeReports, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot.start(f"{A}/")
    robot.visit(f"{A}/", "start", [f"{A}/{n}" for n in range(20)])
    for n in range(20):
        robot.visit(f"{A}/{n}", str(n))
    robot.visit(f"{A}/", "start, changed", [f"{A}/{n}" for n in range(0, 20, 2)])
    expected = [f"{A}/{n}" for n in range(1, 20, 2)]
    assert urls(reports, "orphans") == expected
    monkeypatch.setattr(sqlite_report_walks, "_MOST_KEYS", 4)
    assert urls(reports, "orphans") == expected


def test_the_queue_says_what_is_next_and_when(
    robot: "Robot", reports: HomeReports, live: dict[str, Any]
) -> None:
    robot.start(f"{A}/first")
    for n in range(3):
        robot.discover(robot.discovery(f"{A}/{n}", depth=1))
    robot.start(f"{B}/")
    robot.host(B, HostReport(0, not_before_s=robot.now_s + 60, delay_s=5.0))
    found = reports.report("queue", {})
    assert found["waiting"] == 5
    assert [(row["server"], row["waiting"], row["next_url"]) for row in found["rows"]] == [
        (A, 4, f"{A}/first"),
        (B, 1, f"{B}/"),
    ]
    assert [row["not_before"] for row in found["rows"]] == [robot.now_s, robot.now_s + 60]
    assert [row["estimated"] for row in found["rows"]] == [4.0, 5.0]  # server-delay, if nothing is known
    assert urls(reports, "queue", host="a.test") == [f"{A}/first", *(f"{A}/{n}" for n in range(3))]
    assert [row["url"] for row in rows(reports, "ready")][-1] == f"{B}/"
    live.update(
        state="running", queue=[{"host": "a.test", "in_s": 2.5}], blocked=["b.test"], slowed={"a.test": 30.0}
    )
    (first, second) = rows(reports, "queue")
    assert (first["not_before"], first["estimated"]) == (robot.now_s + 2.5, 120.0)
    assert (second["next_url"], second["not_before"]) == ("blocked", None)
    with pytest.raises(UsageError, match=r"no host 'c\.test'"):
        reports.report("queue", {"host": "c.test"})


def test_rechecks_come_soonest_first(robot: "Robot", reports: HomeReports) -> None:
    robot.start(f"{A}/a")
    robot.visit(f"{A}/a", "a")
    robot.now_s += DAY_S / 2
    robot.start(f"{A}/b")
    robot.visit(f"{A}/b", "b")
    found = rows(reports, "rechecks")
    assert [row["url"] for row in found] == [f"{A}/a", f"{A}/b"]
    assert all(row["in"] == pytest.approx(max(row["due"] - robot.now_s, 0)) for row in found)


def test_hosts_that_robots_txt_slows_have_an_estimated_time(robot: "Robot", reports: HomeReports) -> None:
    for n in range(4):
        robot.start(f"{A}/{n}")
    robot.start(f"{B}/")
    slow = b"User-agent: *\nCrawl-delay: 30\n"
    robot.host(A, HostReport(0, robots_kind="rules", robots_body=slow, robots_at_s=robot.now_s))
    robot.host(B, HostReport(0, robots_kind="rules", robots_body=b"User-agent: *\nCrawl-delay: 0.5\n"))
    assert rows(reports, "crawl-delay") == [
        {"server": A, "asked": 30.0, "obeyed": 30.0, "waiting": 4, "estimated": 120.0}
    ]


def test_slow_hosts_and_servers_and_addresses(robot: "Robot", reports: HomeReports) -> None:
    for url, ms in ((f"{A}/", 100), (f"{B}/", 900)):
        robot.start(url)
        robot.fail(url, Outcome.SERVER_ERROR, status=500, ms=ms)
    assert [(row["server"], row["mean_ms"], row["errors"]) for row in rows(reports, "slow-hosts")] == [
        (B, 900, 1),
        (A, 100, 1),
    ]
    assert [(row["server"], row["urls"], row["visits"]) for row in rows(reports, "servers")] == [
        (A, 1, 1),
        (B, 1, 1),
    ]
    assert [row["address"] for row in rows(reports, "dns-cache")] == ["192.0.2.1", "192.0.2.1"]


def test_what_sitemaps_list_and_the_index_has_not_is_told_with_the_reason(
    robot: "Robot", reports: HomeReports
) -> None:
    assert reports.report("sitemaps", {})["note"].startswith("no sitemap was read")
    for name in ("in", "missing", "denied", "waiting"):
        robot.start(f"{A}/{name}")
    robot.start(f"{A}/sitemap.xml")
    robot.visit(f"{A}/in", "in")
    robot.fail(f"{A}/missing", Outcome.NOT_FOUND, status=404, detail="HTTP 404")
    robot.deny(f"{A}/denied", *RULE, Outcome.EXCLUDED)

    def work(w: Any) -> None:
        source = w.registry.put_source("news", "sitemap", "public")
        feed = w.syndication.add_feed(source, f"{A}/sitemap.xml", robot.id(f"{A}/sitemap.xml"))
        assert feed is not None
        w._db.executemany(  # the room's own rows, without a poll
            "insert into rss_listing (feed, id, listed, facts) values (?, ?, 1, x'80')",
            [(feed.id, robot.id(f"{A}/{name}")) for name in ("in", "missing", "denied", "waiting")],
        )

    robot.writer.transaction(work)
    found = reports.report("sitemaps", {})
    assert found["sitemaps"] == 1
    assert {row["url"]: row["why"] for row in found["rows"]} == {
        f"{A}/missing": "not found: HTTP 404",
        f"{A}/denied": "excluded: no archives",
        f"{A}/waiting": "waits for its first visit",
    }


def test_overview_configuration_and_versions(
    robot: "Robot", home: "Home", reports: HomeReports, live: dict[str, Any]
) -> None:
    run = robot.begin()
    robot.start(f"{A}/")
    robot.visit(f"{A}/", "a")
    live["state"] = "running"
    told = {row["name"]: row["value"] for row in rows(reports, "overview")}
    assert (told["robot"], told["run"], told["visits"], told["documents"]) == ("running", run, 1, 1)
    conf = home.config / "robot.conf"
    conf.write_text(
        "username=robot\npassword=Xsecret-canary\nauto-proxy=http://me:Xproxy-canary@proxy.test:3128/\n"
    )
    shown = rows(reports, "configuration")
    assert "canary" not in str(shown)
    values = {row["name"]: (row["value"], row["origin"]) for row in shown}
    assert values["password"] == ("(set)", "robot.conf:2")
    assert values["auto-proxy"][0] == "http://proxy.test:3128/"
    assert "http" in next(row["value"] for row in rows(reports, "libnet") if row["name"] == "protocols")
    assert any(row["name"] == "filter-by-md5" for row in rows(reports, "modules"))


def test_runs_are_listed_shown_and_compared(robot: "Robot", reports: HomeReports) -> None:
    first = robot.begin()
    for name in "ab":
        robot.start(f"{A}/{name}")
        robot.visit(f"{A}/{name}", name)
    robot.end(first)
    second = robot.begin()
    robot.visit(f"{A}/a", "changed")
    robot.fail(f"{A}/b", Outcome.SERVER_ERROR, status=503)
    robot.end(second)
    listed = reports.history({})["rows"]
    assert [(row["run"], row["visits"], row["errors"], row["new"]) for row in listed] == [
        (second, 2, 1, 0),
        (first, 2, 0, 2),
    ]
    assert [row["run"] for row in reports.history({"after": str(second)})["rows"]] == [first]
    assert reports.run("last")["run"] == second
    assert reports.run(str(first))["figures"]["rds"] == {"new": 2}
    compared = reports.compare(str(first), str(second))["rows"]
    found = {(row["kind"], row["name"]): row["difference"] for row in compared}
    assert (found["rds", "new"], found["rds", "changed"], found["error", "http-503"]) == (-2, 1, 1)
    assert found["visits", "all"] == 0
    with pytest.raises(UsageError, match="compared with itself"):
        reports.compare("1", "1")


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("eror", {}, "no report 'eror'"),
        ("largest", {"run": "1"}, "takes no run"),
        ("errors", {"limit": "many"}, "limit 'many' is no number"),
        ("errors", {"limit": "0"}, "out of range"),
        ("errors", {"limit": "10001"}, "out of range"),
        ("errors", {"after": "-1"}, "after '-1' is no number"),
        ("errors", {"after": "9" * 30}, "is no number"),
        ("errors", {"limit": "٣"}, "is no number"),
        ("rds", {"run": "first"}, "no number of a run"),
        ("rds", {"run": "77"}, "no run 77"),
        ("excluded", {}, "there was no run yet"),
        ("errors", {"host": "'; drop table url"}, "no host"),
    ],
)
def test_wrong_questions_are_refused_by_name(
    reports: HomeReports, name: str, fields: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        reports.report(name, fields)


def test_without_a_catalog_the_answer_says_what_to_do(tmp_path: Any) -> None:
    from ingather.app.home import Home

    home = Home.create(tmp_path / "empty")
    reports = HomeReports(home, home.settings().settings, dict)
    with pytest.raises(CatalogError, match="no catalog"):
        reports.report("errors", {})


def test_a_report_that_is_being_read_holds_nothing_back(
    robot: "Robot", reports: HomeReports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two windows the robot writes and empties its log; the walk goes on with what is there then."""
    monkeypatch.setattr(sqlite_report_walks, "_WINDOW", 2)
    for n in range(6):
        robot.start(f"{A}/{n}")
        robot.fail(f"{A}/{n}", Outcome.NOT_FOUND, status=404)
    with reports.context() as context:
        from ingather.app.reports.table import Ask

        table: Table = REPORTS["errors"].make(context, Ask(options={"class": "http-404"}))
        found = iter(table.rows)
        assert next(found)[0] == f"{A}/0"
        robot.visit(f"{A}/5", "back again")
        found_busy = robot.writer._db.execute("pragma wal_checkpoint(truncate)").fetchall()
        assert found_busy[0][0] == 0
        assert [row[0] for row in found] == [f"{A}/{n}" for n in range(1, 5)]
