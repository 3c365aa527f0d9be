"""The doctor: each trouble is found, named, and comes with what to do."""

import json
import shutil
import socket
import subprocess
import threading
from contextlib import closing
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ingather.app.certificatedates import not_after
from ingather.app.doctor import Finding, Level, examine
from ingather.app.doctor.homely import check_certificates
from ingather.app.doctor.machine import check_clock, check_limits
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.owner import note_address
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.testing.clock import FakeClock
from ingather.testing.rig import Rig

FREE = {"listen.search": '"127.0.0.1:0"', "listen.admin": '"127.0.0.1:0"', "feeds.listen": '""'}


@pytest.fixture
def made(home: Path) -> Home:
    """A home whose listeners take free ports."""
    return Home.create(home, written=FREE)


def found(home: Home, check: str, **environment: str) -> list[Finding]:
    looked = {"bodies": "catalog", "index": "catalog"}.get(check, check)
    findings = examine(home, environment=environment, only=(looked,))
    return [one for one in findings if one.check == check]


def test_a_fresh_home_has_nothing_that_does_not_work(made: Home) -> None:
    findings = examine(made, environment={})
    # What confines converters, and who runs this, is the machine's: those may be remarked upon.
    assert [one for one in findings if one.level is Level.ERROR and one.check != "sandbox"] == []
    checks = {one.check for one in findings}
    assert {
        "versions",
        "configuration",
        "permissions",
        "disk",
        "limits",
        "clock",
        "dns",
        "catalog",
        "sandbox",
    } <= checks
    assert all(one.do for one in findings if one.level is not Level.FINE)


def test_an_open_secret_is_an_error_with_the_command_that_closes_it(made: Home) -> None:
    (made.path / "credentials.toml").write_text("")
    (made.path / "credentials.toml").chmod(0o640)
    [bad] = [one for one in found(made, "permissions") if one.level is Level.ERROR]
    assert "credentials.toml" in bad.text
    assert bad.do == f"chmod 600 {made.path / 'credentials.toml'}"


def test_a_home_that_others_may_write_into(made: Home) -> None:
    made.path.chmod(0o777)
    [bad] = [one for one in found(made, "permissions") if one.level is Level.ERROR]
    assert bad.do == f"chmod 700 {made}"


def test_a_full_disk(made: Home) -> None:
    [bad] = found(made, "disk", INGATHER_DISK_RESERVE="9000000GiB")
    assert (bad.level, "no new work" in bad.text) == (Level.ERROR, True)


def test_a_taken_port_is_named_with_its_setting(home: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        made = Home.create(home, written={**FREE, "listen.search": f'"127.0.0.1:{port}"'})
        [bad] = found(made, "ports")
    assert bad.level is Level.ERROR
    assert f"127.0.0.1:{port} for listen.search" in bad.text


class _Ill(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"status": "the index stopped: canary"}).encode()
        self.send_response(503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the one above
        """Be silent."""


def test_the_owner_of_a_served_home_is_asked_for_its_health(made: Home) -> None:
    with made.lock("ingather serve"), HTTPServer(("127.0.0.1", 0), _Ill) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            note_address(made, "127.0.0.1", server.server_port)
            [bad] = found(made, "ports")
        finally:
            server.shutdown()
            thread.join(60)
    assert (bad.level, "the index stopped: canary" in bad.text) == (Level.ERROR, True)


def test_a_clock_before_the_last_run() -> None:
    clock = FakeClock()
    [bad] = check_clock(clock, clock.wall() + 10 * 86_400)
    assert (bad.level, "10 days before the catalog's last run" in bad.text) == (Level.ERROR, True)


def test_more_memory_is_promised_than_there_is(made: Home) -> None:
    environment = {"INGATHER_GATHER_GATHERERS": "64", "INGATHER_GATHER_GATHERER_MEMORY": "9000GiB"}
    settings = made.settings(environment=environment).settings
    [bad] = [one for one in check_limits(settings) if one.level is Level.WARNING and "gatherer" in one.do]
    assert "lower gather.gatherers" in bad.do


def test_mistakes_in_the_configuration_are_counted_and_the_rest_is_looked_at(made: Home) -> None:
    (made.config / "filter.conf").write_text("nonsense here\n")
    findings = examine(made, environment={}, only=("configuration", "disk", "ports"))
    [bad] = [one for one in findings if one.check == "configuration"]
    assert (bad.level, "filter.conf" in bad.text) == (Level.ERROR, True)
    assert "disk" in {one.check for one in findings}


def test_a_missing_segment(made: Home) -> None:
    CatalogWriter(database_of(made)).close()
    rig = Rig(made.path)
    rig.alter("insert into host (id, origin, hkey) values (1, 'http://a.test', 'a.test')")
    rig.alter(
        "insert into url (id, key, host, path, source, depth, state, prio, hops, seg, off, len) values (1, 7, 1, '/', 1, 0, 3, 0, 0, 9, 0, 500)"
    )
    [bad] = found(made, "bodies")
    assert (bad.level, "(9)" in bad.text) == (Level.ERROR, True)


def test_a_damaged_catalog(made: Home) -> None:
    database_of(made).write_bytes(b"SQLite format 3\0" + b"x" * 8_000)
    [bad] = found(made, "catalog")
    assert bad.level is Level.ERROR


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize(
    ("days", "level"), [("20", Level.WARNING), ("400", Level.FINE), ("20000", Level.FINE)]
)
def test_the_end_of_a_certificate(made: Home, days: str, level: Level) -> None:
    path = made.feeds / "certificate.pem"
    asked = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        days,
        "-subj",
        "/CN=a",
        "-keyout",
        str(made.run / "key"),
    ]
    subprocess.run([str(shutil.which("openssl")), *asked, "-out", str(path)], check=True, capture_output=True)
    said = subprocess.run(
        [str(shutil.which("openssl")), "x509", "-in", str(path), "-noout", "-enddate", "-dateopt", "iso_8601"], check=True, capture_output=True, text=True
    ).stdout  # fmt: skip
    assert datetime.fromisoformat(said.strip().partition("=")[2]).timestamp() == not_after(path)
    [one] = check_certificates(made, made.settings(environment={}).settings)
    assert one.level is level


@pytest.mark.parametrize("text", ["", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"])
def test_what_is_no_certificate(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.pem").write_text(text)
    with pytest.raises(ValueError, match="it "):
        not_after(tmp_path / "bad.pem")


def test_the_command_says_what_to_do_and_fails(made: Home) -> None:
    rig = Rig(made.path, **{"feeds.listen": ""})
    (made.path / "admin-token").chmod(0o644)
    said = rig.call("doctor", "--only", "permissions")
    assert (said.status, f"do: chmod 600 {made.path / 'admin-token'}" in said.out) == (1, True)
    answer = rig.call("doctor", "--only", "permissions", "--json").json
    assert (answer["ok"], answer["errors"] >= 1) == (False, True)
    assert {"check", "level", "text", "do"} == set(answer["findings"][0])


def test_an_unknown_check_is_one_line(made: Home) -> None:
    said = Rig(made.path).call("doctor", "--only", "weather")
    assert (said.status, said.err.count("\n"), "'weather' is none of versions" in said.err) == (2, 1, True)
