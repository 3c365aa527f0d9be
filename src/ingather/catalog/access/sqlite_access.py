"""ACLs by URL, of documents and of what is none (folders, shares), and the chains made of them.

A chain is (own entries, parent's URL, type): what decides about a document as far as the document says it. What its
parents say is looked up by URL when somebody asks, so that a change of a parent's ACL writes one row and no document,
and a parent may arrive after its children. Whatever is removed keeps its row, without a chain: followers
(``sqlite_access_reader``) read what lies above their last epoch.

Source: GSA feeds specification, sections 11.2 and 11.5.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import apsw

from ingather.catalog.access.acl_packing import (
    digest_of,
    inheritance_of,
    number_of,
    pack_entries,
    unpack_entries,
)
from ingather.catalog.access.sqlite_acl import AccessLists, no_rules
from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_rows import fetch
from ingather.model.acl import Acl, Inheritance, storable
from ingather.model.urlparts import key

__all__ = ["AccessStore"]

_GROUP = 1_000


class AccessStore:
    """Part of the one writer; every method runs inside the caller's transaction.

    URLs are canonical; a text that is no URL governs nothing and does no harm.
    """

    def __init__(self, db: apsw.Connection, lists: AccessLists, log: ChangeLog, seed: int) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._lists = lists
        self._log = log
        self._seed = seed
        self._given: set[int] | None = None

    # -- what nobody needs any more --------------------------------------------------------------

    def watch_chains(self) -> None:
        """Remember from now on which chains are given out: they are not to be collected."""
        self._given = set()

    def collect_chains(self, unused: Sequence[int]) -> int:
        """Forget *unused* chains, found after :meth:`watch_chains`, but for those given out since; return how many went.

        The newest stays, because numbers are never given twice.
        """
        given = self._given or set()
        going = [(number,) for number in unused if number not in given]
        before = self._db.total_changes()
        self._cursor.executemany(
            "delete from acl_chain where id = ? and id < (select max(id) from acl_chain)", going
        )
        gone = self._db.total_changes() - before
        self._cursor.executemany("delete from acl_rescue where chain = ?", going)
        return gone

    def collect_entries(self, after: int, limit: int) -> tuple[int, int]:
        """Forget lists of entries that no chain has among the next *limit* behind *after*; return (last, how many went), (0, 0) = no more."""
        rows = fetch(
            self._cursor, "select id from acl_entries where id > ? order by id limit ?", (after, limit)
        )
        if not rows:
            self._given = None
            return 0, 0
        before = self._db.total_changes()
        self._cursor.execute(
            "delete from acl_entries where id > ? and id <= ? and id < (select max(id) from acl_entries) "
            "and not exists (select 1 from acl_chain c where c.entries = acl_entries.id)",
            (after, rows[-1][0]),
        )
        return int(rows[-1][0]), self._db.total_changes() - before

    def put_acl(  # noqa: PLR0913 - whose it is, and how it counts
        self,
        acl: Acl,
        applied: Applied,
        *,
        source: int | None = None,
        of: int = 0,
        bound: bool = False,
        empty_is_none: bool = False,
    ) -> bool:
        """Let *acl* replace the ACL of its URL as a whole; return whether anything changed.

        Args:
            acl: an explicit empty one lets nobody see the document.
            applied: the account of the batch.
            source: row of the source whose ACL it is, ``None`` = the document's own answer brought it.
            of: row of the document's source, where *source* is ``None``.
            bound: a token brought it: it governs documents of *source* and no others'.
            empty_is_none: the appliance's rule instead: an empty ACL takes the ACL away (a source's switch).
        """
        if empty_is_none and not (acl.entries or acl.inherit_from or acl.problem):
            return self.delete_acl(acl.url, applied)
        chain = self.chain(acl, source=source or of, bound=bound)
        before = self._cursor.execute("select chain, source, bound from acl where url = ?", (acl.url,)).get
        if before is not None and before == (chain, source, bound):
            return False
        self._write(acl.url, chain, source, bound=bound)
        self._lists.noticed()
        moved = before is None or before[0] != chain
        if moved:
            self._follow(acl.url, applied)
        return moved

    def chain_of(self, url: str) -> int | None:
        """Return the chain of the ACL of *url*, ``None`` = it has none."""
        found: int | None = self._cursor.execute("select chain from acl where url = ?", (url,)).get
        return found

    def put_chain(
        self, url: str, chain: int | None, source: int | None, applied: Applied | None, *, bound: bool = False
    ) -> None:
        """Let *url* have a chain, ``None`` = none, of *source*, as :meth:`put_acl` does.

        *applied*: the account of the batch; ``None``: the name stands for no document.
        """
        if self.chain_of(url) == chain:
            return
        self._write(url, chain, source, bound=bound)
        self._lists.noticed()
        if applied is not None:
            self._follow(url, applied)

    @property
    def rescues(self) -> bool:
        """Whether policy rules decide where a document's own chain is broken."""
        return self._lists.rescue is not None

    def delete_acl(self, url: str, applied: Applied) -> bool:
        """Take the ACL of *url* away; return whether there was one.

        A document that had one is then as open as its source and its authmethod say; what inherits from it is broken
        and shown to nobody.
        """
        row = self._cursor.execute("select chain, source from acl where url = ?", (url,)).get
        if row is None or row[0] is None:
            return False
        self._write(url, None, row[1], bound=False)
        self._follow(url, applied)
        return True

    def owner(self, url: str) -> int | None:
        """Return the row of the source whose ACL *url* has, ``None`` if it has none, or nobody knows.

        An ACL that no full feed leaves out, because it follows another one, belongs to who has that.
        """
        found = self._cursor.execute(
            "select coalesce(a.source, nullif(c.source, 0)) from acl a join acl_chain c on c.id = a.chain where a.url = ?",
            (url,),
        ).get
        return None if found is None else int(found)

    def is_inherited(self, url: str, *, source: int) -> bool:
        """Whether ACLs of others than *source* inherit from *url*; also such as were replaced and are not collected yet."""
        return bool(
            self._cursor.execute(
                "select exists (select 1 from acl_chain where parent != '' and parent = ? and source != ?)",
                (url, source),
            ).get
        )

    def adopt(self, url: str, source: int, applied: Applied) -> None:
        """Let the ACL of *url* be one of *source*, which took its document over: what it permits and denies stays in force."""
        row = self._cursor.execute(
            "select a.chain, a.source, e.entries, c.parent, c.type, c.problem from acl a join acl_chain c on c.id = a.chain "
            "join acl_entries e on e.id = c.entries where a.url = ?",
            (url,),
        ).get
        if row is not None and row[1] != source:
            acl = Acl(url, unpack_entries(row[2]), row[3], inheritance_of(row[4]), row[5])
            self._write(url, self.chain(acl, source=source), source, bound=False)
            self._follow(url, applied)

    def only_parent(self, url: str) -> str | None:
        """Return the URL from which *url* inherits all, ``""`` = it has no ACL, ``None`` = it has one of its own, or a problem."""
        row = self._cursor.execute(
            "select c.parent, length(e.entries), c.problem from acl a join acl_chain c on c.id = a.chain join acl_entries e "
            "on e.id = c.entries where a.url = ?",
            (url,),
        ).fetchone()
        if row is None:
            return ""
        parent, entries, problem = row
        return parent if parent and not problem and entries == len(pack_entries(())) else None

    def is_leaf(self, url: str) -> bool:
        """Whether the ACL of *url* is one that nothing may inherit from."""
        kind = self._cursor.execute(
            "select c.type from acl a join acl_chain c on c.id = a.chain where a.url = ?", (url,)
        ).get
        return kind is not None and inheritance_of(kind) is Inheritance.LEAF_NODE

    def before_whole_urls(self, url: str, source: int) -> bool:
        """Whether the ACL of *url* is of *source*, and of the time when URLs of feeds lost parameters as links do."""
        row = self._cursor.execute(
            "select a.at < (select value from meta where name = 'short-until'), a.source from acl a where a.url = ? and a.chain is not null",
            (url,),
        ).fetchone()
        return row is not None and bool(row[0]) and row[1] == source

    def same_chain(self, one: str, other: str) -> bool:
        """Whether two URLs have the same ACL."""
        rows = fetch(
            self._cursor, "select chain from acl where url in (?, ?) and chain is not null", (one, other)
        )
        return len(rows) == 2 and rows[0] == rows[1]  # noqa: PLR2004 - both have one

    def secure(self, url_id: int, applied: Applied, *, secured: bool) -> bool:
        """Note whether a document is not for everybody even without an ACL; return whether that changed.

        That is: its authmethod is another than ``none``, it was fetched with credentials, or its host says so.
        """
        if not secured and not self._lists.secured(url_id):
            return False  # nothing to open: the usual case of a new document
        return self._lists.renew(url_id, applied, secured=secured)

    def chain(self, acl: Acl, *, source: int = 0, bound: bool = False) -> int:
        """Return the number of the chain that *acl* makes, 2 or more; the same for equal ones, whatever their URL.

        *source*: whose ACL it is, 0 = not known; it counts for those that inherit, are *bound* to it, or have a problem in place of entries.
        """
        acl = storable(acl)
        packed = pack_entries(acl.entries)
        digest = digest_of(packed)
        self._cursor.execute(
            "insert into acl_entries (digest, entries) values (?, ?) on conflict do nothing", (digest, packed)
        )
        entries = self._cursor.execute("select id from acl_entries where digest = ?", (digest,)).get
        whose = source if bound or acl.inherit_from or acl.problem else 0
        return self.chain_from(
            entries, acl.inherit_from, number_of(acl.inheritance), acl.problem, source=whose, bound=bound
        )

    def chain_from(  # noqa: PLR0913 - the columns of a row
        self, entries: int, parent: str, kind: int, problem: str = "", *, source: int = 0, bound: bool = False
    ) -> int:
        """Return the number of the chain of these stored entries; *kind*: of ``acl_packing.number_of``."""
        values = (entries, parent, kind, problem, source, bound)
        self._cursor.execute(
            "insert into acl_chain (id, entries, parent, type, problem, source, bound) "
            "select coalesce(max(id), 1) + 1, ?, ?, ?, ?, ?, ? from acl_chain where true "
            "on conflict (entries, parent, type, problem, source, bound) do nothing",
            values,
        )
        number = int(
            self._cursor.execute(
                "select id from acl_chain where entries = ? and parent = ? and type = ? and problem = ? and source = ? and bound = ?",
                values,
            ).get
        )
        if self._given is not None:
            self._given.add(number)
        return number

    def use_policy(self, match: Callable[[str], Sequence[Acl]] | None) -> None:
        """Use policy rules from now on: *match* gives the ACLs of the rules that apply to a URL, best match only; ``None`` = no rules.

        Of several, tied, each must permit. They count for documents without an ACL of their own, public ones too.
        Documents that are there are placed anew by :meth:`place`.
        """
        self._lists.policy = no_rules if match is None else lambda url: self._policy_chain(match(url))

    def use_default(self, source: int, acl: Acl | None) -> None:
        """Let *acl* decide about documents of a source that nothing nearer governs; ``None`` = its access does.

        Documents that are there are placed anew by :meth:`place`.
        """
        self._lists.use_default(source, None if acl is None else self.chain(acl))

    def use_rescues(self, *, on: bool) -> None:
        """Whether policy rules decide from now on where a document's own chain is broken (``access.decision.RESCUABLE``).

        Documents that are there are placed anew by :meth:`place` with *both*; before, :meth:`end_rescues` if it is not so any more.
        """
        self._lists.rescue = self._rescue if on else None

    def end_rescues(self) -> None:
        """Forget which chains policy rules rescue: until an index has learnt of it, nobody sees those documents."""
        self._cursor.execute("delete from acl_rescue")

    def use_readacl(self, read: Callable[[Sequence[Sequence[str]]], Acl]) -> None:
        """Read access lists of descriptions (``readacl``) from now on: *read* gives the ACL of the lists of all layers.

        It counts as the document's own ACL, and for descriptions that are written from now on. One with a problem
        lets nobody see the document.
        """

        def chain(lists: Sequence[Sequence[str]]) -> int | None:
            acl = read(lists)
            return None if acl.problem else self.chain(acl)

        self._lists.readacl = chain

    def place(self, applied: Applied, *, after: int = 0, limit: int = _GROUP, both: bool = False) -> int:
        """Place the next *limit* described documents behind row *after* under the policy; return the last, 0 = no more.

        *both*: the index learns of every one that has an ACL and a rule, because another of them may decide by now.
        """
        rows = fetch(
            self._cursor,
            "select id from url where id > ? and version is not null order by id limit ?",
            (after, limit),
        )
        for (url_id,) in rows:
            if not self._lists.renew(url_id, applied) and both and self._lists.has_both(url_id):
                self._lists.moved(url_id, applied)
        return int(rows[-1][0]) if rows else 0

    def _rescue(self, own: int, policy: int) -> None:
        """Give (own, but policy where own is broken) a chain; one without a parent cannot break, one with a problem is not rescued."""
        known = self._cursor.execute(
            "select chain from acl_rescue where own = ? and policy = ?", (own, policy)
        ).get
        if known is None:
            row = self._cursor.execute(
                "select entries, parent, type, source, bound from acl_chain where id = ? and parent != '' and problem = ''",
                (own,),
            ).get
            if row is None:
                return
            entries, parent, kind, source, bound = row
            why = f"rescued by the policy rules of chain {policy}"
            known = self.chain_from(entries, parent, kind, why, source=source, bound=bool(bound))
            self._cursor.execute(
                "insert into acl_rescue (chain, own, policy) values (?, ?, ?)", (known, own, policy)
            )
        if self._given is not None:
            self._given.add(known)

    def _policy_chain(self, acls: Sequence[Acl]) -> int | None:
        """Return the chain of tied rules, ``None`` if there is none; all but the last become parents that must permit too."""
        parent = ""
        for acl in acls[:-1]:
            above = replace(acl, inherit_from=parent, inheritance=Inheritance.AND_BOTH_PERMIT)
            number = self.chain(above)
            parent = f"policy:{number}"
            if self._cursor.execute("select chain from acl where url = ?", (parent,)).get != number:
                self._write(parent, number, None, bound=False)
        return self.chain(replace(acls[-1], inherit_from=parent)) if acls else None

    def urls_of(self, source: int) -> Iterator[str]:
        """Yield the URLs whose ACLs are of *source*, ascending; ACLs may be deleted meanwhile."""
        after = ""
        while rows := fetch(
            self._cursor,
            "select url from acl where source = ? and chain is not null and url > ? order by url limit ?",
            (source, after, _GROUP),
        ):
            yield from (url for (url,) in rows)
            after = rows[-1][0]

    def _write(self, url: str, chain: int | None, source: int | None, *, bound: bool) -> None:
        self._cursor.execute(
            "insert into acl (url, chain, source, at, epoch, bound) select ?1, ?2, ?3, ?4, coalesce(max(epoch), 0) + 1, ?5 from acl where true "
            "on conflict (url) do update set chain = excluded.chain, source = excluded.source, at = excluded.at, epoch = excluded.epoch, "
            "bound = excluded.bound",
            (url, chain, source, self._log.now_s, bound),
        )

    def _follow(self, url: str, applied: Applied) -> None:
        """If *url* is known as a document its row learns of its new ACL."""
        row = self._cursor.execute(
            "select u.id, h.origin || u.path from url u join host h on h.id = u.host where u.key = ?",
            (key(url, self._seed),),
        ).get
        if row is not None and row[1] == url and not self._lists.renew(row[0], applied):
            self._lists.moved(row[0], applied)
