"""The command line from outside: what it prints, where, and how it ends."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.cli import VERBS, run
from ingather.cli.conf import CONF_VERBS
from ingather.cli.converter import CONVERTER_VERBS
from ingather.cli.feed import FEED_VERBS
from ingather.cli.overlay import OVERLAY_VERBS
from ingather.cli.rd import RD_VERBS
from ingather.cli.rss import RSS_VERBS
from ingather.cli.site import SITE_VERBS
from ingather.units import parse_seconds


def call(
    *arguments: object, cwd: str | Path | None = None, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("INGATHER_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "ingather", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=clean | (environment or {}),
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert run(["init", str(tmp_path / "home")]) == 0
    return tmp_path / "home"


def test_help_lists_every_verb_with_one_line_and_loads_none_of_them() -> None:
    program = (
        "import sys\nfrom ingather.cli import run\nstatus = run(['--help'])\n"
        "loaded = [m for m in sys.modules if m.startswith(('ingather.app', 'ingather.conf', 'ingather.catalog'))]\n"
        "sys.exit(status or bool(loaded))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for name, verb in VERBS.items():
        assert f"  {name}" in done.stdout
        assert verb.about in done.stdout
    assert not done.stderr


@pytest.mark.parametrize("name", list(VERBS))
def test_every_verb_that_is_listed_exists_and_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert f"Usage: ingather {name}" in capsys.readouterr().out


def test_every_file_with_a_command_is_a_verb() -> None:
    folder = Path(__file__).parents[3] / "src" / "ingather" / "cli"
    files = {
        f"ingather.cli.{path.stem}"
        for path in folder.glob("*.py")
        if re.search(r"^@click\.(command|group)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    targets = [verb.target for verb in VERBS.values()] + [
        *CONF_VERBS.values(),
        *CONVERTER_VERBS.values(),
        *FEED_VERBS.values(),
        *OVERLAY_VERBS.values(),
        *RD_VERBS.values(),
        *RSS_VERBS.values(),
        *SITE_VERBS.values(),
    ]
    assert files == {target.partition(":")[0] for target in targets}


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_goes_to_standard_output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    assert capsys.readouterr().out.startswith("usage: ingather VERB")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["confg"], "there is no verb 'confg', did you mean conf or config?; see ingather --help"),
        (["--nonsense"], "no such option '--nonsense'; see ingather --help"),
        (["init", "--nonsense"], "no such option '--nonsense'; see ingather init --help"),
        (["init", "a", "b"], "got unexpected extra argument (b); see ingather init --help"),
        (["config"], "which one: check or credentials or show? see ingather config --help"),
        (["config", "shw"], "no such command 'shw'"),
        (
            ["config", "show", "--home"],
            "option '--home' requires an argument; see ingather --help",
        ),
    ],
)
def test_a_wrong_call_ends_with_2_and_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n"), err.startswith("ingather: ")) == ("", 1, True)


def test_init_makes_a_home_and_says_what_comes_next(tmp_path: Path) -> None:
    done = call("init", tmp_path / "home")
    assert done.returncode == 0
    assert done.stdout.startswith(f"made the home {tmp_path / 'home'}\n")
    assert "next: ingather crawl" in done.stdout
    again = call("init", tmp_path / "home", "--json")
    assert json.loads(again.stdout) == {"home": str(tmp_path / "home"), "created": False}


def test_init_without_a_name_makes_home_here(tmp_path: Path) -> None:
    assert call("init", cwd=tmp_path).returncode == 0
    assert (tmp_path / "home" / "ingather.toml").exists()
    assert call("config", "check", cwd=tmp_path).returncode == 0
    assert call("config", "check", cwd=tmp_path / "home").returncode == 0
    named = call("config", "show", cwd="/", environment={"INGATHER_HOME": str(tmp_path / "home")})
    assert named.returncode == 0


def test_a_search_before_anything_was_gathered_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    capsys.readouterr()
    assert run(["search", "--home", str(home), "anything"]) == 1
    out, err = capsys.readouterr()
    said = f"nothing has been gathered yet; run: ingather crawl --home {home} URL\n"
    assert (out, err) == ("0 documents\n", said)
    assert run(["search", "--home", str(home), "--json", "anything"]) == 1
    out, err = capsys.readouterr()
    assert (json.loads(out)["total"], err) == (0, said)


def test_init_refuses_a_folder_with_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "photo.jpg").touch()
    assert run(["init", str(tmp_path)]) == 1
    assert "is not empty and no home of ours: it holds photo.jpg" in capsys.readouterr().err


def test_a_home_that_is_none_is_named_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "show", "--home", str(tmp_path / "no")]) == 1
    err = capsys.readouterr().err
    assert (
        err
        == f"ingather: {tmp_path / 'no'} does not exist; make a home with: ingather init {tmp_path / 'no'}\n"
    )


def test_show_tells_value_and_origin_of_everything(home: Path) -> None:
    (home / "ingather.toml").write_text(
        "[limits]\n\ntotal-timeout = '5m'\n[source.intranet]\nhosts = ['a.example']\n"
    )
    done = call("config", "show", "--home", home, "--json", environment={"INGATHER_LOG_LEVEL": "debug"})
    found = {row["name"]: (row["value"], row["origin"]) for row in json.loads(done.stdout)["settings"]}
    assert found["limits.total-timeout"] == ("5m", "ingather.toml:3")
    assert found["log.level"] == ("debug", "$INGATHER_LOG_LEVEL")
    assert found["index.max-lag"] == (5000, "default")
    assert found["source.intranet.hosts"] == (["a.example"], "ingather.toml:5")
    assert found["source.web.access"] == ("public", "default")
    value, origin = found["robot.server-delay"]
    assert parse_seconds(value) == 1.0
    file, _, line = origin.partition(":")
    assert file == "robot.conf"
    assert "server-delay" in (home / "config" / "robot.conf").read_text().splitlines()[int(line) - 1]


def test_show_can_be_narrowed_to_names_and_sections(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "show", "--home", str(home), "listen", "log.level"]) == 0
    assert capsys.readouterr().out == (
        "listen.search  127.0.0.1:7070  (default)\nlisten.admin   127.0.0.1:7071  (default)\n"
        "listen.names   -  (default)\n"
        "log.level      info  (default)\n"
    )
    assert run(["config", "show", "--home", str(home), "nothing"]) == 2


def test_a_password_is_never_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (home / "config" / "robot.conf").open("a") as file:
        file.write("\npassword=opensesame\n")
    run(["config", "show", "--home", str(home)])
    out, err = capsys.readouterr()
    assert "opensesame" not in out + err


def test_a_fresh_home_has_no_mistakes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "check", "--home", str(home)]) == 0
    assert capsys.readouterr().out == "no mistakes found\n"


def test_all_mistakes_of_all_files_are_listed_with_file_line_and_column(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "ingather.toml").write_text("[limits]\ntotal-timeot = '5m'\nurl-length = 1\n")
    with (home / "config" / "robot.conf").open("a") as file:
        file.write("\nserver-delay=soon\n")
    assert run(["config", "check", "--home", str(home)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ingather.toml:2:1: error E-KEY: ")
    assert lines[1].startswith("ingather.toml:3:1: error E-VALUE: ")
    assert any(line.startswith("robot.conf:") for line in lines)
    assert lines[-1].endswith("warnings")
    assert run(["config", "check", "--home", str(home), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["errors"] == 3
    assert found["findings"][0]["hint"] == "did you mean total-timeout?"
    assert run(["config", "show", "--home", str(home)]) == 1
    out, err = capsys.readouterr()
    assert (out, "ingather.toml:3:1: error" in err) == ("", True)


def test_a_site_of_a_source_that_is_none_is_a_mistake(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (home / "config" / "filterrules.conf").open("a") as file:
        file.write('\n<Site name="x" host="x.example" source="wbe">\n</Site>\n')
    assert run(["config", "check", "--home", str(home)]) == 1
    assert "E-SOURCE: there is no source 'wbe'; did you mean web?" in capsys.readouterr().out


def test_a_reader_that_goes_away_is_no_traceback(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "ingather", "config", "show", "--home", str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout
        assert child.stderr
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VERBS, "init", VERBS["init"]._replace(target="ingather.cli.init:nothing"))
    with pytest.raises(AttributeError):
        run(["init"])


def test_python_m_ingather_ends_with_the_status_of_the_command() -> None:
    assert call("--nonsense").returncode == 2
    assert call("--version").stdout.startswith("ingather ")


@pytest.mark.parametrize(
    "expected",
    [
        ("return 1", 1, ""),
        ("return None", 0, ""),
        ("raise KeyboardInterrupt", 130, "\ningather: interrupted\n"),
        ("raise errors.QueryError('too long', hint='shorten it')", 1, "ingather: too long; shorten it\n"),
        ("raise errors.UsageError('not both')", 2, "ingather: not both\n"),
        ("open('/nowhere/at/all')", 1, "ingather: /nowhere/at/all: No such file or directory\n"),
        ("click.get_current_context().exit(3)", 3, ""),
        ("raise click.BadParameter('a\\nb')", 2, "ingather: invalid value: a b; see ingather try --help\n"),
    ],
)
def test_what_a_verb_raises_or_returns_is_the_exit_status(
    expected: tuple[str, int, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    body, status, said = expected
    name = f"verb_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(
        f"import click\nfrom ingather import errors\n@click.command()\ndef command():\n    {body}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(VERBS, "try", VERBS["init"]._replace(target=f"{name}:command"))
    assert run(["try"]) == status
    assert capsys.readouterr().err == said
