"""What measuring met is kept in bounds, whatever was met, and whatever the clock does over a restart."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.gauges import LONGEST, LONGEST_OBEYED, UNTRIED, Gauge
from routing.rules import PROBE_LEAST_S, Probing
from tests.routing.gauged import meetings
from tests.routing.gauged import met as noted
from tests.routing.made import NOON, hours, moments, seconds

FREE = Probing()
EVERY = seconds(PROBE_LEAST_S)
OLD, NEW = "0a" * 8, "1b" * 8

gauges = st.builds(
    Gauge,
    met_with=st.sampled_from([OLD, NEW]),
    asked_at=st.none() | moments,
    failures=st.integers(0, 100),
    rest_until=st.none() | moments,
    is_throttled=st.booleans(),
    is_closed=st.booleans(),
)


@given(gauges, moments)
def test_nothing_restored_blocks_longer_than_the_rule_could(gauge: Gauge, now: datetime) -> None:
    """Nothing was met later than now, no rest is longer than one that is obeyed, and a second restart changes nothing."""
    found = gauge.restored(now)

    assert found.asked_at is None or found.asked_at <= now
    assert found.rest_until is None or found.rest_until <= now + LONGEST_OBEYED
    assert found.restored(now) == found
    assert replace(found, asked_at=gauge.asked_at, rest_until=gauge.rest_until) == gauge


@given(
    st.lists(st.tuples(meetings, st.floats(0, 86400)), max_size=4),
    st.floats(0, 86400),
)
def test_a_restart_changes_nothing_while_the_clock_goes_on(met: list[tuple[str, float]], later: float) -> None:
    """Whatever was met, by any credential."""
    gauge, at = UNTRIED.facing(OLD), NOON
    for what, after in met:
        at += seconds(after)
        gauge = noted(gauge.asked(at), what, at, FREE, after)
        assert gauge.met_with == OLD

    assert gauge.restored(at + seconds(later)) == gauge


def test_a_clock_that_went_back_leaves_a_rest_its_length() -> None:
    """It counts from now: the provider may not be asked sooner than it said, as far as anybody knows."""
    ahead = UNTRIED.throttled(NOON + hours(48), "429", FREE, seconds(2895)).restored(NOON)

    assert (ahead.asked_at, ahead.rest_until) == (NOON, NOON + seconds(2895))


@pytest.mark.parametrize(
    ("asked", "rest", "expected"), [(0, 86400, 86400), (0, 86401, 86400), (-3600, 10**9, 82800), (0, -5, 0)]
)
def test_a_rest_that_no_rule_sets_is_cut(asked: float, rest: float, expected: float) -> None:
    """A day from when it was asked is the longest, and none ends before it began."""
    gauge = Gauge(asked_at=NOON + seconds(asked), failures=1, rest_until=NOON + seconds(asked + rest))

    assert gauge.restored(NOON).rest_until == NOON + seconds(expected)


def test_failures_double_the_rest() -> None:
    """Twice three minutes, four times, … at most an hour, or `every` if that is more."""
    gauge, rests = UNTRIED, []
    for _ in range(6):
        gauge = gauge.failed(NOON, "why", FREE)
        rests.append(gauge.rest_until)
    assert rests == [NOON + timedelta(minutes=m) for m in (6, 12, 24, 48, 60, 60)]
    assert (gauge.failures, gauge.asked_at, gauge.because, gauge.is_throttled) == (6, NOON, "why", False)

    seldom = Probing(every=2 * LONGEST.total_seconds())
    assert gauge.failed(NOON, "why", seldom).rest_until == NOON + 2 * LONGEST


@pytest.mark.parametrize(("asked", "rest"), [(None, 360), (60, 360), (2895, 2895), (9 * 86400, 86400)])
def test_a_limit_on_asking_obeys_retry_after(asked: float | None, rest: float) -> None:
    """No less than after a failure, and a day at most."""
    gauge = UNTRIED.throttled(NOON, "429", FREE, None if asked is None else seconds(asked))

    assert (gauge.rest_until, gauge.is_throttled, gauge.because) == (NOON + seconds(rest), True, "429")


def test_success_ends_the_rest() -> None:
    """After a reading the next failure is the first again."""
    gauge = UNTRIED.failed(NOON, "why", FREE).failed(NOON, "why", FREE).read(NOON)

    assert gauge == Gauge(asked_at=NOON)
    assert gauge.failed(NOON, "why", FREE).rest_until == NOON + 2 * EVERY


def test_what_stands_for_another_credential() -> None:
    """When it was asked, and the provider's limit on that; that it may not ask, and failures, are forgotten."""
    closed = UNTRIED.facing(OLD).closed(NOON)
    assert closed.facing(OLD) is closed
    assert closed.facing(NEW) == Gauge(met_with=NEW, asked_at=NOON)

    failed = closed.failed(NOON, "401", FREE)
    assert failed.facing(OLD) == failed
    assert failed.facing(NEW) == Gauge(met_with=NEW, asked_at=NOON)

    throttled = closed.throttled(NOON, "429", FREE, seconds(2000))
    assert throttled.facing(NEW) == replace(throttled, met_with=NEW, is_closed=False)


def test_asking_counts_before_its_answer() -> None:
    """A rest and its reason stand meanwhile."""
    failed = UNTRIED.failed(NOON, "why", FREE)

    assert failed.asked(NOON + hours(1)) == replace(failed, asked_at=NOON + hours(1))
