"""A host's budget of visits a day, in a keeper of a real home: what it lends, what it counts, what it remembers."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.keeper import Gathering
from ingather.app.reports.desk import HomeReports
from ingather.app.robot.commands import RobotCommands
from ingather.app.robot.statefile import Kept, StateFile
from ingather.app.runplan import RunPlan
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.robot.frontier.lending import Connection
from ingather.robot.politeness.visitbudget import day_of
from ingather.robot.settling.committing import Batch
from ingather.robot.wire import Work

SITE = """<Site name="here" host="www.example" type=server enable=true>
Start url="http://www.example/"
Protocol allow="http"
</Site>
"""
W = "http://www.example"


class Hand(Connection):
    """A gatherer that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(0, None)  # type: ignore[arg-type]
        self.room = 100
        self.sent: list[object] = []

    def send(self, message: object) -> None:
        self.sent.append(message)

    def claims(self) -> list[str]:
        return [claim.path for work in self.sent if isinstance(work, Work) for claim in work.claims]


def gathering_in(home: Home) -> Gathering:
    read = home.settings(environment={})
    return Gathering(home, read.settings, RunPlan(kind="serve", sources=read.sources))


@pytest.fixture
def resting(tmp_path: Path) -> Home:
    home = Home.create(tmp_path / "home")
    rules = home.config / "filterrules.conf"
    rules.write_text(f"{rules.read_text()}\n{SITE}")
    toml = home.path / "ingather.toml"
    toml.write_text(f"{toml.read_text()}\n[source.web]\nhost-visits = 2\n")
    StateFile(home.path).write(Kept(state="off", why="of this test"))
    return home


def lend(gathering: Gathering, hand: Hand) -> list[str]:
    keeper = gathering.keeper
    keeper.paused = keeper.between_runs = keeper.disk_full = False
    keeper.lending.stopping = False
    keeper.frontier.join(hand)
    keeper.lending._connections[0] = hand
    hand.room = 100
    keeper.lending.feed()
    keeper.paused = True
    return hand.claims()


def test_no_more_is_lent_than_a_host_bears_in_a_day_and_a_restart_forgets_nothing(resting: Home) -> None:
    async def first() -> None:
        async with gathering_in(resting) as gathering:
            for number in range(5):
                await RobotCommands(gathering).add(f"{W}/{number}")
            hand = Hand()
            assert lend(gathering, hand) == ["/0", "/1"]
            keeper = gathering.keeper
            for path in ("/0", "/1"):

                def settle(writer: Any, _: Any, path: str = path) -> Any:
                    return writer.frontier.row(writer.syndication.known([W + path])[W + path])

                row = await keeper.write(settle)
                report = Report(
                    id=row.id,
                    outcome=int(Outcome.NOT_FOUND),
                    status=404,
                    at_s=gathering.clock.wall(),
                    version=1,
                )
                done = await asyncio.get_running_loop().run_in_executor(
                    keeper._pool, keeper._commits._committer.commit, Batch(visits=[(report, row)])
                )
                assert len(done.settled) == 1
            del keeper.lending._connections[0]

    async def second() -> None:
        async with gathering_in(resting) as gathering:
            hand = Hand()
            assert lend(gathering, hand) == []
            assert gathering.keeper.frontier.waiting == 3
            del gathering.keeper.lending._connections[0]

    before = day_of(Gathering(resting, resting.settings(environment={}).settings, RunPlan()).clock.wall())
    asyncio.run(first())
    asyncio.run(second())
    read = resting.settings(environment={})
    (row,) = HomeReports(resting, read.settings, dict).report("queue", {})["rows"]
    assert row["budget"] == 2
    assert row["waiting"] == 3
    if day_of(Gathering(resting, read.settings, RunPlan()).clock.wall()) == before:  # not at midnight
        assert row["today"] == 2
