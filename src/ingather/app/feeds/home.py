"""Where feeds are applied, and by which rules: what the feed thread is told of its home."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from ingather.app.blueprint import Blueprint
from ingather.catalog.deletion.sqlite_deletion import SourceFacts
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.feeds.policy import FeedPolicy
from ingather.feeds.sweeping import Guard, Ruled
from ingather.model.url import fed_url
from ingather.robot.settling.committing import ledger_of
from ingather.robot.settling.deletion import DeletionPolicy, DeletionReason, Proposal

__all__ = ["AtOnce", "FeedHome", "Showing", "Transact", "deletion_guard", "feed_policy"]

T = TypeVar("T")

Transact = Callable[[Callable[[CatalogWriter, Applied], T]], T]
"""Runs a job in a durable transaction of the one writer, from any thread, and returns its answer."""


@dataclass(frozen=True, slots=True)
class FeedHome:
    """Where feeds are applied.

    Attributes:
        path: the home; files of feeds are named relative to it.
        bodies: folder of WARC segments.
        blueprint: what a worker is made from; another object = made anew.
        policy: of a data source.
        guard: the deletion policy.
        follow: whether links in the contents of a data source are followed.
    """

    path: Path
    bodies: Path
    blueprint: Callable[[], Blueprint]
    policy: Callable[[str], FeedPolicy]
    guard: Guard
    follow: Callable[[str], bool] = lambda _: True


def deletion_guard(policy_of: Callable[[str], DeletionPolicy]) -> Guard:
    """Return the deletion policy as :func:`sweep` asks it; *policy_of* takes a source's name."""

    def guard(reason: str, left_out: int, held: int, facts: SourceFacts, now_s: float) -> Ruled:
        policy, ledger = policy_of(facts.name), ledger_of(facts)
        fresh = (Proposal(0, DeletionReason(reason)) for _ in range(left_out - held))
        hidden = policy.limits.hide_held_secure if ledger.secure else policy.limits.hide_held_public
        # What a feed leaves out is observed once: it cannot wait for another look, so it waits for a person.
        why = policy.too_much(fresh, ledger) or policy.cooling(DeletionReason(reason), ledger, now_s)
        return Ruled(why, hidden)

    return guard


def feed_policy(
    *,
    empty_acl_is_none: bool = False,
    one_value_per_meta: bool = False,
    takes_over: bool | None = None,
    taken_over: Mapping[str, bool] | None = None,
    inherited: bool = False,
) -> FeedPolicy:
    """Return what counts for a data source; see :class:`FeedPolicy`. Without arguments: for one without settings of its own."""
    return FeedPolicy(
        empty_acl_is_none=empty_acl_is_none, one_value_per_meta=one_value_per_meta, canonical=fed_url, takes_over=takes_over,
        taken_over=taken_over or {}, inherited=inherited,
    )  # fmt: skip


class Showing(Protocol):
    """What follows the catalog for readers (:class:`ingather.robot.indexing.following.IndexFollower`)."""

    def hold(self, key: int) -> None:
        """Show readers what is replaced from now on as it was, within bounds."""

    def release(self, key: int) -> None:
        """Show them all of it."""


class AtOnce:
    """Nobody reads meanwhile."""

    def hold(self, key: int) -> None:
        """See :class:`Showing`."""

    def release(self, key: int) -> None:
        """See :class:`Showing`."""
