"""Who searches, as far as somebody trustworthy vouched for it."""

from dataclasses import dataclass

from ingather.model.acl import Principal

__all__ = ["NOBODY_KNOWN", "Viewer"]


@dataclass(frozen=True, slots=True)
class Viewer:
    """A searcher: *users* are his principals (one a namespace), none = anonymous.

    ``groups`` are those that a trusted front end names beside the ones that memberships give him.
    """

    users: tuple[Principal, ...] = ()
    groups: tuple[Principal, ...] = ()

    @property
    def known(self) -> bool:
        """Whether this is somebody."""
        return bool(self.users)


NOBODY_KNOWN = Viewer()
"""Whoever did not say who he is."""
