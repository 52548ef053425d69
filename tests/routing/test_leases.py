"""Tests of routing/leases.py."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from routing.leases import Leases
from routing.words import AccountId, ExchangeId
from tests.routing.made import ANN, BEN, EXCHANGE, HAIKU, NAMES, demand

exchanges = st.sampled_from([ExchangeId(f"e{n}") for n in range(4)])
moves = st.tuples(exchanges, st.sampled_from(NAMES), st.sampled_from(["talk", "chat", None]))


@given(st.lists(moves | exchanges | st.sampled_from([("drop", name) for name in NAMES]), max_size=30))
def test_counts_are_those_of_the_exchanges_in_flight(steps: list[tuple[str, ...] | str]) -> None:
    """Whatever the order of moves, ends and removals, each exchange counts once, on its latest account."""
    leases = Leases()
    model: dict[str, tuple[AccountId, str | None]] = {}
    for step in steps:
        match step:
            case ("drop", name):
                leases.drop(AccountId(name))
                model = {e: held for e, held in model.items() if held[0] != name}
            case (exchange, name, conversation):
                leases.move(ExchangeId(exchange), AccountId(name), demand(conversation))
                model[exchange] = (AccountId(name), conversation)
            case exchange:
                assert leases.end(ExchangeId(str(exchange))) is (model.pop(str(exchange), None) is not None)

    counts = Counter(name for name, _ in model.values())
    assert [counts[name] for name in NAMES] == [leases.count(name) for name in NAMES]
    assert dict(counts) == leases.counts
    for conversation in ("talk", "chat"):
        expected = {(e, name) for e, (name, of) in model.items() if of == conversation}
        assert expected == {(lease.exchange, lease.account) for lease in leases.of(demand(conversation).conversation)}


def test_a_lease_ends_once() -> None:
    """Ending it again is harmless."""
    leases = Leases()
    leases.move(EXCHANGE, ANN, demand())

    assert [leases.end(EXCHANGE), leases.end(EXCHANGE)] == [True, False]
    assert leases.count(ANN) == 0


def test_a_conversations_leases_come_newest_first() -> None:
    """Two turns in flight: the one that went out last is named first; no conversation has none."""
    leases = Leases()
    leases.move(ExchangeId("e1"), ANN, demand())
    leases.move(ExchangeId("e2"), BEN, demand(family=HAIKU))
    leases.move(ExchangeId("e3"), BEN, demand(None))

    assert [lease.account for lease in leases.of(demand().conversation)] == [BEN, ANN]
    assert leases.of(None) == ()
