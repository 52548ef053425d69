"""routing/reserves.py: what is held back of an account bars it until its window resets."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Answer, GiveUp, Use, Wait
from routing.observations import AccountsChanged, Answered
from routing.readings import Reading, Status
from routing.reserves import bars, by_length, is_reached
from routing.router import Router
from routing.rules import Routing, Rules, Waiting
from routing.snapshot import State
from routing.trail import Trail
from routing.verdicts import RESERVE_ROW
from routing.words import Account, ExchangeId, Family, Reserves
from tests.routing.made import ANN, BEN, HAIKU, NOON, OK, OPUS, account, demand, hours, limit, reading, seconds

START = Trail(started_at=NOON)
TENTH = Reserves(session=0.1, week=0.1)


def held(reserves: Reserves = TENTH, name: str = ANN) -> Account:
    """An account that holds something back."""
    return replace(account(name), reserves=reserves)


CASES = [  # reserves, reading, whether it is reached
    (TENTH, reading("5h", 0.9, resets=1), True),
    (TENTH, reading("5h", 0.9 - 1e-12, resets=1), True),
    (TENTH, reading("5h", 0.89, resets=1), False),
    (TENTH, reading("7d", 0.95), True),
    (TENTH, reading("7d", 1.0), True),  # what is used up is at its reserve all the same
    (TENTH, reading("7d", None), False),
    (TENTH, reading("7d", 0.95, resets=0), False),  # it resets exactly now
    (TENTH, reading("7d", 0.95, resets=-1), False),
    (TENTH, reading("7d", 0.95, resets=None), True),
    (TENTH, reading("1d", 0.95), False),
    (Reserves(session=0.1), reading("7d", 0.95), False),
    (Reserves(week=0.1), reading("5h", 0.95, resets=1), False),
    (Reserves(), reading("7d", 1.0), False),
]


@pytest.mark.parametrize(("reserves", "seen", "reached"), CASES, ids=range(len(CASES)))
def test_a_window_is_at_its_reserve(reserves: Reserves, seen: Reading, reached: bool) -> None:
    """Used up to what is held back, and not reset since."""
    assert is_reached(held(reserves), [seen], NOON) is reached
    assert bool(bars(held(reserves), [seen], {}, NOON)) is reached


def test_a_bar_ends_with_its_window() -> None:
    """With the reset; where none was told, after the window's length."""
    (told,) = bars(held(), [reading("7d", 0.95, resets=24)], {}, NOON)
    (untold,) = bars(held(), [reading("5h", 0.95, resets=None)], {}, NOON)

    assert (told.until, told.row, told.family) == (NOON + hours(24), RESERVE_ROW, None)
    assert told.because == "at its reserve: 7d 95% used, 10% kept for pins"
    assert untold.until == NOON + hours(5)


def test_a_model_lines_window_bars_its_families_alone() -> None:
    """Known lines by what is known of them, others by the families that they were met on."""
    known = bars(held(), [reading("7d_opus", 0.95)], {}, NOON)
    met = bars(held(), [reading("7d_new", 0.95)], {"new": frozenset({HAIKU})}, NOON)

    assert [bar.family for bar in known] == [OPUS]
    assert [bar.family for bar in met] == [HAIKU]
    assert bars(held(), [reading("7d_new", 0.95)], {}, NOON) == ()


@given(st.floats(0, 0.99), st.floats(0, 1.2), st.floats(0, 1.2))
def test_more_use_never_frees(kept: float, low: float, high: float) -> None:
    """Nor does a smaller reserve bar what a larger one does not."""
    low, high = sorted((low, high))
    of = held(Reserves(week=kept))
    if is_reached(of, [reading("7d", low)], NOON):
        assert is_reached(of, [reading("7d", high)], NOON)
        assert is_reached(held(Reserves(week=min(kept + 0.01, 0.999))), [reading("7d", low)], NOON)


def test_reserves_are_told_by_length() -> None:
    """As strategies ask for them."""
    assert dict(by_length(held(Reserves(session=0.1, week=0.2)))) == {hours(5): 0.1, hours(168): 0.2}
    assert dict(by_length(account())) == {}


# In the Router


