"""Whom notices may reach: every connection goes to an address that the egress gate admitted."""

import asyncio
from collections.abc import Callable, Collection

from ingather.fetch.dns import SystemResolver
from ingather.fetch.egress import EgressGate, Refusal
from ingather.model.scope import Scope
from ingather.ports.resolver import Resolver

__all__ = ["admitted"]


def admitted(
    origin: tuple[str, str, int],
    scope: Scope,
    resolver: Callable[[], Resolver],
    own_ports: Collection[tuple[str, int]],
) -> tuple[str, ...] | Refusal:
    """Return the addresses of *origin* (scheme, host, port) that may be reached, or why none may. Blocks for the name."""

    async def ask() -> tuple[str, ...] | Refusal:
        made = resolver()
        try:
            return await EgressGate(made, own_ports).admit(*origin, scope)
        finally:
            if isinstance(made, SystemResolver):
                await made.close()

    return asyncio.run(ask())
