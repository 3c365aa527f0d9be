"""``recheck`` where a robot works: over HTTP, from the command line beside it, and what a query finds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.testing.rig import Rig, wait_until
from ingather.testing.server import SyntheticServer
from ingather.testing.site import html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

WORDS = {"": "Start", "one": "Gurkensalat", "two": "Gurkensuppe", "three": "Rettich"}
PAGE = (("Content-Type", "text/html"),)


@pytest.fixture
def server() -> Iterator[SyntheticServer]:
    with SyntheticServer(SyntheticWeb(1, WebShape(sites=1, pages=1))) as server:
        (origin,) = server.origins
        server.override(f"{origin}/robots.txt", Answer(404))
        for path, word in WORDS.items():
            links = [f"/{each}" for each in WORDS if each] + ["/gone"] if not path else []
            server.override(f"{origin}/{path}", Answer(200, PAGE, html(f"{word} {path}", *links).encode()))
        yield server


def test_recheck_at_a_robot_that_works_and_after_it(tmp_path: Path, server: SyntheticServer) -> None:
    rig = Rig(tmp_path / "home").init()
    (origin,) = server.origins
    rig.site(origin)
    found = f"{origin}/one"
    with rig.serving() as served:
        served.rest(len(WORDS) + 1)

        def visits(path: str) -> int:
            return rig.known()[f"{origin}/{path}"].visits

        assert [visits(path) for path in WORDS] == [1] * len(WORDS)
        code, tried = served.admin("/api/v1/robot/recheck", {"query": "gurkensalat", "dry-run": "true"})
        assert (code, tried["found"], tried["due"], tried["dry_run"]) == (200, 1, 0, True)
        code, done = served.admin("/api/v1/robot/recheck", {"query": "gurkensalat"})
        assert (code, done["found"], done["due"], done["unknown"]) == (200, 1, 1, [])
        wait_until(lambda: visits("one") == 2)
        code, done = served.admin("/api/v1/robot/recheck", {"failed": "true"})
        assert (code, done["found"], done["due"]) == (200, 1, 1)
        wait_until(lambda: visits("gone") == 2)
        asked = rig.call("recheck", "--query", "gurkensuppe", "--json")  # the home is served: it is asked
        assert (asked.status, asked.json["due"], asked.json["state"] != "off") == (0, 1, True)
        wait_until(lambda: visits("two") == 2)
        assert visits("three") == 1
        for wrong in (
            {},
            {"query": "a", "host": "b"},
            {"query": "(((", "limit": "x"},
            {"url": "none"},
            {"host": "nobody.test"},
            {"source": "nobody"},
        ):
            code, answer = served.admin("/api/v1/robot/recheck", wrong)
            assert (code, bool(answer["error"]["message"])) == (400, True), answer
        assert served.admin("/api/v1/robot/recheck", {"query": "a"}, token="wrong")[0] in {401, 403}  # noqa: S106
    rested = rig.call("recheck", "--query", "gurkensalat", "--json")
    assert (rested.status, rested.json["found"], rested.json["due"], rested.json["state"]) == (0, 1, 1, "off")
    assert rig.rows(
        "select state from url u join host h on h.id = u.host where h.origin || u.path = ?", found
    ) == [(0,)]
