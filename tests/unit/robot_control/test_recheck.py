"""``recheck``: URLs that a person means are visited again, on a home that rests and on one that is served."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.keeper import Gathering
from ingather.app.robot.commands import RobotCommands
from ingather.app.robot.desk import HomeRobot
from ingather.app.robot.rechecking import FIELDS, read_choice
from ingather.app.robot.statefile import Kept, StateFile
from ingather.app.runplan import RunPlan
from ingather.errors import UsageError
from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Report
from ingather.robot.settling.settle import SettleRules, settle
from ingather.testing.rig import Rig

SITE = """<Site name="here" host="www.example" type=server enable=true>
Start url="http://www.example/"
Protocol allow="http"
</Site>
"""
W = "http://www.example"


@asynccontextmanager
async def resting(path: Path) -> AsyncIterator[Gathering]:
    """Give a gathering as ``serve`` has it, its robot off."""
    home = Home.create(path)
    file = home.config / "filterrules.conf"
    file.write_text(f"{file.read_text()}\n{SITE}")
    StateFile(home.path).write(Kept(state="off", why="of this test"))
    read = home.settings(environment={})
    async with Gathering(home, read.settings, RunPlan(kind="serve", sources=read.sources)) as gathering:
        yield gathering


def visited(url: str, outcome: Outcome = Outcome.NOT_FOUND, status: int = 404) -> Any:
    """Return a job that settles a visit of *url*."""

    def job(writer: Any, applied: Any) -> int:
        row = writer.frontier.row(writer.syndication.known([url])[url])
        report = Report(id=row.id, outcome=int(outcome), status=status, at_s=writer.applier.now_s, version=1)
        writer.applier.settle(settle(report, row, rules=SettleRules(), chance=0.5), applied)
        return int(row.id)

    return job


def state_of(url: str) -> Any:
    def job(writer: Any, _: Any) -> tuple[int, int]:
        found: tuple[int, int] = writer.syndication.query(
            "select state, prio from url where id = ?", (writer.syndication.known([url])[url],)
        )[0]
        return found

    return job


async def recheck(gathering: Gathering, **fields: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return await RobotCommands(gathering).recheck(*(named.get(field, "") for field in FIELDS))


def test_urls_a_prefix_a_host_a_source_and_what_failed_are_made_due(tmp_path: Path) -> None:
    async def work() -> None:
        async with resting(tmp_path / "home") as gathering:
            robot, keeper = RobotCommands(gathering), gathering.keeper
            for path in ("/a/1", "/a/2", "/b"):
                await robot.add(W + path)
                await keeper.write(visited(W + path, *(() if path == "/b" else (Outcome.ENUMERATED, 200))))
            keeper.frontier.reload()
            assert keeper.frontier.waiting == 0
            for fields, due in (
                ({"url": f"{W}/a/1 {W}/b"}, 2), ({"prefix": f"{W}/a/"}, 2), ({"host": "www.example"}, 3), ({"failed": "1"}, 1),
                ({"source": "web"}, 3), ({"failed": "true", "source": "web"}, 1), ({"host": "www.example", "limit": "1"}, 1),
            ):  # fmt: skip
                tried = await recheck(gathering, **fields, dry_run="true")
                assert (tried["found"], tried["due"]) == (due, 0)
                assert keeper.frontier.waiting == 0
                done = await recheck(gathering, **fields)
                assert (done["found"], done["due"], done["waited"]) == (due, due, 0), fields
                assert done["more"] is ("limit" in fields)
                assert keeper.frontier.waiting == due
                again = await recheck(gathering, **fields)
                assert (again["due"], again["waited"]) == (0, due)
                for path in ("/a/1", "/a/2", "/b"):
                    if (await keeper.write(state_of(W + path)))[0] == State.WAITING:
                        await keeper.write(
                            visited(W + path, *(() if path == "/b" else (Outcome.ENUMERATED, 200)))
                        )
                keeper.frontier.reload()
            assert (await recheck(gathering, url=f"{W}/never"))["unknown"] == [f"{W}/never"]

    asyncio.run(work())


def test_what_is_asked_for_goes_ahead_and_stands_in_line_again_afterwards(tmp_path: Path) -> None:
    async def work() -> None:
        async with resting(tmp_path / "home") as gathering:
            keeper = gathering.keeper
            for path in ("/1", "/2"):
                await RobotCommands(gathering).add(W + path)
            await keeper.write(visited(f"{W}/2", Outcome.ENUMERATED, 200))
            usual = (await keeper.write(state_of(f"{W}/2")))[1]
            await recheck(gathering, url=f"{W}/2")
            host = await keeper.write(lambda w, _: w.applier.host(W))
            first = await keeper.write(
                lambda w, _: [row.path for _, row in w.frontier.refill(host, (-1000, 0), 9)]
            )
            assert first == ["/2", "/1"]
            await keeper.write(visited(f"{W}/2", Outcome.ENUMERATED, 200))
            assert await keeper.write(state_of(f"{W}/2")) == (State.DONE, usual)

    asyncio.run(work())


@pytest.mark.parametrize("how", ["add", "recheck"])
def test_a_url_in_a_gatherers_hands_is_visited_once_more(tmp_path: Path, how: str) -> None:
    async def work() -> None:
        async with resting(tmp_path / "home") as gathering:
            robot, keeper = RobotCommands(gathering), gathering.keeper
            await robot.add(f"{W}/a")
            row = await keeper.write(lambda w, _: w.frontier.row(w.syndication.known([f"{W}/a"])[f"{W}/a"]))
            keeper.frontier.claim(row)  # a gatherer has it
            if how == "add":
                await robot.add(f"{W}/a")
            else:
                await recheck(gathering, url=f"{W}/a")
            await keeper.write(visited(f"{W}/a", Outcome.ENUMERATED, 200))  # what it found is from before
            assert (await keeper.write(state_of(f"{W}/a")))[0] == State.WAITING
            await keeper.write(visited(f"{W}/a", Outcome.ENUMERATED, 200))
            assert (await keeper.write(state_of(f"{W}/a")))[0] == State.DONE

    asyncio.run(work())


def test_what_waits_and_is_in_nobodys_hands_is_visited_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with resting(tmp_path / "home") as gathering:
            robot, keeper = RobotCommands(gathering), gathering.keeper
            await robot.add(f"{W}/a")
            await robot.add(f"{W}/a")
            await keeper.write(visited(f"{W}/a", Outcome.ENUMERATED, 200))
            assert (await keeper.write(state_of(f"{W}/a")))[0] == State.DONE

    asyncio.run(work())


def test_what_was_removed_and_what_is_excluded_stays_as_it_is(tmp_path: Path) -> None:
    async def work() -> None:
        async with resting(tmp_path / "home") as gathering:
            keeper = gathering.keeper
            await RobotCommands(gathering).add(f"{W}/a")
            row = await keeper.write(visited(f"{W}/a", Outcome.ENUMERATED, 200))
            await keeper.write(
                lambda w, _: w.syndication.query("update url set state = 1 where id = ?", (row,))
            )
            done = await recheck(gathering, url=f"{W}/a")
            assert (done["found"], done["due"], sum(done["left"].values())) == (1, 0, 1)

    asyncio.run(work())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "nothing was named"),
        ({"url": "http://a.test/", "host": "a.test"}, "url and host"),
        ({"url": "no url"}, "no URL"),
        ({"host": "a.test", "limit": "0"}, "out of range"),
        ({"host": "a.test", "limit": "many"}, "out of range"),
    ],
)
def test_a_request_that_means_nothing_is_refused(fields: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_choice(fields)
    assert said in str(caught.value)


def test_a_home_that_nobody_serves_is_told_the_same(tmp_path: Path) -> None:
    async def gather() -> None:
        async with resting(tmp_path / "home") as gathering:
            await RobotCommands(gathering).add(f"{W}/a")
            await gathering.keeper.write(visited(f"{W}/a"))

    asyncio.run(gather())
    home = Home.open(tmp_path / "home")
    robot = HomeRobot(home, home.settings(environment={}).settings)
    assert robot.command("recheck", failed="true", **{"dry-run": "true"})["found"] == 1
    done = robot.command("recheck", failed="true")
    assert (done["state"], done["due"]) == ("off", 1)
    rig = Rig(tmp_path / "home")
    said = rig.call("recheck", f"{W}/a", f"{W}/never")
    assert said.status == 0
    assert "never met: http://www.example/never" in said.out
    assert "0 are due now, 1 waited already" in said.out
    assert json.loads(rig.call("recheck", "--host", "www.example", "--dry-run", "--json").out)["found"] == 1
    for arguments in (
        (),
        ("--host", "nowhere.example"),
        ("--source", "nowhere"),
        ("--failed", "--host", "www.example"),
    ):
        wrong = rig.call("recheck", *arguments)
        assert wrong.status in {1, 2}
        assert len(wrong.err.strip().splitlines()) <= 2
