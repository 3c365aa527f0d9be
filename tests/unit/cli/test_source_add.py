"""``ingather source add``: a source in ingather.toml, whole or not at all."""

from pathlib import Path

import pytest

from ingather.testing.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "home").init()


def test_a_source_is_written_behind_what_stands_there(rig: Rig) -> None:
    path = rig.path / "ingather.toml"
    before, mode = path.read_text(), path.stat().st_mode
    made = rig.call(
        "source",
        "add",
        "intra",
        "access=secure",
        "hosts=.corp.example, x.example",
        "delay=2s",
        "takes-over=no",
    )
    assert (made.status, made.err) == (0, "")
    assert path.read_text() == before.rstrip("\n") + (
        '\n\n[source.intra]\naccess = "secure"\nhosts = [".corp.example", "x.example"]\ndelay = "2s"\ntakes-over = false\n'
    )
    assert path.stat().st_mode == mode
    assert '"secure"' not in rig.call("config", "check").out
    assert rig.call("config", "show", "source.intra.access").out.split()[1] == "secure"
    assert rig.call("source", "add", "other").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("in tra",), "no name of a source"),
        (("a/b",), "no name of a source"),
        (("intra", "access"), "KEY=VALUE"),
        (("intra", "acess=secure"), "access"),
        (("intra", "access=closed"), "public, secure"),
        (("intra", "delay=soon"), "delay"),
        (("intra", "access=secure", "access=public"), "given twice"),
        (("intra", "addresses=10.0.0.0/99"), "addresses"),
        (("taken",), "already"),
    ],
)
def test_what_is_wrong_changes_nothing(rig: Rig, arguments: tuple[str, ...], said: str) -> None:
    rig.toml("[source.taken]")
    before = (rig.path / "ingather.toml").read_bytes()
    refused = rig.call("source", "add", *arguments)
    assert refused.status in {1, 2}
    assert said in refused.err
    assert (rig.path / "ingather.toml").read_bytes() == before
