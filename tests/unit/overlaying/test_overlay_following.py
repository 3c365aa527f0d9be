"""The index follows every change of a file as if it had been made anew; mistakes do what the setting says."""

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingather.access import ANONYMOUS, Visible, identity, need_of, needs_of, principal
from ingather.app.checking import rebuild_index
from ingather.app.overlay import files as overlayfiles
from ingather.app.overlay.laying import Overlays
from ingather.errors import ConfigurationError
from ingather.model.acl import PrincipalScope
from ingather.testing.rig import Rig

PAGE = {"title": "Old", "partial-text": "something to read"}
PATHS = (
    "/",
    "/index.html",
    "/a",
    "/a/",
    "/a/index.htm",
    "/a/b.html",
    "/ab",
    "/a/Default.aspx",
    "/main.html?x=1",
)
URLS = [f"{origin}{path}" for origin in ("http://s.com", "https://s.com", "http://t.com") for path in PATHS]

PREFIXES = st.sampled_from(
    ["s.com/", "s.com/a", "s.com/a/", "s.com/index.html", "s.com/a/home.htm", "https://s.com/a", "t.com", "t.com/main.html?x"]
)  # fmt: skip
LINES = st.builds(
    lambda prefix, elements: f"{prefix} {' '.join(elements)}",
    PREFIXES,
    st.lists(st.sampled_from(["x:1", "x:2", 'x:""', "y:a", "t:New", 'f:""', "d:20040101", "X:20040101", "f:pdf"]), min_size=1, max_size=3),
)  # fmt: skip
FILES = st.lists(LINES, max_size=5).map("\n".join)


def answers(desk: Any) -> list[Any]:
    asked = ("read", "new", "x:1", "y:a d<2005")
    return [
        sorted((r.url, r.title, r.title_original, r.date_s, r.kind, sorted(r.classes.items())) for r in desk.search(q).results)
        for q in asked
    ]  # fmt: skip


@pytest.fixture
def placed(desk: Any) -> Any:
    desk.put(*((url, PAGE) for url in URLS))
    return desk


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.one_of(FILES, st.just("bad line\n")), min_size=1, max_size=4))
def test_after_any_changes_the_index_is_as_one_made_anew(placed: Any, texts: list[str]) -> None:
    for text in texts:
        placed.write(text)
        placed.take_in()
    followed = answers(placed)
    rebuild_index(placed.home, placed.home.settings().settings, tell=lambda _: None)
    assert answers(placed) == followed


def test_a_pass_that_was_cut_off_is_made_again(placed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    placed.take_in()
    placed.write("s.com/ x:1\n")

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Overlays, "_run", cut)
        with pytest.raises(KeyboardInterrupt):
            placed.take_in()
    placed.follow()
    assert placed.found("x:1") == []
    placed.write("s.com/ x:2\n")
    placed.take_in()
    assert len(placed.found("x:2")) == len(PATHS)
    placed.write("")
    placed.take_in()
    assert placed.found("x:$++") == []


def test_classes_that_change_make_every_document_anew(placed: Any) -> None:
    placed.take_in()
    placed.changes()
    placed.settings('[class.kind2]\nfrom = ["title"]')
    placed.take_in()
    assert len(placed.changes()) == len(URLS)
    assert len(placed.found("kind2:old")) == len(URLS)


BAD = "s.com/ x:2\nbad line\nt.com/ x:2 X:20040101\n"


@pytest.mark.parametrize(
    ("how", "found"),
    [("ignore_file", 0), ("keep_last_good", len(PATHS)), ("skip_line", len(PATHS))],
)
def test_a_bad_line_does_what_the_setting_says(placed: Any, how: str, found: int) -> None:
    placed.settings(f'[overlay]\non-error = "{how}"')
    placed.write("s.com/ x:1\n")
    placed.take_in()
    placed.write(BAD)
    overlays = placed.take_in()
    assert len(placed.found("x:1" if how == "keep_last_good" else "x:2")) == found
    (problem,) = overlays.problems.values()
    assert problem.startswith("config/external_metadata.cfg:2:1: error")
    if how == "ignore_file":
        assert "1 expiry dates lapse" in problem
    log = (placed.home.log / "external_metadata.cfg.log").read_text()
    assert "config/external_metadata.cfg:2:1 error" in log
    placed.write("s.com/ x:3\n")
    assert placed.take_in().problems == {}
    assert len(placed.found("x:3")) == len(PATHS)


def test_a_bad_line_can_stop_the_update_before_the_index(placed: Any) -> None:
    placed.settings('[overlay]\non-error = "fail"')
    placed.write("s.com/ x:1\n")
    placed.take_in()
    placed.write(BAD)
    with pytest.raises(ConfigurationError, match=r"external_metadata\.cfg:2:1"):
        placed.take_in()
    assert len(placed.found("x:1")) == len(PATHS)


