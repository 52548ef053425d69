"""What is said of the accounts that a free choice did not take is so, and none of them is called the best."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.explain import likes
from routing.rules import Routing
from routing.scoring import STRATEGIES
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.telling import ONLY
from tests.routing.behind.said import week, words
from tests.routing.made import ANN, BEN, CAT, NOON, account, reading
from tests.routing.strategies.contract import free, frees, with_shown

BEST = (
    "perishes soonest",
    "resets first, and",
    "soonest reset first",
    "least used",
    "least recently",
    "its turn came longest",
    "better balance",
    "added first",
    "it has not refused",
    "of every other",
)


@given(frees, st.sampled_from(sorted(STRATEGIES)))
def test_one_alone_is_called_the_best(choice: Free, name: str) -> None:
    """Whatever the strategy; who is alone is called that."""
    first, *others = words(name, choice).values()

    assert not [its for its in others if any(best in its for best in BEST)]
    assert not [its for its in others if its == ONLY]
    assert (first == ONLY) == (not others)


@pytest.mark.parametrize("name", STRATEGIES)
def test_who_is_better_in_all_is_told_apart_by_every_strategy(name: str) -> None:
    """Each has words of its own for who comes after."""
    better = with_shown(ANN, *week(0.2, 24, 0.1), given_at=1)
    told = words(name, free(better, with_shown(BEN, *week(0.6, 60, 0.6), given_at=2)))

    assert list(told) == [ANN, BEN]
    assert told[ANN] != told[BEN]


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"priority", "failover", "first_then_spill", "round_robin"}))
def test_accounts_that_are_alike_are_told_apart(name: str) -> None:
    """By what is in flight there, else by the toss."""
    shown = (*week(0.2, 24, 0.1),)
    tossed = words(name, free(with_shown(ANN, *shown), with_shown(BEN, *shown)))
    first, second = tossed
    assert tossed[second] == f"as good; the toss of this conversation fell to {first}"
    assert "as good" not in tossed[first]


def test_of_one_that_is_not_liked_too_little_is_known() -> None:
    """It comes after all that are."""
    choice = free(with_shown(ANN, *week(0.1, 24)), with_shown(BEN, reading("5h", 0.2)))

    assert words("perishing", choice)[BEN] == "too little is known of it"


def test_who_is_busier_comes_after() -> None:
    """Of accounts that are alike, where the strategy itself does not look at that."""
    busy, idle = with_shown(ANN, *week(0.2, 24), leases=2), with_shown(CAT, *week(0.2, 24))

    assert words("perishing", free(busy, idle))[ANN] == "as good, but more is in flight there than on cat"


def test_of_accounts_of_which_nothing_is_known_the_toss_is_told() -> None:
    """A strategy that has no word for them leaves the order to what is in flight."""
    choice = Free(demand=free().demand, candidates=tuple(Candidate(account=account(n)) for n in (ANN, BEN)), now=NOON)
    first, second = words("least_used", choice).values()

    assert first == "fewest requests in flight"
    assert second.startswith("as good; the toss")


class Newest:
    """A strategy of somebody else's making: the account that was added last."""

    reads_ranks = reads_windows = reads_pressure = False

    def order(self, free: Free) -> Likings:
        """By where it stands."""
        return {one.account.id: Liking((-at,), f"number {at}") for at, one in enumerate(free.candidates, 1)}


def test_a_strategy_that_has_no_words_for_those_behind_lends_its_own() -> None:
    """What it says of them is told as it is."""
    choice = free(*(Candidate(account=account(name)) for name in (ANN, BEN)))
    liked = likes(choice, Newest(), Routing())

    assert {name: its.because for name, its in liked.items()} == {BEN: "number 2", ANN: "number 1"}
