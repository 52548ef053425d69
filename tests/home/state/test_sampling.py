"""Of many readings few become history."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home.state.sampling import Sampler, is_due
from routing.readings import Reading, Source, Status
from tests.routing.made import ANN, BEN, reading, seconds

KEY, OTHER = (ANN, "7d"), (BEN, "7d")
LAST = reading("7d", 0.5)


@pytest.mark.parametrize(
    ("last", "one", "expected"),
    [
        (None, LAST, True),
        (LAST, reading("7d", 0.5, taken=59), False),
        (LAST, reading("7d", 0.5, taken=60), True),
        (LAST, reading("7d", 0.509, taken=1), False),
        (LAST, reading("7d", 0.51, taken=1), True),
        (LAST, reading("7d", 0.49, taken=1), True),
        (reading("7d", 0.3), reading("7d", 0.31), True),
        (LAST, reading("7d", None, taken=1), True),
        (reading("7d", None), reading("7d", None, taken=1), False),
        (LAST, reading("7d", 0.5, status=Status.REJECTED), True),
        (LAST, reading("7d", 0.5, resets=48), True),
        (LAST, reading("7d", 0.5, resets=24 + 4 / 3600), False),
        (LAST, reading("7d", 0.5, resets=None), True),
        (reading("7d", 0.5, resets=None), reading("7d", 0.5, resets=None, taken=1), False),
    ],
)
def test_when_a_reading_is_due(last: Reading | None, one: Reading, expected: bool) -> None:
    """Once a minute, or when a percent of the window, its reset or the provider's word on it changed."""
    assert is_due(last, one) is expected


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), max_size=30))
def test_a_quiet_window_has_one_point_a_minute(steps: list[tuple[int, float]]) -> None:
    """While less than a percent is used in all, points are a minute apart."""
    sampler, at, taken = Sampler(), 0.0, []
    for wait, part in steps:
        at += wait
        taken += sampler.pick({KEY: reading("7d", 0.5 + part * 0.009, taken=at)})

    moments = [one.taken_at for _, one in taken]
    assert all(later - earlier >= seconds(60) for earlier, later in pairwise(moments))
    assert bool(taken) is bool(steps)


def test_each_window_has_its_own_history() -> None:
    """What stands in two pictures is looked at once; an account that is gone and back begins anew."""
    sampler = Sampler()
    one, other = reading("7d", 0.5), reading("7d", 0.6)

    assert sampler.pick({KEY: one, OTHER: other}) == [(KEY, one), (OTHER, other)]
    assert sampler.pick({KEY: one, OTHER: other}) == []
    assert sampler.pick({KEY: one}) == []
    again = reading("7d", 0.6)
    assert sampler.pick({KEY: one, OTHER: again}) == [(OTHER, again)]


def test_what_was_restored_is_history_already() -> None:
    """A restart adds no points."""
    assert Sampler().pick({KEY: reading(source=Source.RESTORED)}) == []
