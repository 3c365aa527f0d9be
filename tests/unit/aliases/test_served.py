"""Under serve: a choice is in force when it is answered, and hosts are looked at over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.testing.rig import Rig, wait_until
from ingather.testing.server import SyntheticServer
from ingather.testing.site import html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

PAGES = 10


@pytest.fixture
def server() -> Iterator[SyntheticServer]:
    with SyntheticServer(SyntheticWeb(1, WebShape(sites=2, pages=1))) as server:
        for origin in server.origins:
            server.override(f"{origin}/robots.txt", Answer(404))
            for n in range(PAGES):
                links = [f"/p{m}" for m in range(1, PAGES)] if not n else []
                path = f"p{n}" if n else ""
                server.override(
                    f"{origin}/{path}",
                    Answer(200, (("Content-Type", "text/html"),), html(f"Page {n}", *links).encode()),
                )
        yield server


def test_a_choice_is_adopted_at_once(home: Path, server: SyntheticServer) -> None:
    rig = Rig(home, **{"deletion.half-floor": "100"}).init()  # else all of a source at once is held
    first, second = server.origins
    rig.site(first, source="one").site(second, source="two")
    host, alias = (origin.removeprefix("http://") for origin in server.origins)
    with rig.serving() as served:
        served.rest(2 * PAGES)
        code, made = served.admin("/api/v1/sites/aliases/propose", {})
        assert (code, [(one["alias"], one["host"]) for one in made["proposed"]], made["refused"]) == (
            200,
            [(alias, host)],
            [],
        )
        code, done = served.admin("/api/v1/sites/aliases/apply", {"alias": alias, "host": host})
        assert (code, done["state"], done["visits"]) == (200, "applied", PAGES)
        wait_until(lambda: not any(rig.known()[f"{second}/p{n}"].described for n in range(1, PAGES)))
        assert all(rig.known()[f"{first}/p{n}"].described for n in range(1, PAGES))
        code, answer = served.admin("/api/v1/sites/aliases")
        assert (code, [one["state"] for one in answer["aliases"]]) == (200, ["applied"])
        code, told = served.admin(f"/api/v1/explain?url={second}/p1")
        assert (code, told["alias"]["key"]) == (200, f"{first}/p1")
        assert rig.call("site", "aliases", "refuse", alias).status == 0
        code, answer = served.admin("/api/v1/sites/aliases")
        assert [one["state"] for one in answer["aliases"]] == ["refused"]
        assert served.admin("/api/v1/sites/aliases/remove", {"alias": "nobody.test"})[0] == 400
        assert served.admin("/api/v1/sites/aliases/apply", {"alias": alias})[0] == 400

        code, answer = served.admin("/api/v1/sites/probe", {"names": "one", "dns": "false"})
        (report,) = answer["hosts"]
        assert (code, report["site"], report["names"]) == (200, "one", None)
        assert report["redirects"][0][0]["status"] == 200
        own = served.admin_url.removeprefix("http://")
        code, answer = served.admin("/api/v1/sites/probe", {"names": own})
        assert answer["hosts"][0]["level"] == "problem"  # our own listeners are never asked
