"""``ingather rd``: descriptions out and in again, chosen, edited, expired."""

import json
from pathlib import Path

import pytest
from tests.unit.app_rd.conftest import Import

from ingather.app.clock import SystemClock
from ingather.app.configuration import read_configuration
from ingather.app.descriptions.files import EXPIRE_DAYS, Descriptions
from ingather.app.home import Home
from ingather.app.operating import follow_directly
from ingather.conf.rd.soif import write_object
from ingather.conf.rd.soif_reader import read_soif
from ingather.errors import IngatherError
from ingather.testing.clock import FakeClock
from ingather.testing.rig import Rig

A, B = "http://www.siroe.com/a", "http://www.siroe.com/b"
ODD = {"title": "Zürich\n}\n@DOCUMENT { x", "classification": ("A:B", "Ä"), "iso-8859-1": "x"}


def test_what_is_exported_is_imported_again_identical(rig: Rig, bring: Import, tmp_path: Path) -> None:
    bring((A, ODD), (B, {"description": "two\r\nlines"}))
    first, second = tmp_path / "first.soif", tmp_path / "second.soif"
    assert rig.call("rd", "export", str(first)).status == 0
    assert (
        rig.call("rd", "delete", "--type", "by_url", "--value", "http://www.siroe.com/*").out == "2 deleted\n"
    )
    assert rig.call("rd", "list").status == 1
    assert rig.call("rd", "import", str(first)).out == "2 added\n"
    assert rig.call("rd", "export", str(second)).status == 0
    assert first.read_bytes() == second.read_bytes()
    assert rig.call("index", "check").status == 0


def test_choosing(rig: Rig, bring: Import) -> None:
    bring((A, {"title": "Wombats", "classification": "Animals:Wombats"}))
    bring((B, {"title": "Weasels"}), options=("--database", "Archive"))

    def urls(*options: str) -> list[str]:
        return rig.call("rd", "list", *options).out.split()

    assert urls() == [A, B]
    assert urls("--type", "categorized") == [A]
    assert urls("--type", "uncategorized") == [B]
    assert urls("--type", "by_category", "--value", "Animals") == [A]
    assert urls("--type", "by_category", "--value", "Anim") == []
    assert urls("--type", "by_query", "--value", "title=Weasels") == [B]
    assert urls("--type", "by_query", "--value", "wombats") == [A]
    assert urls("--type", "by_url", "--value", B) == [B]
    assert urls("--database", "archive") == [B]
    assert urls("--non-persistent") == []
    assert json.loads(rig.call("rd", "count", "--databases", "--json").out) == {"archive": 1, "default": 1}
    assert rig.call("search", "--database", "archive", "weasels OR wombats").out.startswith("1 document")
    assert "title=Weasels" in rig.call("rd", "list", "--attributes", "dc.title").out


def test_search_page_size_and_its_most_hold_for_the_command(rig: Rig, bring: Import) -> None:
    bring(*((f"http://www.siroe.com/{n}", {"title": f"Wombats {n}"}) for n in range(6)))
    rig.tune("search.page-size", "2").tune("search.page-size-max", "4")

    def shown(*options: str) -> int:
        return len(json.loads(rig.call("search", "--json", *options, "wombats").out)["results"])

    assert (shown(), shown("--limit", "4")) == (2, 4)
    assert rig.call("search", "--limit", "5", "wombats").status == 2


def test_who_a_readacl_names_finds_the_document(rig: Rig, bring: Import) -> None:
    bring(
        (A, {"title": "Wombats", "readacl": "user=jack; group=keepers"}),
        (B, {"title": "Wombats", "readacl": "staff"}),
    )

    def found(*options: str) -> bool:
        out = rig.call("search", *options, "wombats").out
        assert B not in out
        return A in out

    assert found("--user", "jack")
    assert not found("--user", "jill")
    assert not found()
    told = rig.call("access", "explain", A, "--user", "jack").out
    assert "jack" in told
    assert "cannot be read" in rig.call("access", "explain", B, "--user", "jack").out
    assert rig.call("rd", "edit", A, "--set", "readacl=user=jill").out == "1 merged\n"
    assert not found("--user", "jack")  # two layers say different things
    assert rig.call("rd", "edit", A, "--set", "readacl=user=jack;group=keepers").out == "1 merged\n"
    assert found("--user", "jack")
    assert rig.call("index", "check").status == 0


