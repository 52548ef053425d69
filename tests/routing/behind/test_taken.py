"""Tests of routing/behind/taken.py."""

from routing.behind.taken import Taken
from routing.strategies.contract import Liking
from tests.routing.made import ANN, BEN, CAT, reading
from tests.routing.strategies.contract import free, with_shown

FIRST, OTHER = with_shown(ANN, reading()), with_shown(BEN, reading())
LIKINGS = {ANN: Liking((0.1,), "good"), BEN: Liking((0.2,), "well")}


def test_it_names_the_first_and_the_latest() -> None:
    """Where the latest choice does not stand in front, the first stands for it."""
    for latest, named in ((BEN, BEN), (CAT, ANN), (None, ANN)):
        taken = Taken(free=free(FIRST, OTHER, latest=latest), likings=LIKINGS, first=FIRST)
        assert (taken.name, taken.latest) == (ANN, named)


def test_what_is_not_liked_has_a_key_behind_all() -> None:
    """A strategy that knows too little of an account leaves it out."""
    taken = Taken(free=free(FIRST, OTHER), likings={ANN: LIKINGS[ANN]}, first=FIRST)

    assert taken.key(FIRST) < taken.key(OTHER)
    assert taken.because(FIRST) == "good"


def test_what_parts_those_whose_scores_are_equal() -> None:
    """More in flight, else the toss where even the keys are equal, else the latest choice."""
    busy = with_shown(BEN, reading(), leases=1)
    taken = Taken(free=free(FIRST, busy), likings=LIKINGS, first=FIRST)
    alike = Taken(free=free(FIRST, OTHER), likings=dict.fromkeys(LIKINGS, Liking((0.1,), "good")), first=FIRST)

    assert taken.as_good(busy) == "as good, but more is in flight there than on ann"
    assert taken.as_good(OTHER) == "as good, but ann had the latest choice"
    assert alike.as_good(OTHER) == "as good; the toss of this conversation fell to ann"


def test_scores_are_set_beside_that_of_the_first() -> None:
    """A higher one names the account that is not left for it."""
    taken = Taken(free=free(FIRST, OTHER, latest=BEN), likings=LIKINGS, first=FIRST)

    assert taken.less("40% left") == "40% left, less than ann"
    assert taken.too_little_more("60% left") == "60% left, more, but by too little to change over from ben"
