"""What is shipped for operators fits the program: unit, container file, dashboard, alerts."""

import json
import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from ingather.cli import VERBS
from ingather.conf.settings.table import SETTINGS

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "ingather.service"
CONTAINER = (DEPLOY / "Containerfile").read_text("utf-8")
_METRIC = re.compile(r"\bingather_[a-z_]+\b")
ANALYZE = shutil.which("systemd-analyze")


def unit() -> ConfigParser:
    read = ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read(UNIT, "utf-8")
    return read


def variables() -> set[str]:
    return {"INGATHER_HOME"} | {
        f"INGATHER_{one.section}_{one.key}".upper().replace("-", "_") for one in SETTINGS
    }


def test_the_unit_starts_verbs_that_are_there_in_its_own_home() -> None:
    service = unit()["Service"]
    for key in ("ExecStartPre", "ExecStart"):
        program, verb = service[key].split()[:2]
        assert (program, verb in VERBS) == ("/opt/ingather/bin/ingather", True)
    assert service["Environment"] == "INGATHER_HOME=/var/lib/" + service["StateDirectory"]
    assert (service["User"], service["NoNewPrivileges"], service["ProtectSystem"]) == (
        "ingather",
        "yes",
        "strict",
    )
    # Converters make a user and a network namespace: what confines them must stay allowed.
    assert set(service["RestrictNamespaces"].split()) == {"user", "net"}


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed: apt-get install systemd")
def test_systemd_takes_the_unit_and_finds_it_hardened(tmp_path: Path) -> None:
    # The program and its user are the operator's to make; here others stand in for them.
    text = (
        UNIT.read_text("utf-8")
        .replace("/opt/ingather/bin/ingather", "/bin/true")
        .replace("=ingather\n", "=bin\n")
    )
    copy = tmp_path / "ingather.service"
    copy.write_text(text.replace("StateDirectory=bin", "StateDirectory=ingather"))
    said = subprocess.run(
        [str(ANALYZE), "verify", "--man=no", str(copy)], check=False, capture_output=True, text=True
    )
    assert not [line for line in said.stderr.splitlines() if "ingather.service" in line], said.stderr
    judged = subprocess.run(
        [str(ANALYZE), "security", "--offline=true", "--no-pager", "--threshold=40", str(copy)], check=False, capture_output=True, text=True
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout[-400:]


def test_the_container_copies_what_is_there_and_runs_as_nobody_s_root() -> None:
    steps = [
        line.split(maxsplit=1)
        for line in CONTAINER.replace("\\\n", " ").splitlines()
        if line and line[0] != "#"
    ]
    known = [
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "ENV",
        "USER",
        "VOLUME",
        "EXPOSE",
        "STOPSIGNAL",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    ]
    assert {name for name, _ in steps} <= set(known)
    for name, rest in steps:
        if name == "COPY" and not rest.startswith("--from"):
            assert all((ROOT / source).exists() for source in rest.split()[:-1]), rest
    [user] = [rest for name, rest in steps if name == "USER"]
    assert user not in {"root", "0"}
    assert json.loads(steps[-1][1])[0] in VERBS
    assert "FROM" in {name for name, _ in steps[:1]}
    # What is copied is not left out of the context.
    kept = {
        line[1:]
        for line in (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert {"pyproject.toml", "hatch_build.py", "build_compiled.py", "src", "requirements/run.txt"} <= kept


def test_the_container_s_variables_and_ports_are_ours() -> None:
    named = set(re.findall(r"\bINGATHER_[A-Z_]+(?==)", CONTAINER))
    assert named - {"INGATHER_COMPILE"} <= variables()  # that one is for building
    defaults = {f"{one.section}.{one.key}": one.default for one in SETTINGS}
    ports = {str(defaults["feeds.port"]), str(defaults["feeds.tls-port"]), "7070", "7071"}
    [exposed] = re.findall(r"^EXPOSE (.+)$", CONTAINER, re.MULTILINE)
    assert set(exposed.split()) == ports
    assert str(defaults["listen.search"]).endswith(":7070")
    assert str(defaults["listen.admin"]).endswith(":7071")


def panels() -> list[dict[str, object]]:
    made = json.loads((DEPLOY / "grafana" / "ingather.json").read_text("utf-8"))
    found: list[dict[str, object]] = made["panels"]
    return found


def test_the_dashboard_is_whole() -> None:
    numbers = [panel["id"] for panel in panels()]
    assert len(set(numbers)) == len(numbers)
    for panel in panels():
        if panel["type"] == "row":
            continue
        targets = panel["targets"]
        assert isinstance(targets, list)
        assert targets
        for target in targets:
            assert target["expr"].count("(") == target["expr"].count(")")
            assert _METRIC.search(target["expr"])


def test_alerts_have_a_summary_and_balanced_expressions() -> None:
    text = (DEPLOY / "prometheus" / "ingather.rules.yml").read_text("utf-8")
    expressions = re.findall(r"^ +expr: (.+)$", text, re.MULTILINE)
    assert len(expressions) == text.count("- alert:") == text.count("summary:")
    assert all(one.count("(") == one.count(")") and _METRIC.search(one) for one in expressions)
