"""Replay: a changed configuration over everything that is stored, without the network, before it is published.

Every known URL is judged by its MetaData filters. Of the documents that pass, the kept bodies (all, or a
sample) go through the gatherer's own pipeline (``ingather.robot.visit.rehearsing.Rehearsal``), and the page
layer that comes out is compared with the one that is stored. Nothing is written.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingather.app import sourcerules
from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.plugging import plug_ins
from ingather.app.rehearsal.differences import Tally
from ingather.app.rehearsal.simulating import proposed
from ingather.app.rehearsal.walk import Walk
from ingather.app.runsites import remembered_sites
from ingather.app.sourcescopes import crawled_sources
from ingather.catalog.reports.sqlite_replay import ReplayReader, SourceAccount
from ingather.errors import UsageError
from ingather.explain.replayed import replay_text
from ingather.model.source_name import same_source
from ingather.robot.settling.deletion import DeletionReason, Ledger, Proposal

__all__ = ["ReplaySummary", "replay", "replay_summary"]

SAMPLE = 1000
"""Bodies that are read unless somebody asks for another number, or for all."""


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """What ``conf publish`` asks before it publishes.

    Attributes:
        passes_threshold: whether what this alone would delete is more than may go at once, for at least one source.
        why: for each such source a sentence.
        documents, lost, changed, allowed: counts; ``lost`` is estimated when bodies were sampled.
        text: the diff as ``ingather replay`` prints it.
        answer: the whole tree.
    """

    passes_threshold: bool
    why: tuple[str, ...]
    documents: int
    lost: int
    changed: int
    allowed: int
    text: str
    answer: Mapping[str, Any]


def replay_summary(
    home: Home, config_dir: Path, *, sample: int | None = SAMPLE, environment: Mapping[str, str] | None = None
) -> ReplaySummary:
    """Replay *config_dir* over *home* and say whether a deletion threshold would be passed.

    Args:
        home: an open home; one without a catalog loses nothing.
        config_dir: the configuration that is to be published.
        sample: bodies that are read, ``None`` = all.
        environment: variables of the process, for settings.

    Raises:
        ConfigurationError: the configuration has errors.
    """
    answer = replay(home, config_dir, sample=sample, environment=environment)
    why = tuple(
        f"source {entry['source']}: {entry['too_much']}" for entry in answer["sources"] if entry["too_much"]
    )
    documents = answer["documents"]
    return ReplaySummary(
        bool(why), why, documents["total"], documents["lost_estimate"], answer["changed"]["total"],
        answer["allowed"]["total"], replay_text(answer), answer,
    )  # fmt: skip


def replay(
    home: Home,
    config: Path,
    *,
    sample: int | None = SAMPLE,
    source: str = "",
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the diff, JSON-ready (``docs/reference/simulate-replay.md`` lists its members).

    Args:
        home: an open home; it may be in use.
        config: the folder with the changed configuration.
        sample: bodies that are read, ``None`` = all.
        source: of this source alone, ``""`` = of all.
        environment: variables of the process, for settings.

    Raises:
        ConfigurationError: the configuration has errors; all of them are in it.
        UsageError: no such source.
        CatalogError: the catalog cannot be read.
    """
    loaded, settings, sources = proposed(home, config, environment=environment)
    sites = remembered_sites(home)
    begun = time.process_time()
    tally, accounts = Tally(), list[SourceAccount]()
    if database_of(home).exists():
        reader = ReplayReader(database_of(home), home.bodies)
        try:
            accounts = reader.source_accounts(SystemClock().wall())
            if source and source not in {account.name for account in accounts}:
                known = ", ".join(account.name for account in accounts) or "none"
                raise UsageError(f"there is no source {source!r} in the catalog (there are: {known})")
            walk = Walk(reader, loaded, sites, settings, tally, sources=sources, own=plug_ins(home, settings))
            asyncio.run(walk.run(sample, source))
        finally:
            reader.close()
    elif source:
        raise UsageError(f"there is no source {source!r}: the catalog is empty")
    cost_s = time.process_time() - begun
    lost = tally.lost_by_source()
    policies = sourcerules.policies_of(settings, sources, crawled_sources(loaded))
    counts = tally.counts
    read = counts["read"]
    return {
        "config": str(config), "home": str(home), "source": source, "sample": sample,
        "documents": {
            "total": counts["documents"], "lost": tally.lost.total, "lost_metadata": counts["lost_metadata"],
            "lost_data": counts["lost_data"], "lost_estimate": max(sum(lost.values()), tally.lost.total),
            "changed": tally.changed.total, "unchanged": counts["unchanged"], "read": read,
            "not_sampled": counts["not_sampled"], "without_body": counts["without_body"], "damaged": counts["damaged"],
            "brought_in": counts["brought_in"],
        },
        "urls": {
            "excluded": counts["excluded"], "allowed": tally.allowed.total, "undecided": counts["undecided"],
            "newly_excluded": counts["newly_excluded"], "waiting": counts["waiting"],
        },
        "lost": tally.lost.form(), "allowed": tally.allowed.form(), "changed": tally.changed.form(),
        "attributes": dict(tally.attributes.most_common()),
        "directives": tally.directives(), "released": tally.released(), "hosts": tally.hosts(),
        "sources": [
            {
                "source": account.name, "documents": account.documents, "lost": lost.get(account.name, 0),
                "held": policies(account.name).too_much(
                    [Proposal(0, DeletionReason.RULES)] * lost.get(account.name, 0),
                    Ledger(account.documents, account.deleted_24h, account.held, account.waiting),
                ),
                # What others delete is no reason to ask about this.
                "too_much": policies(account.name).brake(
                    lost.get(account.name, 0), max(account.documents, lost.get(account.name, 0))
                ),
            }
            for account in accounts
            if not source or same_source(account.name, source)
        ],
        "unknown": list(_unknown(tally, sample)),
        "cost": {"cpu_s": round(cost_s, 3), "pages_per_cpu_s": round(read / cost_s) if cost_s and read else None},
    }  # fmt: skip


def _unknown(tally: Tally, sample: int | None) -> list[str]:
    """Say what the replay cannot tell."""
    counts, told = tally.counts, []
    if tally.allowed.total:
        told.append(
            f"{tally.allowed.total} URLs that were excluded would be allowed: they were never read, so what the Data "
            "filters say of them and what lies behind them is unknown."
        )
    if counts["undecided"]:
        told.append(
            f"{counts['undecided']} URLs were read and got no description; their bodies are not kept, so whether the "
            "changed Data filters let them pass is unknown."
        )
    if counts["without_body"]:
        told.append(
            f"{counts['without_body']} documents have no kept body (gather.keep-bodies): MetaData lets them pass; what Data, "
            "Enumerate and Generate would say is unknown."
        )
    if counts["damaged"]:
        told.append(
            f"{counts['damaged']} kept bodies do not read back as written: ingather catalog check names them."
        )
    if counts["not_sampled"]:
        told.append(
            f"{counts['not_sampled']} documents passed MetaData and were not read (--sample {sample}): losses at Data are "
            "estimated from those that were; --all reads every one."
        )
    return told
