"""The robot under control, as an operator meets it: one ``serve``, its commands by CLI, HTTP and command port."""

import json
import socket
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
        code, answer = told(served, "start")
        assert (code, answer["continued"]) == (200, True)
    assert rig.complaints() == []


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    program = tmp_path / "cmdHookTest"
    program.write_text('#!/bin/sh\npwd >"$1"\necho "${PATH%%:*}" >>"$1"\necho "$TMPDIR" >>"$1"\n')
    program.chmod(0o755)
    return program


def test_robot_case_77_the_hook_comes_before_the_robot_is_idle(rig: Rig, site: Site, hook: Path) -> None:
    seen = hook.with_suffix(".seen")
    scratch = hook.with_suffix(".tmp")
    scratch.mkdir()
    conf(rig, f'onCompletion=idle\ncmd-hook="{hook} {seen}"\nbindir="{hook.parent}"\ntmpdir="{scratch}"\n')
    site.page("/", "Start")
    assert rig.crawl(site.url("/")).status == 0
    lines = (rig.path / "log" / "robot.log").read_text().splitlines()
    said = [line.partition("INFO: ")[2].split(":")[0] for line in lines]
    found = [text for text in said if text in {"Run cmd", "Complete cmd", "Robot is idle...."}]
    assert found == ["Run cmd", "Complete cmd", "Robot is idle...."]
    folder, *rest = seen.read_text().splitlines()
    assert Path(folder).samefile(rig.path)  # it runs in the home
    assert rest == [str(hook.parent), str(scratch)]


def test_robot_case_78_without_a_description_the_hook_is_not_run(rig: Rig, site: Site, hook: Path) -> None:
    seen = hook.with_suffix(".seen")
    conf(rig, f'cmd-hook="{hook} {seen}"\n')
    site.page("/", "Start", head='<meta name="robots" content="noindex">')
    rig.crawl(site.url("/"))
    assert not seen.exists()
    log = (rig.path / "log" / "robot.log").read_text()
    assert "Run cmd" not in log
    assert "Robot is idle...." in log


def test_a_loop_calls_the_hook_each_time_and_quit_ends_it(rig: Rig, site: Site, hook: Path) -> None:
    seen = hook.with_suffix(".seen")
    hook.write_text(f'#!/bin/sh\necho "$INGATHER_RUN" >>{seen}\n')
    rig.site(site.origin)
    conf(rig, f"onCompletion=loop\ncmd-hook={hook}\n")
    kind = (("Content-Type", "text/html"),)
    site.answer("/", lambda times: Answer(200, kind, html("Start", text=f"number {times}").encode()))
    with rig.serving() as served:
        wait_until(lambda: seen.exists() and len(seen.read_text().split()) >= 3)
        text = (rig.path / "config" / "robot.conf").read_text()
        (rig.path / "config" / "robot.conf").write_text(text.replace("=loop", "=shutdown"))
        assert told(served, "reload")[0] == 200
        wait_until(lambda: robot(served)["state"] == "off")  # the robot, not serve
        assert served.found("number")
    runs = [int(word) for word in seen.read_text().split()]
    assert runs == sorted(set(runs))
    loops = [line for line in (rig.path / "log" / "filter.log").read_text().splitlines() if "loop" in line]
    assert [int(line.rpartition(" ")[2]) for line in loops][: len(runs)] == runs
    log = (rig.path / "log" / "robot.log").read_text()
    assert log.index("Restart Robot.") < log.index("Workload complete.")


def test_who_is_blocked_slowed_down_or_out_of_its_window(rig: Rig, site: Site) -> None:
    day = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[(int(time.time() // 86_400) + 6) % 7]
    host = site.origin.partition("//")[2]
    site.page("/", "Start", text="quetzal")
    assert rig.call("robot", "block", host).out == f"the robot is off (host {host}, blocked true)\n"
    assert rig.call("robot", "slow", site.url("/"), "2.5s").status == 0
    assert rig.call("robot", "slow", host, "never").status == 2
    with Site() as night:
        night.page("/", "Start")
        rig.site(site.origin)
        origin = night.origin.replace("127.0.0.1", "localhost")  # a site is known by its host
        rig.site(origin, source="night", keys=f'windows = ["{day}"]\nschedule = ["0 12 * * {day}"]\n')
        with rig.serving() as served:
            now = wait_until(lambda: (found := robot(served))["state"] == "idle" and found)
            assert (now["pool"], now["blocked"], now["slowed"]) == (2, [host], {host: 2.5})
            waits = {row["host"]: row["in_s"] for row in now["queue"]}
            assert waits.pop(host) == -1
            assert min(waits.values()) > 86_400  # the window opens the day after tomorrow at the earliest
            assert [(row["source"], row["opens_in_s"]) for row in now["next_runs"]] == [("night", 0)]
            assert site.server.requests == []
            assert told(served, "unblock", host=host)[1] == {"state": "idle", "host": host, "blocked": False}
            wait_until(lambda: served.found("quetzal"))
        assert night.server.requests == []
    assert (2.5,) in rig.rows("select delay from host")  # an own host has none otherwise
