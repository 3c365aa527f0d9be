"""A PAC file is asked before the turn of what a visit asks for beside its page: robots.txt, what a script wants."""

from typing import Any

from ingather.model.resource import Request, Response, Way
from ingather.model.scope import Scope
from ingather.robot.politeness.waygate import Directly
from ingather.robot.wire import AskStart
from ingather.testing.hand import answer


def test_no_turn_begins_before_the_way_is_known(make_bench: Any) -> None:
    known: list[tuple[str, int]] = []

    class Found(Directly):
        async def find(self, url: str, scope: Scope) -> Way:
            # The keeper is asked for leave after this, so that as many were asked for as ways were known before.
            starts = sum(isinstance(message, AskStart) for message in bench.hand.messages)
            known.append((url.removeprefix(bench.server.origin), starts))
            return Way(())

    bench = make_bench(ways=Found())
    bench.server.said |= {"/page": answer("<title>Page</title>"), "/app.js": answer("1")}

    async def work() -> object:
        await bench.hand.visit(f"{bench.server.origin}/page")
        return await bench.hand._errand(
            Request(f"{bench.server.origin}/app.js"), Scope("web", addresses=("127.0.0.0/8",))
        )

    assert isinstance(bench.run(work()), Response)
    assert known == [("/robots.txt", 0), ("/app.js", 2)]
