"""A process that dies between, or in the middle of, any two steps of a cycle loses nothing and does nothing twice."""

from collections.abc import Callable
from typing import Any

import pytest

from ingather.testing.fedhome import FedHome, Said, rss

FEED = "https://n.test/feed.xml"
A, B, C = "https://n.test/a", "https://n.test/b", "https://n.test/c"
D, LATER = "Tue, 20 Mar 2018 08:33:00 GMT", "Tue, 20 Mar 2018 09:33:00 GMT"
HomeOf = Callable[..., FedHome]


class _Killed(BaseException):
    """The process is no more."""


class Killer:
    """Kills the process at one transaction: before its end (nothing of it is kept), or right after it."""

    def __init__(self, home: FedHome, at: int, *, after: bool) -> None:
        self.home, self.left, self.after = home, at, after
        self.count = self.deaths = 0
        self.arm()

    def arm(self) -> None:
        """Watch the writer that is open now."""
        applier, plain, transaction = (
            self.home.writer.applier,
            self.home.writer.applier.flush,
            self.home.writer.transaction,
        )

        def flush() -> None:
            plain()
            self.left -= 1
            if self.left == 0 and not self.after:
                raise _Killed

        def whole(work: Any) -> Any:
            done = transaction(work)
            self.count += 1
            if self.left == 0 and self.after:
                self.left = -1
                raise _Killed
            return done

        applier.flush = flush  # type: ignore[method-assign]
        self.home.writer.transaction = whole  # type: ignore[method-assign]

    def safely(self, step: Callable[[], object]) -> None:
        """Do a step; after a death start again and let what is waiting be done."""
        try:
            step()
        except _Killed:
            self.deaths += 1
            self.home.crash()
            self.home.rest()


def story(home: FedHome, at: int = -1, *, after: bool = False) -> tuple[dict[str, Any], int]:
    """A feed lists, changes, drops; a document goes. Return what is there in the end, and how many transactions it took."""
    killer = Killer(home, at, after=after)
    home.web |= {
        A: Said(body="Alpha", etag='"a"'),
        B: Said(body="Beta", etag='"b"'),
        C: Said(body="Gamma", etag='"c"'),
    }
    home.web[FEED] = Said(body=rss((A, D), (B, D)), etag='"1"')
    killer.safely(home.cycle)
    home.web[FEED] = Said(body=rss((A, LATER), (C, D)), etag='"2"')
    home.web[A] = Said(body="Alpha anew", etag='"a2"')
    killer.safely(home.cycle)
    home.web[B] = Said(404)
    killer.safely(lambda: home.cycle(hours=49))
    killer.safely(lambda: home.cycle(hours=1))
    killer.safely(lambda: home.cycle(hours=24 * 3))
    urls = [A, B, C]
    return {
        "documents": home.documents(),
        "states": {url: home.state(url) for url in urls},
        "tombstone": home.tombstone(B),
        "titles": home.rows("select id, title from page order by id"),
        "removals": home.rows("select id, count(*) from change where kind = 2 group by id"),
        "waiting": [row.id for row in home.waiting()],
        "transitions": home.rows(
            "select document, before, after, cause from rss_event where before != after order by document, id"
        ),
        "open cycles": home.rows("select count(*) from rss_cycle where ended is null"),
        "asked": {url: len(home.of(url)) for url in urls},
        "deaths": killer.deaths,
    }, killer.count  # fmt: skip


def test_rss_death_at_every_step_of_a_cycle_loses_nothing(home_of: HomeOf) -> None:
    plain, steps = story(home_of())
    assert plain["documents"] == {A, C}
    assert plain["removals"] == [(3, 1)]
    assert steps > 15
    for at in range(1, steps + 1):
        for after in (False, True):
            found, _ = story(home_of(), at, after=after)
            asked, usual = found.pop("asked"), dict(plain["asked"])
            assert found.pop("deaths") == 1
            for url, count in asked.items():
                assert usual[url] <= count <= usual[url] + 1, (at, after, url, asked)
            assert found == {name: value for name, value in plain.items() if name in found}, (at, after)


@pytest.mark.parametrize("clock_trusted", [True, False])
def test_nothing_is_deleted_while_the_clock_is_not_believed(home_of: HomeOf, *, clock_trusted: bool) -> None:
    home = home_of()
    home.trusted = clock_trusted
    home.web |= {A: Said(body="Alpha"), B: Said(body="Beta"), FEED: Said(body=rss((A, D), (B, D)))}
    home.cycle()
    home.web |= {FEED: Said(body=rss((A, D))), B: Said(404)}
    home.cycle()
    home.until(50)
    assert (B in home.documents()) is not clock_trusted
