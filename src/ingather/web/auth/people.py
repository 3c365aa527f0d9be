"""What the search listener must know about people, and what it is told about one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ingather.model.viewer import Viewer
from ingather.web.endpoint import Role

__all__ = ["Holder", "People", "Person"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who logged in, or for whom somebody vouches: *name* as he is greeted, and whom rights mean by him."""

    name: str
    viewer: Viewer


@dataclass(frozen=True, slots=True)
class Holder:
    """A program with a token: its roles, and whether it may search as whomever it names."""

    name: str
    rights: frozenset[Role]
    stands_in: bool = False


class People(Protocol):
    """Local users, their sessions, tokens. Calls block and come from several threads."""

    def offers_login(self) -> bool:
        """Whether there is anybody who could log in. Does not block."""

    def check(self, name: str, password: str) -> int | None:
        """Return the number of the user whose name and password these are; takes as long when they are nobody's.

        Raises:
            CatalogError: it cannot be known.
        """

    def open_session(self, user: int) -> str | None:
        """Open a session and return the id for its cookie, ``None`` if the user is gone meanwhile."""

    def session(self, cookie: str) -> Person | None:
        """Return whose living session this is."""

    def end_session(self, cookie: str) -> None:
        """End a session; an unknown one is no error."""

    def token(self, text: str) -> Holder | None:
        """Return whose token in force this is."""

    def named(self, user: str, groups: Sequence[str]) -> Person | None:
        """Return the person whom a proxy or front end names, with the groups that it names; ``None`` for no name."""
