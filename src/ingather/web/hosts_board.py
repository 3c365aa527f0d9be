"""What the admin listener needs of hosts: looks at sites, aliases."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ingather.model.decided import By

__all__ = ["HostsBoard"]


class HostsBoard(Protocol):
    """Looks at hosts, and hosts with two names. Called from several threads."""

    def probe(
        self, names: Sequence[str], *, dns: bool, redirects: bool, domains: bool
    ) -> list[dict[str, Any]]:
        """Look at *names* (hosts, URLs, sites), or without any at all sites; the reports in their order.

        Raises:
            UsageError: there is nothing to look at, or too much.
        """

    def aliases(self) -> Sequence[Mapping[str, Any]]:
        """Return the host aliases, by name.

        Raises:
            UsageError: nothing was gathered yet.
        """

    def decide(self, verb: str, fields: Mapping[str, str], by: By) -> Mapping[str, Any]:
        """Propose, apply, refuse or remove.

        Raises:
            UsageError: a field is wrong, or it must not be.
        """
