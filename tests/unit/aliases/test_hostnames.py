"""Folding of keys: smart-host-heuristics and chosen aliases, and what a gatherer makes of them."""

import asyncio
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from ingather.robot.visit.hostnames import HostNames
from ingather.testing.clock import FakeClock


class Names:
    """A resolver with a table; a name that is not in it does not exist, ``None`` = nobody can be asked."""

    def __init__(self, **table: Sequence[str] | None) -> None:
        self.table = {name.replace("_", "."): found for name, found in table.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        found = self.table.get(host, ())
        if found is None:
            raise OSError("no server can be reached")
        return found


def learnt(names: HostNames, *urls: str) -> list[str]:
    asyncio.run(names.learn(urls))
    return [names.fold(url) for url in urls]


def smart(resolver: Names, clock: FakeClock | None = None, **more: object) -> HostNames:
    return HostNames(smart=True, resolver=resolver, clock=clock or FakeClock(), **more)  # type: ignore[arg-type]


def test_robot_row_smart_host_heuristics_folds_what_has_an_address_in_common() -> None:
    resolver = Names(
        www123_siroe_com=("10.0.0.1", "10.0.0.2"), www_siroe_com=("10.0.0.2", "10.0.0.3"), www4_other_com=("10.0.0.4",),
        www_other_com=("10.0.0.5",), www5_alone_com=("10.0.0.6",),
    )  # fmt: skip
    told: list[tuple[str, str, str]] = []
    names = smart(resolver, tell=lambda *folded: told.append(folded))
    assert learnt(names, "http://www123.siroe.com/a?b", "https://www123.siroe.com:8443/") == [
        "http://www.siroe.com/a?b",
        "https://www.siroe.com:8443/",
    ]
    assert learnt(names, "http://www4.other.com/", "http://www5.alone.com/") == [
        "http://www4.other.com/",
        "http://www5.alone.com/",
    ]
    assert told == [("www123.siroe.com", "www.siroe.com", "both have the address 10.0.0.2")]
    assert names.why("http://www123.siroe.com/a") == (
        "host alias: www123.siroe.com is www.siroe.com (smart-host-heuristics: both have the address 10.0.0.2)"
    )


def test_only_www_and_digits_is_asked_for() -> None:
    resolver = Names()
    urls = (
        "http://www.a.test/",
        "http://wwwx1.a.test/",
        "http://www1/",
        "http://a.www1.test/",
        "http://www1x.a.test/",
        "ftp://www1.a.test/",
        "http://www2-3.a.test/",
    )
    assert learnt(smart(resolver), *urls) == list(urls)
    assert resolver.asked == []


def test_what_cannot_be_asked_is_not_folded_and_asked_again_later() -> None:
    resolver, clock = Names(www1_a_test=None, www_a_test=("10.0.0.1",)), FakeClock()
    names = smart(resolver, clock)
    assert learnt(names, "http://www1.a.test/") == ["http://www1.a.test/"]
    asked = len(resolver.asked)
    assert learnt(names, "http://www1.a.test/x") == ["http://www1.a.test/x"]
    assert len(resolver.asked) == asked
    resolver.table["www1.a.test"] = ("10.0.0.1",)
    clock.advance(61.0)
    assert learnt(names, "http://www1.a.test/") == ["http://www.a.test/"]


def test_decisions_are_bounded_and_kept() -> None:
    resolver = Names(www_a_test=("10.0.0.1",))
    names = smart(resolver)
    for start in range(0, 6_000, 16):
        asyncio.run(names.learn([f"http://www{n}.a.test/" for n in range(start, start + 16)]))
    assert len(names._decided) == 4096
    many = [f"http://www{n}.b.test/" for n in range(100)]
    resolver.asked.clear()
    asyncio.run(names.learn(many))
    assert len(resolver.asked) == 32  # of sixteen hosts, two names each


def test_a_chosen_alias_has_the_keys_of_its_host() -> None:
    names = HostNames({"a.test": "www.a.test", "b.test:8080": "c.test"})
    assert names.fold("http://a.test/x") == "http://www.a.test/x"
    assert names.fold("https://a.test/") == "https://www.a.test/"
    assert names.fold("http://a.test:81/") == "http://a.test:81/"
    assert names.fold("http://b.test:8080/") == "http://c.test/"
    assert names.why("http://a.test/x") == "host alias: a.test is www.a.test"
    assert names.why("http://other.test/") == ""


def test_the_heuristics_and_an_alias_that_lead_in_a_circle_end() -> None:
    names = smart(
        Names(www1_a_test=("10.0.0.1",), www_a_test=("10.0.0.1",)), aliases={"www.a.test": "www1.a.test"}
    )
    assert learnt(names, "http://www1.a.test/", "http://www.a.test/") == [
        "http://www1.a.test/",
        "http://www1.a.test/",
    ]


HOSTS = st.sampled_from(["a.test", "www.a.test", "www1.a.test", "www22.a.test", "b.test:81"])


@example(aliases={"a.test": "www1.a.test"}, hosts=["a.test"], on=True)
@given(aliases=st.dictionaries(HOSTS, HOSTS, max_size=1), hosts=st.lists(HOSTS, max_size=6), on=st.booleans())
def test_folding_twice_is_folding_once(aliases: dict[str, str], hosts: list[str], *, on: bool) -> None:
    one = ("10.0.0.1",)
    resolver = Names(www_a_test=one, www1_a_test=one, www22_a_test=one)
    names = HostNames(aliases, smart=on, resolver=resolver, clock=FakeClock())
    urls = [f"http://{host}/x" for host in hosts]
    folded = learnt(names, *urls)
    again = learnt(names, *folded)
    assert again == folded
