"""What a directory is asked: who somebody is, whether a password is his, and all groups that he is in."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

from ingather.app.access.directory.filters import all_of, any_of, equals, in_chain, present
from ingather.app.access.directory.wire import Entry, Link, RefusedError, Server, Talk
from ingather.errors import DirectoryError
from ingather.model.acl import DEFAULT_NAMESPACE

__all__ = ["Directory", "DirectoryConf", "Known"]

_MOST_GROUPS: Final = 10_000
_BATCH: Final = 50
_DISABLED: Final = 2  # ADS_UF_ACCOUNTDISABLE
_NOT_HIS: Final = frozenset({32, 48, 49, 50, 53})
"""Result codes of a bind that mean: not with this password. Active Directory says 49 of disabled accounts, too."""
_LONGEST: Final = 256
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DirectoryConf:
    """One directory.

    Attributes:
        servers: asked in this order; the next one when one cannot be asked.
        bind_dn, bind_password: as whom we read; both empty = anonymous.
        base: where people are.
        group_base: where groups are.
        user_names: attributes by which somebody is found; the first that an entry has names him in access lists.
        user_filter, group_filter: what an entry must fit besides; ``None`` = nothing.
        group_names: the first of these that a group has names it.
        groups: how they are found, see the setting.
        domain, namespace: of the principals.
        login: whether people may log in with their password.
    """

    servers: tuple[Server, ...]
    base: str
    bind_dn: str = ""
    bind_password: str = field(default="", repr=False)
    group_base: str = ""
    user_names: tuple[str, ...] = ("sAMAccountName", "uid")
    user_filter: bytes | None = None
    group_names: tuple[str, ...] = ("sAMAccountName", "cn")
    group_filter: bytes | None = None
    groups: Literal["member", "memberof", "chain", "none"] = "member"
    domain: str = ""
    namespace: str = DEFAULT_NAMESPACE
    login: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody: *name* as the directory spells it, the name of the entry, and the names of all his groups."""

    name: str
    dn: str
    groups: tuple[str, ...] = ()