def test_editing_lies_over_what_is_imported(rig: Rig, bring: Import) -> None:
    bring((A, {"title": "One", "author": "a"}))
    assert (
        rig.call("rd", "edit", A, "--set", "title=Two", "--set", "keywords=x", "--set", "keywords=y").status
        == 0
    )
    bring((A, {"title": "Three"}))
    shown = json.loads(rig.call("rd", "show", A, "--json").out)
    assert shown["attributes"] == {"title": ["Two"], "keywords": ["x", "y"]}
    assert rig.call("rd", "edit", A, "--unset", "title").status == 0
    assert "title (import): Three" in rig.call("rd", "show", A).out
    refused = rig.call("rd", "edit", A, "--set", "md5=x")
    assert (refused.status, "md5 cannot be edited" in refused.err) == (1, True)
    assert "is not a date" in rig.call("rd", "edit", A, "--set", "rd-expires=soon").err
    assert rig.call("rd", "edit", "http://nobody/", "--set", "title=x").status == 1
    assert rig.call("rd", "edit", A).status == 2


def test_merging_changes_what_is_named_in_the_view(rig: Rig, bring: Import) -> None:
    bring((A, {"title": "One", "author": "a", "phone": "1"}))
    bring(
        (A, {"title": "Two", "author": "b", "phone": ""}),
        options=("--attributes", "author,phone"),
        verb="merge",
    )
    assert json.loads(rig.call("rd", "show", A, "--json").out)["attributes"] == {
        "title": ["One"],
        "author": ["b"],
    }


def test_expired_descriptions_go(rig: Rig, bring: Import) -> None:
    bring(
        (A, {"rd-expires": "2001-01-01T00:00:00Z"}), (B, {"rd-expires": "2999-01-01T00:00:00Z", "title": "x"})
    )
    assert rig.call("rd", "expire", "--dry-run").out == f"{A}\n"
    assert rig.call("rd", "expire").out == "1 deleted\n"
    assert rig.call("rd", "list").out == f"{B}\n"
    assert rig.call("undelete", A).status == 0
    assert A in rig.call("rd", "list").out


def test_imported_descriptions_without_a_date_expire_after_90_days(rig: Rig, bring: Import) -> None:
    stated = {"rd-expires": "2999-01-01T00:00:00Z"}
    bring((A, {"title": "x"}), (B, stated))
    bring(("http://www.siroe.com/c", {"title": "x"}), options=("--non-persistent",))
    assert rig.call("rd", "edit", A, "--set", "phone=1").status == 0
    assert rig.call("rd", "expire", "--dry-run").out == ""

    def expired(after_days: float, days: int = EXPIRE_DAYS) -> list[str]:
        home = Home.open(rig.path)
        clock = FakeClock(wall_s=SystemClock().wall() + after_days * 86_400)
        descriptions = Descriptions(home, read_configuration(home).require(), clock=clock)
        return list(descriptions.expired(days=days))

    assert expired(89) == []
    assert expired(91) == [A, "http://www.siroe.com/c"]
    assert expired(91, days=0) == []
    assert expired(400_000, days=0) == [B]


def test_a_database_that_is_not_there_is_named(rig: Rig, bring: Import, tmp_path: Path) -> None:
    bring((A, {"title": "x"}), options=("--database", "archive"))
    for verb in ("list", "count", "delete", "expire"):
        done = rig.call("rd", verb, "--database", "archiv")
        assert (done.status, done.err.count("\n")) == (2, 1), verb
        assert "no database 'archiv'" in done.err
        assert "default, archive" in done.err
    file = tmp_path / "out.soif"
    assert rig.call("rd", "export", str(file), "--database", "archiv").status == 2
    refused = rig.call("rd", "import", str(tmp_path / "in.soif"), "--database", "archiv", "--no-create")
    assert (refused.status, "no database 'archiv'" in refused.err) == (2, True)
    bring((B, {"title": "y"}), options=("--database", "archive", "--no-create"))
    assert rig.call("rd", "delete", B).status == 0
    assert list(tmp_path.glob("out.soif*")) == []
    assert rig.call("rd", "delete", A).status == 0
    assert rig.call("rd", "list", "--database", "archive").status == 1, "empty by now, but there"


