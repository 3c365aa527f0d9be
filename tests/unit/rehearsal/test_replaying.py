"""``ingather replay``: a changed configuration over a crawled home, and what a crawl then really does."""

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.rehearsal.differences import Tally
from ingather.app.rehearsal.replaying import replay_summary
from ingather.catalog.reports.sqlite_replay import KnownUrl
from ingather.model.lifecycle import State
from ingather.model.report import Denial
from ingather.testing.rig import Rig
from ingather.testing.site import Site

RULES = """<Rule name="Old" enable=true action=exclude>
Match src=path method=begins-with value="/old/"
</Rule>
<Site name="here" host="{host}" type=server enable=true depth=5 source=web>
Start url="{origin}/"
Protocol allow="http"
Port allow="{port}"
Use rule="Old"
</Site>
"""
EVIL = 'quoted "<script>alert(1)</script>" & more'


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        site.page("/", "Start", *(f"/p{n}" for n in range(12)), "/notes", "/old/one", "/evil", "/hidden")
        for n in range(12):
            site.page(
                f"/p{n}",
                f"Page {n}",
                text=f"The text of page {n}",
                head=f'<meta name="kind" content="{n % 3}">',
            )
        site.put("/evil", f"<title>{EVIL}</title><p>nothing</p>")
        site.put("/notes", "notes of nobody", kind="text/plain")
        site.page("/old/one", "Old", "/old/two")
        site.page("/hidden", "Hidden", head='<meta name="robots" content="noindex">')
        yield site


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Rig:
    tuned = {"catalog.outcome-wait": "0.02s", "gather.batch-wait": "0.02s"}
    rig = Rig(tmp_path_factory.mktemp("replay") / "home", **tuned).init()
    host, _, port = site.origin.partition("://")[2].partition(":")
    text = RULES.format(host=host, origin=site.origin, port=port)
    (rig.path / "config" / "filterrules.conf").write_text(text)
    rig.toml(f'[source.web]\naddresses = ["127.0.0.0/8"]\nown-hosts = ["{host}:{port}"]\n')
    ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err
    return rig


@pytest.fixture
def draft(rig: Rig, tmp_path: Path) -> Path:
    """A copy of the configuration to be changed."""
    return Path(shutil.copytree(rig.path / "config", tmp_path / "draft"))


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def replayed(rig: Rig, folder: Path, *arguments: str) -> dict[str, Any]:
    ran = rig.call("replay", "--config", str(folder), "--json", *arguments)
    assert ran.out, ran.err
    answer: dict[str, Any] = json.loads(ran.out)
    assert ran.status == (1 if answer["documents"]["lost"] else 0)
    return answer


def urls(listed: dict[str, Any]) -> set[str]:
    return {re.sub(r"^http://[^/]+", "", entry["url"]) for entry in listed["listed"]}


GENERATION = '<Filter name="generation-default">'
PAGES = {"/", "/evil", "/notes", *(f"/p{n}" for n in range(12))}


def test_nothing_changed_is_no_difference(rig: Rig, draft: Path) -> None:
    answer = replayed(rig, draft, "--all")
    assert answer["documents"]["total"] == len(PAGES)
    assert answer["documents"]["unchanged"] == len(PAGES)
    assert [answer[name]["total"] for name in ("lost", "allowed", "changed")] == [0, 0, 0]
    assert answer["unknown"] == []
    assert "0 documents would go" in rig.call("replay", "--config", str(draft)).out


