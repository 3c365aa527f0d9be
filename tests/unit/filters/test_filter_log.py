"""filter.log: what each logtype writes, and that noting changes no verdict."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.conf import load_bodies
from ingather.conf.text.parameters import quoted
from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.judgement import Judgement
from ingather.model.page import Page
from ingather.model.resource import Response
from ingather.robot.logs.filterlog import FilterLog
from ingather.testing.rig import Rig
from ingather.testing.site import Site

NOW_S = 1_795_000_000.0
FILTER = """<Filter name="{name}">
Setup fn=filterrules-setup config=./config/filterrules.conf{logtype}
MetaData fn=filterrules-process
MetaData fn=filter-by-prefix src=path deny=/private
Data fn=assign-source dst=type src=content-type
Data fn=filterrules-process
Shutdown fn=filterrules-shutdown
</Filter>
"""
RULES = """<Rule name="archives">
Match src=path method=ends-with value=.zip
</Rule>
<Rule name="papers" action=include>
Match src=path method=begins-with value=/papers/
</Rule>
<Rule name="text">
Match src=type method=is value=text/plain
</Rule>
<Site name="a" host="a.example">
Use rule=archives
Use rule=papers
Use rule=text
</Site>
"""
ALL = ("terse", "normal", "verbose")


def made(logtype: str, rules: str = RULES, generation: str | None = None) -> Engine:
    def text(name: str, kind: str) -> str:
        return FILTER.format(name=name, logtype=f" logtype={kind}" if kind else "")

    filters = text("enumeration-default", logtype) + text(
        "generation-default", logtype if generation is None else generation
    )
    loaded = load_bodies(
        {
            "filter.conf": filters.encode(),
            "filterrules.conf": rules.encode(),
            "robot.conf": b"",
            "mime.types": b"",
        }
    )
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    return Engine(loaded, logs=True)


def visit(engine: Engine, url: str, content_type: str = "text/html") -> tuple[object, object]:
    ev = engine.evaluation(Candidate(url))
    if engine.metadata(ev):
        got = Response(url, 200, (("Content-Type", content_type),), b"x")
        engine.respond(ev, got, lambda: Page(url=url))
        assert engine.data(ev) is None
        engine.enumerate(ev)
        engine.generate(ev, now_s=NOW_S)
    return ev.enumeration, ev.generation


def written(engine: Engine, folder: Path) -> list[list[str]]:
    """Have what was noted written; return the fields of each line, the time left out."""
    log = FilterLog(folder)
    log.started(3, NOW_S)
    assert engine.judgements is not None
    log.write(engine.judgements.take(), NOW_S)
    head, *lines = (folder / "filter.log").read_text("utf-8").splitlines()
    assert head == "[18/Nov/2026:11:06:40] Filter log started - loop 3"
    fields = [line.split("\t") for line in lines]
    assert all(len(row) == 8 and row[:2] == ["[18/Nov/2026:11:06:40]", "3"] for row in fields)
    return [row[2:] for row in fields]


def test_terse_says_who_denied_and_normal_by_which_line(tmp_path: Path) -> None:
    for logtype, said in (
        ("terse", ["-", "-"]),
        ("normal", ["filter rule archives", "filterrules.conf:1"]),
        ("", None),
    ):
        folder = tmp_path / (logtype or "default")
        folder.mkdir()
        engine = made(logtype)
        visit(engine, "http://a.example/x.zip")
        visit(engine, "http://a.example/papers/1")
        reason, where = said or ["filter rule archives", "filterrules.conf:1"]
        assert written(engine, folder) == [
            [name, "MetaData", "deny", reason, where, "http://a.example/x.zip"]
            for name in ("enumeration-default", "generation-default")
        ]


def test_verbose_names_what_was_tried_and_what_passes(tmp_path: Path) -> None:
    engine = made("verbose", generation="off")
    visit(engine, "http://a.example/papers/1")
    visit(engine, "http://a.example/other", "text/plain")
    name, url, other = "enumeration-default", "http://a.example/papers/1", "http://a.example/other"
    no_include = "no include rule matched; tested: archives, papers"
    assert written(engine, tmp_path) == [
        [name, "MetaData", "allow", "tested: archives, papers", "-", url],
        [name, "Data", "allow", "tested: archives, papers", "-", url],
        [name, "MetaData", "deny", no_include, "filterrules.conf:10", other],
    ]
    rows = [json.loads(line) for line in (tmp_path / "filter.jsonl").read_text("utf-8").splitlines()]
    assert rows[0] == {
        "at": NOW_S, "run": 3, "filter": name, "phase": "MetaData", "verdict": "allow", "reason": "", "where": "",
        "url": url, "tested": ["archives", "papers"],
    }  # fmt: skip
    assert rows[2]["reason"] == "no include rule matched"


def test_a_denial_is_told_once_and_by_its_directive(tmp_path: Path) -> None:
    engine = made("normal", rules="<Site name=a host=a.example>\n</Site>\n")
    visit(engine, "http://a.example/private/1")
    visit(engine, "http://b.example/")
    assert [row[3:5] for row in written(engine, tmp_path)] == [
        ["filter-by-prefix: path is /private", "filter.conf:4"],
        ["filter-by-prefix: path is /private", "filter.conf:12"],
        ["site not allowed", "filter.conf:3"],
        ["site not allowed", "filter.conf:11"],
    ]


def test_nothing_is_noted_where_nobody_asks_or_nothing_is_set_up(tmp_path: Path) -> None:
    assert made("off").judgements is None
    loaded = load_bodies(
        {
            "filter.conf": b'<Filter name="enumeration-default">\nData fn=clear-source src=x\n</Filter>\n'
            b'<Filter name="generation-default">\nData fn=clear-source src=x\n</Filter>\n',
            "robot.conf": b"",
        }
    )
    assert Engine(loaded, logs=True).judgements is None
    engine = made("verbose")
    engine.decide(Candidate("http://a.example/x.zip"), trace=False)  # a person asks why: that is no decision
    assert engine.judgements is not None
    assert engine.judgements.take() == []
    log = FilterLog(tmp_path)
    log.write([], NOW_S)
    assert not (tmp_path / "filter.log").exists()


def test_the_log_is_bounded_and_one_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    engine = made("normal")
    log = FilterLog(tmp_path, max_bytes=2_000, keep=2)
    for number in range(100):
        visit(engine, f"http://a.example/{number}.zip")
        assert engine.judgements is not None
        log.write(engine.judgements.take(), NOW_S)
    assert {path.name for path in tmp_path.glob("filter.log*")} == {
        "filter.log",
        "filter.log.1",
        "filter.log.2",
    }
    assert log.failed == ""
    gone = FilterLog(tmp_path / "missing")
    gone.started(1, NOW_S)
    assert "missing" in gone.failed


# --- verbose goes rule by rule, the others by tables: the same verdict and line ------------------------

WORDS = ("a", "b", "www", "x1")
word = st.sampled_from(WORDS)
subject = st.builds("/{}/{}{}".format, word, word, st.sampled_from(["", ".html", ".ZIP", "?q=a"]))
VALUES = {
    "is": st.one_of(subject, st.builds("{}.example".format, word), st.sampled_from(["text/html", "http"])),
    "contains": word,
    "begins-with": st.builds("/{}".format, word),
    "ends-with": st.sampled_from([".html", ".zip", "a"]),
    "regex": st.one_of(
        st.builds("\\\\*.{}".format, word),
        st.builds("/{}/[a-z]+".format, word),
        st.just("*.example~www.*"),
        st.just("all"),
    ),
}


@st.composite
def match(draw: st.DrawFn) -> str:
    method = draw(st.sampled_from(sorted(VALUES)))
    source = draw(st.sampled_from(["url", "host", "path", "protocol", "type"]))
    fold = draw(st.sampled_from(["", "", " ignore-case=true"]))
    return f"Match src={source} method={method} value={quoted('value', draw(VALUES[method]))}{fold}"


rule = st.tuples(st.booleans(), st.lists(match(), min_size=1, max_size=3))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(rule, min_size=1, max_size=6),
    st.lists(st.builds("http://{}.example{}".format, word, subject), min_size=1, max_size=5),
    st.sampled_from(["text/html", "text/plain; charset=utf-8", "application/xhtml+xml", ""]),
)
def test_every_logtype_writes_the_same_verdict_and_line(
    rules: list[tuple[bool, list[str]]], urls: list[str], content_type: str
) -> None:
    text = "".join(
        f"<Rule name=r{number} action={'include' if include else 'exclude'}>\n"
        + "\n".join(matches)
        + "\n</Rule>\n"
        for number, (include, matches) in enumerate(rules)
    )
    use = "".join(f"Use rule=r{number}\n" for number in range(len(rules)))
    text += f"<Site name=all host=example type=domain>\n{use}</Site>\n"
    said = {}
    for logtype in ALL:
        engine = made(logtype, text)
        verdicts = [visit(engine, url, content_type) for url in urls]
        with tempfile.TemporaryDirectory() as folder:
            lines = [row for row in written(engine, Path(folder)) if row[2] == "deny"]
        said[logtype] = verdicts, lines
    assert said["terse"][0] == said["normal"][0] == said["verbose"][0]
    told = [[*row[:3], row[3].partition("; tested: ")[0], *row[4:]] for row in said["verbose"][1]]
    assert sorted(told) == sorted(said["normal"][1])
    assert [[*row[:3], "-", "-", row[5]] for row in said["normal"][1]] == said["terse"][1]


def test_a_crawl_writes_what_its_gatherers_judged(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home", **{"gather.gatherers": "2"}).init()
    with Site() as site:
        site.page("/", "Start", "/one.zip", "/two", "http://elsewhere.example/")
        site.page("/two", "Two")
        rig.site(site.origin, lines="Use rule=Archive\n")
        assert rig.run("crawl", "--quiet").status == 0
        head, *lines = (rig.path / "log" / "filter.log").read_text("utf-8").splitlines()
        assert head.endswith(" Filter log started - loop 1")
        rows = [line.split("\t")[1:] for line in lines]
        assert {(row[0], row[1], row[3], row[6]) for row in rows} == {
            ("1", name, "deny", url)
            for name in ("enumeration-default", "generation-default")
            for url in ("http://elsewhere.example/", f"{site.origin}/one.zip")
        }
        assert {row[4] for row in rows if "zip" in row[6]} == {"filter rule Archive"}
        assert rig.run("crawl", "--quiet").status == 0
        text = (rig.path / "log" / "filter.log").read_text("utf-8")
        assert " Filter log started - loop 2\n" in text


def test_a_line_stays_a_line(tmp_path: Path) -> None:
    log = FilterLog(tmp_path)
    log.write([Judgement("a\tb", "Data", allowed=False, reason="x\ny", where="", url="http://a/\x1b")], NOW_S)
    (line,) = (tmp_path / "filter.log").read_text("utf-8").splitlines()
    assert line.split("\t")[2:] == ["a b", "Data", "deny", "x y", "-", "http://a/ "]
