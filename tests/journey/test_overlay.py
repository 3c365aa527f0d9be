"""External metadata under ``ingather serve``: a line is written, search finds; records over HTTP."""

import json
import socket
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.testing.rig import Rig, Served, wait_until
from ingather.testing.site import Site

FILE = "config/external_metadata.cfg"


def call(served: Served, rig: Rig, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {(rig.path / 'admin-token').read_text().strip()}"}
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers["Content-Type"] = "application/json"
    request = Request(served.admin_url + path, data, headers, method=method)  # noqa: S310 - loopback
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=60) as got:
            return got.status, json.loads(got.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_a_run_with_a_bad_file_ends_completed_with_warnings(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    file = rig.path / "config" / "external_metadata.cfg"
    file.write_text(f"{site.origin}/ c:all X:20991231\nbad line\n")
    wanted = ("crawl", "--own-host", site.origin[7:], "--json", site.url("/"))
    ran = rig.run(*wanted, "--quiet")
    assert ran.status == 0, ran.err
    said = f"{FILE}:2:1: error no-full-host: 'bad' is no full host name"
    assert f"warnings:\n  {said}" in ran.err
    summary = json.loads(ran.out)
    assert summary["state"] == "completed with warnings"
    (warning,) = summary["warnings"]
    assert warning.startswith(said)
    assert "1 expiry dates lapse with it" in warning
    file.write_text(f"{site.origin}/ c:all\n")
    assert json.loads(rig.run(*wanted).out)["state"] == "completed"
    reader = SqliteReader(database_of(Home(rig.path)), Home(rig.path).bodies)
    try:
        assert [(run.form()["state"], run.warnings) for run in reader.runs()] == [
            ("completed", ()), ("completed with warnings", (warning,))
        ]  # fmt: skip
    finally:
        reader.close()


def test_a_line_in_a_file_is_searchable_while_serving(rig: Rig, site: Site) -> None:
    site.page("/", "Start", "/a", "/b/")
    site.page("/a", "Walrus")
    site.page("/b/", "Heron")
    rig.site(site.origin)
    file = rig.path / "config" / "external_metadata.cfg"
    file.write_text(f"{site.origin}/a c:partner\n")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = int(one.getsockname()[1])
    with rig.serving(admin=port) as served:
        served.rest(3)
        wait_until(lambda: served.found("c:partner") == [site.url("/a")])
        file.write_text(f"{site.origin}/ c:all\n")
        wait_until(lambda: len(served.found("c:all")) == 3)
        assert served.found("c:partner") == []
        file.write_text(f"{site.origin}/ c:other\nbad line\n")
        wait_until(lambda: served.status["overlay"]["problems"])
        status = served.status
        assert status["warnings"] == list(status["overlay"]["problems"].values())
        assert status["runs"][0]["state"] in {"unfinished", "completed"}  # as the pool is empty or not yet
        wait_until(lambda: served.found("c:all") == [])
        file.write_text(f"{site.origin}/ c:all\n")
        wait_until(lambda: len(served.found("c:all")) == 3)
        _versions_over_http(served, rig, file)
        # a record of the API, over HTTP and with the command line, which asks the owner
        path = f"/api/v1/overlay/records?prefix={quote(site.url('/b/index.html'), safe='')}"
        code, answer = call(served, rig, "PUT", path, {"classes": {"c": ["bird"], "t": "Grey heron"}})
        assert (code, answer["changed"]) == (200, True), answer
        wait_until(lambda: served.found("c:bird") == [site.url("/b/")])
        assert served.get("/api/v1/search?q=c%3Abird")[1]["results"][0]["title"] == "Grey heron"
        assert len(call(served, rig, "GET", "/api/v1/overlay/records")[1]["records"]) == 1
        bare = quote(f"{site.origin.upper()}/b/default.aspx", safe="")
        code, answer = call(served, rig, "GET", f"/api/v1/overlay/records?prefix={bare}")
        assert (code, answer["classes"]) == (200, {"c": ["bird"], "t": ["Grey heron"]}), answer
        assert (
            call(served, rig, "GET", f"/api/v1/overlay/records?prefix={quote(site.origin, safe='')}")[0]
            == 404
        )
        assert call(served, rig, "DELETE", path)[0] == 200
        wait_until(lambda: served.found("c:bird") == [])
        assert call(served, rig, "DELETE", path)[0] == 400
        assert call(served, rig, "PUT", path, {"classes": {"my-class": ["x"]}})[0] == 400
        assert call(served, rig, "PUT", path, ["x"])[0] == 400
        assert rig.call("overlay", "set", site.url("/a"), "k2:v").status == 0
        wait_until(lambda: served.found("k2:v") == [site.url("/a")])
        assert "c = all, by line 1" in rig.call("overlay", "explain", site.url("/a")).out
        assert served.status["overlay"]["running"] is False
    assert rig.complaints() == []


def _versions_over_http(served: Served, rig: Rig, file: Path) -> None:
    versions = call(served, rig, "GET", "/api/v1/overlay/history")[1]["versions"]
    path = f"/api/v1/overlay/diff?old={versions[-1]['version']}&new={versions[0]['version']}"
    code, answer = call(served, rig, "GET", path)
    assert (code, answer["documents"], "+c:all" in answer["diff"]) == (200, 3, True), answer
    assert call(served, rig, "GET", "/api/v1/overlay/diff?old=99")[0] == 400
    code, answer = call(served, rig, "POST", "/api/v1/overlay/diff?name=new.cfg", ["bad line"])
    assert (code, answer["state"], answer["errors"][0][:10]) == (200, "ignored", "new.cfg:1:"), answer
    assert call(served, rig, "GET", "/api/v1/overlay/show")[1]["layers"][FILE] == file.read_text()
    code, answer = call(served, rig, "POST", "/api/v1/overlay/publish", {"note": "again"})
    assert (code, answer["changed"], answer["errors"]) == (200, False, []), answer
