"""Near-duplicates are grouped behind a head, canonical links are obeyed when the other page stands for this one."""

from pathlib import Path

import msgspec
import pytest

from ingather.app.alike import compare
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_reader_more import MoreReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.extract.simhash import signed
from ingather.model.lifecycle import Outcome
from ingather.model.urlparts import key
from ingather.testing.visitor import SqliteUnderTest, Visitor

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")
MARK = 0x0123456789ABCDEF


class Web:
    """Pages with fingerprints and canonical links, and the pass over them."""

    def __init__(self, folder: Path, visitor: Visitor, catalog: SqliteUnderTest) -> None:
        self.database, self.visitor, self.catalog = folder / "catalog.db", visitor, catalog

    def page(  # noqa: PLR0913 - a page
        self,
        url: str,
        *,
        near: int = 0,
        canonical: str = "",
        title: str = "A title",
        language: str = "",
        source: str = "web",
    ) -> None:
        """Have *url* visited."""
        self.visitor.start(url, source=source)
        row = self.visitor.claim(url)
        report = self.visitor.report(row, url, f"body of {url} {self.visitor.now_s}", title=title)
        report = msgspec.structs.replace(
            report, near=signed(near), canonical=canonical, language=language,
            canonical_key=key(canonical, self.catalog.seed) if canonical else 0,
        )  # fmt: skip
        self.visitor.settle(report, row)

    def compare(self, *, near: bool = True, canonical: bool = True) -> None:
        """Make the pass and write what it found."""
        found = compare(self.database, near=near, canonical=canonical)

        def work(writer: CatalogWriter) -> Applied:
            applied, likeness = Applied(), writer.applier.likeness
            likeness.group(found.members, found.gone)
            likeness.release_stale(applied)
            likeness.judge(found.verdicts, self.visitor.now_s, applied)
            return applied

        self.visitor._heard(self.catalog.writer.transaction(work))
        again = compare(self.database, near=near, canonical=canonical)
        assert not any(again), "a second pass finds nothing to do"

    def shown(self, *urls: str) -> list[str]:
        """Return those that the index holds, by its log and by its rebuild."""
        reader = self._reader()
        rows = {self.visitor.id(url): url for url in urls}
        fresh = [rows[row] for row in reader.shown() if row in rows]
        assert sorted(fresh) == sorted(rows[row] for row in reader.shown_rows(list(rows)))
        assert sorted(fresh) == sorted(self.visitor.shown(*urls)), "log and rebuild agree"
        return [url for url in urls if url in fresh]

    def likeness(self, url: str) -> dict[str, object]:
        """Return what explain says."""
        return self._reader().likeness(self.visitor.id(url))

    def verdict(self, url: str) -> object:
        """Return what became of a canonical link."""
        named = self.likeness(url)["canonical"]
        assert isinstance(named, dict)
        return named["verdict"]

    def _reader(self) -> MoreReader:
        reader = self.visitor.reader
        assert isinstance(reader, MoreReader)
        return reader


@pytest.fixture
def web(tmp_path: Path, visitor: Visitor, catalog: SqliteUnderTest) -> Web:
    return Web(tmp_path, visitor, catalog)


# -- near-duplicates --------------------------------------------------------------------------------


def test_near_pages_are_a_group_and_all_are_shown(web: Web) -> None:
    for url, near in ((A, MARK), (B, MARK ^ 0b101), (C, MARK), (D, ~MARK & (1 << 64) - 1)):
        web.page(url, near=near)
    web.compare()
    assert web.shown(A, B, C, D) == [A, B, C, D]
    assert web.likeness(B)["near"] == {"head": A, "bits": 2, "count": 3, "members": [A, C, B]}
    assert web.likeness(D)["near"] is None


def test_likeness_is_no_chain(web: Web) -> None:
    for url, near in ((A, MARK), (B, MARK ^ 0b111), (C, MARK ^ 0b111111)):
        web.page(url, near=near)
    web.compare()
    assert web.likeness(A)["near"] == {"head": A, "bits": 0, "count": 2, "members": [A, B]}
    assert web.likeness(C)["near"] is None


@pytest.mark.parametrize(
    ("head", "other", "named"),
    [("http://a.test/long-name", "http://a.test/x", True), ("https://a.test/long-name", "http://a.test/x", False),
     ("http://a.test/x", "http://a.test/long-name", False)],
)  # fmt: skip
def test_the_head_is_chosen_by_rule(web: Web, head: str, other: str, *, named: bool) -> None:
    web.page(other, near=MARK, canonical=head if named else "")
    web.page(head, near=MARK)
    web.compare(canonical=False)
    near = web.likeness(other)["near"]
    assert isinstance(near, dict)
    assert near["head"] == head


def test_pages_of_different_readers_are_in_no_group(web: Web) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK, source="vault")
    web.compare()
    assert web.likeness(A)["near"] is None


def test_a_page_that_changed_leaves_its_group(web: Web) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK)
    web.compare()
    web.page(B, near=~MARK & (1 << 64) - 1)
    web.compare()
    assert web.likeness(A)["near"] is None
    web.page(B, near=MARK)
    web.compare(near=False)
    assert web.likeness(A)["near"] is None


