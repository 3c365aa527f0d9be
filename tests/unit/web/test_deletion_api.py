"""Tombstones, holds and decisions over the admin listener."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.web.conftest import ADMIN, TOKEN, Ledger

from ingather.app.deletions import DeletionBook
from ingather.model.decided import By
from ingather.testing.revisiting import GONE, Revisits
from ingather.testing.visitor import SqliteUnderTest, Visitor
from ingather.web import AdminParts, admin_app


@pytest.fixture
def program(admin_parts: AdminParts, tmp_path: Path) -> Iterator[TestClient]:
    """A program with the token, over a catalog with a page that is gone and a wave that is held."""
    catalog = SqliteUnderTest(tmp_path)
    catalog.put_source("web", "public")
    robot = Revisits(catalog, Visitor(catalog))
    pages = robot.site(20)
    robot.web[pages[0]] = GONE
    robot.run("serve")
    robot.pass_time(2)
    for url in pages[1:15]:
        robot.web[url] = GONE
    robot.run("serve")
    robot.pass_time(2)
    path = robot.catalog.writer.path
    robot.visitor.close()
    parts = replace(admin_parts, deletions=DeletionBook(path))
    with TestClient(admin_app(parts), base_url=ADMIN, headers={"authorization": f"Bearer {TOKEN}"}) as client:
        yield client


def test_tombstones_with_their_evidence(program: TestClient) -> None:
    answer = program.get("/api/v1/tombstones", params={"reason": "404", "limit": 5}).json()
    [one] = answer["tombstones"]
    assert (one["url"], one["by"], one["observations"]) == ("http://site.test/0", "policy", 2)
    assert answer["next"] is None
    shown = program.get("/api/v1/tombstones/show", params={"url": one["url"]}).json()
    assert [seen["status"] for seen in shown["evidence"]] == [404, 404]
    assert (
        program.get("/api/v1/tombstones/show", params={"url": "http://site.test/19"}).json()["tombstone"]
        is None
    )


def test_a_hold_with_what_is_in_it(program: TestClient) -> None:
    found = program.get("/api/v1/holds/1", params={"limit": 3}).json()
    assert (found["documents"], len(found["items"]), found["closed"]) == (14, 3, None)
    assert found["items"][0]["evidence"][-1]["decision"] == "hold"
    more = program.get("/api/v1/holds/1", params={"after": found["next"], "limit": 100}).json()
    assert (len(more["items"]), more["next"]) == (11, None)
    assert program.get("/api/v1/holds/closed").json() == {"holds": []}
    assert program.get("/api/v1/decisions").json() == {"decisions": []}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("holds/99", 404, "no-such-hold"),
        ("holds/x", 404, "no-such-hold"),
        ("holds/1?limit=x", 400, "bad-parameter"),
        ("tombstones/show", 400, "missing-parameter"),
        ("decisions?limit=1&limit=2", 400, "bad-parameter"),
    ],
)
def test_what_is_wrong_is_named(program: TestClient, path: str, status: int, code: str) -> None:
    answer = program.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("path", ["tombstones?run=x", "tombstones/show?url=no%20url"])
def test_bad_values_are_refused(program: TestClient, path: str) -> None:
    assert program.get(f"/api/v1/{path}").status_code == 400


def test_without_deletions_there_are_no_such_addresses(operator: TestClient) -> None:
    for path in ("tombstones", "tombstones/show?url=http://a/", "decisions", "holds/closed", "holds/1"):
        assert operator.get(f"/api/v1/{path}").status_code == 404


def test_who_decided_and_why_is_handed_on(operator: TestClient, ledger: Ledger) -> None:
    operator.post("/api/v1/holds/3/release", json={"author": "ann", "note": "so it\nwas meant"})
    operator.post("/api/v1/undelete", json={"run": 7, "note": "too much"})
    assert [by.author for by in ledger.decided] == ["ann", "admin"]
    assert [by.note for by in ledger.decided] == ["so it was meant", "too much"]
    assert all(isinstance(by, By) for by in ledger.decided)
    assert operator.post("/api/v1/undelete", json={}).status_code == 400
