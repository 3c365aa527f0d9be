"""Bringing a catalog up to date makes no document visible to anybody who did not see it before.

Each released schema gets a catalog with whatever could be hidden or closed under it. Who saw a document then is known by
construction, from what the schema's comments said of its columns.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from ingather.access.evaluating import Rights
from ingather.access.principals import principal
from ingather.catalog.access.acl_packing import digest_of, number_of, pack_entries
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.packing import pack_attributes
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.acl import AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.model.lifecycle import State
from ingather.model.urlparts import key, split

FROZEN = sorted((Path(__file__).parent / "schemas").glob("*.sql"))
SEED: Final = 7
ANYBODY: Final = frozenset({"", "ann", "zoe"})
NOBODY: Final[frozenset[str]] = frozenset()
ANN: Final = frozenset({"ann"})
ROOT: Final = "http://old.test"
SOURCES: Final = (("web", "public"), ("vault", "secure"), ("rests", "public"), ("staff", "secure"))
PUBLIC, SECURE, RESTS, OWN_ACL = 1, 2, 3, 4
TO_ANN, NOT_ANN, EMPTY, BROKEN, UNTRUSTED, RESCUED = range(2, 8)
"""Chains."""


def who(name: str) -> Principal:
    found = principal(name, PrincipalScope.USER)
    assert found is not None
    return found


class Old:
    """A catalog of schema *version*, filled by hand; ``seen`` says who sees which document under it."""

    def __init__(self, path: Path, version: int, schema: str) -> None:
        self.version = version
        self.seen: dict[str, frozenset[str]] = {}
        self._db = apsw.Connection(str(path))
        self._db.execute("pragma synchronous = off").fetchall()
        self._db.execute(schema).fetchall()
        self._db.execute(f"pragma user_version={version}").fetchall()
        self.row("meta", name="seed", value=SEED)
        self.row("config_version", id=1, digest="x", at=1.0, files=b"\x80")
        self.row("host", id=1, origin=ROOT, hkey="old.test")
        for number, (name, access) in enumerate(SOURCES, 1):
            self.row("source", id=number, name=name, kind="site", access=access)

    def row(self, table: str, **columns: Any) -> None:
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        sql = f"insert into {table} ({names}) values ({marks})"  # noqa: S608 - names above
        self._db.execute(sql, tuple(columns.values())).fetchall()

    def change(self, sql: str, *values: int) -> None:
        self._db.execute(sql, values).fetchall()

    def document(
        self, name: str, seen: frozenset[str], *, source: int = PUBLIC, attributes: Any = None, **columns: Any
    ) -> int:
        """Add a URL that is described, unless *columns* say else; *seen*: who sees it under this schema."""
        url, number = f"{ROOT}/{name}", len(self.seen) + 1
        given = {"state": int(State.DONE), "version": 1, "fetched": 5.0, "described": 5.0, **columns}
        self.row(
            "url", id=number, key=key(url, SEED), host=1, path=split(url).path, source=source, depth=0, prio=5, hops=0, **given
        )  # fmt: skip
        if given["version"] is not None:
            packed = pack_attributes(attributes or {}, "")
            self.row(
                "page",
                id=number,
                title=name,
                attrs=packed,
                out=b"",
                anchor=b"\x90",
                extra=b"\x96\x90\x90\xa0\xa0\xc0\x90",
            )
            self.change("update source set documents = documents + 1 where id = ?", source)
        self.seen[url] = seen
        return number

    def close(self) -> None:
        self._db.close()

    # -- what schemas could express -----------------------------------------------------------

    def from_1(self) -> None:
        self.document("public", ANYBODY)
        self.document("secure", NOBODY, source=SECURE)
        self.document("waiting", NOBODY, state=int(State.WAITING), version=None, fetched=None)
        self.document("excluded", NOBODY, state=int(State.EXCLUDED), version=None)
        self.document("quarantined", NOBODY, state=int(State.QUARANTINED), version=None)
        for decided in (0, 1, 2):
            gone = self.document(f"deleted-{decided}", NOBODY, state=int(State.GONE), version=None)
            self.row(
                "tombstone",
                id=gone,
                at=6.0,
                reason="x",
                seq=1,
                source=PUBLIC,
                decided=decided,
                gone=1,
                version=1,
            )
        self.row("hold", id=1, source=PUBLIC, reason="x", opened=5.0, urls=2)
        for held, seen in ((1, ANYBODY), (2, NOBODY)):
            number = self.document(f"held-{held}", seen, held=held)
            self.row("hold_item", id=number, hold=1, at=5.0)
        head = self.document("head", ANYBODY, digest=b"d" * 16, grouped=1)
        self.row("digest", md5=b"d" * 16, head=head, **{"class": 0})
        self.document("duplicate", NOBODY, digest=b"d" * 16, grouped=1, dup=0)
        self.document("missing", ANYBODY, missing=4.0)

    def from_3(self) -> None:
        # "shown to nobody until lists are read"; since 14 a list of its own that makes no chain is nobody's
        self.document("readacl", NOBODY, attributes={"readacl": ("cn=ann",)}, acl=1)
        self.document("readacl-secure", NOBODY, source=SECURE, attributes={"readacl": ("cn=ann",)}, acl=1)

    def from_5(self) -> None:
        ann = AclEntry(Right.PERMIT, who("ann"))
        lists = ((ann,), (AclEntry(Right.DENY, who("ann")), AclEntry(Right.PERMIT, who("zoe"))), ())
        for number, listed in enumerate(lists, 1):
            packed = pack_entries(listed)
            self.row("acl_entries", id=number, digest=digest_of(packed), entries=packed)
        leaf = number_of(Inheritance.LEAF_NODE)
        for chain, entries, parent, problem in (
            (TO_ANN, 1, "", ""), (NOT_ANN, 2, "", ""), (EMPTY, 3, "", ""), (BROKEN, 1, f"{ROOT}/nowhere", ""),
            (UNTRUSTED, 1, "", "a denial was lost"), (RESCUED, 1, f"{ROOT}/nowhere", "rescued by a rule"),
        ):  # fmt: skip
            self.row("acl_chain", id=chain, entries=entries, parent=parent, type=leaf, problem=problem)
        for epoch, (name, chain, seen, source) in enumerate(
            (
                ("to-ann", TO_ANN, ANN, PUBLIC), ("not-ann", NOT_ANN, frozenset({"zoe"}), PUBLIC), ("empty", EMPTY, NOBODY, PUBLIC),
                ("broken", BROKEN, NOBODY, PUBLIC), ("untrusted", UNTRUSTED, NOBODY, PUBLIC), ("vault-ann", TO_ANN, ANN, SECURE),
            ), 1,
        ):  # fmt: skip
            self.document(name, seen, source=source, acl=2)
            self.row("acl", url=f"{ROOT}/{name}", chain=chain, source=source, at=5.0, epoch=epoch)
        self.document("by-authmethod", NOBODY, acl=4)
        self.document("taken-away", ANYBODY)
        self.document("taken-away-secured", NOBODY, acl=4)
        for epoch, name in enumerate(("taken-away", "taken-away-secured"), 20):
            self.row("acl", url=f"{ROOT}/{name}", chain=None, source=PUBLIC, at=5.0, epoch=epoch)
        self.document("list-beside-acl", NOBODY, attributes={"readacl": ("cn=ann",)}, acl=3)
        self.row("acl", url=f"{ROOT}/list-beside-acl", chain=TO_ANN, source=PUBLIC, at=5.0, epoch=30)

    def from_9(self) -> None:
        self.document("by-policy", ANN, acl=8, policy=TO_ANN)
        self.document("by-policy-secured", ANN, acl=12, policy=TO_ANN)
        self.document("by-broken-policy", NOBODY, acl=8, policy=UNTRUSTED)
        self.document("withheld", NOBODY, acl=16)
        self.document("withheld-acl", NOBODY, acl=18)
        self.row("acl", url=f"{ROOT}/withheld-acl", chain=TO_ANN, source=PUBLIC, at=5.0, epoch=31)

    def from_14(self) -> None:
        self.document("listed", ANN, attributes={"readacl": ("cn=ann",)}, acl=1, listed=TO_ANN)

    def from_16(self) -> None:
        self.change("update source set disabled = 5.0 where id = ?", RESTS)
        self.document("of-a-disabled-source", ANYBODY, source=RESTS)
        self.document("rescued", ANN, acl=2, policy=TO_ANN)
        self.row("acl", url=f"{ROOT}/rescued", chain=BROKEN, source=PUBLIC, at=5.0, epoch=40)
        self.row("acl_rescue", chain=RESCUED, own=BROKEN, policy=TO_ANN)

    def from_19(self) -> None:
        self.change("update source set acl = ? where id = ?", TO_ANN, OWN_ACL)
        self.document("default-acl", ANN, source=OWN_ACL, acl=8, policy=TO_ANN)
        self.document("default-acl-not-placed", NOBODY, source=OWN_ACL)

    def from_22(self) -> None:
        self.document("behind", NOBODY, behind=1)

    def from_27(self) -> None:
        for epoch, (name, source, seen) in enumerate(
            (("bound", PUBLIC, ANN), ("bound-elsewhere", SECURE, ANYBODY)), 50
        ):
            self.document(name, seen, acl=2 if seen == ANN else 0)
            self.row("acl", url=f"{ROOT}/{name}", chain=TO_ANN, source=source, at=5.0, epoch=epoch, bound=1)


def sight(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (URL, who sees it) of a catalog that is up to date: what the index may hold, cut to what rights let through."""
    reader, access = SqliteReader(path, path.parent), AccessReader(path)
    try:
        shown = reader.shown_rows(range(1, 200))
        rights = Rights(access)
        for name in sorted(ANYBODY):
            view = rights.visible([who(name)] if name else [])
            yield from ((row.url, name) for row in shown.values() if view.sees(row.chain))
    finally:
        reader.close()
        access.close()


def as_declared(writer: CatalogWriter) -> None:
    """Say what the settings say of the sources, as every start does."""
    for name, access in SOURCES:
        writer.registry.put_source(name, "site", access)


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.stem)
def test_no_document_is_seen_by_anybody_who_did_not_see_it_before(tmp_path: Path, frozen: Path) -> None:
    path, version = tmp_path / "catalog.db", int(frozen.stem)
    old = Old(path, version, frozen.read_text("utf-8"))
    for name in sorted(dir(old)):
        if name.startswith("from_") and int(name.removeprefix("from_")) <= version:
            getattr(old, name)()
    old.close()
    writer = CatalogWriter(path)  # brings it up to date
    for _ in range(2):
        now = set(sight(path))
        before = {(url, viewer) for url, viewers in old.seen.items() for viewer in viewers}
        assert now - before == set()
        assert (
            before - now == set()
        )  # and nobody has lost sight of anything: the comparison compares something
        writer.transaction(as_declared)
    writer.close()
