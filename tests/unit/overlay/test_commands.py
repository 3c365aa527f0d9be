"""``ingather overlay check|concatenate`` and the original's command, on the files of a home."""

from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.cli import run
from ingather.cli.overlay_original import run as original

NAME = "external_metadata.cfg"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.create(tmp_path / "home")


def put(home: Home, path: str, text: str) -> Path:
    file = home.config / path / NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def task(home: Home, *words: str) -> int:
    return original(["collection=web", *words, f"home={home}"])


def ten(bad: int) -> str:
    return "".join(f"bad line {n}\n" if n < bad else f"site{n}.com/ x:a\n" for n in range(10))


def test_overlay_case_40_exit_statuses(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert task(home, "mode=concatenate") == 0  # there is nothing to do
    put(home, "sources/web/profiles/p", ten(7))
    assert task(home, "mode=concatenate", "errorThreshold=0.7") == 0
    target = home.config / "sources/web" / NAME
    assert target.read_text().splitlines() == ["site7.com/ x:a", "site8.com/ x:a", "site9.com/ x:a"]
    put(home, "sources/web/profiles/p", ten(8))
    assert task(home, "mode=concatenate", "errorThreshhold=0.7") == 1
    assert len(target.read_text().splitlines()) == 3
    assert task(home, "mode=check", "errorThreshold=1.5") == 2
    log = (home.log / "web" / f"{NAME}-validation.log").read_text()
    assert log.splitlines()[-1] == "refused: 8 bad of 10 records, ratio 0.8, threshold 0.7"
    capsys.readouterr()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["collection=web"],
        ["collection=web", "mode=both"],
        ["collection=web", "mode=check", "mode=check"],
        ["collection=web", "mode=check", "what=1"],
        ["collection=nowhere", "mode=check"],
        ["collection=../web", "mode=check"],
        ["collection=web", "mode=concatenate", "force=perhaps"],
    ],
)
def test_wrong_use_is_one_line(home: Home, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert original([*words, f"home={home}"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_profiles_are_taken_in_the_order_of_their_names_as_bytes(home: Home) -> None:
    put(home, "sources/web/profiles/b", "s.com/ x:2\nt.com/ y:1\n")
    put(home, "sources/web/profiles/B", "s.com/ x:1\n")
    (home.config / "sources/web/profiles/empty").mkdir()
    assert run(["overlay", "concatenate", "--source", "web", "--home", str(home)]) == 0
    assert (home.config / "sources/web" / NAME).read_text() == "s.com/ x:1\nt.com/ y:1\n"
    log = (home.log / "web" / f"{NAME}-validation.log").read_text()
    assert f"profiles/B/{NAME}:1 has the same prefix" in log


def test_a_file_written_by_hand_is_not_replaced(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    hand = put(home, "sources/web", "hand.com/ x:1\n")
    put(home, "sources/web/profiles/p", "s.com/ x:1\n")
    assert task(home, "mode=concatenate") == 3
    assert "was not written by concatenating" in capsys.readouterr().err
    assert hand.read_text() == "hand.com/ x:1\n"
    assert task(home, "mode=concatenate", "force=true") == 0
    assert hand.read_text() == "s.com/ x:1\n"
    assert hand.with_name(f"{NAME}.bak").read_text() == "hand.com/ x:1\n"
    # Now it is ours, until somebody changes it.
    put(home, "sources/web/profiles/p", "s.com/ x:2\n")
    assert task(home, "mode=concatenate") == 0
    hand.write_text("s.com/ x:3\n")
    assert task(home, "mode=concatenate") == 3
    assert not [each.name for each in hand.parent.iterdir() if ".new" in each.name]


def test_check_reads_the_file_and_says_when_the_indexer_rejects_it(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["overlay", "check", "--home", str(home)]) == 0
    put(home, "", "good.com/ x:1\nbad line\n")
    assert run(["overlay", "check", "--home", str(home)]) == 1
    assert run(["overlay", "check", "--home", str(home), "--threshold", "0.5"]) == 0
    told = capsys.readouterr().err
    assert f"config/{NAME}:2:1 error no-full-host" in told
    assert "will still reject this file" in told
    assert (home.log / f"{NAME}-validation.log").exists()


def test_what_cannot_be_read_or_written_is_3(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    (home.config / "sources/web" / NAME).mkdir(parents=True)
    assert task(home, "mode=check") == 3
    assert NAME in capsys.readouterr().err
    assert original(["collection=web", "mode=check", f"home={home}/nowhere"]) == 3
    capsys.readouterr()
