"""How long a session rests: until the pool may serve, by a clock that goes on while the machine sleeps."""

from datetime import UTC, datetime, timedelta

import pytest

from flowpool.launch.resting import LONGEST, MARGIN, is_far, rest, shown

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


class Clock:
    """A machine's clock. skips: what each sleep takes besides; ends_at: the sleep that is ended, if any."""

    def __init__(self, *, skips: timedelta = timedelta(0), ends_at: int = 0) -> None:
        self.now, self.slept = NOON, list[float]()
        self._skips, self._ends_at = skips, ends_at

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds) + self._skips
        return len(self.slept) != self._ends_at


@pytest.mark.parametrize("wait", [timedelta(0), timedelta(seconds=3), timedelta(hours=1), LONGEST])
def test_it_ends_when_the_time_has_come(wait: timedelta) -> None:
    """Not before, and by no more than what clocks may differ."""
    clock = Clock()

    assert rest(NOON + wait, clock.sleep, lambda: clock.now)
    assert clock.now == NOON + wait + MARGIN


def test_a_machine_that_slept_has_less_to_wait_for() -> None:
    """The clock is looked at once a minute."""
    clock = Clock(skips=timedelta(minutes=40))

    assert rest(NOON + timedelta(hours=1), clock.sleep, lambda: clock.now)
    assert clock.slept == [60, 60]


def test_a_moment_that_has_passed_is_not_waited_for() -> None:
    """Its margin neither."""
    clock = Clock()

    assert rest(NOON - MARGIN, clock.sleep, lambda: clock.now)
    assert clock.slept == []


def test_who_ends_it_ends_it_at_once() -> None:
    """Whatever is left."""
    clock = Clock(ends_at=2)

    assert not rest(NOON + LONGEST, clock.sleep, lambda: clock.now)
    assert len(clock.slept) == 2


def test_what_is_far_is_not_waited_for() -> None:
    """Six hours are the most."""
    assert not is_far(NOON + LONGEST, NOON)
    assert is_far(NOON + LONGEST + timedelta(seconds=1), NOON)


def test_a_moment_is_shown_to_the_minute_after() -> None:
    """So that what is said is never too early."""
    assert shown(NOON + timedelta(seconds=1)) == f"{(NOON + timedelta(minutes=1)).astimezone():%a %H:%M}"
    assert shown(NOON) == f"{NOON.astimezone():%a %H:%M}"
