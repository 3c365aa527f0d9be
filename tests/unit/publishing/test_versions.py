"""Publishing while nobody gathers: whole or not at all, nothing lost, an old version again."""

from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.publishing import Publishing, differences
from ingather.app.versions import finish_publishing, put_in_place, staged
from ingather.app.waiting import finish_waiting
from ingather.conf import load, shipped
from ingather.errors import ConfigurationError, HomeLockedError, IngatherError, UsageError
from ingather.testing.rig import Rig
from ingather.testing.site import Site


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.create(tmp_path / "home")


@pytest.fixture
def publishing(home: Home) -> Publishing:
    return Publishing(home, home.settings().settings)


def files(**changes: str) -> dict[str, bytes]:
    """The shipped files; ``depth="3"`` changes robot.conf."""
    made = {name: text.encode() for name, text in shipped().items()}
    for name, value in changes.items():
        made["robot.conf"] = made["robot.conf"].replace(b"\ndepth=10\n", f"\n{name}={value}\n".encode())
    return made


def in_config(home: Home) -> dict[str, bytes]:
    return {
        path.relative_to(home.config).as_posix(): path.read_bytes()
        for path in home.config.rglob("*")
        if path.is_file()
    }


def test_publishing_keeps_a_version_and_puts_the_files_in_place(home: Home, publishing: Publishing) -> None:
    before = in_config(home)
    done = publishing.publish(files(depth="3"), note="less deep", author="ann")
    assert (done.changed, done.running) == (True, False)
    assert load(home.config).robot.depth == 3
    newest, replaced = publishing.history()
    assert (newest["version"], newest["author"], newest["note"], newest["in_force"]) == (
        2,
        "ann",
        "less deep",
        True,
    )
    assert (replaced["version"], replaced["note"]) == (1, "never in force")
    assert publishing.files("1").items() <= before.items()
    assert publishing.files("current") == publishing.files("config")


def test_an_old_version_comes_back_under_its_number_with_its_exact_bytes(
    home: Home, publishing: Publishing
) -> None:
    odd = files(depth="3") | {"filterrules.conf": b"# caf\xe9\r\n" + files()["filterrules.conf"]}
    first = publishing.publish(odd).version
    second = publishing.publish(files(depth="4")).version
    assert publishing.publish(publishing.files(str(first)), note="back").version == first
    assert in_config(home)["filterrules.conf"] == odd["filterrules.conf"]
    assert [row["version"] for row in publishing.history()][:3] == [first, second, first]
    assert not publishing.publish(publishing.files(str(first))).changed


def test_the_rd_schema_is_part_of_a_version(home: Home, publishing: Publishing) -> None:
    first = publishing.publish(files(depth="3")).version
    own = b"Attribute name=title score=3\nAttribute name=colour aliases=color\n"
    second = publishing.publish(files(depth="3") | {"rd-schema.conf": own})
    assert second.changed
    assert load(home.config).rd_schema.aliases == {"color": "colour"}
    said = differences(publishing.files(str(first)), publishing.files("current"), names=("old", "new"))
    assert "+Attribute name=colour aliases=color" in said
    with pytest.raises(ConfigurationError) as refused:
        publishing.publish(files() | {"rd-schema.conf": b"Attribute\n"})
    assert {d.code for d in refused.value.diagnostics if d.is_error} == {"E-SCHEMA"}  # type: ignore[attr-defined]
    publishing.publish(publishing.files(str(first)), note="back")
    assert "title" in load(home.config).rd_schema.attributes
    assert in_config(home)["rd-schema.conf"] == files()["rd-schema.conf"]


def test_what_is_edited_by_hand_becomes_a_version_by_reloading(home: Home, publishing: Publishing) -> None:
    publishing.reload(note="first")
    robot = home.config / "robot.conf"
    robot.write_bytes(files(depth="2")["robot.conf"])
    done = publishing.reload(author="bob", note="by hand")
    assert (done.version, done.changed) == (2, True)
    assert publishing.history()[0]["author"] == "bob"
    assert not publishing.reload().changed


