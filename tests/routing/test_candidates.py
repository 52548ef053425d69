"""routing/candidates.py: what a strategy is shown of each account."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.candidates import free
from routing.memory import Memory
from routing.observations import AccountsChanged, Dispatched, Measured, Pinned, Succeeded
from routing.question import Question
from routing.readings import Reading
from routing.reserves import by_length
from routing.rules import Holds, Routing, Rules
from routing.scoring import STRATEGIES
from routing.strategies.contract import NO_RESERVES, Candidate, Free
from routing.words import AccountId, Demand, ExchangeId, Reserves
from tests.routing.made import ANN, BEN, CAT, HAIKU, NAMES, NOON, account, demand, hours, reading, readings, trail

TENTH = Reserves(session=0.1, week=0.1)


def pool(*shown: Reading, reserves: Reserves = TENTH) -> Memory:
    """Ann, who holds something back and of whom this was read; ben and cat, of whom nothing is known."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(replace(account(ANN), reserves=reserves), account(BEN), account(CAT))))
    memory.learn(Measured(account=ANN, sent_at=NOON, at=NOON, readings=shown))
    return memory


def drawn(memory: Memory, *, strategy: str = "perishing", request: Demand | None = None) -> Free:
    """A choice among all of them at noon."""
    rules = Rules(routing=Routing(strategy=strategy))
    return free(Question(memory, rules, request or demand(), trail(), NOON), memory.accounts)


def of(choice: Free, name: AccountId = ANN) -> Candidate:
    """One of the candidates."""
    return next(one for one in choice.candidates if one.account.id == name)


@given(st.lists(readings, max_size=4), st.lists(st.sampled_from(NAMES), max_size=5), st.sampled_from([*STRATEGIES]))
def test_a_candidate_shows_what_is_known(shown: list[Reading], sent: list[AccountId], strategy: str) -> None:
    """Each account in its place, with the readings that count, the requests in flight and its turn; nobody else."""
    memory = pool(*shown)
    for number, name in enumerate(sent):
        exchange = ExchangeId(f"x{number}")
        memory.learn(Dispatched(exchange=exchange, account=name, demand=demand(), at=NOON, is_free=True))
    choice = drawn(memory, strategy=strategy)

    assert [one.account.id for one in choice.candidates] == [*NAMES]
    assert [one.leases for one in choice.candidates] == [sent.count(name) for name in NAMES]
    assert [one.given_at for one in choice.candidates] == [
        max((number for number, at in enumerate(sent, 1) if at == name), default=0) for name in NAMES
    ]
    assert {reading.window.key for reading in of(choice).readings} == {
        key for key, known in memory.meters.readings.get(ANN, {}).items() if known.window.line != "new"
    }
    assert of(choice, BEN).readings == ()
    assert choice.latest == (sent[-1] if sent else None)


@pytest.mark.parametrize(
    ("used", "pinned", "name", "held_back"),
    [
        (0.5, (), ANN, True),
        (0.95, (), ANN, False),  # it serves as the last resort
        (0.5, (ANN,), ANN, False),
        (0.5, (BEN,), ANN, True),
        (0.5, (), BEN, False),  # it holds nothing back
    ],
)
def test_what_is_held_back(used: float, pinned: tuple[AccountId, ...], name: AccountId, held_back: bool) -> None:
    """Nothing from who may spend it."""
    memory = pool(reading("7d", used))
    memory.learn(Pinned(accounts=pinned, at=NOON))
    expected = by_length(replace(account(ANN), reserves=TENTH)) if held_back else NO_RESERVES

    assert of(drawn(memory), name).reserves == expected


@pytest.mark.parametrize(
    ("used", "resets", "reserves", "latest", "pressed"),
    [
        (1.0, 3, Reserves(), False, True),  # it is out
        (0.92, 0.2, TENTH, False, False),  # its reserve is reached, so it serves as the last resort
        (0.85, 3, Reserves(), False, True),  # in two of its five hours
        (0.4, 3, Reserves(), False, False),
        (0.405, 3, Reserves(), False, True),
        (0.405, 3, Reserves(), True, False),  # a point less, where it was chosen last
        (0.38, 3, TENTH, False, True),  # what is held back does not count as room
    ],
)
def test_pressure_is_seen_by_those_who_look(
    used: float, resets: float, reserves: Reserves, latest: bool, pressed: bool
) -> None:
    """For all others it is not computed."""
    memory = pool(reading("5h", used, resets=resets), reserves=reserves)
    other = ANN if latest else BEN
    memory.learn(Dispatched(exchange=ExchangeId("x"), account=other, demand=demand("x"), at=NOON, is_free=True))

    assert {name for name in STRATEGIES if of(drawn(memory, strategy=name)).pressed} == (
        {name for name, strategy in STRATEGIES.items() if strategy.reads_pressure} if pressed else set()
    )


def test_a_choice_knows_where_the_conversation_lived_and_what_will_come() -> None:
    """However long ago, and of its model alone."""
    memory = pool()
    told = Succeeded(exchange=ExchangeId("x"), account=CAT, demand=demand(), at=NOON - hours(9))
    memory.learn(told)

    assert (drawn(memory).home, drawn(memory, request=demand(family=HAIKU)).home) == (CAT, None)
    outlook = drawn(memory).forecast
    assert outlook is not None
    assert outlook.load is memory.traffic.load


def test_one_that_may_not_serve_is_not_shown_even_if_it_holds_something_back() -> None:
    """Only those that may serve are candidates."""
    memory = pool(reading("7d", 0.5))
    question = Question(memory, Rules(routing=Routing()), demand(), trail(), NOON)

    assert [one.account.id for one in free(question, {BEN: memory.accounts[BEN]}).candidates] == [BEN]
