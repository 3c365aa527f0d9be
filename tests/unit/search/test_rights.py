"""Access lists from the catalog to the answer: chains in the index, revocations before the index follows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingather.access import ANONYMOUS, Rights
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.index import IndexFolder
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.robot.indexing.documents import CatalogDocuments
from ingather.search import SearchRequest, SearchResults, SearchService
from ingather.testing.clock import FakeClock
from ingather.testing.visitor import SqliteUnderTest, Visitor

JOE = Principal(PrincipalScope.USER, "joe")
EVE = Principal(PrincipalScope.USER, "eve")
ENG = Principal(PrincipalScope.GROUP, "eng")
FOLDER = "http://h.test/folder/"


def doc(number: int) -> str:
    return f"http://h.test/{number}"


def permit(*who: Principal) -> tuple[AclEntry, ...]:
    return tuple(AclEntry(Right.PERMIT, one) for one in who)


class House:
    """A catalog, an index that follows when it is told to, and a service over both."""

    def __init__(self, path: Path) -> None:
        self.catalog = SqliteUnderTest(path)
        self.catalog.put_source("web", "public")
        self.catalog.put_source("vault", "secure")
        self.visitor = Visitor(self.catalog)
        self._documents = CatalogDocuments(SqliteReader(self.catalog.writer.path, path / "bodies"))
        folder = IndexFolder(path / "index")
        self._writer = folder.writer()
        self._reader = folder.reader()
        self._access = AccessReader(self.catalog.writer.path)
        self.service = SearchService(self._reader, lambda _rows: {}, FakeClock(), rights=Rights(self._access))
        self._applied = 0

    def put(self, url: str, source: str = "") -> int:
        self.visitor.start(url, source=source)
        self.visitor.visit(url, f"alpha {url}", dedupe=False)
        return self.visitor.id(url)

    def write(self, work: Callable[[CatalogWriter, Applied], object]) -> None:
        self.catalog.writer.transaction(lambda writer: work(writer, Applied()))

    def acl(
        self,
        url: str,
        entries: tuple[AclEntry, ...],
        parent: str = "",
        kind: Inheritance = Inheritance.LEAF_NODE,
    ) -> None:
        self.write(lambda w, applied: w.access.put_acl(Acl(url, entries, parent, kind), applied))

    def follow(self) -> int:
        """Let the index apply the log; return how many changes there were."""
        changes = self._documents.changes(self._applied, 1_000)
        rows = sorted({change.url_id for change in changes})
        self._writer.remove(rows)
        self._writer.put(self._documents.documents([(row, None) for row in rows]))
        self._applied = changes[-1].sequence if changes else self._applied
        self._writer.commit(self._applied)
        self._reader.reload()
        return len(changes)

    def ask(self, *users: Principal, groups: tuple[Principal, ...] = (), **given: int) -> SearchResults:
        view = self.service.viewer(users, groups)
        return self.service.search(SearchRequest("title", viewer=view, **given))  # type: ignore[arg-type]

    def found(self, *users: Principal, groups: tuple[Principal, ...] = ()) -> set[str]:
        return {result.url for result in self.ask(*users, groups=groups).results}

    def close(self) -> None:
        self._documents.close()
        self._writer.close()
        self._access.close()
        self.visitor.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def test_each_sees_his_own_and_what_is_public(house: House) -> None:
    for number in range(1, 5):
        house.put(doc(number), "vault" if number == 4 else "")
    house.acl(doc(1), permit(JOE))
    house.acl(doc(2), permit(ENG))
    house.follow()
    assert house.found() == {doc(3)}
    assert house.found(JOE) == {doc(1), doc(3)}
    assert house.found(JOE, groups=(ENG,)) == {doc(1), doc(2), doc(3)}
    assert house.ask(JOE).total == 2
    assert house.ask(JOE).facets.sites == {"h.test": 2}


def test_a_revocation_acts_before_the_index_follows(house: House) -> None:
    house.put(doc(1))
    house.acl(doc(1), permit(JOE, EVE))
    house.follow()
    view = house.service.viewer((EVE,))
    assert house.found(EVE) == {doc(1)}
    house.acl(doc(1), permit(JOE))
    assert house.found(EVE) == set()
    assert not house.service.search(SearchRequest("title", viewer=view)).total  # a page that was open before
    assert house.service.complete("tit", house.service.viewer((EVE,))) == ()
    assert house.follow() == 1
    assert (house.found(EVE), house.found(JOE)) == (set(), {doc(1)})


def test_a_public_document_that_gets_an_acl_is_gone_for_the_anonymous_at_once(house: House) -> None:
    row = house.put(doc(1))
    house.follow()
    assert house.found() == {doc(1)}
    house.write(lambda w, applied: w.access.secure(row, applied, secured=True))
    assert house.found() == set()
    house.follow()
    assert not house.service.search(SearchRequest("title", viewer=ANONYMOUS)).total


def test_a_folders_acl_changes_what_is_below_without_writing_a_document(house: House) -> None:
    for number in range(1, 4):
        house.put(doc(number))
        house.acl(doc(number), (), FOLDER)
    house.follow()
    assert house.found(JOE) == set()  # its parent is not known yet
    house.acl(FOLDER, permit(ENG), "", Inheritance.CHILD_OVERRIDES)
    assert house.found(JOE, groups=(ENG,)) == {doc(1), doc(2), doc(3)}
    house.acl(FOLDER, (AclEntry(Right.DENY, JOE), *permit(ENG)), "", Inheritance.CHILD_OVERRIDES)
    assert house.found(JOE, groups=(ENG,)) == set()
    assert house.found(EVE, groups=(ENG,)) == {doc(1), doc(2), doc(3)}
    house.write(lambda w, applied: w.access.delete_acl(FOLDER, applied))
    assert house.found(EVE, groups=(ENG,)) == set()
    assert house.follow() == 0


def test_a_group_that_was_left_shows_nothing_more(house: House) -> None:
    house.put(doc(1))
    house.acl(doc(1), permit(ENG))
    house.follow()
    assert house.found(JOE, groups=(ENG,)) == {doc(1)}
    assert house.found(JOE) == set()


def test_a_document_of_a_secure_source_is_shown_to_whom_its_acl_names(house: House) -> None:
    house.put(doc(1), "vault")
    house.acl(doc(1), permit(JOE))
    house.follow()
    assert (house.found(), house.found(JOE)) == (set(), {doc(1)})


def test_a_source_that_becomes_secure_is_hidden_at_once(house: House) -> None:
    house.put(doc(1))
    house.follow()
    house.catalog.put_source("web", "secure")
    assert house.found() == set()


def test_a_second_page_asks_again(house: House) -> None:
    for number in range(1, 4):
        house.put(doc(number))
        house.acl(doc(number), permit(JOE))
    house.follow()
    first = house.ask(JOE, limit=2)
    assert (first.total, len(first.results)) == (3, 2)
    for number in range(1, 4):
        house.acl(doc(number), permit(EVE))
    second = house.ask(JOE, limit=2, offset=2)
    assert (second.total, second.results) == (0, ())