# -- canonical links --------------------------------------------------------------------------------


def test_a_canonical_link_is_obeyed(web: Web) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK ^ 0xFF, canonical=A)
    web.compare()
    assert web.shown(A, B) == [A]
    assert web.likeness(B)["canonical"] == {"url": A, "verdict": "", "shown_as": A}
    web.compare(canonical=False)
    assert web.shown(A, B) == [A, B]


def test_a_chain_is_followed_and_a_ring_is_not(web: Web) -> None:
    for url, named in ((A, ""), (B, A), (C, B), (D, C)):
        web.page(url, near=MARK, canonical=named)
    web.compare()
    assert web.shown(A, B, C, D) == [A]
    assert web.likeness(D)["canonical"] == {"url": C, "verdict": "", "shown_as": A}
    web.page(A, near=MARK, canonical=D)
    web.compare()
    assert web.shown(A, B, C, D) == [A, B, C, D]
    assert web.verdict(C) == "canonical links lead in a ring"


@pytest.mark.parametrize(
    ("page", "target", "said"),
    [
        (
            {"near": MARK, "language": "de"},
            {"near": MARK, "language": "en-GB"},
            "another language: en-GB, this page is de",
        ),
        ({"near": MARK}, {"near": MARK ^ 0xFFFFF}, "the texts differ in 20 of 64 bits, 14 are allowed"),
        ({"title": "One"}, {"title": "Another"}, "the titles differ, and the texts are too short to compare"),
        ({"near": MARK, "source": "vault"}, {"near": MARK}, "not everybody may see both pages"),
    ],
)
def test_what_does_not_stand_for_a_page_is_ignored(
    web: Web, page: dict[str, object], target: dict[str, object], said: str
) -> None:
    web.page(A, **target)  # type: ignore[arg-type]
    web.page(B, canonical=A, **page)  # type: ignore[arg-type]
    web.compare()
    assert web.shown(A, B) == [A, B]
    assert web.verdict(B) == said


def test_all_pages_that_name_the_root_are_shown(web: Web) -> None:
    root = "http://a.test/"
    web.page(root, title="Same")
    for url in (A, B, C):
        web.page(url, canonical=root, title="Same")
    web.compare()
    assert web.shown(A, B, C) == [A, B, C]
    assert web.verdict(A) == "it names the root of the site, and the texts are too short to compare"


def test_an_address_on_another_host_needs_the_same_text(web: Web) -> None:
    other = "https://b.test/page"
    web.page(other, near=MARK)
    web.page(A, near=MARK ^ 0b11, canonical=other)
    web.page(B, near=MARK ^ 0xFF, canonical=other)
    web.page(C, canonical=other)
    web.compare()
    assert web.shown(A, B, C) == [B, C]
    assert web.verdict(C) == "another host, and the texts are too short to compare"


def test_an_address_that_is_unknown_or_answers_404_or_is_denied_is_ignored(web: Web) -> None:
    web.page(B, near=MARK, canonical=A)
    web.compare()
    assert web.verdict(B) == "the address is not known here: it was not let in, or not found yet"
    web.visitor.start(A)
    web.visitor.answer(A, Outcome.NOT_FOUND, status=404)
    web.compare()
    assert web.verdict(B) == "that page is not described: not found, status 404"
    web.visitor.discover(web.visitor.discovery(C, denied="filter rules"))
    web.page(B, near=MARK, canonical=C)
    web.compare()
    assert web.verdict(B) == "that page is not described: excluded"
    assert web.shown(B) == [B]


def test_when_the_other_page_goes_this_one_is_shown_at_once(web: Web) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK, canonical=A)
    web.compare()
    web.visitor.delete(A)
    assert web.shown(A, B) == [B]
    web.compare()
    assert web.shown(A, B) == [B]


def test_when_not_everybody_may_see_the_other_page_this_one_is_shown_at_once(web: Web) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK, canonical=A)
    web.compare()
    web.visitor.start(A, source="vault")
    assert B in web.visitor.shown(A, B)
    reader = web._reader()
    assert web.visitor.id(B) in reader.shown_rows([web.visitor.id(B)])


def test_when_a_source_is_closed_what_stands_behind_its_pages_is_shown(
    web: Web, catalog: SqliteUnderTest
) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK, canonical=A)
    web.compare()
    catalog.put_source("web", "secure")
    assert set(web._reader().shown()) == {web.visitor.id(A), web.visitor.id(B)}


def test_a_page_that_names_no_other_any_more_is_shown(web: Web) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK, canonical=A)
    web.compare()
    web.page(B, near=MARK)
    web.compare()
    assert web.shown(A, B) == [A, B]
    assert web.likeness(B)["canonical"] is None


def test_who_stands_behind_whom_survives_a_restart(web: Web, catalog: SqliteUnderTest) -> None:
    web.page(A, near=MARK)
    web.page(B, near=MARK, canonical=A)
    web.compare()
    catalog.restart()
    web.visitor.delete(A)
    assert web.shown(B) == [B]
