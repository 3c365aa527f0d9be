"""One entry of the change log: what readers of the catalog (the index) must follow."""

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Change", "ChangeKind"]


class ChangeKind(IntEnum):
    """PUT: the description of the URL is new or changed; REMOVE: it is not to be found any more."""

    PUT = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True)
class Change:
    """Sequence number (grows by commits, never reused), catalog row of the URL, what happened."""

    sequence: int
    url_id: int
    kind: ChangeKind
