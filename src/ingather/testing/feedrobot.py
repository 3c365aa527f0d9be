"""The robot's part of visits of pushed URLs, step by step: for tests that push while a visit is at a certain stage."""

from hashlib import md5
from random import Random
from typing import Any, Final

import msgspec

from ingather.catalog.sqlite_apply import Applied
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report, Row
from ingather.robot.settling.committing import Batch, Committer
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.robot.settling.settle import SettleRules
from ingather.testing.feeds import FeedRig

__all__ = ["FeedRobot"]

_DICE: Final = Random(7)  # noqa: S311 - jitter


class FeedRobot:
    """What is claimed, what a host answered, what is settled, with the real catalog of a :class:`FeedRig`."""

    def __init__(self, rig: FeedRig) -> None:
        self.rig = rig
        self._committer = Committer(
            rig.local.writer,
            rules=SettleRules(),
            policies=lambda _: DeletionPolicy(),
            dice=_DICE,
            now_s=rig.clock.wall,
            clock_trusted=lambda: True,
        )

    def promote(self) -> None:
        """Let wait what pushed records asked for and what failed before, when its time has come; no page is due by itself."""
        now_s, writer = self.rig.clock.wall(), self.rig.local.writer
        writer.transaction(lambda w: w.registry.wake_asked(now_s, 1000))
        due = [writer.frontier.row(number) for number, *_ in writer.applier.freshness.due(now_s, 1000)]
        failed = [row.id for row in due if row is not None and row.fails]
        writer.transaction(lambda w: w.applier.freshness.wake(failed))

    def claim(self, url: str) -> Row | None:
        """Claim a URL as the frontier does, ``None`` if it does not wait."""
        self.promote()
        writer = self.rig.local.writer
        known = writer.feeds.row(url)
        assert known is not None
        rows = [row for _, row in writer.frontier.refill(known.row.host, (-99, 0), 1000)]
        return next((row for row in rows if row.id == known.row.id), None)

    def report(
        self, row: Row, body: str, outcome: Outcome = Outcome.INDEXED, status: int = 200, **more: Any
    ) -> Report:
        """Return what a gatherer would say of a visit."""
        described = outcome is Outcome.INDEXED
        digest = md5(body.encode(), usedforsecurity=False).digest()
        if described and row.version is not None and row.digest == digest:
            outcome, described = Outcome.UNCHANGED, False
        return Report(
            id=row.id,
            outcome=int(outcome),
            status=status,
            at_s=self.rig.clock.wall(),
            version=1,
            described=described,
            title=body,
            digest=digest if described else b"",
            attributes=msgspec.msgpack.encode({"title": [body]}),
            anchors=b"\x90",
            size=len(body),
            **more,
        )

    def settle(self, *visits: tuple[Report, Row]) -> Applied:
        """Commit visits in one transaction."""
        return self._committer.commit(Batch(list(visits))).applied

    def visit(self, url: str, body: str = "as it is", **more: Any) -> bool:
        """Make the visit that waits; whether there was one."""
        row = self.claim(url)
        if row is None:
            return False
        self.settle((self.report(row, body, **more), row))
        return True

    def title(self, url: str) -> str:
        """Return what is described."""
        return " ".join(self.rig.attributes(url).get("title", ()))
