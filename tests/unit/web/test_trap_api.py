"""Crawler traps over the admin listener."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.web.conftest import ADMIN, TOKEN

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.operating import Operations
from ingather.app.publishing import Publishing
from ingather.app.sites.editing import Editing
from ingather.app.traps.desk import TrapDesk
from ingather.app.traps.scanning import find_traps, keep_traps
from ingather.conf import load
from ingather.conf.sites.newsite import NewSite, with_site
from ingather.testing.visitor import SqliteUnderTest, Visitor
from ingather.web import AdminParts, admin_app

SITE = "http://www.trap.test"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a site whose calendar does not end, and which nobody visited yet."""
    made = Home.create(tmp_path / "home")
    file = made.config / "filterrules.conf"
    file.write_bytes(with_site(file.read_bytes(), NewSite(f"{SITE}/"), file=file.name))
    catalog = SqliteUnderTest(made.catalog)
    catalog.put_source("web", "public")
    robot = Visitor(catalog)
    for year in range(2020, 2120):
        robot.start(f"{SITE}/cal/{year}/05/")
    found = find_traps(database_of(made), robot.now_s)
    catalog.writer.transaction(lambda writer: keep_traps(writer, found, robot.now_s))
    robot.close()
    return made


@pytest.fixture
def program(admin_parts: AdminParts, home: Home) -> Iterator[TestClient]:
    settings = home.settings(environment={})
    operations = Operations(home, settings.settings, settings.sources)
    editing = Editing(home, Publishing(home, settings.settings, environment={}).publish, environment={})
    parts = replace(admin_parts, traps=TrapDesk(database_of(home), operations.do, editing))
    with TestClient(admin_app(parts), base_url=ADMIN, headers={"authorization": f"Bearer {TOKEN}"}) as client:
        yield client


def test_traps_are_listed_and_shown(program: TestClient) -> None:
    (trap,) = program.get("/api/v1/traps").json()["traps"]
    assert (trap["id"], trap["kind"], trap["state"], trap["good_documents"]) == (1, "calendar", "open", 0)
    assert program.get("/api/v1/traps/1").json() == trap
    assert program.get("/api/v1/traps", params={"state": "published"}).json() == {"traps": []}


def test_a_rule_is_published_and_a_dry_run_changes_nothing(program: TestClient, home: Home) -> None:
    dry = program.post("/api/v1/traps/1/publish", json={"dry-run": "true"}).json()
    assert (dry["changed"], dry["version"]) == (False, None)
    assert any("Match src=url" in line for line in dry["difference"])
    done = program.post("/api/v1/traps/1/publish", json={"note": "endless"}).json()
    assert done["changed"]
    assert [rule.name for rule in load(home.config).rules.rules if rule.name.startswith("trap-")] == [
        done["rule"]
    ]
    assert program.get("/api/v1/traps/1").json()["state"] == "published"


def test_a_trap_is_dismissed_by_name(program: TestClient) -> None:
    said = program.post("/api/v1/traps/1/dismiss", json={"author": "Ada"}).json()
    assert (said["state"], said["by"]) == ("dismissed", "Ada")
    assert program.post("/api/v1/traps/1/published", json={}).json()["state"] == "published"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "traps/7", 404, "no-such-trap"),
        ("get", "traps/x", 404, "no-such-trap"),
        ("get", "traps/9999999999", 404, "no-such-trap"),
        ("post", "traps/7/dismiss", 404, "no-such-trap"),
        ("post", "traps/7/publish", 404, "no-such-trap"),
    ],
)
def test_what_is_not_there(program: TestClient, method: str, path: str, status: int, code: str) -> None:
    answer = program.request(method, f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert program.get("/api/v1/traps?state=new").status_code == 400


def test_without_traps_there_is_no_such_address(admin_parts: AdminParts) -> None:
    with TestClient(
        admin_app(admin_parts), base_url=ADMIN, headers={"authorization": f"Bearer {TOKEN}"}
    ) as client:
        assert client.get("/api/v1/traps").status_code == 404
