"""Tests of routing/load.py."""

from dataclasses import replace
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from routing.load import ACTIVE, Load
from routing.spent import Spent
from routing.words import AccountId, Demand, ExchangeId
from tests.routing.made import ANN, BEN, HAIKU, NAMES, NOON, OPUS, demand, hours, seconds

TALK = "talk"
KNOWN = 20_000
TURN = Spent(read=KNOWN, fresh=1_000, output=500)


def told(talk: str | None = TALK, tokens: int = KNOWN, family: str = OPUS, weight: float = 1.0) -> Demand:
    """A turn whose size is told."""
    return replace(demand(talk, family=family), tokens=tokens, weight=weight)


def turn(load: Load, what: Demand, at: datetime, account: AccountId = ANN, spent: Spent = TURN) -> None:
    """A turn that is served at once."""
    exchange = ExchangeId(f"{what.conversation} {at}")
    load.sent(exchange, account, what, at)
    load.answered(what, spent, at)
    load.ended(exchange)


def sums(load: Load, account: AccountId = ANN) -> tuple[int, int]:
    """What is pledged, and in flight, on an account."""
    return load.pledged.totals.get(account, 0), load.flying.totals.get(account, 0)


steps = st.lists(
    st.tuples(
        st.sampled_from(("sent", "answered", "refused", "ended", "drop")),
        st.sampled_from(NAMES),
        st.integers(0, 4),
        st.sampled_from((OPUS, HAIKU)),
        st.integers(0, 600),
    ),
    max_size=40,
)


@given(steps, st.integers(1, 4))
def test_the_sums_are_those_of_who_is_at_work_and_in_flight(
    told_steps: list[tuple[str, AccountId, int, str, int]], bound: int
) -> None:
    """Whatever happens in whatever order: nothing is left behind, nothing counts twice, and no more are remembered than may be."""
    load, now = Load(bound=bound), NOON
    for kind, account, number, family, wait in told_steps:
        now += seconds(wait)
        what, exchange = told(f"talk {number}", 1_000 * number, family), ExchangeId(str(number))
        match kind:
            case "sent":
                load.sent(exchange, account, what, now)
            case "answered":
                load.answered(what, TURN, now)
            case "refused":
                load.refused(exchange, what)
            case "ended":
                load.ended(exchange)
            case _:
                load.drop(account)
        talks, flights = load.at_work(), load.in_flight()
        assert len(load) <= bound
        for name in NAMES:
            expected = sum(talk.pledge for talk in talks if talk.account == name)
            assert sums(load, name) == (expected, sum(flight.cost for flight in flights if flight.account == name))


def test_subagents_of_one_second_are_pledged_before_any_answer() -> None:
    """Each that is sent is seen by the next, however large it is."""
    load = Load()
    seen = []
    for number in range(24):
        seen.append(sums(load)[0])
        load.sent(ExchangeId(str(number)), ANN, told(f"subagent {number}", 10_000 + number), NOON)

    assert seen == sorted(set(seen))
    assert sums(load, BEN) == (0, 0)


def test_a_conversation_is_at_work_for_a_quarter_of_an_hour() -> None:
    """Then it rests, though nothing was heard since."""
    load = Load()
    turn(load, told(), NOON)

    assert load.uncounted(told("other"), NOON + ACTIVE) == []
    assert [talk.account for talk in load.uncounted(told("other"), NOON + ACTIVE + seconds(1))] == [ANN]
    turn(load, told("other"), NOON + ACTIVE + seconds(1), BEN)
    assert sums(load)[0] == 0


def test_a_refused_conversation_wants_nothing_there() -> None:
    """It goes on elsewhere, where it is cold."""
    load = Load()
    turn(load, told(), NOON)
    load.sent(ExchangeId("e"), ANN, told(), NOON + seconds(60))
    load.refused(ExchangeId("e"), told())

    assert sums(load) == (0, 0)
    load.sent(ExchangeId("e"), BEN, told(), NOON + seconds(61))
    assert load.flying.of(BEN) == {OPUS: round(load.paces.cold_cost(told(), load.find(told())))}


def test_a_request_in_flight_costs_what_its_cache_says() -> None:
    """Warm where it was served within the time that its cache lives, else cold."""
    load = Load()
    turn(load, told(), NOON)
    for at, account, is_warm in [
        (NOON + hours(1), ANN, True),
        (NOON + hours(1) + seconds(1), ANN, False),
        (NOON + seconds(1), BEN, False),
    ]:
        load.sent(ExchangeId("e"), account, told(), at)
        cost = (load.paces.warm_cost if is_warm else load.paces.cold_cost)(told(), load.find(told()))
        assert load.flying.totals[account] == round(cost)
        load.sent(ExchangeId("e"), ANN, told(), NOON)  # as it was
        load.ended(ExchangeId("e"))


def test_a_request_without_a_conversation_is_only_in_flight() -> None:
    """Nobody can say whether it goes on."""
    load = Load()
    load.sent(ExchangeId("e"), ANN, told(None), NOON)
    assert (sums(load)[0], sums(load)[1] > 0) == (0, True)
    load.answered(told(None), TURN, NOON)
    load.refused(ExchangeId("e"), told(None))
    assert sums(load) == (0, 0)


def test_an_answer_after_a_refusal_pledges_nothing() -> None:
    """The conversation is known better, but is at work nowhere."""
    load, asked = Load(), told("talk", 1_000)
    load.sent(ExchangeId("x"), ANN, asked, NOON)
    load.refused(ExchangeId("x"), asked)
    load.answered(asked, Spent(fresh=1_000), NOON)

    assert (sums(load), load.at_work(), len(load)) == ((0, 0), (), 1)


def test_the_conversation_heard_of_longest_ago_goes_first() -> None:
    """With what it had pledged."""
    load = Load(bound=2)
    for number, name in enumerate((ANN, BEN, BEN)):
        load.sent(ExchangeId(f"x{number}"), name, told(f"talk {number}", 1_000), NOON)

    assert (len(load), len(load.at_work()), sums(load)[0]) == (2, 2, 0)
    assert load.find(told("talk 0")) is None
