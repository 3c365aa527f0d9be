"""How long do memberships take to load, and a user's groups to expand?

usage: python benchmarks/groups.py [--memberships N]

Loads N memberships (3,000,000: some minutes) of 100,000 users in groups of 31, every two of which are in each other, into a catalog in a
temporary folder, and expands a user who is in 250 groups and by way of them in 250 more. Times are CPU milliseconds.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ingather.access.groups import Expansion, expand
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.feeds.groups_applying import LoadMode, load_groups
from ingather.model.acl import Principal, PrincipalScope
from ingather.model.feed import FeedEnd, GroupMembership

USERS = 100_000
A_GROUP = 30
REACHED = 500
ROUNDS = 15
VIP = Principal(PrincipalScope.USER, "vip", "corp", case_sensitive=False)
dice = random.Random(1)  # noqa: S311 - the same memberships every time


def memberships(groups: int) -> Iterator[GroupMembership | FeedEnd]:
    """Yield *groups* groups."""
    for number in range(groups):
        names = (f"user{dice.randrange(USERS)}" for _ in range(A_GROUP))
        members = [Principal(PrincipalScope.USER, name, "corp", case_sensitive=False) for name in names]
        members.append(Principal(PrincipalScope.GROUP, f"group{number ^ 1}", "corp", case_sensitive=False))
        if number < REACHED and number % 2:
            members.append(VIP)
        yield GroupMembership(1, 0, Principal(PrincipalScope.GROUP, f"group{number}", "corp"), tuple(members))
    yield FeedEnd(complete=True, repaired=False)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memberships", type=int, default=300_000)
    wanted = parser.parse_args().memberships
    with tempfile.TemporaryDirectory() as folder:
        writer = CatalogWriter(Path(folder) / "catalog.db")
        start = time.process_time()
        report = load_groups(
            writer.transaction,
            memberships(max(wanted // (A_GROUP + 1) - REACHED // 20, REACHED)),
            "bench",
            LoadMode.FULL,
            now_s=1.0,
        )
        print(f"loaded {report.added:,} memberships in {time.process_time() - start:.1f} s {report.trouble}")
        writer.close()
        print(f"catalog: {writer.path.stat().st_size / 1e6:.0f} MB")
        reader = GroupReader(writer.path)
        took: list[float] = []
        found = Expansion(())
        for _ in range(ROUNDS):
            start = time.process_time()
            found = expand(reader, [Principal(PrincipalScope.USER, "VIP", "corp.example.com")])
            took.append((time.process_time() - start) * 1_000)
        reader.close()
        print(
            f"{len(found.groups)} groups: first {took[0]:.1f} ms, best {min(took):.1f}, median {sorted(took)[ROUNDS // 2]:.1f}"
        )


if __name__ == "__main__":
    main()
