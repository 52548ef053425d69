"""Tests of routing/forecast.py."""

from dataclasses import replace
from datetime import datetime

from routing.capacities import Capacities
from routing.forecast import Forecast
from routing.load import ACTIVE, Load
from routing.spent import Spent
from routing.words import AccountId, Demand, ExchangeId
from tests.routing.made import ANN, BEN, HAIKU, NOON, OPUS, demand, seconds


def told(talk: str, family: str = OPUS) -> Demand:
    """A turn whose size is told."""
    return replace(demand(talk, family=family), tokens=20_000)


def sent(load: Load, what: Demand, account: AccountId = ANN, at: datetime = NOON) -> None:
    """A request that is in flight."""
    load.sent(ExchangeId(f"{what.conversation}"), account, what, at)


def pace(load: Load, talk: str) -> int:
    """A conversation's pace."""
    return round(load.paces.pace(told(talk), load.find(told(talk))))


def test_a_conversation_does_not_count_against_itself() -> None:
    """Its own pace is asked for by itself."""
    load = Load()
    for talk in ("own", "other"):
        sent(load, told(talk))
    forecast = Forecast(load, Capacities(), told("own"), NOON)

    assert forecast.pledges[ANN] == pace(load, "other")
    assert Forecast(load, Capacities(), told("new"), NOON).pledges[ANN] == 2 * forecast.pledges[ANN]
    assert (forecast.pledges.get(BEN), forecast.flying(BEN)) == (None, 0)


def test_who_rests_by_now_does_not_count() -> None:
    """Though nothing was observed since: not twice either, where it is the demand's own."""
    load = Load()
    for talk in ("own", "other"):
        sent(load, told(talk))
    sent(load, told("late"), at=NOON + seconds(60))
    now = NOON + ACTIVE + seconds(1)

    for talk in ("own", "new"):
        assert Forecast(load, Capacities(), told(talk), now).pledges[ANN] == pace(load, "late")


def test_families_are_counted_apart() -> None:
    """A model line's window is used by its own families alone."""
    load = Load()
    sent(load, told("one"))
    sent(load, told("two", HAIKU))
    forecast = Forecast(load, Capacities(), told("new"), NOON)

    assert forecast.pledged(ANN, (HAIKU,)) == forecast.pledges[ANN] - forecast.pledged(ANN, (OPUS,))
    assert 0 < forecast.flying(ANN, (HAIKU,)) < forecast.flying(ANN)


def test_it_knows_what_was_learned() -> None:
    """The costs of the demand, and what a window holds."""
    load = Load()
    load.sent(ExchangeId("e"), ANN, told("own"), NOON)
    load.answered(told("own"), Spent(read=19_000, fresh=1_000, output=300), NOON)
    forecast = Forecast(load, Capacities(), told("own"), NOON)

    assert (forecast.cold, forecast.pace) == (
        load.paces.cold_cost(told("own"), load.find(told("own"))),
        load.paces.pace(told("own"), load.find(told("own"))),
    )
    assert forecast.holds["5h"].get(ANN) is None