def pool(*accounts: Account, last_resort: bool = False, wait: float = 240) -> Router:
    """A Router in which ann has used 95 % of her week and 20 % of her 5 hours."""
    router = Router(Rules(routing=Routing(reserve_last_resort=last_resort), wait=Waiting(max=wait)))
    router.observe(AccountsChanged(accounts=accounts))
    see(router, (reading("7d", 0.95, resets=24), reading("5h", 0.2, resets=1)))
    return router


def see(router: Router, readings: tuple[Reading, ...], name: str = "talk") -> None:
    """An answer of ann's shows this."""
    router.observe(
        Answered(
            exchange=ExchangeId("x"),
            account=ANN,
            demand=demand(name),
            verdict=OK,
            sent_at=NOON,
            at=NOON,
            readings=readings,
        )
    )


def test_who_is_at_its_reserve_serves_nobody() -> None:
    """Another account does, and a warm conversation leaves."""
    router = pool(held(), account(BEN))
    choice = router.choose(demand(), START, NOON)

    assert isinstance(choice, Use)
    assert choice.account == BEN


def test_own_answer_a_tells_a_reserve_with_its_reset() -> None:
    """Nobody else is there: a limit until the window resets, and why."""
    router = pool(held())
    choice = router.choose(demand(), START, NOON)

    assert isinstance(choice, GiveUp)
    assert choice.answer is Answer.LIMITED
    assert choice.recovers is not None
    assert (choice.recovers.account, choice.recovers.until) == (ANN, NOON + hours(24))
    assert choice.barred[0].because == "at its reserve: 7d 95% used, 10% kept for pins"


def test_a_reset_that_is_near_is_waited_for() -> None:
    """As any recovery."""
    router = pool(held())
    late = NOON + hours(24) - seconds(30)
    choice = router.choose(demand(), Trail(started_at=late), late)

    assert isinstance(choice, Wait)
    assert choice.until == NOON + hours(24)


def test_a_lapsed_window_is_not_at_its_reserve() -> None:
    """Without any new reading."""
    choice = pool(held()).choose(demand(), START, NOON + hours(24))

    assert isinstance(choice, Use)


def test_a_family_is_barred_alone() -> None:
    """A model line's reserve keeps nothing else away."""
    router = Router(Rules())
    router.observe(AccountsChanged(accounts=(held(),)))
    see(router, (reading("7d_opus", 0.95),))

    assert isinstance(router.choose(demand(family=OPUS), START, NOON), GiveUp)
    assert isinstance(router.choose(demand(family=HAIKU), START, NOON), Use)


@pytest.mark.parametrize("others", ["none", "held", "there"])
def test_the_last_resort(others: str) -> None:
    """Where it is set, the reserve is spent before nobody serves, and not before."""
    known = (held(),) if others == "none" else (held(), account(BEN))
    router = pool(*known, last_resort=True)
    if others == "held":
        router.observe(
            Answered(exchange=ExchangeId("y"), account=BEN, demand=demand("y"), verdict=limit(5), sent_at=NOON, at=NOON)
        )
    choice = router.choose(demand(), START, NOON)

    assert isinstance(choice, Use)
    assert choice.account == (BEN if others == "there" else ANN)


def test_a_hold_bars_the_last_resort_too() -> None:
    """A limit is a limit."""
    router = pool(held(), last_resort=True, wait=0)
    router.observe(
        Answered(exchange=ExchangeId("y"), account=ANN, demand=demand("y"), verdict=limit(5), sent_at=NOON, at=NOON)
    )

    assert isinstance(router.choose(demand(), START, NOON), GiveUp)


def test_no_request_tests_whether_a_reserve_still_stands() -> None:
    """It is not a hold that an answer could lift."""
    router = pool(held(), wait=0)

    assert isinstance(router.choose(demand(), START, NOON + hours(1)), GiveUp)


def test_the_snapshot_shows_it() -> None:
    """As a bar with its end; nothing of it is remembered."""
    router = pool(held())
    (picture,) = router.snapshot(NOON).accounts

    assert (picture.state, picture.because) == (State.HELD, "at its reserve: 7d 95% used, 10% kept for pins")
    assert [(hold.scope, hold.until) for hold in picture.holds] == [("account", NOON + hours(24))]
    assert router.remembered().holds == {}
    assert router.snapshot(NOON).next[Family("any")] is None


def test_a_rejected_window_is_barred_by_its_hold() -> None:
    """What is not known to be used up is not at its reserve."""
    assert not is_reached(held(), [reading("7d", None, status=Status.REJECTED)], NOON)
