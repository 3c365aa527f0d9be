"""Traps of a home: found in its catalog, kept, told once, published as rules, dismissed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.reports.desk import HomeReports
from ingather.app.traps.scanning import find_traps, keep_traps
from ingather.catalog.frontier.sqlite_traps import TrapRow
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.cli.report import command as report
from ingather.cli.traps import command as traps
from ingather.conf import load
from ingather.conf.sites.newsite import NewSite, with_site
from ingather.errors import ConsentError, UsageError
from ingather.testing.visitor import START_S, SqliteUnderTest, Visitor

SITE = "http://www.trap.test"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home.create(tmp_path / "home")
    file = made.config / "filterrules.conf"
    file.write_bytes(with_site(file.read_bytes(), NewSite(f"{SITE}/"), file=file.name))
    return made


@pytest.fixture
def robot(home: Home) -> Iterator[Visitor]:
    catalog = SqliteUnderTest(home.catalog)
    catalog.put_source("web", "public")
    made = Visitor(catalog)
    yield made
    made.close()


def crawl(robot: Visitor, *, sessions: int = 60, plain: bool = True) -> None:
    """Visit a site whose pages carry a session in their addresses."""
    for number in range(sessions):
        url = f"{SITE}/p{number % 6}?sid=a{number:017x}"
        robot.start(url)
        row = robot.claim(url)
        robot.settle(
            robot.report(row, url, f"page {number % 6}", dedupe=False, title=f"Page {'abcdef'[number % 6]}"),
            row,
        )
    if plain:
        for number in range(6):
            url = f"{SITE}/p{number}"
            robot.start(url)
            row = robot.claim(url)
            robot.settle(
                robot.report(row, url, f"page {number}", dedupe=False, title=f"Page {'abcdef'[number]}"), row
            )


def scan(home: Home, robot: Visitor) -> list[tuple[int, TrapRow]]:
    assert isinstance(robot.catalog, SqliteUnderTest)
    found = find_traps(database_of(home), robot.now_s)

    def work(writer: CatalogWriter) -> list[tuple[int, TrapRow]]:
        writer.applier.now_s = robot.now_s
        return keep_traps(writer, found, robot.now_s)

    return robot.catalog.writer.transaction(work)


def run(home: Home, *arguments: str) -> Result:
    done = CliRunner().invoke(traps, [*arguments, "--home", str(home.path)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_a_trap_is_told_of_once_and_counted_on(home: Home, robot: Visitor) -> None:
    crawl(robot)
    ((number, trap),) = scan(home, robot)
    assert (trap.kind, trap.place) == ("session", f"{SITE}?sid={{token}}")
    assert (trap.excluded, trap.good) == (60, 0)
    crawl(robot, sessions=90)
    robot.now_s += 100
    assert scan(home, robot) == []
    reports = HomeReports(
        home, home.settings(environment={}).settings, lambda: {"state": "off"}, now=lambda: robot.now_s
    )
    (row,) = reports.report("traps", {})["rows"]
    assert (row["trap"], row["state"], row["urls"], row["rule_excludes"], row["good_documents"]) == (
        number,
        "open",
        90,
        90,
        0,
    )
    assert row["first"] != row["last"]
    assert reports.report("traps", {"host": "other.test"})["rows"] == []


def test_an_ordinary_site_has_none(home: Home, robot: Visitor) -> None:
    for number in range(80):
        robot.start(f"{SITE}/news/2026/{number % 12 + 1:02}/{number}.html?page={number % 3}")
        robot.visit(
            f"{SITE}/news/2026/{number % 12 + 1:02}/{number}.html?page={number % 3}",
            f"story {number}" * number,
        )
    assert find_traps(database_of(home), START_S) == []


def test_list_show_and_dismiss(home: Home, robot: Visitor) -> None:
    assert run(home, "list").output == "no crawler traps are known\n"
    crawl(robot)
    scan(home, robot)
    assert f"1  open  session  {SITE}?sid={{token}}  60 URLs" in run(home, "list").output
    shown = run(home, "show", "1").output
    assert '<Rule name="trap-1-session-www.trap.test"' in shown
    assert "excludes 60 known URLs, 0 documents with a content of their own" in shown
    assert "better: add sid to urls.drop-parameters" in shown
    assert run(home, "dismiss", "1").exit_code == 0
    assert run(home, "list", "--state", "open").output == "no crawler traps are known\n"
    assert scan(home, robot) == []
    assert "dismissed" in run(home, "show", "1").output


def test_publishing_puts_the_rule_first_of_the_site_s_rules(home: Home, robot: Visitor) -> None:
    crawl(robot)
    scan(home, robot)
    before = load(home.config).rules
    dry = run(home, "publish", "1", "--dry-run")
    assert "+Match src=url method=regex dialect=python" in dry.output
    assert load(home.config).rules == before
    with pytest.raises(ConsentError, match="60 of 66 documents"):  # the ordinary question of publishing
        run(home, "publish", "1")
    assert (
        "rule trap-1-session-www.trap.test added; version"
        in run(home, "publish", "1", "--yes", "--note", "why").output
    )
    after = load(home.config).rules
    site = next(site for site in after.sites if site.host == "www.trap.test")
    assert site.use is not None
    assert site.use[0] == "trap-1-session-www.trap.test"
    (match,) = after.rules_of(site)[0].matches
    assert match.pattern is not None
    assert match.pattern.test(f"{SITE}/p1?sid=a0001")
    assert not match.pattern.test(f"{SITE}/p1")
    assert "published" in run(home, "list").output
    with pytest.raises(UsageError, match="there is a rule"):
        run(home, "publish", "1", "--yes")


def test_a_rule_that_hits_documents_needs_a_person_s_word(home: Home, robot: Visitor) -> None:
    crawl(robot, plain=False)
    scan(home, robot)
    with pytest.raises(ConsentError, match="6 documents with a content of their own"):
        run(home, "publish", "1")
    assert "trap-1" not in (home.config / "filterrules.conf").read_text()


def test_wrong_use_is_one_line(home: Home, robot: Visitor) -> None:
    with pytest.raises(UsageError, match="there is no trap 7"):
        run(home, "show", "7")
    with pytest.raises(UsageError, match="a trap is never 'new'"):
        run(home, "list", "--state", "new")
    assert robot.now_s


def test_reports_of_likeness(home: Home, robot: Visitor) -> None:
    crawl(robot, sessions=3)
    for arguments in (["duplicates", "--near"], ["canonical"], ["traps", "--csv"], ["traps", "--json"]):
        done = CliRunner().invoke(report, [*arguments, "--home", str(home.path)])
        assert done.exit_code == 0, done.output
    with pytest.raises(UsageError, match="is no group of near-duplicates"):
        CliRunner().invoke(
            report, ["duplicates", "--near", "--group", "9", "--home", str(home.path)], catch_exceptions=False
        )
