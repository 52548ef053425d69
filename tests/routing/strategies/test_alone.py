"""Tests of routing/strategies/alone.py."""

from collections.abc import Iterable
from datetime import datetime

import pytest
from hypothesis import given

from routing.readings import Reading
from routing.strategies.alone import Alone, Score
from routing.strategies.contract import Free
from routing.strategies.least_used import LeastUsed
from tests.routing.made import ANN, BEN, CAT, NOON, reading
from tests.routing.strategies.contract import by_each_subclass, chosen, free, frees, with_shown


class Last(Alone):
    """Likes an account by the use of its last reading."""

    def score(self, readings: Iterable[Reading], now: datetime, more: float = 0.0) -> Score | None:
        """Less is better."""
        del now
        shown = list(readings)
        return Score(1 - (shown[-1].used or 0) - more, shown[-1].window.key) if shown else None


LAST = Last(reason="{window} {value:.1f}")


def test_the_highest_score_first_and_why() -> None:
    """An account without a score is not liked."""
    likings = LAST.order(free(with_shown(ANN, reading(used=0.5)), with_shown(BEN, reading(used=0.3)), with_shown(CAT)))

    assert likings[BEN].key < likings[ANN].key
    assert (likings[ANN].because, likings[BEN].because) == ("7d 0.5", "7d 0.7")
    assert CAT not in likings


def test_scores_are_compared_to_nine_digits_then_requests_in_flight() -> None:
    """What differs only by the rounding of a division is equal."""
    one, other = with_shown(ANN, reading(used=0.3), leases=1), with_shown(BEN, reading(used=0.1 + 0.2))

    assert chosen(LAST, free(one, other)) == BEN


@pytest.mark.parametrize(("used", "leases", "expected"), [(0.485, 0, ANN), (0.479, 0, BEN), (0.485, 1, BEN)])
def test_the_idle_latest_choice_stays_within_noise(used: float, leases: int, expected: str) -> None:
    """Two points are noise; a busy one is not kept."""
    one, other = with_shown(ANN, reading(used=0.5), leases=leases), with_shown(BEN, reading(used=used))

    assert chosen(LAST, free(one, other, latest=ANN)) == expected


@by_each_subclass
@given(frees)
def test_dropping_an_account_that_was_not_chosen_changes_nothing(choice: Free) -> None:
    """Each account is judged by itself, apart from where it stands before the strategy is asked."""
    likings = LeastUsed().order(choice)
    first = min(likings, key=lambda name: likings[name].key, default=None)
    for dropped in choice.candidates:
        if dropped.account.id not in (first, choice.latest):
            fewer = free(*(one for one in choice.candidates if one is not dropped), latest=choice.latest)
            rest = LeastUsed().order(
                Free(demand=fewer.demand, candidates=fewer.candidates, now=choice.now, latest=choice.latest)
            )
            assert first is None or min(rest, key=lambda name: rest[name].key) == first


def test_a_base_judges_nobody() -> None:
    """A strategy says itself how it scores."""
    with pytest.raises(NotImplementedError):
        Alone(reason="").score((), NOON)
