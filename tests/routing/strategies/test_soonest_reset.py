"""Tests of routing/strategies/soonest_reset.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.readings import Reading
from routing.strategies.contract import Candidate, Strategy
from routing.strategies.soonest_reset import SoonestReset
from routing.words import AccountId, Kind
from tests.routing.made import ANN, BEN, NOON, account, fractions, reading, seconds
from tests.routing.strategies.contract import StrategyContract, chosen, free, with_shown

MINUTE = 1 / 60  # of an hour


class TestSoonestReset(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = SoonestReset()


def value(*shown: Reading, later: float = 0) -> float:
    """The score so many seconds after noon; below every score when there is none."""
    score = SoonestReset().score(shown, NOON + seconds(later))
    return -1.0 if score is None else score.value


def session(used: float | None, *, resets: float | None = 3) -> Reading:
    """A reading of the 5-hour window."""
    return reading("5h", used, resets=resets)


BETTER = [
    ("the sooner week, however full", (reading(used=0.9, resets=24),), (reading(used=0.1, resets=25),)),
    (
        "a week beats a session",
        (reading(resets=24), session(0.9, resets=4)),
        (reading(resets=48), session(0, resets=1)),
    ),
    ("of equal weeks the sooner session", (reading(), session(0.9, resets=1)), (reading(), session(0.1, resets=2))),
    ("of equal resets the least used", (reading(), session(0.2)), (reading(), session(0.3))),
    ("the use of the week does not count", (reading(used=0.9), session(0.2)), (reading(used=0.1), session(0.3))),
    ("a known week before none", (reading(resets=167),), (session(0.0, resets=1),)),
    ("a known session before none", (reading(), session(0.9, resets=5)), (reading(), session(0.1, resets=None))),
    ("a week that began anew ranks first no longer", (reading(resets=160),), (reading(resets=0), session(0.5))),
    ("a session that began anew neither", (reading(), session(0.9, resets=5)), (reading(), session(0.9, resets=0))),
    ("a session that began anew is empty", (session(0.9, resets=0),), (session(0.1, resets=None),)),
    ("a week without a use is not known", (reading(resets=160),), (reading(used=None, resets=1), session(0.5))),
    ("a week without a reset is not known", (reading(resets=160),), (reading(resets=None), session(0.5))),
    ("one minute is told apart", (reading(resets=24),), (reading(resets=24 + MINUTE),)),
    ("the last minute before the week's end", (reading(resets=MINUTE / 2),), (reading(resets=2 * MINUTE),)),
    ("of several weeks the soonest", (reading(resets=99), reading("7d_opus", resets=24)), (reading(resets=25),)),
    ("a week far off before none", (reading(resets=400), session(0.9)), (session(0.1),)),
    ("the first minute of a week", (reading(resets=168 - MINUTE),), (reading(resets=168),)),
    ("a minute outweighs all use", (session(1.0, resets=1),), (session(0.0, resets=1 + MINUTE),)),
    ("something known before nothing", (session(1.0, resets=None),), (reading(used=None),)),
]


@pytest.mark.parametrize(("liked", "other"), [c[1:] for c in BETTER], ids=[c[0] for c in BETTER])
def test_which_is_better(liked: tuple[Reading, ...], other: tuple[Reading, ...]) -> None:
    """Soonest weekly reset, then soonest session reset, then least use of the session."""
    assert value(*liked) > value(*other)


EQUAL = [
    ("a reset a few seconds off", (reading(resets=24),), (reading(resets=24 + 5 / 3600),)),
    ("a reset a few seconds early", (reading(resets=24),), (reading(resets=24 - 5 / 3600),)),
    ("used up and beyond", (reading(), session(1.0)), (reading(), session(1.2))),
    ("a session without readings counts as unused", (reading(),), (reading(), session(0.0, resets=None))),
    ("a week that is farther off than a week", (reading(resets=169),), (reading(resets=200),)),
    ("other windows do not count", (reading(),), (reading(), reading("1d", 0.9, resets=1))),
]


@pytest.mark.parametrize(("one", "other"), [c[1:] for c in EQUAL], ids=[c[0] for c in EQUAL])
def test_what_is_equal(one: tuple[Reading, ...], other: tuple[Reading, ...]) -> None:
    """What differs by the provider's rounding, or by what does not matter, is the same."""
    assert value(*one) == value(*other)


@pytest.mark.parametrize("shown", [(), (reading(used=None),), (reading(resets=None),), (session(None, resets=None),)])
def test_no_score_when_nothing_is_known(shown: tuple[Reading, ...]) -> None:
    """Neither a reset nor the use of a session: no score."""
    assert value(*shown) == -1


