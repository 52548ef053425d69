"""Tests of routing/paces.py."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.paces import DOUBT, FIRST, LASTING, UNTOLD, Paces, Talk
from routing.spent import OUTPUT, READ, WRITE, Spent
from routing.words import Demand
from tests.routing.made import ANN, BEN, NOON, OPUS, demand, hours, seconds

KNOWN = 20_000
TURN = Spent(read=KNOWN, fresh=1_000, output=500)
tokens = st.integers(0, 500_000)


def told(size: int = KNOWN, weight: float = 1.0) -> Demand:
    """A turn whose size is told."""
    return replace(demand(), tokens=size, weight=weight)


def talk() -> Talk:
    """A conversation that was sent, and not yet answered."""
    return Talk(family=OPUS, at=NOON, weight=1.0, ratio=1.0, account=ANN)


@pytest.mark.parametrize("gap_s", [30, 100, 240])
def test_a_pace_is_learned(gap_s: int) -> None:
    """Turns per hour times what each costs; a long pause says nothing of it, nor does a cache that was rebuilt."""
    paces, one, now, known = Paces(), talk(), NOON, KNOWN
    for number in range(400):
        now += seconds(gap_s) + (hours(2) if number == 200 else hours(0))
        cold = Spent(written=known, fresh=1_000, output=500)
        warm = Spent(read=known, fresh=1_000, output=500)
        paces.learn(one, told(known + 1_000), cold if number in (0, 200) else warm, now)
        known += 1_500
    each = READ * (known + 1_000) + 1_000 + 500 * OUTPUT

    assert paces.pace(told(known + 1_000), one) == pytest.approx(each * 3600 / gap_s, rel=0.1)
    one.context = known + 1_000
    assert paces.pledge(one) == round(paces.pace(told(known + 1_000), one))


def test_a_young_conversation_is_taken_for_an_ordinary_one() -> None:
    """First for one of a first guess, then for one like the others, and the longer it lasts the more for itself."""
    paces, fast = Paces(), talk()
    guessed = FIRST.gaps / FIRST.hours * (READ * KNOWN + FIRST.news / FIRST.answers)
    assert paces.pace(told(), None) == paces.pace(told(), talk()) == pytest.approx(guessed)
    for number in range(500):
        paces.learn(fast, told(), TURN, NOON + seconds(10 * number))
    assert paces.rate(None) == pytest.approx(360, rel=0.2)

    slow = talk()
    for number in range(int(DOUBT) + 1):
        paces.learn(slow, told(), TURN, NOON + seconds(600 * number))
    assert 6 < paces.rate(slow) < 60


def test_old_averages_fade() -> None:
    """When everybody has become slower, a new conversation is expected to be so too."""
    paces, one = Paces(), talk()
    for number in range(int(LASTING)):
        paces.learn(one, told(), TURN, NOON + seconds(10 * number))
    for number in range(int(3 * LASTING)):
        paces.learn(one, told(), TURN, NOON + hours(9) + seconds(100 * number))

    assert paces.rate(None) == pytest.approx(36, rel=0.15)


def test_how_long_a_prompt_is() -> None:
    """As told; bytes are corrected by what answers said of this conversation, and of others; untold, as it was last."""
    paces, one = Paces(), talk()
    assert (paces.length(told(8_000), None), paces.length(told(0), None), paces.length(told(0), one)) == (
        8_000,
        UNTOLD,
        UNTOLD,
    )
    paces.learn(one, told(42_000), TURN, NOON)  # which were 21,000
    assert paces.length(told(44_000), one) == 22_000
    assert paces.length(told(0), one) == 21_500
    assert 42_000 > paces.length(told(42_000), None) > 21_000


@given(tokens, tokens, tokens, st.integers(1, 100_000_000))
def test_no_answer_makes_an_estimate_senseless(read: int, written: int, output: int, size: int) -> None:
    """Images make a body long, and usage may be told in part: what follows stays a cost."""
    paces, one = Paces(), talk()
    paces.learn(one, told(size), Spent(read=read, written=written, output=output), NOON)

    assert 0 <= paces.warm_cost(told(), one) <= paces.cold_cost(told(), one)
    assert paces.pace(told(), one) > 0
    assert paces.pledge(one) >= 0


def test_a_dearer_model_weighs_more() -> None:
    """All that is estimated is in proportion to its weight."""
    paces, plain, dear = Paces(), told(), told(weight=2.0)
    for estimate in (paces.cold_cost, paces.warm_cost, paces.pace):
        assert estimate(dear, None) == 2 * estimate(plain, None)

    assert paces.cold_cost(plain, None) - paces.warm_cost(plain, None) == pytest.approx((WRITE - READ) * KNOWN)


@pytest.mark.parametrize(
    ("served_at", "now", "is_warm"),
    [(None, NOON, False), (NOON, NOON + hours(1), True), (NOON, NOON + hours(1) + seconds(1), False)],
)
def test_where_a_cache_is_warm(served_at: datetime | None, now: datetime, is_warm: bool) -> None:
    """On the account that answered last, for as long as it was asked to live."""
    one = replace(talk(), served_at=served_at)

    assert one.is_warm(ANN, hours(1), now) is is_warm
    assert not one.is_warm(BEN, hours(1), now)
