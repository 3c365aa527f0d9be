"""Descriptions that people bring in: layers, databases, access lists, and what the robot makes of them later."""

import msgspec
import pytest

from ingather.access.readacl import acl_of_readacl
from ingather.catalog.descriptions.sqlite_description_reader import DescriptionReader
from ingather.catalog.descriptions.sqlite_descriptions import NewDescription, Parts, Put
from ingather.catalog.sqlite_changes import Applied
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.change import ChangeKind
from ingather.robot.indexing.documents import NOBODY, PUBLIC, CatalogDocuments
from ingather.robot.settling.settle import SettleRules, settle
from ingather.testing.contracts_catalog import START_S, SqliteUnderTest, Visitor

URL = "http://www.siroe.com/"


class Hand:
    """Puts, deletes, and reads back."""

    def __init__(self, catalog: SqliteUnderTest) -> None:
        self.writer = catalog.writer
        self.reader = DescriptionReader(catalog.writer.path, catalog.writer.path.parent / "bodies")

    def put(self, url: str = URL, layer: str = "import", **rest: object) -> Put:
        merge, known, database = (
            bool(rest.pop("merge", False)),
            bool(rest.pop("known", False)),
            rest.pop("database", None),
        )
        attributes = {k.replace("_", "-"): v if isinstance(v, tuple) else (str(v),) for k, v in rest.items()}
        new = NewDescription(url, layer, attributes, merge=merge, known=known, database=database)  # type: ignore[arg-type]
        self.applied = Applied()
        return self.writer.transaction(lambda w: w.descriptions.put(new, START_S, self.applied))

    def delete(self, url: str = URL, parts: Parts = Parts.MERGED) -> bool:
        self.applied = Applied()
        return self.writer.transaction(
            lambda w: w.descriptions.delete(url, parts, "by a test", START_S, self.applied)
        )

    def layers(self, url: str = URL) -> dict[str, dict[str, tuple[str, ...]]]:
        record = self.reader.find(url)
        assert record is not None
        found = self.reader.description(record.id)
        return {} if found is None else {name: dict(values) for name, values in found.layers.items()}

    def effective(self, url: str = URL) -> dict[str, tuple[str, ...]]:
        (pair,) = [
            pair
            for rows in self.reader.walk()
            for pair in self.reader.descriptions(rows)
            if pair[0].url == url
        ]
        return pair[1].effective()

    def chain(self, url: str = URL) -> int | None:
        record = self.reader.find(url)
        assert record is not None
        made = CatalogDocuments(self.reader).documents([(record.id, None)])
        return made[0].chain if made else None


@pytest.fixture
def hand(catalog: SqliteUnderTest) -> Hand:
    return Hand(catalog)


def test_an_unknown_url_is_described_and_not_visited(hand: Hand) -> None:
    assert hand.put(title="Siroe", full_text="all of it") is Put.ADDED
    assert [kind for _, _, kind, _ in hand.applied.changes] == [ChangeKind.PUT]
    assert not hand.applied.waiting
    record = hand.reader.find(URL)
    assert record is not None
    assert record.described
    assert record.state.name == "EXCLUDED"
    (made,) = CatalogDocuments(hand.reader).documents([(record.id, None)])
    assert (made.title, made.body, made.chain, made.database) == ("Siroe", "all of it", PUBLIC, "default")


def test_layers_lie_over_one_another_per_attribute(hand: Hand) -> None:
    hand.put(layer="page", title="page", description="page", author="page")
    hand.put(title="import", description="import")
    hand.put(layer="editor", title="editor")
    assert hand.effective() == {"title": ("editor",), "description": ("import",), "author": ("page",)}
    hand.put(layer="page", title="again")
    assert hand.effective() == {"title": ("editor",), "description": ("import",)}


def test_a_merge_changes_only_what_is_given(hand: Hand) -> None:
    assert hand.put(merge=True, known=True, title="x") is Put.UNKNOWN
    hand.put(title="one", author="two", classification=("A", "B"))
    assert hand.put(merge=True, author=(), classification=("C",)) is Put.MERGED
    assert hand.layers()["import"] == {"title": ("one",), "classification": ("C",)}


