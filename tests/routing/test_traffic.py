"""routing/traffic.py, by what a memory is told: what is in flight where, and where conversations live."""

from dataclasses import replace

import pytest

from routing.memory import Memory
from routing.observations import (
    AccountsChanged,
    Answered,
    Dispatched,
    Ended,
    Succeeded,
)
from routing.rules import Holds
from tests.routing.made import (
    ANN,
    BEN,
    EXCHANGE,
    NOON,
    OK,
    OPUS,
    account,
    demand,
    limit,
    reading,
    seconds,
    trail,
)
from tests.routing.told import answer, known, served


def test_a_lease_follows_its_exchange() -> None:
    """Each dispatch moves it, the end ends it, and a second end is harmless."""
    memory = known()
    counts = []
    for step in (
        Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON),
        Dispatched(exchange=EXCHANGE, account=BEN, demand=demand(), at=NOON),
        Ended(exchange=EXCHANGE, trail=trail(), at=NOON),
        Ended(exchange=EXCHANGE, trail=trail(), at=NOON),
    ):
        memory.learn(step)
        counts.append((memory.traffic.leases.count(ANN), memory.traffic.leases.count(BEN)))

    assert counts == [(1, 0), (0, 1), (0, 0), (0, 0)]
    assert memory.traffic.habits.latest(demand()) == BEN


def test_a_conversation_sticks_after_a_success_alone() -> None:
    """Being asked is not enough."""
    memory = known()
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    answer(memory, OK)
    assert memory.traffic.habits.warm(demand(), NOON) is None

    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    assert memory.traffic.habits.warm(demand(), NOON) == ANN


def test_an_account_disabled_in_flight_gets_no_stick() -> None:
    """Its answer still counts for its readings."""
    memory = known(account(ANN, enabled=False))
    answer(memory, OK, shown=[reading()])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))

    assert memory.traffic.habits.warm(demand(), NOON) is None
    assert "7d" in memory.meters.readings[ANN]


def test_free_choices_and_levels_of_5h_windows_are_kept_and_go_with_the_account() -> None:
    """A choice that a habit made, and a side call's, is nobody's turn; an answer's reading makes a level."""
    memory = known(account(ANN), account(BEN))
    for name, is_free, side in ((ANN, True, False), (BEN, False, False), (BEN, True, True)):
        sent = Dispatched(exchange=EXCHANGE, account=name, demand=demand(side=side), at=NOON, is_free=is_free)
        memory.learn(sent)
    assert (memory.traffic.given.latest("anthropic"), memory.traffic.given.ordinals) == (ANN, {ANN: 1})

    for minutes, used in ((0, 0.1), (20, 0.5)):
        shown = reading("5h", used, resets=4, sent=60 * minutes, taken=60 * minutes)
        at = NOON + seconds(60 * minutes)
        met = Answered(
            exchange=EXCHANGE, account=ANN, demand=demand(), verdict=OK, sent_at=at, at=at, readings=(shown,)
        )
        memory.learn(met)
    session = memory.meters.counting(OPUS)[ANN]
    found = memory.meters.pressures.of(ANN, session, NOON + seconds(1200))
    assert found is not None
    assert found.rate == pytest.approx(1.2)

    memory.learn(AccountsChanged(accounts=(account(BEN),)))
    assert memory.traffic.given.latest("anthropic") is None
    late = memory.meters.pressures.of(ANN, session, NOON + seconds(1200))
    assert late is None or not late.is_recent


def test_a_refused_request_wants_nothing_there() -> None:
    """Whoever refused it is asked no more for its conversation."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(account(),)))
    dispatched, answered = served(ANN, 0.1, None)[:2]
    memory.learn(dispatched)
    assert memory.traffic.load.flying.totals[ANN] > 0
    assert isinstance(answered, Answered)
    memory.learn(replace(answered, verdict=limit()))

    assert (memory.traffic.load.flying.totals[ANN], memory.traffic.load.pledged.totals[ANN]) == (0, 0)