def test_a_file_that_breaks_off_keeps_what_is_whole(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "cut.soif"
    file.write_bytes(write_object("DOCUMENT", A, {"title": "x"}) + b"@DOCUMENT { http://b/\ntitle{50}:\tabc")
    done = rig.call("rd", "import", str(file))
    assert (done.status, done.out) == (1, "1 added\n")
    assert f"{file}: byte " in done.err
    assert "E-SOIF-TRUNC" in done.err


def test_charsets(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "latin.soif"
    file.write_bytes(write_object("DOCUMENT", A, {"title": "Zürich"}, charset="latin-1"))
    assert rig.call("rd", "import", "--charset", "latin-1", str(file)).status == 0
    assert rig.call("rd", "export", "--charset", "iso-8859-1", str(file)).status == 0
    (read,), _ = read_soif(file.read_bytes(), charset="latin-1")
    assert read.first("title") == "Zürich"
    assert rig.call("rd", "export", "--charset", "utf-16", str(file)).status != 0


@pytest.mark.parametrize(
    "arguments",
    [("frob",), ("delete",), ("delete", A, "--from", "x"), ("import", "x", "--source", "nobody"), ("list", "--database", "a b"), ("list", "--value", "x"),
     ("import", "x", "--charset", "nope"), ("export", "--charset", "utf-16"), ("import", "x", "--attributes", " ,"), ("count", "--databases", "--type", "categorized")],
)  # fmt: skip
def test_wrong_use_is_one_line(rig: Rig, arguments: tuple[str, ...]) -> None:
    done = rig.call("rd", *arguments)
    assert (done.status, done.err.count("\n")) == (2, 1)


def test_files_that_hold_no_descriptions(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "folder").mkdir()
    (tmp_path / "urls").write_bytes(
        b"".join(write_object("DOCUMENT", url, {"title": "x"}) for url in ("-", "no url"))
    )
    for name, status, said in (
        ("empty", 0, "no description in it"),
        ("binary", 1, "byte 0: object 1: error E-SOIF-HEAD"),
        ("folder", 2, "Is a directory"),
        ("missing", 2, "No such file"),
    ):
        for verb in ("import", "merge"):
            done = rig.call("rd", verb, str(tmp_path / name))
            assert (done.status, done.err.count("\n")) == (status, 1), (verb, name)
            assert f"{tmp_path / name}" in done.err
            assert said in done.err
    refused = rig.call("rd", "import", str(tmp_path / "urls"))
    assert refused.status == 1
    assert refused.err == "E-RD-URL: a document has no URL\nE-RD-URL: 'no url' is not a URL\n"


def test_thousands_of_descriptions_come_in_groups(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "many.soif"
    with file.open("wb") as out:
        for number in range(3_000):
            out.write(
                write_object(
                    "DOCUMENT", f"http://h{number % 50}.example/{number}", {"title": f"Document {number}"}
                )
            )
    assert rig.call("rd", "import", str(file)).out == "3000 added\n"
    assert rig.call("rd", "count").out.split() == ["3000", "descriptions"]
    assert rig.call("search", '"document 2999"').out.startswith("1 document")


class Slow:
    """A follower that gets so far in each wait; the index's own is :class:`IndexFollower`."""

    def __init__(self, *applied: int) -> None:
        self.applied, self.broken, self.stopped = 0, "", False
        self._waits = list(applied)

    def start(self) -> None: ...

    def stop(self) -> None:
        self.stopped = True

    def flush(self, sequence: int) -> bool:
        self.applied = self._waits.pop(0)
        return self.applied >= sequence


def test_the_index_may_take_longer_than_one_wait_while_it_gets_on() -> None:
    slow = Slow(10, 20, 30)
    follow_directly(slow, 30)  # type: ignore[arg-type]
    assert slow.stopped
    stuck = Slow(10, 10)
    with pytest.raises(IngatherError, match="does not get on"):
        follow_directly(stuck, 30)  # type: ignore[arg-type]
    assert stuck.stopped
