"""Shares and speeds, with a clock of the test's own."""

from ingather.connections import Connection, Guard, Phase
from ingather.web.feedgate import GateLimits

LIMITS = GateLimits(total=3, per_address=2, trusted=2, head_s=10, rate=100, rate_window_s=10, answer_s=5)


def test_strangers_never_take_the_place_of_trusted_senders_nor_the_other_way_round() -> None:
    guard = Guard(LIMITS)
    known = [Connection("10.0.0.1", trusted=True, began_s=0.0) for _ in range(2)]
    strangers = [Connection(f"192.0.2.{n}", trusted=False, began_s=0.0) for n in range(4)]
    assert all(guard.admit(c) for c in [*known, *strangers[:3]])
    assert not guard.admit(strangers[3])  # nobody is slow yet
    late = Connection("192.0.2.9", trusted=False, began_s=5.0)
    strangers[1].got(10)
    strangers[2].got(1000)
    assert guard.admit(late)
    assert [bool(c.given_up) for c in strangers[:3]] == [True, False, False]
    assert not any(c.given_up for c in known)
    assert len(guard) == 5


def test_one_address_has_a_share_and_its_slowest_gives_way() -> None:
    guard = Guard(LIMITS)
    slow, quick = (
        Connection("192.0.2.1", trusted=False, began_s=0.0),
        Connection("192.0.2.1", trusted=False, began_s=0.0),
    )
    quick.got(500)
    assert guard.admit(slow)
    assert guard.admit(quick)
    assert guard.admit(Connection("192.0.2.1", trusted=False, began_s=2.0))
    assert slow.given_up
    assert not quick.given_up


def test_who_waits_for_us_is_never_given_up() -> None:
    guard = Guard(LIMITS)
    busy = Connection("10.0.0.1", trusted=True, began_s=0.0)
    guard.admit(busy)
    busy.enter(Phase.WORK, 1.0)
    guard.tick(1000.0)
    guard.admit(Connection("10.0.0.2", trusted=True, began_s=500.0))
    assert not busy.given_up
    assert not guard.evict_slowest(500.5)


def test_heads_bodies_and_answers_have_their_time() -> None:
    guard = Guard(LIMITS)
    connection = Connection("10.0.0.1", trusted=True, began_s=0.0)
    guard.admit(connection)
    guard.tick(9.0)
    connection.enter(Phase.BODY, 9.5)
    connection.got(1000)
    guard.tick(19.5)  # a window's worth
    assert not connection.given_up
    connection.enter(Phase.WORK, 20.0)
    connection.enter(Phase.BODY, 60.0)  # our own forty seconds do not count
    guard.tick(61.0)
    assert not connection.given_up
    connection.enter(Phase.ANSWER, 62.0)
    guard.tick(68.0)
    assert connection.given_up
    guard.leave(connection)
    guard.leave(connection)
    assert len(guard) == 0


def test_a_head_in_drops_and_a_body_in_drops_are_given_up() -> None:
    guard = Guard(LIMITS)
    head, body = (
        Connection("10.0.0.1", trusted=True, began_s=0.0),
        Connection("10.0.0.2", trusted=True, began_s=0.0),
    )
    guard.admit(head)
    guard.admit(body)
    body.enter(Phase.BODY, 1.0)
    body.got(999)
    guard.tick(11.0)
    assert "head" in head.given_up
    assert "slowly" in body.given_up


def strangers(guard: Guard, *addresses: str, at_s: float = 0.0) -> list[bool]:
    return [guard.admit(Connection(address, trusted=False, began_s=at_s)) for address in addresses]


def test_addresses_of_one_ipv6_network_share() -> None:
    guard = Guard(LIMITS)
    assert strangers(guard, "2001:db8::1", "2001:db8::2", "2001:db8::3") == [True, True, False]
    assert strangers(guard, "2001:db8:0:1::1") == [True]


def test_an_ipv4_address_within_ipv6_is_that_address() -> None:
    guard = Guard(LIMITS)
    assert strangers(guard, "192.0.2.1", "::ffff:192.0.2.1", "::ffff:192.0.2.1") == [True, True, False]


def test_the_network_that_holds_most_gives_way_however_young() -> None:
    guard = Guard(LIMITS)
    greedy = [Connection("192.0.2.1", trusted=False, began_s=0.0) for _ in range(2)]
    other = Connection("192.0.2.2", trusted=False, began_s=0.0)
    assert all(map(guard.admit, [*greedy, other]))
    assert strangers(guard, "192.0.2.3", at_s=0.1) == [True]
    assert [bool(c.given_up) for c in [*greedy, other]].count(True) == 1
    assert not other.given_up
    assert strangers(guard, "192.0.2.4", at_s=0.1) == [False]  # each holds one, and none is slow yet


def test_who_shows_who_he_is_counts_among_the_trusted() -> None:
    guard = Guard(LIMITS)
    known = Connection("192.0.2.1", trusted=False, began_s=0.0)
    assert guard.admit(known)
    assert guard.promote(known)
    assert strangers(guard, "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4") == [True, True, True, False]
    assert not known.given_up
