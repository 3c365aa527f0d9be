"""Who may see what in a home, and why."""

from collections.abc import Callable, Sequence

from ingather.access import principal
from ingather.app.access.accounts import folded_name, principal_of
from ingather.app.access.directory import GroupLookup, KnownPeople
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.catalog.access.sqlite_users import PeopleReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.errors import IndexingError, UsageError
from ingather.explain.access import AccessExplainer, AccessParts, DocumentFacts
from ingather.index import IndexFolder
from ingather.model.acl import Principal, PrincipalScope
from ingather.model.url import spellings
from ingather.model.viewer import Viewer

__all__ = ["HomeAccess"]


class HomeAccess:
    """What :class:`ingather.web.parts.AccessDesk` promises, about one home. Any thread may ask."""

    def __init__(
        self,
        home: Home,
        *,
        indexed: Callable[[int], tuple[bool, int] | None] | None = None,
        directory: KnownPeople | None = None,
        cut_domains: bool = True,
    ) -> None:
        self._home = home
        self._database = database_of(home)
        self._indexed = indexed or self._look
        self._lookup = GroupLookup(self._database, directory)
        self._explainer = AccessExplainer(
            AccessParts(
                acls=lambda: AccessReader(self._database) if self._database.exists() else None,
                groups=lambda: GroupReader(self._database),
                meant=self._meant,
                document=self._document,
                cut_domains=cut_domains,
            )
        )

    def explain(self, url: str, user: str, groups: Sequence[str] = ()) -> dict[str, object]:
        """Return whether *user* (``""`` = whoever did not log in) may see *url*, and why.

        Args:
            url: of the document.
            user: a local user, or one as access lists spell him.
            groups: that a directory would say he is in.

        Raises:
            UrlError: *url* is no URL.
            UsageError: a name is empty.
            DirectoryError: the directory cannot say what groups the user is in.
        """
        given = tuple(_named(text, PrincipalScope.GROUP) for text in groups)
        who = self._user(user)
        viewer = Viewer() if who is None else self._lookup(Viewer((who,), given))
        answer = dict(self._explainer.explain(url, viewer.users, viewer.groups if viewer.known else given))
        if who is not None and not viewer.known:
            answer["unknown"] = f"the directory does not know {user!r}, so he sees what everybody sees"
        return answer

    def broken(self, *, limit: int = 1_000) -> dict[str, object]:
        """Return the URLs whose ACLs cannot be evaluated."""
        return self._explainer.broken(limit=limit)

    def who(self, url: str, *, limit: int = 1_000) -> dict[str, object]:
        """Return who can see *url*.

        Raises:
            UrlError: *url* is no URL.
        """
        return self._explainer.who(url, limit=limit)

    def _user(self, name: str) -> Principal | None:
        if not name.strip():
            return None
        if self._database.exists():
            reader = PeopleReader(self._database)
            try:
                local = reader.user(folded_name(name))
            finally:
                reader.close()
            if local is not None:
                return principal_of(local)
        return _named(name, PrincipalScope.USER)

    def _meant(self, text: str) -> str:
        if not self._database.exists():
            return spellings(text)[-1]
        reader = SqliteReader(self._database, self._home.bodies)
        try:
            return reader.meant(text)
        finally:
            reader.close()

    def _document(self, url: str) -> DocumentFacts | None:
        reader = SqliteReader(self._database, self._home.bodies)
        try:
            record = reader.find(url)
            if record is None:
                return None
            found = self._indexed(record.id)
            held, gone = reader.held(record.id), reader.tombstone(record.id)
            state = (
                "it has a description"
                if record.described
                else f"it has no description ({record.state.name.lower()})"
            )
            if record.duplicate_of:
                state = f"it is shown as its equal {record.duplicate_of}"
            if gone:
                state = f"it was deleted: {gone[1]}"
            elif held:
                state = f"its deletion is held: {held}"
            behind = 0 if found is None else max(reader.last_sequence() - found[1], 0)
            return DocumentFacts(record.id, record.source, state, None if found is None else found[0], behind)
        finally:
            reader.close()

    def _look(self, row: int) -> tuple[bool, int] | None:
        try:
            snapshot = IndexFolder(self._home.index).reader().snapshot()
            return snapshot.has(row), snapshot.sequence
        except IndexingError:
            return None


def _named(text: str, scope: PrincipalScope) -> Principal:
    who = principal(text, scope)
    if who is None:
        raise UsageError("a name is empty", hint="write it as access lists do: joe, corp\\joe or joe@corp")
    return who
