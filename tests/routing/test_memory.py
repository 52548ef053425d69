"""routing/memory.py: what one observation changes in several places, and that what is gone is forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from routing.gauges import Gauge
from routing.health import Standing
from routing.holds import Ladder
from routing.observations import (
    AccountsChanged,
    Dispatched,
    Gauged,
    HoldsLifted,
    Measured,
    Restored,
    Succeeded,
)
from routing.readings import Reading, Source
from routing.remembered import Remembered
from routing.stickiness import Stick
from routing.verdicts import Verdict
from routing.words import ConversationId, ExchangeId
from tests.routing.made import (
    ANN,
    BEN,
    EXCHANGE,
    HAIKU,
    NOON,
    OK,
    OPUS,
    account,
    auth,
    demand,
    hold,
    hours,
    limit,
    reading,
    readings,
    refusals,
    seconds,
)
from tests.routing.told import answer, check, known, unrenewed

SIDE = demand(side=True)


@given(refusals | st.just(OK), st.lists(readings, max_size=3))
def test_a_side_call_leaves_only_readings(met: Verdict, shown: list[Reading]) -> None:
    """It takes no lease, sets or lifts no hold, sticks nowhere, and is nobody's latest account."""
    memory = known()
    answer(memory, limit())
    before = memory.held.holds.copy()
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=SIDE, at=NOON))
    answer(memory, met, request=SIDE, sent=2, shown=shown)
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=SIDE, at=NOON))

    assert before == memory.held.holds
    assert memory.traffic.leases.count(ANN) == 0
    assert memory.traffic.habits.warm(SIDE, NOON) is None
    assert memory.traffic.habits.latest(SIDE) is None
    assert {r.window.key for r in shown} == memory.meters.readings.get(ANN, {}).keys()
    assert memory.traffic.requests[ANN] == 1


TALK = (ConversationId("talk"), "opus")


def test_nothing_is_learned_of_a_login_that_is_gone() -> None:
    """A renewal and a check that end after the account was removed leave no trace."""
    memory = known(account(BEN))
    for late in (unrenewed(), unrenewed(bars=False), check(Standing.INVALID), check(Standing.VALID)):
        memory.learn(late)

    assert memory.remembered() == Remembered()
    assert memory.held.logins.unrenewed == {}


def test_lifting_forgets_the_readings_that_a_hold_rests_on() -> None:
    """What is not believed any more must not put the account behind all others; other windows' readings stay."""
    memory = known()
    answer(memory, limit(), shown=[reading("7d", 1.0), reading("5h", 0.5)])
    memory.learn(HoldsLifted(account=ANN, at=NOON))
    memory.learn(HoldsLifted(account=BEN, at=NOON))

    assert list(memory.meters.readings[ANN]) == ["5h"]


def test_a_removed_account_is_forgotten() -> None:
    """All that was known of it goes, and what its last request still tells is not taken."""
    memory = known()
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    answer(memory, auth(), shown=[reading()])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    memory.learn(AccountsChanged(accounts=(account(BEN),)))
    memory.learn(Dispatched(exchange=ExchangeId("e2"), account=BEN, demand=demand(), at=NOON))
    memory.learn(Dispatched(exchange=ExchangeId("e2"), account=ANN, demand=demand(), at=NOON))
    answer(memory, auth(), shown=[reading()])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))

    assert (memory.meters.readings, memory.held.holds, memory.held.logins.ladders, memory.traffic.requests) == (
        {},
        {},
        {},
        {BEN: 1},
    )
    assert (memory.traffic.leases.count(ANN), memory.traffic.leases.count(BEN)) == (0, 0)
    assert memory.traffic.habits.warm(demand(), NOON) is None


def test_what_was_observed_since_the_start_is_newer_than_what_was_restored() -> None:
    """Readings are merged, a longer hold stands, a ladder and a stick of this run stay; lines are added up."""
    old = Remembered(
        readings={(ANN, "7d"): reading("7d", 0.9, sent=-60, taken=-60), (BEN, "5h"): reading("5h", 0.3)},
        holds={ANN: (hold(13, end=1), hold(14, end=1))},
        ladders={ANN: Ladder(failures=7, set_at=NOON)},
        sticks={TALK: Stick(account=BEN, until=NOON)},
        lines={"new": frozenset({HAIKU})},
    )
    memory = known()
    answer(memory, limit(), shown=[reading("7d", 0.5), reading("7d_new", 0.1)])
    answer(memory, auth())
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    memory.learn(Restored(remembered=old, at=NOON))

    assert (memory.meters.readings[ANN]["7d"].used, memory.meters.readings[ANN]["7d"].source) == (0.5, Source.ANSWER)
    assert (memory.meters.readings[BEN]["5h"].used, memory.meters.readings[BEN]["5h"].source) == (0.3, Source.RESTORED)
    assert {one.row: (one.until, one.restored) for one in memory.held.holds[ANN]} == {
        13: (NOON + hours(2), False),
        14: (NOON + hours(1), True),
        18: (NOON + seconds(901), False),
    }
    assert memory.held.logins.ladders[ANN].failures == 1
    assert memory.traffic.habits.warm(demand(), NOON) == ANN
    assert memory.meters.lines == {"new": {OPUS, HAIKU}}


def test_each_observation_is_a_revision() -> None:
    """While the count stands, so does what is remembered; a picture drawn before does not change."""
    memory = known()
    before, revision = memory.remembered(), memory.revision
    answer(memory, auth(), shown=[reading("7d_new")])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))

    assert memory.revision == revision + 2
    assert before == Remembered()
    assert memory.remembered() != before


def test_measuring_merges_readings_and_lifts_what_rests_on_windows_with_room() -> None:
    """A poll that says 2 % ends a hold of days (X26); it sets none, learns no line, and ends none that rests on no window."""
    memory = known()
    answer(memory, limit(end=100), at=1)
    answer(memory, auth(), at=1)
    shown = (reading("7d", 0.02, sent=2, taken=3, source=Source.USAGE), reading("7d_new", sent=2, taken=3))
    memory.learn(Measured(account=ANN, sent_at=NOON + seconds(2), at=NOON + seconds(3), readings=shown))

    assert [hold.row for hold in memory.held.holds[ANN]] == [18]
    assert memory.meters.readings[ANN]["7d"] == shown[0]
    assert memory.meters.lines == {}


def test_measuring_one_that_is_gone_changes_nothing() -> None:
    """As with every observation."""
    memory = known(account(BEN))
    memory.learn(Measured(account=ANN, sent_at=NOON, at=NOON, readings=(reading(),)))

    assert memory.meters.readings == {}


def test_what_measuring_met_is_remembered_and_goes_with_its_account() -> None:
    """What was met since the start is newer than what is restored; one that is gone has nothing to remember."""
    old, new = Gauge(asked_at=NOON), Gauge(asked_at=NOON + seconds(1), failures=1, rest_until=NOON + hours(1))
    memory = known(account(ANN), account(BEN))
    memory.learn(Gauged(account=BEN, gauge=new))
    memory.learn(Restored(remembered=Remembered(gauges={ANN: old, BEN: old}), at=NOON + hours(0.5)))
    assert memory.remembered().gauges == {ANN: old, BEN: new}

    memory.learn(AccountsChanged(accounts=(account(ANN),)))
    memory.learn(Gauged(account=BEN, gauge=new))
    memory.learn(AccountsChanged(accounts=(account(ANN), account(BEN))))
    assert memory.remembered().gauges == {ANN: old}
