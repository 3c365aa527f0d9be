"""The robot under control, as an operator meets it: one ``serve``, its commands by CLI, HTTP and command port."""

import json
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from ingather.testing.rig import Rig, wait_until
from ingather.testing.running import Served
from ingather.testing.site import Site, html
from ingather.testing.web import Answer

from .test_running import free_port


def conf(rig: Rig, text: str) -> None:
    file = rig.path / "config" / "robot.conf"
    file.write_text(f"{file.read_text()}\n{text}")


def robot(served: Served) -> dict[str, Any]:
    code, answer = served.admin("/api/v1/robot")
    assert code == 200, answer
    return dict(answer)


def told(served: Served, name: str, **fields: str) -> tuple[int, Any]:
    return served.admin(f"/api/v1/robot/{name}", fields)


def ported(port: int, token: str, *lines: str) -> list[str]:
    """Say AUTH and *lines* to the command port; return its answers, the first to AUTH."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one, one.makefile("rwb") as stream:
        stream.write("".join(f"{line}\n" for line in (f"AUTH {token}", *lines)).encode())
        stream.flush()
        one.shutdown(socket.SHUT_WR)
        return stream.read().decode().splitlines()


def test_the_robot_is_off_idle_running_paused_as_it_is_told(rig: Rig, site: Site) -> None:
    port = free_port()
    rig.site(site.origin)
    conf(rig, f"command-port={port}\n")
    site.page("/", "Start", "/one", text="quetzal")
    site.page("/one", "One")
    site.page("/added", "Added", text="toucan")
    token = (rig.path / "admin-token").read_text().strip()
    with rig.serving(admin=free_port()) as served:
        wait_until(lambda: robot(served)["state"] == "idle")
        assert robot(served)["rds_new"] == 2
        assert told(served, "start")[0] == 409
        assert rig.call("robot", "resume").status == 1
        assert rig.call("robot", "pause").out == "the robot is paused\n"
        assert told(served, "add", url=site.url("/added"))[1]["state"] == "paused"
        assert robot(served)["pool"] == 1
        assert rig.call("robot", "clear").status == 1
        assert site.asked("/added") == 0
        assert ported(port, token, "RESUME") == [
            "200 welcome; HELP lists the commands",
            "200 the robot is idle",
        ]
        wait_until(lambda: served.found("toucan") == [site.url("/added")])
        wait_until(lambda: robot(served)["state"] == "idle")
        assert told(served, "stop") == (200, {"state": "off"})
        assert served.status["gatherers"]["pids"] == []
        code, answer = told(served, "pause")
        assert (code, answer["error"]["message"]) == (409, "the robot is off: it cannot pause")
        assert told(served, "clear")[1]["renewed"] == 3
        assert served.found("toucan") == [site.url("/added")]
        site.page("/one", "One", text="jacana")
        assert told(served, "start")[1]["state"] == "running"
        wait_until(lambda: served.found("jacana") == [site.url("/one")])
        answers = ported(port, token, "QUIT", "STATUS", "START", "STOP", "NONSENSE")
        assert answers[1] == "200 the robot is off"
        assert json.loads(answers[2].removeprefix("200 "))["state"] == "off"
        assert [line[:3] for line in answers[3:]] == ["200", "200", "400"]
        assert ported(port, "wrong", "START")[0].startswith("401")
    with rig.serving() as served:  # what an operator set holds across restarts
        assert robot(served)["state"] == "off"
        assert told(served, "start")[0] == 200
    assert rig.complaints() == []


def test_remote_hosts_command_over_tls_only(rig: Rig) -> None:
    port = free_port()
    conf(rig, f"command-port={port}\nremote-access=yes\n")
    token = (rig.path / "admin-token").read_text().strip()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with rig.serving() as served:
        form = robot(served)["command_port"]
        if form["trouble"]:
            pytest.skip(f"no certificate here: {form['trouble']}")
        assert form == {"address": f"0.0.0.0:{port}", "tls": True, "trouble": ""}
        context.load_verify_locations(rig.path / "feeds" / "certificate.pem")
        with (
            socket.create_connection(("127.0.0.1", port), timeout=60) as one,
            context.wrap_socket(one, server_hostname="localhost") as safe,
            safe.makefile("rwb") as stream,
        ):
            stream.write(f"AUTH {token}\nPAUSE\n".encode())
            stream.flush()
            assert [stream.readline()[:3] for _ in range(2)] == [b"200", b"200"]
            text = (rig.path / "config" / "robot.conf").read_text()
            (rig.path / "config" / "robot.conf").write_text(text.replace("remote-access=yes", ""))
            stream.write(b"RELOAD\n")
            stream.flush()
            assert stream.readline() == b"200 the robot is paused\n"
        assert robot(served)["command_port"]["address"] == f"127.0.0.1:{port}"
        assert ported(port, token, "RESUME")[1].startswith("200 ")


def test_robot_case_79_without_an_enabled_starting_point_the_start_is_refused(rig: Rig) -> None:
    with rig.serving() as served:
        wait_until(lambda: robot(served)["state"] == "idle")
        assert told(served, "stop")[0] == 200
        code, answer = told(served, "start")
        assert code == 409
        assert "Starting Points: 0 defined" in answer["error"]["message"]
        assert robot(served)["state"] == "off"


def test_robot_case_80_a_broken_configuration_changes_nothing(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start")
    with rig.serving() as served:
        wait_until(lambda: robot(served)["state"] == "idle")
        before = robot(served)["configuration"]
        file = rig.path / "config" / "filter.conf"
        file.write_text(
            file.read_text() + '\n<Filter name="x">\nData fn=no-such\n</Filter>\nData fn=generate-md5\n'
        )
        code, answer = told(served, "reload")
        assert code == 422
        assert "E-STRAY" in answer["error"]["message"]
        now = robot(served)
        assert (now["state"], now["configuration"]) == ("idle", before)


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    program = tmp_path / "cmdHookTest"
    program.write_text('#!/bin/sh\npwd >"$1"\n')
    program.chmod(0o755)
    return program


def test_robot_case_77_the_hook_comes_before_the_robot_is_idle(rig: Rig, site: Site, hook: Path) -> None:
    seen = hook.with_suffix(".seen")
    conf(rig, f'onCompletion=idle\ncmd-hook="{hook} {seen}"\n')
    site.page("/", "Start")
    assert rig.crawl(site.url("/")).status == 0
    lines = (rig.path / "log" / "robot.log").read_text().splitlines()
    said = [line.partition("INFO: ")[2].split(":")[0] for line in lines]
    found = [text for text in said if text in {"Run cmd", "Complete cmd", "Robot is idle...."}]
    assert found == ["Run cmd", "Complete cmd", "Robot is idle...."]
    assert Path(seen.read_text().strip()).samefile(rig.path)  # it runs in the home


def test_robot_case_78_without_a_description_the_hook_is_not_run(rig: Rig, site: Site, hook: Path) -> None:
    seen = hook.with_suffix(".seen")
    conf(rig, f'cmd-hook="{hook} {seen}"\n')
    site.page("/", "Start", head='<meta name="robots" content="noindex">')
    rig.crawl(site.url("/"))
    assert not seen.exists()
    log = (rig.path / "log" / "robot.log").read_text()
    assert "Run cmd" not in log
    assert "Robot is idle...." in log


def test_a_loop_calls_the_hook_each_time_and_numbers_filter_log(rig: Rig, site: Site, hook: Path) -> None:
    seen = hook.with_suffix(".seen")
    hook.write_text(f'#!/bin/sh\necho "$INGATHER_RUN" >>{seen}\n')
    rig.site(site.origin)
    conf(rig, f"onCompletion=loop\ncmd-hook={hook}\n")
    kind = (("Content-Type", "text/html"),)
    site.answer("/", lambda times: Answer(200, kind, html("Start", text=f"number {times}").encode()))
    with rig.serving() as served:
        wait_until(lambda: seen.exists() and len(seen.read_text().split()) >= 3)
        assert told(served, "stop")[0] == 200
    runs = [int(word) for word in seen.read_text().split()]
    assert runs == sorted(set(runs))
    loops = [line for line in (rig.path / "log" / "filter.log").read_text().splitlines() if "loop" in line]
    assert [int(line.rpartition(" ")[2]) for line in loops][: len(runs)] == runs
    assert "Restart Robot." in (rig.path / "log" / "robot.log").read_text()


def test_quit_on_completion_leaves_serve_alone(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    conf(rig, "onCompletion=shutdown\n")
    site.page("/", "Start", text="quetzal")
    with rig.serving() as served:
        wait_until(lambda: robot(served)["state"] == "off")
        assert served.found("quetzal") == [site.url("/")]
        assert "Workload complete." in (rig.path / "log" / "robot.log").read_text()


def test_a_blocked_host_is_asked_nothing_and_a_slowed_one_seldom(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start", text="quetzal")
    host = site.origin.partition("//")[2]
    assert rig.call("robot", "block", host).out == f"the robot is off (host {host}, blocked true)\n"
    assert rig.call("robot", "slow", site.url("/"), "2.5s").status == 0
    assert rig.call("robot", "slow", host, "never").status == 2
    with rig.serving() as served:
        now = wait_until(lambda: (found := robot(served))["state"] == "idle" and found)
        assert (now["pool"], now["blocked"], now["slowed"]) == (1, [host], {host: 2.5})
        assert now["queue"][0]["in_s"] == -1
        assert site.asked("/") == site.asked("/robots.txt") == 0
        assert told(served, "unblock", host=host)[1] == {"state": "idle", "host": host, "blocked": False}
        wait_until(lambda: served.found("quetzal"))
        wait_until(lambda: robot(served)["state"] == "idle")
        assert robot(served)["pool"] == 0
        assert served.status["slow_hosts"] == []
    assert rig.rows("select delay from host") == [(2.5,)]  # an own host has none otherwise


def test_outside_its_windows_nothing_is_fetched_of_a_source(rig: Rig, site: Site) -> None:
    day = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[(int(time.time() // 86_400) + 3 + 3) % 7]
    rig.site(site.origin, keys=f'windows = ["{day}"]\nschedule = ["0 12 * * {day}"]\n')
    site.page("/", "Start")
    with rig.serving() as served:
        now = wait_until(lambda: (found := robot(served))["state"] == "idle" and found)
        assert now["pool"] == 1
        assert [(row["source"], row["opens_in_s"]) for row in now["next_runs"]] == [("web", 0)]
    assert site.server.requests == []