def test_a_command_that_fails_keeps_what_is_in_force(placed: Any) -> None:
    flag = placed.home.path / "allowed"
    placed.settings('[overlay]\npre-index-command = "test -e allowed || { echo not now >&2; exit 3; }"')
    placed.write("s.com/ x:1\n")
    overlays = placed.take_in()
    assert "ended with 3 / not now" in overlays.problems["refused"]
    assert placed.found("x:1") == []
    flag.touch()
    assert placed.take_in().problems == {}
    assert len(placed.found("x:1")) == len(PATHS)


def test_a_source_has_a_file_of_its_own(placed: Any) -> None:
    placed.settings("[source.other]")
    placed.put(("http://s.com/of-other", PAGE), source="other")
    placed.write("s.com/ x:all t:All\n")
    placed.write("s.com/ x:own t:Own\n", source="other")
    placed.take_in()
    assert placed.found("x:own") == ["http://s.com/of-other"]
    (result,) = placed.search("x:own").results
    assert (result.title, result.classes) == ("Own", {"x": ("own", "all")})


def test_documents_of_other_schemes_where_the_setting_names_them(desk: Any) -> None:
    urls = [
        "file:///srv/a/index.html",
        "ftp://h.com/a",
        "googleconnector://c.x/doc?docid=7",
        "smb://host/share/a",
    ]
    desk.put(*((url, PAGE) for url in urls))
    text = 'file:///srv/ x:1 t:"New"\nSMB://Host/share/ x:1\nftp://h.com/ x:1\ngoogleconnector://c.x/doc?docid= x:1\n'
    desk.write(text)
    assert "has the scheme file" in str(desk.take_in().problems)
    assert desk.found("x:1") == []
    desk.settings('[overlay]\nschemes = ["FILE", "ftp", "smb", "googleconnector"]')
    overlays = desk.take_in()
    assert not overlays.problems
    assert desk.found("x:1") == urls
    stats = json.loads(Rig(desk.home.path).call("overlay", "stats", "--json").out)
    assert [line["documents"] for line in stats["lines"]] == [1, 1, 1, 1]
    told = json.loads(Rig(desk.home.path).call("overlay", "explain", "--json", urls[0]).out)
    assert (told["stripped"], told["terms"]) == ("file:///srv/a/", ["1_x", "new_t"])
    desk.write(text.replace("share/ x:1", "share/ x:2"))
    assert desk.take_in().progress.looked == 1
    assert desk.found("x:2") == [urls[3]]


# -- narrowing access ---------------------------------------------------------------------------------

RESTRICT = """
[class.who]
type = "permission"
[source.inner]
acl-overlay = "restrict"
overlay-on-error = "keep_last_good"
"""
OPEN, SHUT = "http://inner.com/open", "http://inner.com/shut/a"


def viewer(name: str, *groups: str) -> Visible:
    users = [principal(name, PrincipalScope.USER)]
    named = [principal(group, PrincipalScope.GROUP) for group in groups]
    return Visible.of({1}, needs=needs_of(identity([u for u in users if u], [g for g in named if g])))


@pytest.fixture
def inner(desk: Any) -> Any:
    desk.settings(RESTRICT)
    desk.put((OPEN, PAGE), (SHUT, PAGE), source="inner")
    return desk


def test_restrict_lets_those_see_who_are_named_and_nobody_else(inner: Any) -> None:
    inner.write("inner.com/shut/ who:user:jane who:group:staff c:word\n", source="inner")
    inner.take_in()
    for who, urls in (
        (ANONYMOUS, [OPEN]), (viewer("bob"), [OPEN]), (viewer("jane"), [OPEN, SHUT]), (viewer("bob", "staff"), [OPEN, SHUT]),
        (viewer("staff"), [OPEN]), (Visible(everything=True), [OPEN, SHUT]),
    ):  # fmt: skip
        assert inner.found("read", viewer=who) == urls
        assert inner.search("read", viewer=who).total == len(urls)
    assert inner.search("read").facets.classes == {}
    assert inner.found("c:word") == []
    assert inner.search("read", viewer=viewer("jane")).results[0].classes.keys() <= {"c"}


def test_restrict_cannot_widen(inner: Any) -> None:
    inner.write("inner.com/ who:user:jane\n", source="inner")
    inner.take_in()
    nothing = Visible.of(set(), needs=needs_of(identity([principal("jane", PrincipalScope.USER)], [])))  # type: ignore[list-item]
    assert inner.found("read", viewer=nothing) == []


@pytest.mark.parametrize("value", ["jane", '"user:"', '"nobody at all"', "role:jane"])
def test_a_name_that_cannot_be_read_is_nobody(inner: Any, value: str) -> None:
    inner.write(f"inner.com/shut/ who:{value}\n", source="inner")
    inner.take_in()
    assert inner.found("read", viewer=viewer("jane", "jane")) == []  # no good version: nobody
    assert need_of("jane") not in needs_of(identity([], []))


