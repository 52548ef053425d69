"""Tests of routing/remembered.py."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.capacities import Tally
from routing.gauges import Gauge
from routing.health import Check
from routing.holds import Hold, Ladder
from routing.lifetimes import Lifetime
from routing.readings import Reading, Source
from routing.remembered import Remembered, is_outdated, still_standing
from routing.stickiness import Stick
from routing.words import ConversationId
from tests.routing.made import ANN, BEN, EXCHANGE, NOON, OPUS, hold, holds, hours, moments, reading, readings, seconds

TALK, CHAT = (ConversationId("talk"), "opus"), (ConversationId("chat"), "opus")


@given(st.lists(readings, max_size=4), st.lists(holds, max_size=4), moments)
def test_nothing_that_is_over_comes_back(shown: list[Reading], held: list[Hold], now: datetime) -> None:
    """Whatever was remembered: no hold has ended, no window was reset, nothing was met later than now, all is marked."""
    old = Remembered(readings={(ANN, r.window.key): r for r in shown}, holds={ANN: tuple(held)})
    now_standing = still_standing(old, {ANN}, now)

    for kept in now_standing.holds.get(ANN, ()):
        assert kept.until > now >= kept.set_at
        assert (kept.restored, kept.by) == (True, None)
    for one in now_standing.readings.values():
        assert one.resets_at is None or one.resets_at > now
        assert one.source is Source.RESTORED
        assert max(one.sent_at, one.taken_at) <= now
    assert len(now_standing.holds.get(ANN, ())) == sum(one.until > now for one in held)


def test_nothing_comes_back_of_an_account_that_is_gone() -> None:
    """What was known of ben stays behind; what is known of lines is nobody's."""
    old = Remembered(
        readings={(ANN, "7d"): reading(), (BEN, "7d"): reading()},
        holds={ANN: (hold(),), BEN: (hold(name=BEN),)},
        ladders={ANN: Ladder(failures=2, set_at=NOON), BEN: Ladder(failures=1, set_at=NOON)},
        checks=dict.fromkeys((ANN, BEN), Check(failures=1)),
        lifetimes=dict.fromkeys((ANN, BEN), Lifetime()),
        sticks={TALK: Stick(account=ANN, until=NOON), CHAT: Stick(account=BEN, until=NOON)},
        lines={"new": frozenset({OPUS})},
        capacities=dict.fromkeys(((ANN, "5h"), (BEN, "5h")), Tally(cost=1.0, share=0.1)),
        gauges=dict.fromkeys((ANN, BEN), Gauge(asked_at=NOON)),
    )
    kept = still_standing(old, {ANN}, NOON)

    assert kept.readings.keys() == {(ANN, "7d")}
    assert kept.holds == {ANN: (replace(hold(), by=None, restored=True),)}
    assert kept.ladders == {ANN: Ladder(failures=2, set_at=NOON)}
    assert (kept.checks, kept.lifetimes) == ({ANN: Check(failures=1)}, {ANN: Lifetime()})
    assert kept.sticks == {TALK: Stick(account=ANN, until=NOON)}
    assert kept.lines == {"new": frozenset({OPUS})}
    assert kept.capacities.keys() == {(ANN, "5h")}
    assert kept.gauges == {ANN: Gauge(asked_at=NOON)}


def test_an_account_without_a_running_hold_has_none() -> None:
    """Of ended holds not even the account is told; a stick that went cold is gone too."""
    old = Remembered(holds={ANN: (hold(end=1),)}, sticks={TALK: Stick(account=ANN, until=NOON)})
    kept = still_standing(old, {ANN}, NOON + hours(1))

    assert (kept.holds, kept.sticks) == ({}, {})


def test_a_clock_that_went_back_leaves_nothing_in_the_future() -> None:
    """A hold and a ladder set later than now count from now: else no later answer could lift them."""
    old = Remembered(
        holds={ANN: (hold(set_at=60),)},
        ladders={ANN: Ladder(failures=1, set_at=NOON + seconds(60))},
        checks={ANN: Check(failures=9, next_at=NOON + hours(9), checked_at=NOON + seconds(60)), BEN: Check(failures=1)},
        gauges={ANN: Gauge(asked_at=NOON + hours(9), rest_until=NOON + hours(10))},
    )
    kept = still_standing(old, {ANN, BEN}, NOON)

    assert kept.checks == {
        ANN: Check(failures=9, next_at=NOON + hours(0.5), checked_at=NOON),
        BEN: Check(failures=1),
    }

    assert [one.set_at for one in kept.holds[ANN]] == [NOON]
    assert kept.ladders[ANN].set_at == NOON
    assert kept.gauges[ANN] == Gauge(asked_at=NOON, rest_until=NOON + hours(1))


@pytest.mark.parametrize(
    ("one", "after", "expected"),
    [
        (reading("5h", resets=1), 1, True),
        (reading("5h", resets=1), 0.9, False),
        (reading("5h", resets=None), 5, True),
        (reading("5h", resets=None), 4.9, False),
    ],
)
def test_a_reading_is_outdated_once_its_window_was_reset(one: Reading, after: float, expected: bool) -> None:
    """One that named no reset is trusted as long as its window is."""
    assert is_outdated(one, NOON + hours(after)) is expected


def test_the_exchange_is_forgotten() -> None:
    """A restored hold of row 19 can be taken back by no exchange of this run."""
    old = Remembered(holds={ANN: (hold(19, by=EXCHANGE),)})

    assert still_standing(old, {ANN}, NOON).holds[ANN][0].by is None