class Directory:
    """Asks the servers anew each time; any thread may call."""

    def __init__(self, conf: DirectoryConf, talk: Talk) -> None:
        self.conf = conf
        self._talk = talk

    def find(self, name: str) -> Known | None:
        """Return somebody with all his groups; ``None``: there is nobody of that name, or his account is disabled.

        Raises:
            DirectoryError: no server can be asked, or what was found is not whole.
        """

        def work(link: Link) -> Known | None:
            entry = self._person(link, name)
            if entry is None:
                return None
            groups = () if self.conf.groups == "none" else self._groups(link, entry)
            return Known(entry.first(self.conf.user_names), entry.dn, groups)

        return self._asked(work)

    def log_in(self, name: str, password: str) -> str | None:
        """Return the directory's spelling of *name* if *password* is his; else ``None``.

        Raises:
            DirectoryError: no server can be asked.
        """
        # A bind without a password succeeds as anonymous (RFC 4513, 5.1.2).
        if not self.conf.login or not password or "\0" in password:
            return None
        entry = self._asked(lambda link: self._person(link, name))
        if entry is None:
            return None

        def work(link: Link) -> bool:
            try:
                link.bind(entry.dn, password)
            except RefusedError as error:
                if error.code in _NOT_HIS:
                    return False
                raise
            return True

        return entry.first(self.conf.user_names) if self._tried(work) else None

    def check(self, server: Server) -> int:
        """Return how many entries of people are there, two at most; one server is asked.

        Raises:
            DirectoryError: it cannot be asked.
        """
        with Link(server, self._talk) as link:
            link.bind(self.conf.bind_dn, self.conf.bind_password)
            for base in dict.fromkeys((self.conf.base, self._group_base)):
                list(link.search(base, present("objectClass"), ["1.1"], below=False))
            found = 0
            for _ in link.search(
                self.conf.base, self._person_filter(*map(present, self.conf.user_names)), ["1.1"]
            ):
                found += 1
                if found > 1:
                    break
            return found

    # -- a person ------------------------------------------------------------------------------------

    def _person(self, link: Link, name: str) -> Entry | None:
        if not name.strip() or len(name) > _LONGEST or "\0" in name:
            return None
        wanted = self._person_filter(*(equals(attribute, name) for attribute in self.conf.user_names))
        asked = [
            *self.conf.user_names,
            "userAccountControl",
            "memberOf",
            "objectSid",
            "primaryGroupID",
            "gidNumber",
        ]
        found = [
            entry
            for entry in link.search(self.conf.base, wanted, asked)
            if entry.first(self.conf.user_names) and not _number(entry, "userAccountControl") & _DISABLED
        ]
        if len(found) > 1:
            raise DirectoryError(
                f"the directory has several entries for {name!r}", hint="narrow directory.user-filter"
            )
        return found[0] if found else None

    def _person_filter(self, *names: bytes) -> bytes:
        more = () if self.conf.user_filter is None else (self.conf.user_filter,)
        return all_of(any_of(*names), *more)

    # -- groups --------------------------------------------------------------------------------------

    def _groups(self, link: Link, person: Entry) -> tuple[str, ...]:
        """Return the names of all groups: what is missing here could be what an access list denies."""
        found: dict[str, str] = {}
        # The primary group of an account is in nobody's member attribute.
        start = [*self._primary(link, person), *(self._posix(link, person))]
        for group in start:
            self._note(found, group)
        if self.conf.groups == "memberof":
            self._climb(link, person, start, found)
        elif self.conf.groups == "chain":
            for dn in (person.dn, *(group.dn for group in start)):
                for group in self._search(link, in_chain("member", dn)):
                    self._note(found, group)
        else:
            self._widen(link, [person.dn, *(group.dn for group in start)], found)
        return tuple(dict.fromkeys(found.values()))

    def _widen(self, link: Link, frontier: Sequence[str], found: dict[str, str]) -> None:
        """Ask for the groups of these members, then for the groups of those, to the end."""
        while frontier:
            fresh: list[str] = []
            for at in range(0, len(frontier), _BATCH):
                members = frontier[at : at + _BATCH]
                wanted = any_of(*(equals(name, dn) for name in ("member", "uniqueMember") for dn in members))
                fresh += [group.dn for group in self._search(link, wanted) if self._note(found, group)]
            frontier = fresh

    def _climb(self, link: Link, person: Entry, start: Sequence[Entry], found: dict[str, str]) -> None:
        """Follow ``memberOf`` from entry to entry."""
        frontier = [dn for entry in (person, *start) for dn in self._member_of(link, entry)]
        asked: set[str] = {entry.dn.lower() for entry in start}
        while frontier:
            dn = frontier.pop()
            if dn.lower() in asked:
                continue
            asked.add(dn.lower())
            if len(asked) > _MOST_GROUPS:
                raise _too_many()
            names = [*self.conf.group_names, "memberOf"]
            for group in link.search(dn, present("objectClass"), names, below=False):
                self._note(found, group)
                frontier += self._member_of(link, group)

    def _member_of(self, link: Link, entry: Entry) -> list[str]:
        """Return all values of ``memberOf``, those too that Active Directory gives in ranges (``memberOf;range=0-1499``)."""
        values = list(entry.values.get("memberof", ()))
        part = _range(entry)
        while part is not None:
            values += entry.values[part]
            if part.endswith("-*"):
                break
            beyond = int(part.rpartition("-")[2]) + 1
            again = list(
                link.search(entry.dn, present("objectClass"), [f"memberOf;range={beyond}-*"], below=False)
            )
            following = _range(again[0]) if len(again) == 1 else None
            if following is None or not following.startswith(f"memberof;range={beyond}-"):
                raise DirectoryError(f"the groups of {entry.dn} cannot be read whole")
            entry, part = again[0], following
            if len(values) > _MOST_GROUPS:
                raise _too_many()
        return [value.decode("utf-8", "replace") for value in values]

    def _primary(self, link: Link, person: Entry) -> list[Entry]:
        rid, sids = _number(person, "primaryGroupID"), person.values.get("objectsid", ())
        if not rid or not sids:
            return []
        found = self._search(link, equals("objectSid", sids[0][:-4] + rid.to_bytes(4, "little")))
        if not found:
            raise DirectoryError(
                f"the primary group of {person.dn} is not below {self._group_base!r}",
                hint="let directory.group-base hold all groups",
            )
        return found

    def _posix(self, link: Link, person: Entry) -> list[Entry]:
        gid, uid = _number(person, "gidNumber"), person.first(("uid",))
        ways = [equals("gidNumber", str(gid))] if gid else []
        ways += [equals("memberUid", uid)] if uid else []
        return self._search(link, all_of(equals("objectClass", "posixGroup"), any_of(*ways))) if ways else []

    def _search(self, link: Link, wanted: bytes) -> list[Entry]:
        if self.conf.group_filter is not None:
            wanted = all_of(wanted, self.conf.group_filter)
        found: list[Entry] = []
        names = [*self.conf.group_names, *(["memberOf"] if self.conf.groups == "memberof" else [])]
        for entry in link.search(self._group_base, wanted, names):
            found.append(entry)
            if len(found) > _MOST_GROUPS:
                raise _too_many()
        return found

    def _note(self, found: dict[str, str], group: Entry) -> bool:
        """Add a group; say whether it is new."""
        name = group.first(self.conf.group_names)
        if not name:
            raise DirectoryError(
                f"the group {group.dn} has none of the attributes {', '.join(self.conf.group_names)}",
                hint="see directory.group-names",
            )
        key = group.dn.lower()
        if key in found:
            return False
        if len(found) >= _MOST_GROUPS:
            raise _too_many()
        found[key] = name
        return True

    @property
    def _group_base(self) -> str:
        return self.conf.group_base or self.conf.base

    # -- servers -------------------------------------------------------------------------------------

    def _asked(self, work: Callable[[Link], T]) -> T:
        def bound(link: Link) -> T:
            link.bind(self.conf.bind_dn, self.conf.bind_password)
            return work(link)

        return self._tried(bound)

    def _tried(self, work: Callable[[Link], T]) -> T:
        troubles: list[str] = []
        for server in self.conf.servers:
            try:
                with Link(server, self._talk) as link:
                    return work(link)
            except DirectoryError as error:
                troubles.append(error.text)
        raise DirectoryError("; ".join(_once(troubles)), hint="ingather access ldap test says more")


def _once(texts: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(texts)


def _number(entry: Entry, name: str) -> int:
    text = entry.first((name,))
    return int(text) if text.isascii() and text.isdigit() else 0


def _range(entry: Entry) -> str | None:
    return next((name for name in entry.values if name.startswith("memberof;range=")), None)


def _too_many() -> DirectoryError:
    return DirectoryError(
        f"somebody is in more than {_MOST_GROUPS} groups", hint="narrow directory.group-filter"
    )