def test_deleting_leaves_a_tombstone_when_nothing_is_left(hand: Hand) -> None:
    hand.put(title="x")
    assert hand.delete(parts=Parts.NONPERSISTENT) is False
    assert hand.delete(parts=Parts.PERSISTENT) is True
    record = hand.reader.find(URL)
    assert record is not None
    assert not record.described
    assert hand.reader.tombstone(record.id) == (START_S, "by a test")
    assert hand.delete() is False
    assert hand.put(author="new") is Put.ADDED
    assert hand.effective() == {"author": ("new",)}


def test_deleting_one_kind_of_data_keeps_the_other(hand: Hand) -> None:
    hand.put(layer="page", title="page")
    hand.put(title="import")
    assert hand.delete(parts=Parts.PERSISTENT)
    assert hand.effective() == {"title": ("page",)}
    hand.put(title="import")
    assert hand.delete(parts=Parts.NONPERSISTENT)
    assert hand.effective() == {"title": ("import",)}


def test_what_was_removed_by_hand_stays_removed(hand: Hand) -> None:
    hand.put(title="x")
    hand.writer.transaction(lambda w: w.deletions.remove(URL, START_S, Applied(), exact=True))
    assert hand.put(title="x") is Put.REMOVED


@pytest.mark.parametrize("layer", ["page", "import", "editor"])
@pytest.mark.parametrize("value", ["uid=jdoe", ""])
def test_a_document_with_an_access_list_is_shown_to_nobody(hand: Hand, layer: str, value: str) -> None:
    hand.put(title="x")
    assert hand.chain() == PUBLIC
    hand.put(layer=layer, title="x", readacl=value)
    assert hand.chain() == NOBODY
    assert not list(hand.reader.links_pass())
    hand.put(layer=layer, title="x")
    assert hand.chain() == PUBLIC


@pytest.mark.parametrize("layer", ["page", "import", "editor"])
def test_an_access_list_that_can_be_read_is_the_documents_acl(hand: Hand, layer: str) -> None:
    hand.writer.access.use_readacl(acl_of_readacl)
    hand.put(layer=layer, title="x", readacl="group=hr")
    chain = hand.chain()
    assert chain not in {PUBLIC, NOBODY, None}
    hand.put(layer=layer, title="y", readacl="group=hr")
    assert hand.chain() == chain
    hand.put(layer=layer, title="y", readacl="group=hr;user=jack")
    assert hand.chain() not in {chain, PUBLIC, NOBODY}
    hand.put(layer=layer, title="y", readacl="everybody")
    assert hand.chain() == NOBODY
    hand.put(layer=layer, title="y")
    assert hand.chain() == PUBLIC


def test_access_lists_of_two_layers_must_agree_and_an_acl_beside_one_closes_the_document(hand: Hand) -> None:
    hand.writer.access.use_readacl(acl_of_readacl)
    hand.put(layer="import", readacl="group=hr")
    chain = hand.chain()
    hand.put(layer="editor", readacl="user=jack")
    assert hand.chain() == NOBODY
    hand.put(layer="editor", readacl="group=hr")
    assert hand.chain() == chain
    who = AclEntry(Right.PERMIT, Principal(PrincipalScope.GROUP, "hr"))
    hand.writer.transaction(lambda w: w.access.put_acl(Acl(URL, (who,)), Applied()))
    assert hand.chain() == NOBODY
    hand.writer.transaction(lambda w: w.access.delete_acl(URL, Applied()))
    assert hand.chain() == chain


def test_databases_are_counted(hand: Hand) -> None:
    hand.put(title="x", database="archive")
    hand.put("http://www.siroe.com/2", title="y")
    assert hand.reader.databases() == {"archive": 1, "default": 1}
    hand.put(title="z")
    assert [row.database for rows in hand.reader.walk() for row in rows] == ["archive", "default"]
    hand.put(title="z", database="default")
    assert hand.reader.databases() == {"default": 2}


