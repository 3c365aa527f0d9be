"""``ingather feed check``: findings with line and column, in text and JSON, for each kind of feed; no home, no network."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from ingather.cli import run
from ingather.testing.feedtext import feed
from ingather.testing.running import Ran


def call(*arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(["feed", "check", *arguments])
    return Ran(status, out.getvalue(), err.getvalue())


GOOD = feed('<record url="http://x/1" mimetype="text/html"><content>c</content></record>')


def test_a_good_feed_is_good(tmp_path: Path) -> None:
    file = tmp_path / "good.xml"
    file.write_text(GOOD)
    assert call(str(file)) == Ran(0, f"{file}: 1 records; 0 errors, 0 warnings\n", "")


def test_findings_have_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "bad.xml"
    file.write_text(
        feed(
            '<record url="http://x/1" mimetype=""/> é <record url="http://x/2"/>',
            '  <record url="http://x/3" mimetype=""><metadata><meta name="a" content="b"/><meta name="a" content=""/></metadata></record>',
        ),
        "utf-8",
    )
    lines = call(str(file)).out.splitlines()
    second = '<record url="http://x/1" mimetype=""/> é '
    assert f"{file}:5:{len(second) + 1}: error: record: the attribute 'mimetype' is missing" in lines
    third = '  <record url="http://x/3" mimetype=""><metadata><meta name="a" content="b"/>'
    empty = "an empty content made an appliance skip the whole record"
    assert f"{file}:6:{len(third) + 1}: error: meta: {empty}" in lines
    assert call(str(file)).status == 1


def test_columns_are_characters_in_every_encoding(tmp_path: Path) -> None:
    file = tmp_path / "wide.xml"
    text = '<?xml version="1.0" encoding="UTF-16"?>\n<gsafeed><header><datasource>s</datasource><feedtype>full</feedtype></header>\n<group>ü<x/></group></gsafeed>'
    file.write_bytes(text.encode("utf-16"))
    report = json.loads(call(str(file), "--json").out)
    assert [(f["line"], f["column"], f["element"]) for f in report["findings"] if f["element"] == "x"] == [
        (3, 9, "x")
    ]


def test_group_feeds_and_json_lines_are_told_by_their_looks(tmp_path: Path) -> None:
    groups, lines = tmp_path / "groups.xml", tmp_path / "feed.jsonl"
    groups.write_text(
        '<xmlgroups><membership><principal scope="GROUP">g</principal><members>\n<principal scope="USER" x="y">u</principal></members></membership></xmlgroups>'
    )
    lines.write_text(
        '{"type": "header", "datasource": "s", "feedtype": "incremental"}\n{"url": "http://x/1"}\n {"url": }\n{"type": "end"}\n'
    )
    report = json.loads(call(str(groups), "--json").out)
    assert (report["kind"], report["memberships"], report["valid"]) == ("groups", 1, False)
    assert [(f["line"], f["column"]) for f in report["findings"]] == [(2, 1)]
    report = json.loads(call(str(lines), "--json").out)
    assert (report["kind"], report["records"], report["rejected"]) == ("jsonl", 1, 1)
    assert [(f["line"], f["column"]) for f in report["findings"] if f["severity"] == "error"] == [(3, 2)]


@pytest.mark.parametrize(
    "arguments", [(), ("no-such-file.xml",), ("--kind", "x", "f"), ("--type", "x", "f"), (".",)]
)
def test_called_wrongly(arguments: tuple[str, ...]) -> None:
    wrong = call(*arguments)
    assert wrong.status == 2
    assert len(wrong.err.strip().splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"<?xml version='1.0' encoding='klingon'?><gsafeed/>"])
def test_what_is_no_feed_is_no_success(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "f"
    file.write_bytes(content)
    assert call(str(file)).status == 1