def test_without_a_good_version_the_source_is_hidden(inner: Any) -> None:
    inner.write("inner.com/shut/ who:user:jane\nbad line\n", source="inner")
    inner.take_in()
    assert inner.found("read", viewer=viewer("jane")) == []
    inner.write("inner.com/shut/ who:user:jane\n", source="inner")
    inner.take_in()
    assert inner.found("read", viewer=viewer("jane")) == [OPEN, SHUT]
    inner.write("inner.com/shut/ who:user:bob\nbad line\n", source="inner")
    inner.take_in()
    assert inner.found("read", viewer=viewer("jane")) == [OPEN, SHUT]
    assert inner.found("read", viewer=viewer("bob")) == [OPEN]


def test_permissions_elsewhere_are_refused(inner: Any) -> None:
    inner.write("inner.com/shut/ who:user:jane\n")
    overlays = inner.take_in()
    assert overlays.problems
    assert inner.found("read") == [OPEN, SHUT]


def test_what_was_never_read_stays_hidden_whatever_else_changes(inner: Any) -> None:
    inner.write("bad line\n", source="inner")
    inner.take_in()
    for text in ("", "t.com x:1\n", "t.com x:2\n"):
        inner.write(text)
        inner.take_in()
        assert inner.found("read") == inner.found("read", viewer=viewer("jane")) == []
    ran = Rig(inner.home.path).call("overlay", "rollback", "2")
    assert (ran.status, "could not be read then" in ran.err) == (2, True), ran.err
    assert inner.found("read") == []
    inner.write("inner.com/shut/ who:user:jane\n", source="inner")
    inner.take_in()
    assert inner.found("read", viewer=viewer("jane")) == [OPEN, SHUT]


def test_a_restricting_file_that_cannot_be_read_hides_what_it_is_for(inner: Any) -> None:
    file = inner.home.config / "sources" / "inner" / "external_metadata.cfg"
    file.mkdir(parents=True)
    overlays = inner.take_in()
    assert "cannot be read" in overlays.problems["config/sources/inner/external_metadata.cfg"]
    assert inner.found("read", viewer=viewer("jane")) == []


def test_what_is_refused_is_looked_at_again_when_it_has_changed(desk: Any) -> None:
    desk.settings('[overlay]\non-error = "fail"')
    desk.write("bad line\n")
    read = desk.home.settings()
    overlays = Overlays(desk.home, read.settings, read.sources, read.classes, desk.clock.wall)
    with pytest.raises(ConfigurationError):
        desk._transaction(overlays.begin)
    assert not overlays.moved()
    desk.write("s.com/ x:1\n")
    assert overlays.moved()


def test_a_file_that_cannot_be_read_leaves_what_is_in_force(desk: Any) -> None:
    desk.put(("http://s.com/", PAGE))
    desk.write("s.com x:1\n")
    desk.take_in()
    file = desk.home.config / "external_metadata.cfg"
    file.unlink()
    file.mkdir()
    overlays = desk.take_in()
    assert "cannot be read" in overlays.problems["config/external_metadata.cfg"]
    assert desk.found("x:1") == ["http://s.com/"]
    desk.settings('[overlay]\non-error = "fail"')
    with pytest.raises(ConfigurationError, match="cannot be read"):
        desk.take_in()


def test_restrict_needs_a_way_of_failing_that_keeps_restrictions(desk: Any) -> None:
    desk.settings('[source.inner]\nacl-overlay = "restrict"')
    (finding,) = desk.home.settings().diagnostics
    assert finding.is_error
    assert "may not take restrictions away" in finding.text


def test_a_file_that_is_being_written_is_read_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.cfg"
    whole = b"s.com/ x:1\n" * 50
    path.write_bytes(whole[:5])
    looks, state = [0], overlayfiles._state

    def looked(at: Path) -> overlayfiles.FileState:
        looks[0] += 1
        if looks[0] == 2:  # the editor goes on between two looks
            path.write_bytes(whole)
        return state(at)

    monkeypatch.setattr(overlayfiles, "_state", looked)
    assert overlayfiles.read_stable(path) == (whole, len(whole))
    assert overlayfiles.read_stable(tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("how", "found"), [("ignore_file", 0), ("skip_line", 0), ("keep_last_good", 1), ("fail", 1)]
)
def test_a_file_of_a_gigabyte_is_not_read(desk: Any, how: str, found: int) -> None:
    desk.settings(f'[overlay]\non-error = "{how}"')
    desk.put(("http://s.com/1", PAGE))
    desk.write("s.com/ x:own\n")
    desk.take_in()
    os.truncate(desk.home.config / "external_metadata.cfg", 1_000_000_000)  # sparse: it takes no room
    tracemalloc.start()
    try:
        if how == "fail":
            with pytest.raises(ConfigurationError, match="1,000,000,000 bytes"):
                desk.take_in()
        else:
            (problem,) = desk.take_in().problems.values()
            assert problem.startswith(
                "config/external_metadata.cfg:1:1: error too-long: the file has 1,000,000,000 bytes"
            )
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    desk.follow()
    assert len(desk.found("x:own")) == found
    assert desk.found("read") == ["http://s.com/1"]
    assert Rig(desk.home.path).call("overlay", "check", "--threshold", "1").status == 1
