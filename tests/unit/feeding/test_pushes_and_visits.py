"""Pushes before, during and after visits, repeated and in random order, against a plain model: the server's last word is what is indexed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from ingather.app.access.accessing import HomeAccess
from ingather.app.feeds.process import FeedProcess
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.controls import Controls
from ingather.model.demand import BURST, BURST_S
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report, Row
from ingather.testing.feedrobot import FeedRobot
from ingather.testing.feeds import FeedRig, record

USERS = ("ann", "joe", "zoe")
STEPS = 140
_STEPS = {
    "change": 4, "push": 2, "revoke": 1, "delete": 1, "claim": 10, "answer": 4, "settle": 9, "wait": 5, "fail": 1, "restart": 1,
}  # fmt: skip
"""What may happen next, and how often."""


@pytest.fixture(scope="module")
def process() -> Iterator[FeedProcess]:
    made = FeedProcess()
    yield made
    made.stop()


@dataclass
class Page:
    """A page as its server has it, and the visit of it that is under way."""

    url: str
    body: str = "first"
    permitted: frozenset[str] = frozenset(USERS)
    answers: bool = True
    named: bool = False
    out: Row | None = None
    answer: Report | None = None
    pushed: frozenset[str] | None = None
    visits: list[float] = field(default_factory=list)


class World:
    """Pages of one host, a connector that pushes each change, and a robot."""

    def __init__(self, rig: FeedRig, seed: int, *, in_heads: bool) -> None:
        self.rig, self.robot, self.dice = rig, FeedRobot(rig), Random(seed)  # noqa: S311 - a walk that can be repeated
        self.in_heads = in_heads
        self.pages = [Page(f"http://model{seed}.test/{n}") for n in range(2)]
        self.time = 0

    def step(self) -> Page:
        self.time += 1
        page = self.dice.choice(self.pages)
        (does,) = self.dice.choices(list(_STEPS), list(_STEPS.values()))
        getattr(self, does)(page)
        return page

    # -- the connector ------------------------------------------------------------------------

    def push(self, page: Page) -> None:
        """Name a page, as it was or as it is by now."""
        names = "".join(
            f'<principal scope="user" access="permit">{name}</principal>' for name in sorted(page.permitted)
        )
        inner = "" if self.in_heads else f"<acl>{names}</acl>"
        now = self.dice.choice(("true", "false"))
        self.rig.push(
            record(page.url, inner, crawl_immediately=now), datasource="model", feedtype="metadata-and-url"
        )
        page.named = True
        page.pushed = page.permitted

    def change(self, page: Page) -> None:
        page.body = f"at {self.time}"
        page.permitted = frozenset(name for name in USERS if self.dice.random() < 0.6)
        self.push(page)

    def revoke(self, page: Page) -> None:
        page.permitted = frozenset()
        self.push(page)

    def delete(self, page: Page) -> None:
        if self.dice.random() < 0.4:
            self.rig.push(record(page.url, action="delete"), datasource="model", feedtype="metadata-and-url")
            page.named = False

    # -- the robot ----------------------------------------------------------------------------

    def claim(self, page: Page) -> None:
        if page.out is None and page.named:
            page.out, page.answer = self.robot.claim(page.url), None
            if page.out is not None:
                page.visits.append(self.rig.clock.wall())

    def answer(self, page: Page) -> None:
        """The server answers with what it has at this moment."""
        if page.out is None or page.answer is not None:
            return
        if not page.answers:
            page.answer = self.robot.report(page.out, "", outcome=Outcome.SERVER_ERROR, status=500)
            return
        controls = None
        if self.in_heads:
            entries = tuple(
                AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, name))
                for name in sorted(page.permitted)
            )
            controls = Controls(acl=Acl(page.url, entries), secured=True, heeded=True)
        page.answer = self.robot.report(page.out, page.body, controls=controls)

    def settle(self, page: Page) -> None:
        self.answer(page)
        if page.out is not None and page.answer is not None:
            self.robot.settle((page.answer, page.out))
            page.out = page.answer = None

    def wait(self, _page: Page) -> None:
        self.rig.clock.advance(self.dice.choice((1, 30, 100, 900)))

    def fail(self, page: Page) -> None:
        page.answers = not page.answers

    def restart(self, _page: Page) -> None:
        """Everything that was not committed is gone."""
        if self.dice.random() < 0.2:
            self.rig.reopen()
            self.robot = FeedRobot(self.rig)
            for page in self.pages:
                page.out = page.answer = None

    # -- what must be true --------------------------------------------------------------------

    def who(self, page: Page) -> frozenset[str]:
        if not self.rig.described(page.url):
            return frozenset()
        access = HomeAccess(self.rig.home)
        return frozenset(user for user in USERS if access.explain(page.url, user)["permitted"])

    def check(self, page: Page) -> None:
        """Nobody sees what the last push takes from him (with ACLs in feeds), and urgent visits are not without rest."""
        if not self.in_heads and page.named and page.pushed is not None:
            assert self.who(page) <= page.pushed
        assert all(b - a >= BURST_S for a, b in zip(page.visits, page.visits[BURST + 1 :], strict=False))

    def come_to_rest(self) -> None:
        for page in self.pages:
            page.answers = True
            self.settle(page)
        for _ in range(6):
            self.rig.clock.advance(100_000)
            for page in self.pages:
                self.claim(page)
                self.settle(page)


@pytest.mark.parametrize("in_heads", [False, True], ids=["acl in the feed", "acl in the answer"])
@pytest.mark.parametrize("seed", range(4))
def test_gsa_what_is_indexed_in_the_end_is_what_the_server_last_said(
    tmp_path: Path,
    process: FeedProcess,
    seed: int,
    in_heads: bool,  # noqa: FBT001 - a case
) -> None:
    rig = FeedRig(tmp_path / "home", process)
    try:
        world = World(rig, seed, in_heads=in_heads)
        for _ in range(STEPS):
            world.check(world.step())
        world.come_to_rest()
        for page in world.pages:
            assert rig.described(page.url) is page.named, page
            if page.named:
                assert world.robot.title(page.url) == page.body
                assert world.who(page) == page.permitted
        assert rig.local.office.due_visits(rig.clock.wall() + 1e6, 900) == 0
        assert not rig.local.writer.pending_acls.some
    finally:
        rig.close()