def test_a_mistake_changes_nothing(home: Home, publishing: Publishing) -> None:
    publishing.reload()
    before = in_config(home)
    with pytest.raises(ConfigurationError) as refused:
        publishing.publish(files(depth="deep") | {"filter.conf": b"<Filter name=a>\nData fn=no-such\n"})
    assert {d.file for d in refused.value.diagnostics if d.is_error} == {"robot.conf", "filter.conf"}  # type: ignore[attr-defined]
    assert in_config(home) == before
    assert len(publishing.history()) == 1
    assert not list(home.run.glob("publish*"))


def test_who_says_no_changes_nothing(home: Home, publishing: Publishing) -> None:
    def refuse(_: Path) -> None:
        text = "too many deletions"
        raise IngatherError(text)

    before = in_config(home)
    with pytest.raises(IngatherError, match="too many"):
        publishing.publish(files(depth="1"), confirm=refuse)
    assert in_config(home) == before
    assert publishing.history() == []


def test_files_that_the_new_configuration_does_not_have_go_and_stay_in_the_history(
    home: Home, publishing: Publishing
) -> None:
    old = files()
    old["process.conf"] = old.pop("robot.conf")
    publishing.publish(old)
    assert sorted(in_config(home)) == sorted(old)
    publishing.publish(files(depth="5"))
    assert sorted(in_config(home)) == sorted(files())
    assert "process.conf" in publishing.files("2")


def test_a_file_in_the_way_that_was_never_read_is_kept_too(home: Home, publishing: Publishing) -> None:
    (home.config / "more.types").write_text("text/x-mine mine\n")
    added = files()["filter.conf"].replace(b"file=./config/mime.types", b"file=./config/more.types")
    publishing.publish(files() | {"filter.conf": added, "more.types": b"text/x-yours yours\n"})
    assert publishing.files("1")["more.types"] == b"text/x-mine mine\n"
    assert in_config(home)["more.types"] == b"text/x-yours yours\n"


def test_a_broken_configuration_that_is_replaced_is_kept_as_it_was(
    home: Home, publishing: Publishing
) -> None:
    (home.config / "filter.conf").write_text("<Filter name=a>\n")
    publishing.publish(files())
    assert publishing.files("1")["filter.conf"] == b"<Filter name=a>\n"
    assert load(home.config).ok


def test_a_copy_that_was_cut_off_is_finished_by_who_opens_the_home_next(home: Home) -> None:
    with staged(home, files(depth="6")) as stage:
        (stage / "config" / "robot.conf").chmod(0o644)
        (home.config / "mime.types").unlink()
        (home.config / "mime.types").mkdir()  # nothing can be written over it: the copy stops in its middle
        with pytest.raises(IngatherError):
            put_in_place(home, stage, [])
    (home.config / "mime.types").rmdir()
    assert finish_publishing(home)
    assert in_config(home) == files(depth="6")
    assert not finish_publishing(home)


def test_what_is_published_during_a_crawl_is_in_force_after_it(home: Home, publishing: Publishing) -> None:
    publishing.reload(note="first")
    with home.lock("ingather crawl"):
        for depth in ("3", "4"):  # the later one counts
            done = publishing.publish(files(depth=depth), note=f"depth {depth}", author="ann")
            assert (done.waiting, done.running, done.version) == (True, False, 0)
        assert in_config(home) == files()  # the crawl goes on with what it began with
        assert [row["version"] for row in publishing.history()] == [1]
    with home.lock("ingather crawl"):
        assert finish_waiting(home, home.settings().settings)
        assert not finish_waiting(home, home.settings().settings)
    assert load(home.config).robot.depth == 4
    newest = publishing.history()[0]
    assert (newest["version"], newest["author"], newest["note"]) == (2, "ann", "depth 4")


