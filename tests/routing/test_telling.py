"""What is said of the accounts that a free choice did not take is so, and none of them is called the best."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.explain import likes
from routing.readings import Reading
from routing.rules import Routing
from routing.scoring import STRATEGIES
from routing.strategies.contract import Candidate, Free
from routing.telling import ONLY
from tests.routing.made import ANN, BEN, CAT, NOON, account, reading
from tests.routing.strategies.contract import free, frees, with_shown

BEST = (
    "perishes soonest",
    "resets first, and",
    "soonest reset first",
    "least used",
    "least recently",
    "its turn came longest",
)


def words(strategy: str, choice: Free) -> dict[str, str]:
    """What is said of each, in order."""
    liked = likes(choice, STRATEGIES[strategy], Routing(strategy=strategy))
    return {account: its.because for account, its in sorted(liked.items(), key=lambda one: one[1].order)}


@given(frees, st.sampled_from(sorted(STRATEGIES)))
def test_one_alone_is_called_the_best(choice: Free, name: str) -> None:
    """Whatever the strategy; who is alone is called that."""
    first, *others = words(name, choice).values()

    assert not [its for its in others if any(best in its for best in BEST)]
    assert not [its for its in others if its == ONLY]
    assert (first == ONLY) == (not others)


def week(used: float, after: float, session: float | None = None) -> tuple[Reading, ...]:
    """A week that resets after so many hours, and a 5-hour window with so much use."""
    found = (reading("7d", used, resets=after),)
    return found if session is None else (*found, reading("5h", session, resets=3))


TOLD = [
    ("perishing", with_shown(ANN, *week(0.5, 24)), with_shown(BEN, *week(0.5, 80)), "7d perishes later (0.006/h)"),
    (
        "perishing",
        with_shown(ANN, *week(0.5, 24)),
        with_shown(BEN, *week(0.5, 12), pressed=True),
        "under pressure, though 7d perishes (0.042/h)",
    ),
    (
        "perishing",
        with_shown(ANN, reading("7d", 0.5, resets=25), reading("5h", 0.1, resets=1)),
        with_shown(BEN, reading("7d", 0.5, resets=24), reading("5h", 0.1, resets=3)),
        "7d perishes as soon (0.021/h), but the 5h of ann resets first, or is used less",
    ),
    ("headroom", with_shown(ANN, *week(0.5, 24, 0.1)), with_shown(BEN, *week(0.5, 80, 0.1)), "roomy, but 7d perishes later (0.006/h)"),
    ("headroom", with_shown(ANN, *week(0.5, 24, 0.1)), with_shown(BEN, *week(0.5, 24, 0.8)), "short in its 5h: 0.4 times what is wanted"),
    ("headroom", with_shown(ANN, *week(0.5, 24)), with_shown(BEN, *week(0.5, 24, 0.1)), "roomy, but its 5h runs already"),
    ("headroom", with_shown(ANN, *week(0.5, 24, 0.1)), with_shown(BEN, *week(0.5, 24, 0.2)), "less roomy in its 5h: 1.6 times what is wanted"),
    ("headroom", with_shown(ANN, *week(0.5, 24, 0.6)), with_shown(BEN, *week(0.5, 24, 0.8)), "short in its 5h: 0.4 times what is wanted"),
    ("round_robin", with_shown(ANN, given_at=1), with_shown(BEN, given_at=2), "its turn came later"),
    ("least_cost", with_shown(ANN, *week(0.1, 24)), with_shown(BEN, *week(0.5, 24)), "more used of its plan (50%)"),
    ("soonest_reset", with_shown(ANN, *week(0.1, 24)), with_shown(BEN, *week(0.1, 90)), "resets later, or is used more, by 7d"),
    ("weekly_balance", with_shown(ANN, *week(0.1, 24)), with_shown(BEN, *week(0.5, 24)), "7d has 50% left"),
    ("perishing", with_shown(ANN, *week(0.1, 24)), with_shown(BEN, reading("5h", 0.2)), "too little is known of it"),
]  # fmt: skip


@pytest.mark.parametrize(("strategy", "first", "second", "says"), TOLD, ids=range(len(TOLD)))
def test_who_comes_after_is_told_why(strategy: str, first: Candidate, second: Candidate, says: str) -> None:
    """By what decided."""
    told = words(strategy, free(second, first))

    assert list(told) == [ANN, BEN]
    assert told[BEN] == says


def test_a_conversations_own_account_is_kept_for_a_small_difference() -> None:
    """The other perishes sooner, and that is said."""
    own, other = with_shown(ANN, *week(0.5, 24)), with_shown(BEN, *week(0.5, 22))

    assert words("perishing", free(other, own, home=ANN))[BEN] == (
        "7d perishes sooner (0.023/h), but by too little to leave ann"
    )


def test_the_latest_choice_is_kept_for_a_small_difference() -> None:
    """So that readings which jitter move nothing."""
    own = with_shown(ANN, reading("7d", 0.505, resets=24))
    other = with_shown(BEN, reading("7d", 0.5, resets=24))

    assert words("perishing", free(other, own, latest=ANN))[BEN] == (
        "7d perishes as soon (0.021/h), but too little sooner to change over from ann"
    )


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"priority", "failover", "first_then_spill", "round_robin"}))
def test_accounts_that_are_alike_are_told_apart(name: str) -> None:
    """By what is in flight there, else by the toss."""
    shown = (*week(0.2, 24, 0.1),)
    tossed = words(name, free(with_shown(ANN, *shown), with_shown(BEN, *shown)))
    first, second = tossed
    assert tossed[second] == f"as good; the toss of this conversation fell to {first}"
    assert "as good" not in tossed[first]


def test_who_is_busier_comes_after() -> None:
    """Of accounts that are alike, where the strategy itself does not look at that."""
    busy, idle = with_shown(ANN, *week(0.2, 24), leases=2), with_shown(CAT, *week(0.2, 24))

    assert words("perishing", free(busy, idle))[ANN] == "as good, but more is in flight there than on cat"


def test_a_turn_that_never_came_is_the_first() -> None:
    """Round robin begins with those that had none."""
    told = words("round_robin", free(with_shown(ANN, given_at=3), with_shown(BEN)))

    assert told == {BEN: "it had no turn yet", ANN: "its turn came later"}
    assert words("round_robin", free(with_shown(ANN), with_shown(BEN)))[BEN] == "its turn comes later"
    assert words("round_robin", free(with_shown(ANN, given_at=3), with_shown(BEN, given_at=4)))[ANN] == (
        "its turn came longest ago"
    )


def test_of_accounts_of_which_nothing_is_known_the_toss_is_told() -> None:
    """A strategy that has no word for them leaves the order to what is in flight."""
    choice = Free(demand=free().demand, candidates=tuple(Candidate(account=account(n)) for n in (ANN, BEN)), now=NOON)
    first, second = words("least_used", choice).values()

    assert first == "fewest requests in flight"
    assert second.startswith("as good; the toss")