def test_a_visit_puts_a_description_where_its_site_says(hand: Hand, visitor: Visitor) -> None:
    def visit(body: str, database: str) -> None:
        row = visitor.claim(URL)
        report = visitor.report(row, URL, body, [])
        report.database = database
        settled = settle(report, row, rules=SettleRules(), chance=0.5)
        same = msgspec.structs.replace(settled, put=False)
        told.extend(visitor.catalog.settle([same], visitor.now_s).changes)

    told: list[object] = []

    visitor.start(URL)
    visit("body", "news")
    assert hand.reader.databases() == {"news": 1, "default": 0}
    visit("body", "news")
    assert len(told) == 1
    visit("body", "default")
    assert hand.reader.databases() == {"default": 1}
    assert len(told) == 2, "the index learns of it although the page is the same"
    visit("body", "")
    hand.put(title="x", database="archive")
    visit("other", "")
    assert hand.reader.databases() == {"archive": 1, "default": 0}, (
        "without a word of the site it stays where it is"
    )


def test_the_robot_visits_what_was_imported_when_it_finds_it(hand: Hand, visitor: Visitor) -> None:
    hand.put(description="kept", author="kept")
    hand.put(layer="page", title="gathered elsewhere", description="replaced")
    visitor.start(URL)
    assert visitor.waiting == 1
    visitor.visit(URL, "body")
    assert visitor.record(URL).described
    assert hand.effective() == {
        "title": (f"Title of {URL}",),
        "body": ("body",),
        "description": ("kept",),
        "author": ("kept",),
    }
    facts = hand.writer.deletions.facts(hand.writer.applier.names.source("web"), START_S)
    assert facts.documents == 1


def test_a_restricted_copy_neither_hides_a_public_one_nor_hides_behind_it(
    hand: Hand, visitor: Visitor
) -> None:
    other = "http://www.siroe.com/other/copy"
    for url in (URL, other):
        visitor.start(url)
        visitor.visit(url, "same")
    assert hand.chain(other) is None
    hand.put(readacl="group=hr")
    assert (hand.chain(URL), hand.chain(other)) == (NOBODY, PUBLIC)
    visitor.visit(URL, "same")
    assert (hand.chain(URL), hand.chain(other)) == (NOBODY, PUBLIC)


def test_a_new_configuration_leaves_imported_descriptions_alone(hand: Hand) -> None:
    hand.put(title="x")
    applied = Applied()
    assert hand.writer.transaction(lambda w: w.registry.rejudge_excluded(applied)) == 0


def test_the_schema_says_what_is_searched_and_how_often(hand: Hand) -> None:
    hand.put(title="x", author="somebody", phone="12", readme="words")
    record = hand.reader.find(URL)
    assert record is not None
    source = CatalogDocuments(
        hand.reader, unindexed=frozenset({"phone", "title"}), scores={"author": 3, "title": 9}
    )
    (made,) = source.documents([(record.id, None)])
    assert made.title == "x"
    assert made.meta == {"author": ("somebody",) * 3, "readme": ("words",)}


@pytest.mark.parametrize("change", ["put", "delete"])
def test_the_next_visit_brings_gathered_data_back(hand: Hand, visitor: Visitor, change: str) -> None:
    other = "http://www.siroe.com/other/copy"
    for url in (URL, other):
        visitor.start(url)
        visitor.visit(url, "same")
    hand.put(author="kept")
    if change == "put":
        hand.put(layer="page", title="brought")
    else:
        hand.delete(parts=Parts.NONPERSISTENT)
    claim = visitor.claim(URL)
    assert (claim.etag, claim.digest) == ("", b"")
    assert hand.chain(other) == PUBLIC
    visitor.visit(URL, "same")
    assert hand.effective()["title"] == (f"Title of {URL}",)
    assert hand.effective()["author"] == ("kept",)
    assert hand.chain(other) is None