def test_the_next_who_publishes_finishes_what_waits(home: Home, publishing: Publishing) -> None:
    with home.lock("ingather crawl"):
        publishing.publish(files(depth="3"), note="waits")
        (home.config / "robot.conf").write_bytes(files(depth="5")["robot.conf"])
        assert publishing.reload(note="by hand").waiting
    publishing.publish(files(depth="6"), note="now")
    assert load(home.config).robot.depth == 6
    assert [row["note"] for row in publishing.history()][:2] == ["now", "by hand"]


def test_what_waits_and_has_mistakes_by_now_is_left_out(home: Home, publishing: Publishing) -> None:
    with home.lock("ingather crawl"):
        publishing.publish(files(depth="3"))
        (home.run / "publishing-next" / "config" / "robot.conf").write_text("depth=deep\n")
        assert not finish_waiting(home, home.settings().settings)
    assert in_config(home) == files()
    assert not (home.run / "publishing-next").exists()


def test_a_crawl_takes_over_what_waited_when_it_ends(home: Home, publishing: Publishing) -> None:
    rig = Rig(home.path)
    with home.lock("ingather crawl"):
        publishing.publish(files(depth="3"), note="waits")
    with Site() as site:
        site.page("/", "Start")
        assert rig.run("crawl", site.url("/"), "--quiet").status == 0
    assert load(home.config).robot.depth == 3
    assert publishing.history()[0]["note"] in {"waits", "as config/ was at the start"}


def test_another_process_in_the_way_is_named(home: Home, publishing: Publishing) -> None:
    with home.lock("ingather index"), pytest.raises(HomeLockedError, match="index"):
        publishing.publish(files(depth="3"))
    assert in_config(home) == files()


@pytest.mark.parametrize("which", ["7", "-1", "x", "0"])
def test_versions_that_are_not_there(publishing: Publishing, which: str) -> None:
    with pytest.raises(UsageError):
        publishing.files(which)
    publishing.reload()
    with pytest.raises(UsageError, match="there is no version"):
        publishing.files(which)


def test_differences_are_told_by_file() -> None:
    lines = differences(files(), files(depth="3"), names=("1", "2"))
    assert lines[:2] == ["--- 1/robot.conf", "+++ 2/robot.conf"]
    assert [line for line in lines if line[0] in "+-"][2:] == ["-depth=10", "+depth=3"]
    assert differences(files(), files(), names=("1", "2")) == []


def test_the_verbs(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home").init()
    assert rig.call("conf", "history").out == "no configuration has been kept yet\n"
    assert (
        rig.call("conf", "publish", "--note", "first").out
        == "version 1 is in force; the next start works by it\n"
    )
    other = tmp_path / "other"
    other.mkdir()
    for name, body in files(depth="3").items():
        (other / name).write_bytes(body)
    assert rig.call("conf", "publish", str(other)).status == 0
    assert rig.call("conf", "diff", "1", "2").status == 1
    assert "+depth=3" in rig.call("conf", "diff", "1").out
    assert rig.call("conf", "diff").status == 0
    assert "\ndepth=10\n" in rig.call("conf", "show", "1", "robot.conf").out
    assert "=== mime.types ===" in rig.call("conf", "show").out
    assert "version 1 is in force" in rig.call("conf", "rollback", "1").out
    assert load(rig.path / "config").robot.depth == 10
    listed = rig.call("conf", "history", "--json").json
    assert [row["version"] for row in listed] == [1, 2, 1]
    assert rig.call("conf", "history").out.startswith("*    1  ")
    assert (
        rig.call("conf", "show", "9").status,
        rig.call("conf", "publish", str(other / "none")).status,
    ) == (2, 2)
    (other / "robot.conf").write_text("depth=deep\n")
    refused = rig.call("conf", "publish", str(other))
    assert (refused.status, refused.first.partition(" ")[0]) == (1, "robot.conf:1:7:")
