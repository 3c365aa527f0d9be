"""Somebody who searches, with the groups that the directory gives him."""

from pathlib import Path

from ingather.app.access.accounts import folded_name, principal_of
from ingather.app.access.directory.known import KnownPeople
from ingather.catalog.access.sqlite_users import PeopleReader
from ingather.model.acl import Principal
from ingather.model.viewer import NOBODY_KNOWN, Viewer

__all__ = ["GroupLookup"]


class GroupLookup:
    """Adds groups; without a directory everybody stays as he is. Any thread may ask.

    Whoever the directory ought to know and does not is nobody: he may have left, and the groups that an access list denies him
    would be forgotten with him. Local users stay who they are.
    """

    def __init__(self, database: Path, directory: KnownPeople | None) -> None:
        self._database = database
        self._directory = directory

    def __call__(self, viewer: Viewer) -> Viewer:
        """Return *viewer* with all his groups, or nobody.

        Raises:
            DirectoryError: the directory cannot say.
            CatalogError: local users could not be read.
        """
        directory = self._directory
        if directory is None:
            return viewer
        groups = dict.fromkeys(viewer.groups)
        for who in viewer.users:
            if not directory.responsible(who):
                continue
            found = directory.groups_of(who)
            if found is None and not self._local(who):
                return NOBODY_KNOWN
            groups.update(dict.fromkeys(found or ()))
        return Viewer(viewer.users, tuple(groups))

    def _local(self, who: Principal) -> bool:
        if not self._database.exists():
            return False
        reader = PeopleReader(self._database)
        try:
            user = reader.user(folded_name(who.name))
        finally:
            reader.close()
        return user is not None and not user.disabled and principal_of(user) == who
