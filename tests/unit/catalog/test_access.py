"""ACLs by URL, chains, and what they make of documents."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

from ingather.access import Rights, decide
from ingather.access.decision import ChainStatus
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

DOC = "http://h.test/folder/doc"
OTHER = "http://h.test/folder/other"
FOLDER = "http://h.test/folder"
JOE = Principal(PrincipalScope.USER, "joe")
ENTRIES = (
    AclEntry(Right.PERMIT, JOE),
    AclEntry(Right.DENY, Principal(PrincipalScope.GROUP, "eng", "corp", "N", case_sensitive=False)),
)


@pytest.fixture
def access(catalog: SqliteUnderTest) -> Iterator[AccessReader]:
    made = AccessReader(catalog.writer.path)
    yield made
    made.close()


def write(catalog: SqliteUnderTest, work: Callable[[CatalogWriter, Applied], object]) -> Applied:
    applied = Applied()
    catalog.writer.transaction(lambda writer: work(writer, applied))
    return applied


def put(catalog: SqliteUnderTest, acl: Acl, **more: bool) -> Applied:
    return write(catalog, lambda w, applied: w.access.put_acl(acl, applied, **more))


def described(visitor: Visitor, url: str, body: str = "text", source: str = "") -> int:
    visitor.start(url, source=source)
    visitor.visit(url, body)
    return visitor.id(url)


def chain(access: AccessReader, url_id: int) -> int:
    return access.chains_of([url_id])[url_id]


def test_an_acl_comes_back_as_it_went_in(catalog: SqliteUnderTest, access: AccessReader) -> None:
    acl = Acl(DOC, ENTRIES, FOLDER, Inheritance.AND_BOTH_PERMIT, "")
    put(catalog, acl)
    assert access.acl(DOC) == acl
    assert access.acl(FOLDER) is None


def test_equal_acls_share_a_chain_and_each_difference_makes_another(catalog: SqliteUnderTest) -> None:
    acls = [
        Acl("a", ENTRIES), Acl("b", ENTRIES), Acl("c", ENTRIES[:1]), Acl("d", ENTRIES[::-1]), Acl("e", ENTRIES, FOLDER),
        Acl("f", ENTRIES, "", Inheritance.CHILD_OVERRIDES), Acl("g", ENTRIES, "", Inheritance.LEAF_NODE, "broken"),
    ]  # fmt: skip
    chains = catalog.writer.transaction(lambda w: [w.access.chain(acl) for acl in acls])
    assert chains == [2, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("first", ["acl", "document"])
def test_a_document_has_the_chain_of_its_acl_whichever_came_first(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader, first: str
) -> None:
    if first == "acl":
        put(catalog, Acl(DOC, ENTRIES))
    row = described(visitor, DOC)
    if first == "document":
        assert chain(access, row) == 1
        applied = put(catalog, Acl(DOC, ENTRIES))
        assert [change[1] for change in applied.changes] == [row]
        assert access.moved(applied.changes[0][0] - 1) == [row]
    assert chain(access, row) == 2
    reader = catalog.reader()
    assert reader.shown_rows([row])[row].chain == 2
    assert reader.access(row) == "secure"
    assert list(reader.links_pass()) == []
    reader.close()


def test_a_change_of_the_parents_acl_writes_no_document(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC)
    put(catalog, Acl(DOC, ENTRIES, FOLDER))
    before = chain(access, row)
    epoch, *_ = access.stamp()
    applied = put(catalog, Acl(FOLDER, ENTRIES[:1], "", Inheritance.CHILD_OVERRIDES))
    assert not applied.changes
    assert chain(access, row) == before
    assert [(url, number) for _, url, number, _ in access.acls(epoch)] == [(FOLDER, access.stamp()[1])]


def test_the_same_acl_again_changes_nothing(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    described(visitor, DOC)
    put(catalog, Acl(DOC, ENTRIES))
    stamp = access.stamp()
    assert not put(catalog, Acl(DOC, ENTRIES)).changes
    assert access.stamp() == stamp


def test_a_deleted_acl_leaves_the_document_to_its_source_and_its_children_broken(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    public, secret = described(visitor, DOC), described(visitor, OTHER, source="vault")
    for url in (DOC, OTHER, FOLDER):
        put(catalog, Acl(url, ENTRIES, "" if url == FOLDER else FOLDER, Inheritance.CHILD_OVERRIDES))
    write(catalog, lambda w, applied: [w.access.delete_acl(url, applied) for url in (DOC, OTHER)])
    assert (chain(access, public), chain(access, secret)) == (1, 0)
    put(catalog, Acl(DOC, ENTRIES, FOLDER))
    write(catalog, lambda w, applied: w.access.delete_acl(FOLDER, applied))
    assert decide(access.chain_of(DOC), JOE, ()).status is ChainStatus.INHERITANCE_DATA_MISSING
    assert not catalog.writer.transaction(lambda w: w.access.delete_acl("http://never.test/", Applied()))


def test_gsa_T38_an_explicit_empty_acl_is_for_nobody_but_by_the_appliances_rule(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC)
    put(catalog, Acl(DOC))
    assert chain(access, row) > 1
    assert not decide(access.chain_of(DOC), JOE, ()).permitted
    put(catalog, Acl(DOC), empty_is_none=True)
    assert chain(access, row) == 1


def test_gsa_T40_a_secured_document_without_an_acl_is_hidden(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC)
    applied = write(catalog, lambda w, applied: w.access.secure(row, applied, secured=True))
    assert [change[1] for change in applied.changes] == [row]
    assert chain(access, row) == 0
    visitor.visit(DOC, "another text")
    assert chain(access, row) == 0
    put(catalog, Acl(DOC, ENTRIES))
    assert chain(access, row) > 1
    write(catalog, lambda w, applied: w.access.delete_acl(DOC, applied))
    assert chain(access, row) == 0
    write(catalog, lambda w, applied: w.access.secure(row, applied, secured=False))
    assert chain(access, row) == 1


def test_a_governed_document_is_in_no_group_of_equal_bodies(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    described(visitor, DOC, "same")
    described(visitor, OTHER, "same")
    assert visitor.record(OTHER).duplicate_of == DOC
    put(catalog, Acl(DOC, ENTRIES))
    assert visitor.record(OTHER).duplicate_of == ""
    put(catalog, Acl("http://h.test/new", ENTRIES))
    described(visitor, "http://h.test/new", "same")
    assert visitor.record("http://h.test/new").duplicate_of == ""


def test_gsa_T33_what_is_known_of_a_broken_chain_is_read_and_judged(
    catalog: SqliteUnderTest, access: AccessReader
) -> None:
    put(catalog, Acl(DOC, ENTRIES, FOLDER))
    assert decide(access.chain_of(DOC), JOE, ()).status is ChainStatus.INHERITANCE_DATA_MISSING
    put(catalog, Acl(FOLDER, ENTRIES))
    assert decide(access.chain_of(DOC), JOE, ()).status is ChainStatus.INVALID_INHERITANCE_TYPE
    put(catalog, Acl(FOLDER, (), DOC, Inheritance.CHILD_OVERRIDES))
    assert decide(access.chain_of(DOC), JOE, ()).status is ChainStatus.CHAIN_HAS_CYCLE
    put(catalog, Acl(FOLDER, (), "", Inheritance.CHILD_OVERRIDES))
    assert decide(access.chain_of(DOC), JOE, ()).permitted


def test_a_name_that_is_no_text_hides_the_document(catalog: SqliteUnderTest, access: AccessReader) -> None:
    half = AclEntry(Right.DENY, Principal(PrincipalScope.USER, "\ud800"))
    put(catalog, Acl(DOC, (*ENTRIES, half)))
    assert decide(access.chain_of(DOC), JOE, ()).status is ChainStatus.ACL_UNREADABLE


def test_the_urls_of_a_source_are_listed(catalog: SqliteUnderTest) -> None:
    def work(w: CatalogWriter, applied: Applied) -> None:
        source = w.applier.source("web")
        for number in range(5):
            w.access.put_acl(Acl(f"http://h.test/{number}", ENTRIES), applied, source=source)
        w.access.delete_acl("http://h.test/2", applied)
        assert [url[-1] for url in w.access.urls_of(source)] == ["0", "1", "3", "4"]

    write(catalog, work)


def test_what_a_failed_transaction_noticed_is_forgotten(
    catalog: SqliteUnderTest, access: AccessReader
) -> None:
    def work(w: CatalogWriter, applied: Applied) -> None:
        w.access.put_acl(Acl(DOC, ENTRIES), applied)
        raise KeyError

    with pytest.raises(KeyError):
        write(catalog, work)
    assert access.acl(DOC) is None
    assert access.stamp() == (0, 1, "")


def test_a_source_that_becomes_secure_moves_its_documents(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC)
    behind = catalog.writer.applier.sequence
    catalog.put_source("web", "secure")
    assert access.moved(behind) == [row]
    assert chain(access, row) == 0


MOE = Principal(PrincipalScope.USER, "moe")


def rule(*who: Principal) -> Acl:
    return Acl("", tuple(AclEntry(Right.PERMIT, one) for one in who))


def test_a_policy_rule_counts_where_there_is_no_acl_and_closes_public_documents(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    described(visitor, "http://other.test/")
    row, own = described(visitor, DOC), described(visitor, OTHER)
    put(catalog, Acl(OTHER, ENTRIES))
    before = chain(access, own)
    catalog.writer.access.use_policy(lambda url: [rule(JOE)] if url.startswith(FOLDER) else [])
    applied = write(catalog, lambda w, applied: w.access.place(applied))
    assert row in [change[1] for change in applied.changes]
    assert chain(access, own) == before
    view = Rights(access).visible((JOE,))
    assert view.sees(chain(access, row))
    assert not Rights(access).visible(()).sees(chain(access, row))
    assert chain(access, visitor.id("http://other.test/")) == 1
    new = described(visitor, f"{FOLDER}/new")
    assert chain(access, new) == chain(access, row)
    assert not write(catalog, lambda w, applied: w.access.place(applied)).changes
    catalog.writer.access.use_policy(lambda _url: [])
    write(catalog, lambda w, applied: w.access.place(applied))
    assert chain(access, row) == 1


def test_of_tied_policy_rules_each_must_permit(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC)
    catalog.writer.access.use_policy(lambda _url: [rule(JOE, MOE), rule(MOE), rule(JOE, MOE)])
    write(catalog, lambda w, applied: w.access.place(applied))
    rights = Rights(access)
    assert rights.visible((MOE,)).sees(chain(access, row))
    assert not rights.visible((JOE,)).sees(chain(access, row))
    assert [decide(access.chain_of(DOC), who, ()).permitted for who in (MOE, JOE)] == [True, False]


def test_a_policy_rule_opens_a_secured_document_to_whom_it_names(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC, source="vault")
    assert chain(access, row) == 0
    catalog.writer.access.use_policy(lambda _url: [rule(JOE)])
    write(catalog, lambda w, applied: w.access.place(applied))
    assert Rights(access).visible((JOE,)).sees(chain(access, row))
    assert not Rights(access).visible((MOE,)).sees(chain(access, row))


def test_whether_anything_is_secured(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, DOC)
    assert not access.anything_secured()
    write(catalog, lambda w, applied: w.access.secure(row, applied, secured=True))
    assert access.anything_secured()


def test_what_a_page_calls_others_is_forgotten_when_it_is_hidden(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    target = described(visitor, "http://h.test/target", "another")
    visitor.start(DOC)
    visitor.visit(DOC, "text", ["http://h.test/target"])
    anchors = msgspec.msgpack.encode(["codename"])
    write(catalog, lambda w, applied: w.registry.put_inlinks({target: (1, anchors)}, applied))
    reader = catalog.reader()
    assert reader.shown_rows([target])[target].anchors == ["codename"]
    applied = put(catalog, Acl(DOC, ENTRIES))
    assert target in [change[1] for change in applied.changes]
    assert reader.shown_rows([target])[target].anchors == []
    assert reader.inlinks() == {}
    reader.close()
