"""The whole scheduler against an invented world, a hundred seeds; and the judge itself."""

import pytest

from ingather.testing.oracle import HostRules, PolitenessOracle
from ingather.testing.simulation import simulate


@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_fetches_break_no_promise(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        figures = simulate(seed, 10_000)
        assert figures.violations == [], seed
        assert (figures.lost, figures.doubled) == (0, 0), seed
        assert figures.fetches >= 10_000
        assert figures.refusals > 0


def test_the_same_seed_gives_the_same_trace() -> None:
    one, two, other = simulate(7, 1000), simulate(7, 1000), simulate(8, 1000)
    assert one == two
    assert one.trace != other.trace


def rules_of(*events: tuple[str, float, str, str]) -> list[str]:
    oracle = PolitenessOracle({"own.example": HostRules(0.0, 64, own=True)})
    for kind, at, host, address in events:
        if kind == "start":
            oracle.started(at, host, address, "g")
        elif kind == "steal":
            oracle.started(at, host, address, "other")
        else:
            oracle.ended(at, host, address, quiet_s=0.0 if kind == "end" else float(kind))
    return [v.rule for v in oracle.violations]


def test_the_judge_sees_a_host_asked_too_fast() -> None:
    assert rules_of(
        ("start", 0.0, "a", "1"),
        ("end", 0.1, "a", "1"),
        ("start", 0.99, "a", "1"),
        ("start", 2.0, "a", "1"),
    ) == ["delay"]


def test_the_judge_sees_a_third_connection() -> None:
    assert rules_of(*(("start", float(n), "a", "1") for n in range(3))) == ["connections"]


def test_the_judge_sees_two_hands() -> None:
    assert rules_of(("start", 0.0, "a", "1"), ("steal", 1.0, "a", "1")) == ["two hands"]


def test_the_judge_sees_a_fifth_start_and_a_ninth_connection_at_an_address() -> None:
    assert rules_of(*(("start", n / 5, f"h{n}", "1") for n in range(5))) == ["address starts"]
    assert rules_of(*(("start", float(n), f"h{n}", "1") for n in range(9))) == ["address connections"]


def test_the_judge_sees_a_refusal_ignored_at_the_host_and_at_its_address() -> None:
    refused = (("start", 0.0, "a", "1"), ("60", 1.0, "a", "1"))
    assert rules_of(*refused, ("start", 60.0, "a", "1")) == ["back-off", "address back-off"]
    assert rules_of(*refused, ("start", 30.0, "b", "1")) == ["address back-off"]
    assert rules_of(*refused, ("start", 30.0, "b", "2"), ("start", 61.0, "a", "1")) == []


def test_the_judge_lets_own_hosts_be() -> None:
    assert rules_of(*(("start", 0.0, "own.example", "1") for _ in range(20))) == []
