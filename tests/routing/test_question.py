"""routing/question.py: who may serve, with reserves, after hops, and as the last resort."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.gates import bar
from routing.memory import Memory
from routing.observations import AccountsChanged, Answered, Dispatched, Measured, Pinned
from routing.question import Question
from routing.rules import Holds, Routing, Rules
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, ExchangeId, Reserves
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    EXCHANGE,
    HAIKU,
    NAMES,
    NOON,
    OK,
    account,
    attempt,
    demand,
    demands,
    limit,
    overloaded,
    pools,
    reading,
    refusals,
    seconds,
    trail,
)
from tests.routing.told import answer

FREE = Rules(routing=Routing(reserve_last_resort=True))
TENTH = Reserves(session=0.1, week=0.1)


def asked(
    memory: Memory, *, request: Demand | None = None, met: Trail | None = None, rules: Rules | None = None
) -> Question:
    """A question at noon."""
    return Question(memory, rules or Rules(), request or demand(), met or trail(), NOON)


def told(*pool: Account) -> Memory:
    """A memory of these accounts."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=pool))
    return memory


def reserving() -> Memory:
    """Ann, at her reserve; ben, who is held; cat, who is disabled."""
    memory = told(replace(account(ANN), reserves=TENTH), account(BEN), account(CAT, enabled=False))
    memory.learn(Measured(account=ANN, sent_at=NOON, at=NOON, readings=(reading("7d", 0.95),)))
    answer(memory, limit(), name=BEN)
    return memory


@given(pools, st.lists(st.tuples(st.sampled_from(NAMES), refusals | st.just(OK)), max_size=4), demands)
def test_who_may_serve_is_whom_nothing_bars(
    pool: tuple[Account, ...], met: list[tuple[AccountId, Verdict]], request: Demand
) -> None:
    """In the order of the accounts; each that is left out has a bar to tell, and no other has."""
    memory = told(*pool)
    for name, verdict in met:
        answer(memory, verdict, name=name, request=request, sent=-2, at=-1)
    question = asked(memory, request=request)
    free = [one.id for one in pool if bar(one, request, memory.held.holds.get(one.id, ()), NOON) is None]

    assert list(question.eligible()) == free
    assert [one.id for one in pool if not question.is_barred(one)] == free


@pytest.mark.parametrize(
    ("rules", "request_", "pinned", "expected"),
    [
        (Rules(), demand(), (), []),
        (FREE, demand(), (), [ANN]),  # as the last resort
        (Rules(), demand(), (ANN,), [ANN]),  # a pin spends it
        (Rules(), demand(), (BEN,), []),
        (Rules(), replace(demand(), pin=ANN), (), [ANN]),
        (FREE, replace(demand(), provider="openai"), (), []),
    ],
)
def test_a_reserve_bars_who_may_not_spend_it(
    rules: Rules, request_: Demand, pinned: tuple[AccountId, ...], expected: list[AccountId]
) -> None:
    """It is spent by pins, and before nobody serves where the settings say so."""
    memory = reserving()
    memory.learn(Pinned(accounts=pinned, at=NOON))

    assert list(asked(memory, request=request_, rules=rules).eligible()) == expected


def test_a_last_resort_is_none_while_somebody_else_may_serve() -> None:
    """Nor is a hold ever one."""
    memory = reserving()
    memory.learn(AccountsChanged(accounts=(*memory.accounts.values(), account("dan"))))
    memory.learn(AccountsChanged(accounts=tuple(replace(one, enabled=True) for one in memory.accounts.values())))

    assert list(asked(memory, rules=FREE).eligible()) == [CAT, "dan"]
    assert list(asked(memory, met=trail(attempt("cat", limit())), rules=FREE).untried()) == ["dan"]
    both = trail(attempt("cat", limit()), attempt("dan", limit()))
    assert list(asked(memory, met=both, rules=FREE).untried()) == [ANN]
    assert list(asked(memory, met=trail(*both.attempts, attempt("ann", limit())), rules=FREE).untried()) == []
    assert list(asked(memory, met=both).untried()) == []


def test_a_wait_lets_everybody_be_asked_again() -> None:
    """What came before it counts no more against a hop; that the exchange was refused is still true."""
    question = asked(told(account(ANN), account(BEN)), met=trail(attempt("ann", overloaded()), renewed_at=1))

    assert list(question.untried()) == [ANN, BEN]
    assert question.was_refused()
    assert not asked(question.memory, met=trail(attempt("ann", OK))).was_refused()


def test_a_full_account_is_so_for_others_than_who_is_in_flight_there() -> None:
    """Its own claim is no bar to an exchange."""
    capped = replace(account(ANN), cap=1)
    memory = told(capped, account(BEN))
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    among = {ANN: capped, BEN: account(BEN)}

    assert asked(memory).full(among) == {ANN}
    assert asked(memory, met=replace(trail(), exchange=EXCHANGE)).full(among) == frozenset()
    assert asked(memory, met=replace(trail(), exchange=ExchangeId("other"))).full(among) == {ANN}


def test_when_nobody_may_serve_only_the_providers_accounts_are_spoken_of() -> None:
    """With reserves among their holds; an account that is gone is named by its id."""
    memory = reserving()
    memory.learn(AccountsChanged(accounts=(*memory.accounts.values(), account("eve", provider="openai"))))
    question = asked(memory)

    assert [one.id for one in question.dead().accounts] == [ANN, BEN, CAT]
    assert [one.row for one in question.dead().holds[ANN]] == [0]
    assert (question.name(BEN), question.name(AccountId("gone"))) == ("ben", "gone")


def test_where_a_conversation_is_warm_and_how_long_it_may_pause() -> None:
    """As its habit says, and its client."""
    memory = told(account(ANN))
    memory.learn(Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=OK, sent_at=NOON, at=NOON))
    memory.traffic.habits.served(demand(), ANN, NOON)

    assert (asked(memory).warm(), asked(memory, request=demand(family=HAIKU)).warm()) == (ANN, None)
    assert (asked(memory).may_pause(seconds(1)), asked(memory).may_pause(seconds(900))) == (True, False)
