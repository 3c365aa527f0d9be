"""What people ask and do: explain, count, compare, records, going back; on the command line, with the home to themselves."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingather.app.overlay.desk import OverlayDesk
from ingather.errors import UsageError
from ingather.testing.rig import Rig

PAGE = {"title": "Old", "partial-text": "something to read"}
SEED = """\
www.anu.edu.au w:ACT
www.anu.edu.au/chem/ x:knowledge x:science x:chemistry
www.anu.edu.au/physics/ x:"knowledge science physics" y:external y:funding
www.anu.edu.au/physics/molecular/ x:knowledge x:science x:chemistry
"""
HOME = "http://www.anu.edu.au"
MOLECULAR = f"{HOME}/physics/molecular/index.htm"


@pytest.fixture
def told(desk: Any) -> Any:
    """Call ``ingather overlay``, return what it prints."""
    rig = Rig(desk.home.path)

    def told(*arguments: str, status: int = 0) -> str:
        ran = rig.call("overlay", *arguments)
        assert ran.status == status, ran.err
        return ran.out if status == 0 or ran.out else ran.err

    desk.put((MOLECULAR, PAGE), (f"{HOME}/~jim/index.html", PAGE))
    desk.write(SEED)
    desk.take_in()
    return told


def test_explain_names_chain_winners_and_terms(told: Any) -> None:
    text = told("explain", MOLECULAR)
    assert f"without its default page: {HOME}/physics/molecular/" in text
    for line, prefix in ((1, "/"), (3, "/physics/"), (4, "/physics/molecular/")):
        assert f"config/external_metadata.cfg:{line} {HOME}{prefix}" in text
    assert "x = knowledge | science | chemistry, by line 4" in text
    assert "instead of knowledge science physics, line 3" in text
    assert "terms: act_w knowledge_x science_x chemistry_x external_y funding_y" in text
    form = json.loads(told("explain", "--json", f"{HOME}/nowhere"))
    assert (form["values"], form["described"]) == ({"w": ["ACT"]}, False)
    assert "is no URL" in told("explain", "http://", status=2)


def test_stats_count_documents_and_mark_lines_without_any(told: Any) -> None:
    lines = json.loads(told("stats", "--json"))
    assert {line["line"]: line["documents"] for line in lines["lines"]} == {1: 2, 2: 0, 3: 1, 4: 1}
    assert any("never-matched" in warning for warning in lines["warnings"])
    assert told("stats", "--unused").splitlines()[0].split()[:2] == ["!", "0"]


@pytest.mark.parametrize("word", ["stats", "check"])
def test_lines_are_held_to_the_catalog(told: Any, desk: Any, word: str) -> None:
    desk.put(("https://new.org/a", PAGE), ("http://s.com/main.html", PAGE), source="other")
    text = "new.org/ x:1\ns.com/nothing x:1\nhttps://new.org/a x:1\ns.com/index.htm x:1\nnew.org/a/ x:1\n"
    desk.write(text)
    desk.take_in()
    if word == "stats":
        said = "\n".join(json.loads(told("stats", "--json"))["warnings"])
    else:
        told("check")
        said = (desk.home.log / "external_metadata.cfg-validation.log").read_text()
    found = [line for line in said.splitlines() if "schemeless-https" in line or "never-matched" in line]
    assert sorted((line.split(":")[1], "never-matched" in line) for line in found) == [
        ("1", False), ("2", True), ("5", True)
    ]  # fmt: skip
    assert any("write https://new.org/" in line for line in found)


def test_check_looks_at_the_documents_of_the_source_alone(told: Any, desk: Any) -> None:
    desk.put(("http://s.com/main.html", PAGE), source="other")
    desk.settings("[source.other]\n[source.inner]")
    for source, marked in (("other", False), ("inner", True)):
        desk.write("s.com/ x:1\n", source=source)
        told("check", "--source", source)
        log = desk.home.log / source / "external_metadata.cfg-validation.log"
        assert ("never-matched" in log.read_text()) is marked


def test_terms_are_those_of_the_index(told: Any, desk: Any) -> None:
    desk.write('www.anu.edu.au x:"Café O\'Neill 東京" d:20040101 X:20991231\n')
    desk.take_in()
    terms = json.loads(told("explain", "--json", MOLECULAR))["terms"]
    assert terms == ["cafe_x", "o_x", "neill_x", "東_x", "京_x"]
    for term in terms:
        assert MOLECULAR in desk.found(f"x:{term.removesuffix('_x')}")


def test_diff_says_what_would_change_and_changes_nothing(told: Any, desk: Any, tmp_path: Path) -> None:
    new = tmp_path / "new.cfg"
    new.write_text(SEED.replace("w:ACT", "w:ACT c:new"))
    form = json.loads(told("diff", "--json", str(new), status=1))
    assert form["documents"] == 2
    assert len(form["changes"]) == 1
    assert form["sample"][0]["after"]["c"] == ["new"]
    assert desk.found("c:new") == []
    new.write_text(SEED)
    assert "0 documents would change" in told("diff", str(new))


def test_two_versions_are_compared_record_by_record_and_by_documents(told: Any, desk: Any) -> None:
    changed = SEED.replace(" y:external y:funding", " y:external").replace("w:ACT", 'w:"A ""C"" T"')
    desk.write(f"{changed}www.anu.edu.au/~jim/index.html c:jim d:20040102\n")
    desk.take_in()
    first, second = sorted(row["version"] for row in json.loads(told("history", "--json")))
    text = told("diff", str(first), str(second), status=1)
    file = "config/external_metadata.cfg"
    assert text.splitlines()[:14] == [
        f"--- {file} (version {first})",
        f"+++ {file} (version {second})",
        f"@@ -1 +1 @@ {HOME}/",
        "-w:ACT",
        '+w:"A ""C"" T"',
        f"@@ -3 +3 @@ {HOME}/physics/",
        ' x:"knowledge science physics"',
        "-y:external y:funding",
        "+y:external",
        f"@@ -0 +5 @@ {HOME}/~jim/ (this page alone)",
        "+c:jim",
        "+d:20040102",
        "2 documents would change",
        f"  {MOLECULAR}",
    ]
    back = json.loads(told("diff", "current", str(first), "--json", status=1))
    assert (back["old"], back["new"], back["records"], back["documents"]) == (
        "in force",
        f"version {first}",
        3,
        2,
    )
    assert back["sample"][0]["before"]["w"] == ['A "C" T']
    assert "0 documents would change" in told("diff", str(second), "current")
    assert "there is no version 99" in told("diff", "1", "99", status=2)
    assert "no version, current or config" in told("diff", "nowhere.cfg", "1", status=2)
    assert "is no file" in told("diff", "nowhere.cfg", status=2)
    assert "two sides" in told("diff", "1", "2", "3", status=2)
    assert "whose file" in told("diff", "1", "2", "--source", "x", status=2)


def test_an_unhidden_page_is_a_difference(told: Any, desk: Any) -> None:
    desk.write("www.anu.edu.au/physics/ X:19990101\n")
    desk.take_in()
    told("unhide", MOLECULAR)
    *_, before, after = sorted(row["version"] for row in json.loads(told("history", "--json")))
    form = json.loads(told("diff", "--json", str(before), str(after), status=1))
    assert form["diff"][-1] == f"+{HOME}/physics/molecular/"
    assert (form["records"], form["documents"]) == (0, 1)


def test_what_stands_in_the_files_is_compared_with_what_is_in_force(told: Any, desk: Any) -> None:
    assert "0 documents would change" in told("diff")
    desk.write(SEED.replace("w:ACT", "w:Elsewhere"))
    assert "-w:ACT\n+w:Elsewhere\n" in told("diff", status=1)
    (desk.home.config / "external_metadata.cfg").unlink()
    assert "+++ config/external_metadata.cfg (config)" in told("diff", status=1)
    assert desk.found("w:act")


@pytest.mark.parametrize(
    ("on_error", "state", "records"),
    [("ignore_file", "ignored", 4), ("keep_last_good", "kept", 0), ("skip_line", "partly", 4), ("fail", "refused", 0)],
)  # fmt: skip
def test_a_bad_file_is_named_as_it_was_given(
    desk: Any, told: Any, on_error: str, state: str, records: int
) -> None:
    desk.settings(f'[overlay]\non-error = "{on_error}"')
    new = desk.home.path / "bad.cfg"
    new.write_text("www.anu.edu.au w:ACT X:20040101\n\nbad line\n")
    ran = Rig(desk.home.path).call("overlay", "diff", str(new))
    assert ran.status == 1
    assert f"{new}:3:1: error no-full-host" in ran.err
    assert "config/external_metadata.cfg:" not in ran.err
    form = json.loads(told("diff", "--json", str(new), status=1))
    assert (form["state"], form["records"]) == (state, records)
    assert ("1 expiry dates lapse" in form["problems"][0]) is (state == "ignored")
    told("diff", str(new), "--source", "nobody", status=2)


def test_files_are_put_in_force_by_hand(told: Any, desk: Any) -> None:
    assert "version 1 was in force already" in told("publish")
    desk.write(SEED.replace("w:ACT", "w:Elsewhere"))
    told("diff", status=1)
    assert told("publish", "--note", "moved") == "version 2 is in force; 2 documents changed\n"
    assert len(desk.found("w:elsewhere")) == 2
    assert "moved" in told("history").splitlines()[0]
    desk.write("bad line\n")
    ran = Rig(desk.home.path).call("overlay", "publish")
    assert (ran.status, ran.err.splitlines()[-1]) == (1, "nothing was changed")
    assert "config/external_metadata.cfg:1:1: error" in ran.err
    assert json.loads(told("publish", "--json", status=1))["version"] == 2
    assert len(desk.found("w:elsewhere")) == 2


def test_the_texts_of_a_version_are_shown(told: Any, desk: Any) -> None:
    told("set", HOME, "c:one")
    file = "config/external_metadata.cfg"
    assert told("show", "1", file) == SEED
    assert told("show") == f"=== api ===\n{HOME}/ c:one\n=== {file} ===\n{SEED}"
    desk.write("www.anu.edu.au z:1")
    assert json.loads(told("show", "config", "--json"))[file] == "www.anu.edu.au z:1"
    assert "has no layer nowhere" in told("show", "2", "nowhere", status=2)
    assert "no version 9" in told("show", "9", status=2)


def test_a_record_is_found_by_any_form_of_its_prefix(told: Any, desk: Any) -> None:
    told("set", "WWW.anu.edu.au:80/a/../b/index.html", "c:one")
    book = OverlayDesk(desk.home, desk.home.settings(), lambda *_: False, desk.clock.wall)
    record = book.record("http://www.anu.edu.au/b/default.aspx")
    assert record is not None
    assert record["line"] == f"{HOME}/b/index.html c:one"
    assert book.record("www.anu.edu.au/b/") is None
    with pytest.raises(UsageError, match="no-host"):
        book.record("/b/")


@pytest.mark.usefixtures("told")
def test_findings_of_a_posted_file_have_its_name(desk: Any) -> None:
    book = OverlayDesk(desk.home, desk.home.settings(), lambda *_: False, desk.clock.wall)
    form = book.diff(b"bad line\n", name="posted.cfg")
    assert form["errors"][0].startswith("posted.cfg:1:1: error")
    assert book.diff(SEED.encode())["diff"] == book.compare("1", "current")["diff"] == []


def test_records_are_set_listed_replaced_and_taken_away(told: Any, desk: Any, tmp_path: Path) -> None:
    told("set", "www.anu.edu.au/~jim/index.html", "c:jim", "t:Jim's page", "w:Canberra")
    (result,) = desk.search("c:jim").results
    assert (result.title, result.classes) == ("Jim's page", {"c": ("jim",), "w": ("ACT", "Canberra")})
    assert told("list") == 'http://www.anu.edu.au/~jim/index.html c:jim t:"Jim\'s page" w:Canberra\n'
    kept = tmp_path / "kept.json"
    kept.write_text(told("list", "--format", "json"))
    table = tmp_path / "kept.csv"
    table.write_text(told("list", "--format", "csv"))
    told("unset", "http://www.anu.edu.au/~jim/default.htm")
    assert desk.found("c:jim") == []
    for file in (kept, table):
        told("load", str(file))
        assert desk.found("c:jim") == [f"{HOME}/~jim/index.html"]
        told("unset", "www.anu.edu.au/~jim/index.html")
    assert "no record" in told("unset", "www.anu.edu.au/~jim/index.html", status=2)
    assert "bad-class" in told("set", "www.anu.edu.au", "my-class:x", status=2)
    assert "no CLASS:VALUE" in told("set", "www.anu.edu.au", "x", status=2)


def test_a_version_comes_back_with_files_and_records(told: Any, desk: Any) -> None:
    told("set", HOME, "c:one")
    desk.write("")
    desk.take_in()
    told("unset", HOME)
    assert desk.found("w:act") == desk.found("c:one") == []
    history = json.loads(told("history", "--json"))
    second = sorted(row["version"] for row in history)[1]
    told("rollback", str(second))
    assert len(desk.found("w:act c:one")) == 2
    assert (desk.home.config / "external_metadata.cfg").read_text() == SEED
    assert f"version {second} was in force already" in told("rollback", str(second))
    assert "no version 99" in told("rollback", "99", status=2)
    assert told("history").startswith("*")


def test_expired_documents_are_listed_and_can_be_unhidden(told: Any, desk: Any) -> None:
    desk.write("www.anu.edu.au/physics/ X:19990101\n")
    desk.take_in()
    stripped = f"{HOME}/physics/molecular/"
    assert [row["url"] for row in json.loads(told("expired", "--json"))] == [stripped]
    assert desk.found("read") == [f"{HOME}/~jim/index.html"]
    told("unhide", MOLECULAR)
    assert MOLECULAR in desk.found("read")
    assert told("expired") == ""
    told("hide", MOLECULAR)
    assert MOLECULAR not in desk.found("read")


def test_the_explanation_of_a_page_names_the_lines_and_why_it_is_hidden(told: Any, desk: Any) -> None:
    told("stats")
    desk.write(f"{SEED}www.anu.edu.au/physics/molecular/index.htm X:19990101\n")
    desk.take_in()
    ran = Rig(desk.home.path).call("explain", MOLECULAR)
    assert ran.out.startswith("Not in search: its last day of validity is over since 1999-01-02")
    assert "(config/external_metadata.cfg:5)" in ran.out.splitlines()[0]
    assert "laid over  config/external_metadata.cfg:1 http://www.anu.edu.au/ w=ACT" in ran.out


def test_a_table_of_somebody_else_becomes_records(told: Any, desk: Any, tmp_path: Path) -> None:
    table = tmp_path / "cms.csv"
    table.write_text(
        f'Address,Department,Published\n{MOLECULAR},"Physics|Chemistry",2004-05-06\n{HOME}/~jim/,,2003-01-01\n'
    )
    told(
        "load", str(table), "--url-column", "Address", "--column", "Department=dep", "--column", "Published=d"
    )
    assert desk.found("dep:chemistry") == [MOLECULAR]
    assert desk.found("d=2003") == [f"{HOME}/~jim/index.html"]
    assert "no column" in told(
        "load", str(table), "--url-column", "Where", "--column", "Department=dep", status=2
    )
    assert "needs both" in told("load", str(table), "--url-column", "Address", status=2)


def test_what_cannot_be_a_table_is_said_in_one_line(told: Any, tmp_path: Path) -> None:
    file = tmp_path / "records.csv"
    file.write_bytes(b"prefix,x\ns.com/,caf\xe9\n")
    assert "is no UTF-8: byte 20 is wrong" in told("load", str(file), status=2)
    with file.open("ab") as sparse:
        sparse.truncate(1_000_000_000)
    assert "1,000,000,000 bytes" in told("load", str(file), status=2)
    assert "no records" in told("list") or not told("list").strip()
