"""Where the crawler may go for what feeds push."""

import asyncio
from pathlib import Path

from ingather.app.gatherer import pushed_scope
from ingather.feeds.trust import TrustList
from ingather.fetch.egress import EgressGate, Refusal


def test_a_trusted_sender_is_a_target_and_everybody_is_none(tmp_path: Path) -> None:
    trusted = TrustList(tmp_path / "trusted")
    assert pushed_scope("s", trusted).addresses == ()
    trusted.add("10.1.2.3")
    trusted.add("all")
    assert pushed_scope("s", trusted).addresses == ("10.1.2.3/32",)
    assert pushed_scope("s", trusted).hosts == ("*",)


def test_the_ports_of_trusted_senders_may_be_listed(tmp_path: Path) -> None:
    trusted = TrustList(tmp_path / "trusted")
    trusted.add("10.1.2.3")
    scope = pushed_scope("s", trusted, frozenset({5678}))

    class Names:
        async def resolve(self, host: str) -> tuple[str, ...]:
            return {"adaptor.test": ("10.1.2.3",), "public.test": ("93.184.216.34",)}[host]

    async def refused(host: str, port: int) -> bool:
        return isinstance(await EgressGate(Names()).admit("http", host, port, scope), Refusal)

    async def ask() -> list[bool]:
        asked = (("adaptor.test", 5678), ("adaptor.test", 6379), ("public.test", 6379))
        return [await refused(host, port) for host, port in asked]

    assert asyncio.run(ask()) == [False, True, False]
    assert "port 6379" in EgressGate(Names()).peer_refusal("10.1.2.3", 6379, scope)
    assert EgressGate(Names()).peer_refusal("10.1.2.3", 5678, scope) == ""