minutes_left = st.integers(2, 7 * 24 * 60)


@given(st.sets(minutes_left, min_size=2, max_size=2), fractions, fractions, st.integers(0, 59))
def test_a_sooner_week_outweighs_all_else(minutes: set[int], full: float, empty: float, later: int) -> None:
    """Whatever was used and whichever session ends first, at any second of the minute."""
    sooner, farther = (reading(resets=count * MINUTE) for count in sorted(minutes))

    assert value(sooner, session(full, resets=None), later=later) > value(
        farther, session(empty, resets=1), later=later
    )


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        ((reading(resets=24), reading("7d_opus", resets=20), session(0.1, resets=1)), "7d_opus"),
        ((reading(resets=0), session(0.1)), "5h"),
        ((session(0.1, resets=None),), "5h"),
    ],
)
def test_the_window_that_decided_is_named(shown: tuple[Reading, ...], window: str) -> None:
    """The first of the three that is known gives the name."""
    score = SoonestReset().score(shown, NOON)

    assert score is not None
    assert score.window == window


def pooled(
    *shown: Reading, name: AccountId = ANN, rank: int | None = None, kind: Kind = Kind.OAUTH, leases: int = 0
) -> Candidate:
    """An account with these readings."""
    return Candidate(account=account(name, rank=rank, kind=kind), readings=shown, leases=leases)


EARLY, LATE = (reading(resets=24), session(0.5)), (reading(resets=48), session(0.1))
USE_OR_LOSE = [
    ("priority before all", pooled(*LATE, rank=1), pooled(*EARLY, rank=2, name=BEN), ANN),
    ("no priority is the last", pooled(*LATE, rank=9), pooled(*EARLY, name=BEN), ANN),
    ("the soonest week", pooled(*EARLY), pooled(*LATE, name=BEN), ANN),
    ("from 98 % on an account is passed over", pooled(*EARLY, reading("7d_opus", 0.98)), pooled(*LATE, name=BEN), BEN),
    ("also where only its 5-hour window is full", pooled(EARLY[0], session(0.98)), pooled(*LATE, name=BEN), BEN),
    ("below 98 % it is not", pooled(EARLY[0], session(0.97)), pooled(*LATE, name=BEN), ANN),
    (
        "a full window that expired does not count",
        pooled(EARLY[0], session(1.0, resets=0)),
        pooled(*LATE, name=BEN),
        ANN,
    ),
    ("what was not measured comes first: its request measures it", pooled(), pooled(*EARLY, name=BEN), ANN),
    ("once, while that is in flight", pooled(leases=1), pooled(*EARLY, name=BEN), BEN),
    ("an API key is no subscription, unlike in its model", pooled(kind=Kind.API_KEY), pooled(*LATE, name=BEN), BEN),
]


@pytest.mark.parametrize(("one", "other", "expected"), [c[1:] for c in USE_OR_LOSE], ids=[c[0] for c in USE_OR_LOSE])
def test_use_or_lose_in_a_choice(one: Candidate, other: Candidate, expected: AccountId) -> None:
    """Priority, then the keys above; unlike in its model nearly full forbids nothing, and conversations stick by themselves."""
    assert chosen(SoonestReset(), free(one, other)) == expected
    assert chosen(SoonestReset(), free(other, one)) == expected


def test_all_nearly_full_still_serve() -> None:
    """Nobody is left out: the order is the same among them, where the model would wait for the soonest to recover."""
    full = [with_shown(name, reading(used=0.99, resets=hours)) for name, hours in ((ANN, 48), (BEN, 24))]

    assert chosen(SoonestReset(), free(*full)) == BEN


def test_re_ranked_at_each_new_conversation_not_every_five_minutes() -> None:
    """A sooner week takes the next new conversation at once; the model keeps one current account for all, for five minutes."""
    among = (with_shown(ANN, *LATE), with_shown(BEN, *EARLY))

    assert chosen(SoonestReset(), free(*among, latest=ANN)) == BEN


def test_the_latest_choice_stays_where_only_noise_speaks_against_it() -> None:
    """Equal resets: the session must be more than two points less used; where nothing is used, nothing is gained by less."""
    latest = with_shown(ANN, reading(), session(0.5))

    for used, expected in ((0.49, ANN), (0.47, BEN)):
        other = with_shown(BEN, reading(), session(used))
        assert chosen(SoonestReset(), free(latest, other, latest=ANN)) == expected
    full, empty = (with_shown(name, reading(), session(0.0)) for name in (ANN, BEN))
    assert chosen(SoonestReset(), free(full, empty, latest=ANN)) == ANN