def test_documents_lost_before_and_after_the_fetch(rig: Rig, draft: Path) -> None:
    edit(draft, "filterrules.conf", 'value="/old/"', 'value="/p1"')
    line = 'Data fn=filter-by-exact src=content-type deny=text/plain\nData fn=filter-by-exact src=kind deny="2"\n'
    edit(draft, "filter.conf", "# One description", line + "# One description")
    answer = replayed(rig, draft, "--all")
    assert urls(answer["lost"]) == {"/p1", "/p10", "/p11", "/notes", "/p2", "/p5", "/p8"}
    by_line = {
        line["reason"]: (line["lost"], line["where"].partition(":")[0]) for line in answer["directives"]
    }
    assert by_line["filter rule Old"] == (3, "filterrules.conf")
    assert sum(lost for lost, file in by_line.values() if file == "filter.conf") == 4
    assert answer["documents"]["lost_metadata"] == 3
    assert answer["documents"]["lost_data"] == 4
    (host,) = answer["hosts"]
    assert (host["documents"], host["lost"]) == (len(PAGES), 7)
    assert urls(answer["allowed"]) == {"/old/one"}
    released = answer["released"][0]
    assert (released["where"], released["reason"], released["version"]) == (
        "filterrules.conf:1",
        "filter rule Old",
        1,
    )
    assert any("what lies behind them is unknown" in sentence for sentence in answer["unknown"])


def test_attributes_that_change_with_old_and_new_values(rig: Rig, draft: Path) -> None:
    line = 'Generate fn=generate-by-prefix dst=section src=path match="/p" value="P"\n'
    edit(draft, "filter.conf", GENERATION, GENERATION + "\n" + line)
    answer = replayed(rig, draft, "--all")
    assert answer["attributes"] == {"section": 12}
    assert urls(answer["changed"]) == {f"/p{n}" for n in range(12)}
    assert answer["changed"]["listed"][0]["attributes"] == [{"name": "section", "old": [], "new": ["P"]}]
    assert answer["documents"]["lost"] == 0
    said = rig.call("replay", "--config", str(draft), "--all").out
    assert "section: (none) -> P" in said


def test_what_was_read_and_denied_stays_undecided_when_data_changes(rig: Rig, draft: Path) -> None:
    edit(draft, "robot.conf", "enable-robots-txt=true", "enable-robots-txt=false")
    answer = replayed(rig, draft, "--all")
    assert answer["urls"]["undecided"] == 1
    assert any("bodies are not kept" in sentence for sentence in answer["unknown"])


def test_a_sample_says_that_it_is_one(rig: Rig, draft: Path) -> None:
    line = 'Data fn=filter-by-regex src=url deny="*/p*"\n'
    edit(draft, "filter.conf", "# One description", line + "# One description")
    one, again = (replayed(rig, draft, "--sample", "6") for _ in range(2))
    assert urls(one["lost"]) == urls(again["lost"])
    documents = one["documents"]
    assert (documents["read"], documents["not_sampled"]) == (6, len(PAGES) - 6)
    assert documents["lost_estimate"] >= documents["lost"]
    assert any("--all" in sentence for sentence in one["unknown"])


def test_without_bodies_it_says_what_it_cannot_tell(rig: Rig, draft: Path, tmp_path: Path) -> None:
    bare = rig.copy(tmp_path / "bare")
    bare.alter("update url set len = 0")
    edit(draft, "filterrules.conf", 'value="/old/"', 'value="/p1"')
    answer = replayed(bare, draft, "--all")
    assert urls(answer["lost"]) == {"/p1", "/p10", "/p11"}
    assert answer["documents"]["without_body"] == len(PAGES) - 3
    assert any("no kept body" in sentence for sentence in answer["unknown"])


def test_what_was_brought_in_is_not_judged(rig: Rig, draft: Path, tmp_path: Path) -> None:
    brought = rig.copy(tmp_path / "brought")
    brought.alter("update url set fetched = null, state = 1 where path in ('/p1', '/p2')")
    edit(draft, "filterrules.conf", 'value="/old/"', 'value="/p1"')
    answer = replayed(brought, draft, "--all")
    assert urls(answer["lost"]) == {"/p10", "/p11"}
    assert answer["documents"]["brought_in"] == 2


def test_damaged_bodies_are_counted_and_nothing_stops(rig: Rig, draft: Path, tmp_path: Path) -> None:
    hurt = rig.copy(tmp_path / "hurt")
    hurt.alter("update url set off = off + 3 where path = '/p3'")
    assert replayed(hurt, draft, "--all")["documents"]["damaged"] == 1


