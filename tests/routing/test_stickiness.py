"""Tests of routing/stickiness.py."""

from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from routing.decisions import Use
from routing.holds import barring
from routing.rules import Routing, Rules
from routing.scoring import STRATEGIES
from routing.stickiness import Habits, Stick
from routing.verdicts import Verdict
from routing.words import AccountId, ConversationId
from tests.routing.made import ANN, BEN, CAT, HAIKU, NAMES, NOON, OK, demand, hours, limit, overloaded, reading, seconds
from tests.routing.shell import Shell


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(NAMES)), max_size=40))
def test_the_latest_served_conversations_are_remembered(turns: list[tuple[int, str]]) -> None:
    """At most so many conversations and sessions are kept: those served last, each on its latest account."""
    habits = Habits(bound=4)
    latest: dict[int, str] = {}
    for talk, name in turns:
        asked = demand(f"talk {talk}", session=f"session {talk}")
        habits.served(asked, NAMES[NAMES.index(name)], NOON)
        habits.asked(asked, NAMES[NAMES.index(name)])
        latest.pop(talk, None)
        latest[talk] = name

    kept = dict(list(latest.items())[-4:])
    talks = [demand(f"talk {talk}", session=f"session {talk}") for talk in range(10)]
    assert [kept.get(talk) for talk in range(10)] == [habits.warm(asked, NOON) for asked in talks]
    assert [kept.get(talk) for talk in range(10)] == [habits.latest(asked) for asked in talks]
    assert len(kept) == habits.count_warm(NOON)


def test_a_stick_is_warm_until_its_cache_goes_cold() -> None:
    """It holds up to the last moment of the cache's time, and earlier when now goes back."""
    habits = Habits()
    habits.served(demand(), ANN, NOON)
    last = NOON + hours(1)

    assert [habits.warm(demand(), t) for t in (NOON - hours(5), last, last + seconds(1))] == [ANN, ANN, None]
    assert [habits.count_warm(t) for t in (last, last + seconds(1))] == [1, 0]


def test_a_stick_is_of_one_model() -> None:
    """Another model has another prompt cache."""
    habits = Habits()
    habits.served(demand(), ANN, NOON)

    assert habits.warm(demand(family=HAIKU), NOON) is None


def test_what_has_no_name_is_not_remembered() -> None:
    """A request without a conversation or a session leaves no habit."""
    habits = Habits()
    nameless = demand(None, session=None)
    habits.served(nameless, ANN, NOON)
    habits.asked(nameless, ANN)

    assert habits.warm(nameless, NOON) is None
    assert habits.latest(nameless) is None
    assert habits.count_warm(NOON) == 0


def test_a_removed_account_leaves_no_habit() -> None:
    """Its sticks and sessions go; those of others stay."""
    habits = Habits()
    for name in (ANN, BEN):
        habits.served(demand(name), name, NOON)
        habits.asked(demand(name, session=name), name)
    habits.drop(ANN)

    assert [habits.warm(demand(name), NOON) for name in (ANN, BEN)] == [None, BEN]
    assert [habits.latest(demand(session=name)) for name in (ANN, BEN)] == [None, BEN]


def test_restored_sticks_are_the_oldest() -> None:
    """What was served since stays as it is, and where there are too many it is the restored that go."""
    habits = Habits(bound=2)
    habits.served(demand("talk"), ANN, NOON)
    old = {(ConversationId(talk), "opus"): Stick(account=BEN, until=NOON) for talk in ("first", "second", "talk")}
    habits.restore(old)

    assert [habits.warm(demand(talk), NOON) for talk in ("first", "second", "talk")] == [None, BEN, ANN]
    habits.served(demand("third"), ANN, NOON)
    assert [key[0] for key in habits.sticks()] == ["talk", "third"]


def test_a_copy_of_the_sticks_stands_still() -> None:
    """What is served later is not in a copy that was made before."""
    habits = Habits()
    before = habits.sticks()
    habits.served(demand(), ANN, NOON)

    assert (len(before), len(habits.sticks())) == (0, 1)


def test_a_conversations_home_outlives_its_cache() -> None:
    """The account that served it last with this model, however long ago; none before, and none of what cannot be told apart."""
    habits = Habits()
    habits.served(demand(), ANN, NOON)
    assert (habits.home(demand()), habits.home(demand(family=HAIKU)), habits.home(demand(None))) == (ANN, None, None)
    assert habits.home(demand("chat")) is None

    habits.served(demand(), BEN, NOON + hours(9))
    assert habits.home(demand()) == BEN
    habits.drop(BEN)
    assert habits.home(demand()) is None


class Happened(NamedTuple):
    """A turn of a conversation: the minutes before it, who refuses, and what an answer shows to be used."""

    talk: str
    minutes: int
    refuse: frozenset[AccountId]
    used: float


turns_taken = st.lists(
    st.builds(
        Happened,
        st.sampled_from(["talk", "chat"]),
        st.integers(0, 14),
        st.frozensets(st.sampled_from(NAMES), max_size=2),
        st.floats(0, 1.1),
    ),
    max_size=16,
)


SERVED_IN_SPITE_OF_A_HOLD = [  # all are held; ann refuses once more, so that ben is asked to see whether its hold still stands
    Happened("chat", 0, frozenset({ANN, BEN}), 0.6),
    Happened("chat", 0, frozenset({CAT}), 0.6),
    Happened("chat", 11, frozenset({ANN}), 0.6),
    Happened("talk", 2, frozenset(), 1.05),  # ben serves, and its answer shows no room: its hold stands
    Happened(
        "talk", 9, frozenset(), 0.1
    ),  # again nobody may serve: whose hold ends first is asked, be it another account
]


@pytest.mark.parametrize("strategy", STRATEGIES)
@example(history=SERVED_IN_SPITE_OF_A_HOLD)
@given(history=turns_taken)
def test_a_warm_conversation_moves_only_from_an_account_that_refused(strategy: str, history: list[Happened]) -> None:
    """Whatever is read, it stays until its account refuses somebody; so it never goes from A to B and back but by refusals of both.

    An account that is asked in spite of its hold has refused as long as that stands, even if it serves this once.
    """
    shell = Shell(*NAMES, rules=Rules(routing=Routing(strategy=strategy)))
    at: dict[str, AccountId] = {}
    served = dict.fromkeys(("talk", "chat"), shell.now)
    refused: dict[str, set[AccountId]] = {"talk": set(), "chat": set()}

    for turn in history:
        shell.now += seconds(60 * turn.minutes)

        def answers(name: AccountId, turn: Happened = turn) -> Verdict:
            if name not in turn.refuse:
                return OK
            for met in refused.values():
                met.add(name)
            return limit(3) if turn.used > 0.5 else overloaded()

        shown = [reading("7d", turn.used, sent=60 * turn.minutes), reading("5h", turn.used, resets=4)]
        run = shell.play(demand(turn.talk), answers, readings=shown)
        if isinstance(run.end, Use):
            before, taken = at.get(turn.talk), run.end.account
            is_warm = shell.now - seconds(1) <= served[turn.talk] + hours(1)  # when it was sent, whatever it had waited
            assert before in (None, taken) or before in refused[turn.talk] or not is_warm
            holds = shell.router.remembered().holds.get(taken, ())
            at[turn.talk], refused[turn.talk] = taken, {taken} if barring(holds, demand(), shell.now) else set()
            served[turn.talk] = shell.now
