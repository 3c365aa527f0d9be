"""Names to addresses, once."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Resolver"]


class Resolver(Protocol):
    """Resolve a host name to all its addresses.

    One call a fetch: the answer is checked and then connected to, never resolved again.
    An IP literal (also ``[::1]`` without brackets) resolves to itself. May be called by many tasks.
    """

    async def resolve(self, host: str) -> Sequence[str]:
        """Return addresses as text, in order of preference; empty when the name does not exist.

        Raises:
            OSError: the resolver could not be asked (a transient failure).
        """
