"""What the search listener must know about people, and what it is told about one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ingather.model.viewer import Viewer
from ingather.web.endpoint import Role

__all__ = ["Holder", "People", "Person", "SignOn", "Vouched"]


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


@dataclass(frozen=True, slots=True)
class Vouched:
    """What an identity provider said: texts as access lists spell them, and where the person wanted to go."""

    user: str
    groups: tuple[str, ...]
    target: str


class SignOn(Protocol):
    """Logging in at an identity provider. Calls block and come from several threads."""

    def begin(self, target: str) -> tuple[str, str]:
        """Return the provider's address to go to, and what the browser keeps in a cookie until it comes back.

        Raises:
            IngatherError: the provider cannot be asked.
        """

    def finish(self, said: Mapping[str, str], kept: str) -> Vouched | None:
        """Return for whom the provider vouches, after it sent the browser back.

        Args:
            said: the parameters of the address.
            kept: the cookie.

        Returns:
            ``None`` if this is not the answer to what this browser began, or the provider refused.

        Raises:
            IngatherError: the provider cannot be asked, or what it says is wrong.
        """


class People(Protocol):
    """Local users, their sessions, tokens. Calls block and come from several threads."""

    def offers_login(self) -> bool:
        """Whether there is anybody who could log in. Does not block."""

    def check(self, name: str, password: str) -> int | str | None:
        """Return whose name and password these are; takes as long when they are nobody's.

        Returns:
            The number of a local user, or how access lists spell somebody whom a directory knows.

        Raises:
            IngatherError: it cannot be known.
        """

    def open_session(self, user: int) -> str | None:
        """Open a session and return the id for its cookie, ``None`` if the user is gone meanwhile."""

    def open_provided(self, user: str, groups: Sequence[str]) -> str | None:
        """Open a session for somebody for whom an identity provider vouches; ``None`` if it gave no name."""

    def session(self, cookie: str) -> Person | None:
        """Return whose living session this is."""

    def end_session(self, cookie: str) -> None:
        """End a session; an unknown one is no error."""

    def token(self, text: str) -> Holder | None:
        """Return whose token in force this is."""

    def named(self, user: str, groups: Sequence[str]) -> Person | None:
        """Return the person whom a proxy or front end names, with the groups that it names; ``None`` for no name."""
