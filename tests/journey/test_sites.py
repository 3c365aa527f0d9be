"""Sites and converters of a robot that runs: edited by verb and over HTTP, in force at once."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from ingather.testing.rig import Rig, Served
from ingather.testing.site import Site


def put(
    served: Served, rig: Rig, path: str, fields: dict[str, str], match: str = ""
) -> tuple[int, dict[str, Any], str]:
    """POST as a program would: status, answer, etag."""
    parts = urlsplit(served.admin_url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=120)
    token = (rig.path / "admin-token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    if match:
        headers["If-Match"] = match
    try:
        connection.request("POST", path, json.dumps(fields), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers.get("etag", "")
    finally:
        connection.close()


def test_sites_and_converters_of_a_running_robot(rig: Rig, site: Site) -> None:
    site.page("/", "Start", "/heron")
    site.page("/heron", "Heron")
    rig.site(site.origin)
    assert rig.call("site", "set", "web", "--database", "birds").status == 0
    file = rig.path / "config" / "filterrules.conf"
    with rig.serving() as served:
        served.rest(2)
        assert rig.call("rd", "count", "--databases", "--json").json == {"birds": 2, "default": 0}
        code, listed = served.admin("/api/v1/sites")
        assert (code, listed["starting_points"], listed["sites"][0]["documents"]) == (200, 1, 2)
        before = served.status["configuration"]
        code, answer, etag = put(
            served, rig, "/api/v1/sites/web/set", {"delay": "1.5"}, match=f'"{listed["etag"]}"'
        )
        assert (code, answer["running"], answer["version"]) == (200, True, before + 1)
        assert b" delay=1.5>" in file.read_bytes()
        assert served.status["configuration"] == before + 1
        code, answer, _ = put(
            served, rig, "/api/v1/sites/web/set", {"delay": "9"}, match=f'"{listed["etag"]}"'
        )
        assert (code, answer["error"]["code"]) == (412, "changed-meanwhile")
        code, answer, _ = put(served, rig, "/api/v1/sites/web/disable", {})
        assert (code, answer["error"]["code"]) == (409, "needs-consent")
        code, answer, _ = put(served, rig, "/api/v1/sites/webb/enable", {})
        assert (code, "did you mean web" in answer["error"]["hint"]) == (404, True)
        pdf = {"type": "application/pdf", "dry-run": "yes"}
        code, answer, _ = put(served, rig, "/api/v1/converters/disable", pdf, match=etag)
        assert (code, answer["changed"]) == (200, False)
        assert "+Data enable=false fn=convert-to-html type=application/pdf" in answer["difference"]
        done = rig.call("site", "add", "other.example", "--no-start", "--etag", etag)
        assert "the running robot works by it" in done.out, done
        assert served.status["configuration"] == before + 2
        file.write_bytes(b"# by hand\n" + file.read_bytes())
        refused = rig.call("site", "set", "web", "--delay", "3")
        assert (refused.status, "changes that are not in force" in refused.err) == (1, True), refused
        assert file.read_bytes().startswith(b"# by hand\n")
    assert rig.complaints() == []
