"""The wall clock is believed, doubted, believed again."""

from ingather.robot.timeguard import TimeGuard

WALL = 1_790_000_000.0


def test_clocks_that_agree_are_believed() -> None:
    guard = TimeGuard(100.0, WALL)
    assert all(guard.check(100.0 + t, WALL + t) for t in range(0, 100_000, 1000))


def test_less_than_a_minute_is_harmless() -> None:
    guard = TimeGuard(100.0, WALL)
    assert guard.check(200.0, WALL + 100 + 59)
    assert guard.check(200.0, WALL + 100 - 59)


def test_expiry_waits_after_a_jump_either_way() -> None:
    for jump in (61.0, -61.0, 1e9, -1e9):
        guard = TimeGuard(0.0, WALL)
        assert not guard.check(10.0, WALL + 10 + jump)
        assert guard.jump_s == jump
        assert not guard.trusted


def test_small_steps_add_up() -> None:
    guard = TimeGuard(0.0, WALL)
    assert guard.check(10.0, WALL + 10 + 40)
    assert not guard.check(20.0, WALL + 20 + 80)


def test_a_new_time_that_stands_is_believed_after_ten_minutes() -> None:
    guard = TimeGuard(0.0, WALL)
    assert not guard.check(10.0, WALL + 7200)
    assert not guard.check(600.0, WALL + 7190 + 600)
    assert guard.check(610.0, WALL + 7190 + 610)
    assert guard.check(1e6, WALL + 7190 + 1e6)


def test_another_jump_starts_the_waiting_again() -> None:
    guard = TimeGuard(0.0, WALL)
    assert not guard.check(10.0, WALL + 7210)
    assert not guard.check(500.0, WALL + 500)
    assert not guard.check(700.0, WALL + 700)
    assert guard.check(1100.0, WALL + 1100)


def test_an_operator_confirms_at_once() -> None:
    guard = TimeGuard(0.0, WALL)
    assert not guard.check(10.0, WALL + 7210)
    guard.confirm(20.0, WALL + 7220)
    assert guard.check(21.0, WALL + 7221)


def test_a_start_before_the_last_known_time_is_doubted() -> None:
    assert not TimeGuard(0.0, WALL, last_wall_s=WALL + 3600).check(0.0, WALL)
    assert not TimeGuard(0.0, WALL, last_wall_s=WALL - 400 * 86_400).check(0.0, WALL)
    assert TimeGuard(0.0, WALL, last_wall_s=WALL - 3 * 86_400).check(0.0, WALL)
