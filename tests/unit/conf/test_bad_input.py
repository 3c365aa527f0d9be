"""Nothing that stands in a file, or in its place, makes a parser fail, wait or load half of it."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.conf import Loaded, load, load_bodies
from ingather.conf.files import MAX_FILE_BYTES
from ingather.conf.report import KEPT, SHOWN
from ingather.conf.text.lexer import MAX_LOGICAL_CHARS
from ingather.conf.text.physical import MAX_LINES

FILTERS = "".join(
    f'<Filter name="{name}">\nData fn=clear-source src=x\n</Filter>\n'
    for name in ("enumeration-default", "generation-default")
)
NAMES = ("robot.conf", "filter.conf", "filterrules.conf", "mime.types")
HEAD = '<Filter name="enumeration-default">\n'


def bodies(**changed: bytes) -> dict[str, bytes]:
    good = {"robot.conf": b"", "filter.conf": FILTERS.encode(), "filterrules.conf": b"", "mime.types": b""}
    return good | {name.replace("_", "."): body for name, body in changed.items()}


def errors(loaded: Loaded) -> list[tuple[str, str, int, int]]:
    assert not loaded.ok
    return [(d.code, d.file, d.line, d.column) for d in loaded.diagnostics if d.is_error]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_over_sixteen_mebibytes_is_refused_unread(tmp_path: Path, name: str) -> None:
    for other, body in bodies().items():
        (tmp_path / other).write_bytes(body)
    with (tmp_path / name).open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    assert errors(load(tmp_path)) == [("E-FILE", name, 1, 1)]


@pytest.mark.parametrize("name", NAMES)
def test_of_a_binary_file_nothing_is_read(name: str) -> None:
    loaded = load_bodies(bodies() | {name: b"depth=3\r\nab\0" + bytes(5_000_000)})
    assert errors(loaded) == [("E-BINARY", name, 2, 3)]
    assert loaded.robot.depth == 10


def test_utf_16_is_told_for_what_it_is() -> None:
    loaded = load_bodies(bodies(robot_conf="depth=3\n".encode("utf-16")))
    (found,) = loaded.diagnostics
    assert found.hint == "it looks like UTF-16: save it as UTF-8"


@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.parametrize("filling", [b"x", b'"', b"\\", b"a \\\n", b"# "])
def test_an_endless_line_is_refused_before_it_is_read(name: str, filling: bytes) -> None:
    body = filling * (3 * 1024 * 1024 // len(filling))
    loaded = load_bodies(bodies() | {name: body})
    if filling == b"# ":
        return  # a comment of any length is one
    assert ("E-LINE-TOO-LONG", name, 1, 1) in errors(loaded)
    assert len(loaded.diagnostics) <= 3


def test_the_longest_line_is_read_and_one_more_character_is_not() -> None:
    head = "Data fn=filter-by-exact src=type deny="
    for more, codes in ((0, []), (1, ["E-LINE-TOO-LONG"])):
        line = head + "x" * (MAX_LOGICAL_CHARS - len(head) + more)
        text = f"{HEAD}{line}\nData fn=clear-source src=x\n</Filter>\n" + FILTERS.partition("</Filter>\n")[2]
        loaded = load_bodies(bodies(filter_conf=text.encode()))
        assert [d.code for d in loaded.diagnostics] == codes


def test_what_continues_a_line_that_is_too_long_goes_with_it() -> None:
    text = (
        HEAD
        + "Data fn=x \\\n"
        + "y" * 70_000
        + " \\\nmore=1 \\\nstill=2\nData fn=clear-source src=x\n</Filter>\n"
    )
    loaded = load_bodies(bodies(filter_conf=(text + FILTERS.partition("</Filter>\n")[2]).encode()))
    assert [(d.code, d.line) for d in loaded.diagnostics] == [("E-LINE-TOO-LONG", 2)]


def test_a_file_of_too_many_lines_is_refused() -> None:
    loaded = load_bodies(bodies(robot_conf=b"\n" * (MAX_LINES + 1)))
    assert errors(loaded) == [("E-FILE", "robot.conf", MAX_LINES + 1, 1)]


def folder(path: Path) -> None:
    path.mkdir()


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(path))


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def nothing(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


PLACES = [folder, fifo, listener, device, loop, nothing]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("parameter", ["filterrules-setup config", "setup-type-by-extension file"])
def test_a_reference_to_what_is_no_file(
    tmp_path: Path, place: Callable[[Path], None], parameter: str
) -> None:
    for name, body in bodies().items():
        (tmp_path / name).write_bytes(body)
    function, _, key = parameter.partition(" ")
    line = f"Setup fn={function} {key}=./config/odd"
    (tmp_path / "filter.conf").write_text(FILTERS.replace("Data", f"{line}\nData", 1))
    place(tmp_path / "odd")
    found = [d for d in load(tmp_path).diagnostics if d.is_error]
    assert [(d.code, d.line, d.column) for d in found] == [("E-FILE", 2, line.index("./") + 1)]
    assert "./config/odd" in found[0].text


@pytest.mark.parametrize("place", PLACES[:-2])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_folder_that_is_no_file(
    tmp_path: Path, place: Callable[[Path], None], name: str
) -> None:
    for other, body in bodies().items():
        (tmp_path / other).write_bytes(body)
    (tmp_path / name).unlink()
    place(tmp_path / name)
    assert errors(load(tmp_path)) == [("E-FILE", name, 1, 1)]


@pytest.mark.parametrize("reference", ["x" * 5000, "a/" * 3000, "/dev/zero", "/", "..", "\u00fc\U0001f600"])
def test_a_reference_that_the_system_refuses(tmp_path: Path, reference: str) -> None:
    for name, body in bodies().items():
        (tmp_path / name).write_bytes(body)
    line = f'Setup fn=filterrules-setup config="{reference}"'
    (tmp_path / "filter.conf").write_text(FILTERS.replace("Data", f"{line}\nData", 1), "utf-8")
    assert [code for code, *_ in errors(load(tmp_path))] == ["E-FILE"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"robot_conf": b"depth=" + b"9" * 60_000}, "E-TYPE"),
        ({"robot_conf": b"depth=" + b"9" * 100}, "E-RANGE"),
        ({"robot_conf": b"server-delay=" + b"9" * 60_000}, "E-RANGE"),
        ({"filterrules_conf": b"<Site name=a host=" + b"a" * 60_000 + b">\n</Site>\n"}, "E-HOST"),
        (
            {"filterrules_conf": b"<Site name=a host=a.example depth=" + b"9" * 50 + b">\n</Site>\n"},
            "E-RANGE",
        ),
    ],
)
def test_values_of_hostile_size(body: dict[str, bytes], code: str) -> None:
    loaded = load_bodies(bodies(**body))
    assert [c for c, *_ in errors(loaded)] == [code]
    assert all(len(str(d)) < 1200 for d in loaded.diagnostics)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?=a)b", "(?="),
        ("a(?!b)", "(?!"),
        ("(?<=a)b", "(?<="),
        (r"(a)\1", "back-references"),
        ("a{1000}" * 5000, ""),
        ("[" * 50_000, ""),
    ],
)
def test_patterns_that_are_refused_say_where_and_why(pattern: str, why: str) -> None:
    line = f"MetaData fn=filter-by-regex src=url deny={pattern}"
    loaded = load_bodies(bodies(filter_conf=FILTERS.replace("Data", f"{line}\nData", 1).encode()))
    (found,) = [d for d in loaded.diagnostics if d.is_error]
    assert (found.code, found.line, found.column) == ("E-REGEX", 2, line.index("deny=") + 6)
    assert why in found.text


@pytest.mark.parametrize("name", ["robot.conf", "filter.conf", "filterrules.conf"])
@pytest.mark.parametrize("words", [1, 3])
def test_of_a_flood_every_error_is_counted_and_the_first_thousand_are_shown(name: str, words: int) -> None:
    lines = 3 * KEPT
    setup = "Setup fn=filterrules-setup config=filterrules.conf\n"
    files = bodies(filter_conf=FILTERS.replace("Data", f"{setup}Data", 1).encode())
    before = 0 if name == "filter.conf" else load_bodies(files).errors
    loaded = load_bodies(files | {name: (" ".join(["garbage"] * words) + "\n").encode() * lines})
    each = words if name == "robot.conf" else 1  # there every word is a parameter that has no value
    found = [d for d in loaded.diagnostics if d.is_error and d.file == name and d.code != "E-FILTER-UNDEF"]
    assert loaded.errors - before == lines * each + (
        2 if name == "filter.conf" else 0
    )  # both filters are missing
    assert len([d for d in loaded.diagnostics if d.is_error]) == SHOWN
    assert [d.line for d in found] == [1 + n // each for n in range(len(found))]


def test_of_a_robot_conf_of_noise_little_is_read_and_the_rest_is_counted() -> None:
    noise, lines = '<(\\\n="}!\n?a#$\n', 60_000
    loaded = load_bodies(bodies(robot_conf=noise.encode() * lines))
    found = [d for d in loaded.diagnostics if d.is_error]
    assert len(found) == SHOWN
    assert all(d.line < 3 * KEPT for d in found)
    assert loaded.errors > lines  # one word of three, at least, is no parameter and no tag


# --- fuzzing -------------------------------------------------------------------------------------------

WORDS = [
    b"<Filter name=", b'"enumeration-default"', b">", b"</Filter>", b"<Process", b"</Process>", b"<Rule name=a",
    b"<Site name=s host=a.example", b"</Rule>", b"</Site>", b"Match src=path method=", b"regex value=", b"Start url=",
    b"http://a.example/", b"Use rule=a", b"Data ", b"MetaData ", b"Setup ", b"fn=", b"fn-", b"filter-by-regex",
    b"filter-by-max", b"src=", b"deny=", b"allow=", b"enable=", b"depth=", b"strict=true", b"Init fn=load-modules",
    b"text/html html", b"type=a/b exts=c", b"\\", b"\\\\", b'"', b"\n", b"\r\n", b"\r", b" ", b"\t", b"#", b"=", b"*", b"(",
    b"[", b"[[:x:]]", b"~", b"\xe2\x80\x9d", b"\xff", b"\xef\xbb\xbf", b"\0", b"<", b"->", b",", b"1", b"-1", b"9" * 30,
    b"classification", b"Classify src=host method=is value=a category=b", b"{1000}", b"\xf0\x9f\x98\x80",
]  # fmt: skip
soup = st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=3)), max_size=60).map(b"".join)


@settings(max_examples=120)
@given(st.sampled_from([*NAMES, "process.conf", "classification.conf"]), soup)
def test_any_bytes_load_or_are_refused_with_a_place(name: str, body: bytes) -> None:
    files = bodies() | {name: body}
    if name == "process.conf":
        del files["robot.conf"]
    setup = "Setup fn=filterrules-setup config=filterrules.conf\nSetup fn=setup-type-by-extension file=mime.types\n"
    if name != "filter.conf":
        files["filter.conf"] = FILTERS.replace("Data", f"{setup}Data", 1).encode()
    loaded = load_bodies(files)
    assert loaded.ok is not any(d.is_error for d in loaded.diagnostics)
    text = body.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
    for found in loaded.diagnostics:
        assert found.code
        assert found.text
        assert found.column >= 1
        assert 1 <= found.line <= (text.count("\n") + 1 if found.file == name else 100)
        assert str(found)