class Outside(HTMLParser):
    """Collects what a page would load, run or lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        if tag in {"script", "link", "img", "iframe", "object", "a", "form"} or names & {
            "src",
            "href",
            "onclick",
        }:
            self.found.append(tag)


def test_the_html_report_stands_alone_and_escapes(rig: Rig, draft: Path, tmp_path: Path) -> None:
    text = (draft / "filter.conf").read_text()
    head, end, tail = text.rpartition("Shutdown fn=filterrules-shutdown")
    (draft / "filter.conf").write_text(f"{head}Generate fn=copy-attribute src=title dst=heading\n{end}{tail}")
    page = tmp_path / "report.html"
    ran = rig.call("replay", "--config", str(draft), "--all", "--html", str(page))
    assert ran.status == 0, ran.err
    html = page.read_text("utf-8")
    outside = Outside()
    outside.feed(html)
    assert outside.found == []
    assert "default-src &#x27;none&#x27;" in html
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "url(" not in html


def test_publishing_learns_whether_the_threshold_would_be_passed(rig: Rig, draft: Path) -> None:
    home = Home.open(rig.path)
    calm = replay_summary(home, draft)
    assert (calm.passes_threshold, calm.lost, calm.documents) == (False, 0, len(PAGES))
    edit(draft, "filterrules.conf", 'value="/old/"', 'value="/p"')
    wild = replay_summary(home, draft)
    assert wild.passes_threshold
    assert wild.lost == 12
    assert "source web: 12 of 15 documents" in wild.why[0]
    assert "filter rule Old" in wild.text


def test_a_crawl_then_does_what_the_replay_said(rig: Rig, draft: Path, tmp_path: Path) -> None:
    edit(draft, "filterrules.conf", 'value="/old/"', 'value="/p1"')
    line = 'Data fn=filter-by-exact src=kind deny="2"\nGenerate fn=generate-by-prefix dst=section src=path match="/p" value="P"\n'
    edit(draft, "filter.conf", "# One description", line + "# One description")
    said = replayed(rig, draft, "--all")
    copy = rig.copy(tmp_path / "copy").tune("deletion.half-share", "1.0")
    before = copy.shown()
    shutil.rmtree(copy.path / "config")
    shutil.copytree(draft, copy.path / "config")
    ran = copy.run("crawl", "--json")
    assert ran.status == 0, ran.err
    after = copy.shown()
    assert {entry["url"] for entry in said["lost"]["listed"]} == before - after
    assert {entry["url"] for entry in said["allowed"]["listed"]} <= after - before
    assert "section" in said["attributes"]


def test_wrong_calls(rig: Rig, draft: Path, tmp_path: Path) -> None:
    for arguments in (
        ("--all", "--sample", "3"), ("--source", "nobody"), ("--sample", "0"), ("--json", "--html", str(tmp_path / "x")),
    ):  # fmt: skip
        ran = rig.call("replay", "--config", str(draft), *arguments)
        assert ran.status == 2, arguments
        assert ran.err.count("\n") <= 4
    assert rig.call("replay", "--config", str(tmp_path / "none")).status == 2
    edit(draft, "filter.conf", "fn=generate-md5", "fn=no-such")
    broken = rig.call("replay", "--config", str(draft))
    assert "E-FN-UNKNOWN" in broken.err
    assert not broken.out


def test_lists_are_bounded_by_host_and_counts_are_exact() -> None:
    tally = Tally()
    for host in range(3):
        for n in range(50):
            known = KnownUrl(
                id=n, url=f"http://h{host}.test/{n}", source="web", depth=0, max_depth=None, hops=0, state=State.DONE, outcome=None,
                described=True, described_s=0.0, held=False, kept=True, where="", category="", reason="", version=0,
                described_version=1, gathered=True,
            )  # fmt: skip
            tally.lose(known, Denial("filter rules", "filter.conf:1", "no", 0), phase="metadata")
    form = tally.lost.form()
    assert (form["total"], len(form["listed"])) == (150, 60)
    assert tally.directives()[0]["lost"] == 150
    assert tally.lost_by_source() == {"web": 150}
