"""Only what changed is written: text, metadata, access list and links are compared for themselves."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.catalog import digests
from ingather.catalog.digests import Part, digests_of, equal, looks_equal, steady
from ingather.catalog.packing import pack_attributes, pack_keys
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome
from ingather.model.report import Discovery, Report
from ingather.model.urlparts import key
from ingather.robot.settling.committing import Batch, Committer
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.robot.settling.settle import SettleRules

DAY = 86_400.0


class Fixed:
    """Dice that always show the middle."""

    @staticmethod
    def random() -> float:
        return 0.5


class Page:
    """One page that is visited again and again, through the robot's committer, on a real catalog."""

    def __init__(self, folder: Path) -> None:
        self.writer = CatalogWriter(folder / "catalog.db")
        found = Discovery(
            key=key("http://a.test/p", self.writer.seed), origin="http://a.test", path="/p", depth=0
        )
        self.writer.transaction(lambda w: w.applier.discover(found, None, Applied()))
        self.now_s = 1_800_000_000.0
        self.committer = Committer(
            self.writer, rules=SettleRules(), policies=lambda _: DeletionPolicy(), dice=Fixed(), now_s=lambda: self.now_s,  # type: ignore[arg-type]
            clock_trusted=lambda: True,
        )  # fmt: skip
        self.id = int(self.value("select id from url where path = '/p'"))

    def value(self, sql: str) -> Any:
        return self.writer.syndication.query(sql, ())[0][0]

    def visit(
        self, body: bytes, text: str, *, outcome: Outcome = Outcome.INDEXED, **more: Any
    ) -> list[ChangeKind]:
        """Visit it; return the changes that the index must follow."""
        row = self.writer.frontier.row(self.id)
        assert row is not None
        attributes: dict[str, tuple[str, ...]] = {
            "title": (more.get("title", "T"),), "rd-last-modified": (str(self.now_s),), "etag": (body.decode(),),
        }  # fmt: skip
        if "readacl" in more:
            attributes["readacl"] = more["readacl"]
        links, anchors = (
            pack_keys(more.get("links", ())),
            msgspec.msgpack.encode([""] * len(more.get("links", ()))),
        )
        described = outcome is Outcome.INDEXED
        report = Report(
            id=self.id, outcome=int(outcome), status=304 if outcome is Outcome.UNCHANGED else 200, at_s=self.now_s, version=1,
            digest=body.ljust(16, b"."), size=len(body), title=more.get("title", "T"), text=text,
            attributes=pack_attributes(attributes, text), links=links, anchors=anchors, described=described, dedupe=True,
            digests=digests_of((text, "", ""), attributes, (more.get("title", "T"),), (links, anchors), again=bool(row.digest)),
        )  # fmt: skip
        if not described:
            report.digest, report.digests, report.attributes = b"", b"", b""
        done = self.committer.commit(Batch(visits=[(report, row)]))
        self.now_s += DAY
        return [change[2] for change in done.applied.changes]

    def page(self) -> tuple[Any, ...]:
        found: tuple[Any, ...] = self.writer.syndication.query(
            "select title, attrs, out from page where id = ?", (self.id,)
        )[0]
        return found


@pytest.fixture
def page(tmp_path: Path) -> Any:
    made = Page(tmp_path)
    yield made
    made.writer.close()


def test_an_unchanged_page_costs_no_index_write(page: Page) -> None:
    assert page.visit(b"one", "text") == [ChangeKind.PUT]
    before, changes = page.page(), page.value("select count(*) from change")
    assert page.visit(b"", "", outcome=Outcome.UNCHANGED) == []
    assert page.visit(b"token-2", "text") == []  # other bytes, the same text, metadata and access list
    assert page.page() == before
    assert page.value("select count(*) from change") == changes == 1
    assert page.value("select outcome from url where path = '/p'") == Outcome.UNCHANGED
    assert page.value("select digest from url where path = '/p'").startswith(
        b"token-2"
    )  # what is asked next is compared with it
    assert page.value("select seen > described from url where path = '/p'") == 1


def test_changed_links_alone_are_link_work_alone(page: Page) -> None:
    page.visit(b"one", "text", links=[1, 2])
    title, attributes, out = page.page()
    assert page.visit(b"two", "text", links=[1, 2, 3]) == []
    assert page.page() == (title, attributes, pack_keys([1, 2, 3]))
    assert out == pack_keys([1, 2])


def test_changed_text_and_changed_metadata_reach_the_index(page: Page) -> None:
    page.visit(b"one", "text")
    assert page.visit(b"two", "other text") == [ChangeKind.PUT]
    assert page.visit(b"three", "other text", title="U") == [ChangeKind.PUT]
    assert page.page()[0] == "U"


def test_a_changed_access_list_alone_is_written_at_once(page: Page) -> None:
    page.visit(b"one", "text", readacl=("ann",))
    assert page.visit(b"two", "text", readacl=("ann",)) == []
    assert page.visit(b"three", "text", readacl=("bob",)) != []
    assert b"bob" in page.page()[1]


def test_a_page_that_is_gone_and_returns_with_the_same_text_is_put_again(page: Page) -> None:
    page.visit(b"one", "text")
    page.writer.syndication.query(
        "update url set version = null where id = ?", (page.id,)
    )  # as a deletion leaves it
    assert page.visit(b"two", "text") == [ChangeKind.PUT]


def test_a_page_in_which_only_a_clock_moves_is_visited_less_and_less_often(page: Page) -> None:
    page.visit(b"0", "now 12:00:01, visitor 17")
    page.visit(b"1", "now 12:00:02, visitor 18")  # nothing to compare with yet
    waits = []
    for number in range(2, 5):
        assert page.visit(str(number).encode(), f"now 12:00:0{number}, visitor {number}") == [ChangeKind.PUT]
        waits.append(page.value("select wait from url where path = '/p'"))
    assert waits == sorted(set(waits))


@given(st.text(), st.text())
def test_equal_descriptions_have_equal_digests_and_others_do_not(one: str, two: str) -> None:
    def made(text: str) -> bytes:
        return digests_of((text,), {"title": ("t",), "date": (text,)}, (), (), again=False)

    assert equal(made(one), made(two), Part.TEXT) == (one == two)
    assert equal(made(one), made(two), Part.METADATA, Part.ACL, Part.LINKS)


def test_what_has_no_digests_is_equal_to_nothing() -> None:
    some = digests_of(("a",), {}, (), (), again=True)
    for other in (None, b"", b"short"):
        assert not equal(some, other, Part.TEXT)
        assert not looks_equal(other, some)


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("Today is Monday, 3 March 2025, 12:04", "Today is Tue, 14 April 2025, 9:30", True),
        ("key 0123456789abcdef0 end", "key fedcba98765432100 end", True),
        ("10,233 readers", "9 readers", True),
        ("The mayor resigned", "The mayor stays", False),
    ],
)
def test_steady_text_is_text_without_what_moves_by_itself(one: str, two: str, *, same: bool) -> None:
    assert (steady(one) == steady(two)) is same


@given(st.text(alphabet=st.sampled_from("abMaymontue\u017fs 019-_.,:/#(\u00e9'\u0130\n\u65e5"), max_size=60))
def test_steady_text_made_word_by_word_is_that_of_the_whole(text: str) -> None:
    assert steady(text) == " ".join(digests._MOVING.sub("#", text).split())
