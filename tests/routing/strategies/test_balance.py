"""Tests of routing/strategies/balance.py."""

import pytest

from routing.readings import Reading
from routing.strategies.alone import Score
from routing.strategies.balance import Balance, is_open, left
from routing.strategies.contract import Candidate
from routing.strategies.weekly_balance import WeeklyBalance
from tests.routing.made import ANN, BEN, CAT, NOON, account, reading, window
from tests.routing.strategies.contract import RESERVES, chosen, free, with_shown

ALL = (reading(used=0.3), reading("5h", 0.6, resets=2), reading("7d_opus", None))


def test_what_is_left_of_the_fullest_window() -> None:
    """Of all windows, or of those of a length; less its reserve; all where none is known; never less than nothing."""
    one = with_shown(ANN, *ALL)

    assert [left(one, NOON), left(one, NOON, window("7d").length)] == pytest.approx([0.4, 0.7])
    assert left(Candidate(account=account(), readings=ALL, reserves=RESERVES), NOON) == pytest.approx(0.3)
    assert left(with_shown(ANN, reading(used=None)), NOON) == 1.0
    assert left(with_shown(ANN, reading(used=1.2)), NOON) == 0.0
    assert left(with_shown(ANN, reading(used=0.9, resets=0)), NOON) == 1.0


@pytest.mark.parametrize(
    ("week", "session", "expected"),
    [(0.8, 0.5, True), (0.81, 0.5, False), (0.8, 0.51, False), (0.2, 0.2, True)],
)
def test_who_may_be_changed_to(week: float, session: float, expected: bool) -> None:
    """Half of the 5-hour window and a fifth of every window left."""
    one = with_shown(ANN, reading(used=week), reading("5h", session, resets=3))

    assert is_open(one, NOON) is expected
    assert is_open(with_shown(ANN, reading(used=0.805)), NOON, 0.01)


def week(room: float, session: float = 1.0) -> tuple[Reading, Reading]:
    """So much left of each."""
    return reading(used=1 - room), reading("5h", 1 - session, resets=3)


def test_the_first_choice_prefers_open_ones() -> None:
    """The highest score among the open ones, then among those with a fifth left, then among all."""
    shut, spare, scarce = ((0.9, 0.3), (0.6, 1.0), (0.95, 0.1))
    among = [
        with_shown(name, *week(*rooms)) for name, rooms in zip((ANN, BEN, CAT), (shut, spare, scarce), strict=True)
    ]
    assert chosen(WeeklyBalance(), free(*among)) == BEN
    assert chosen(WeeklyBalance(), free(among[0], among[2])) == ANN


def test_of_three_the_best_takes_over() -> None:
    """Where one is better by the margin, the one with the highest score is changed to."""
    rooms = {ANN: 0.4, BEN: 0.5, CAT: 0.7}
    among = [with_shown(name, reading(used=1 - room), reading("5h", 0.0)) for name, room in rooms.items()]

    assert chosen(WeeklyBalance(), free(*among, latest=ANN)) == CAT
    assert chosen(WeeklyBalance(), free(*among[:2], latest=BEN)) == BEN


def test_a_latest_choice_that_is_spent_is_left_and_an_unknown_one_is_not_kept() -> None:
    """Below a tenth for one with a fifth, whatever their weeks say; without a score for any that has one."""
    spent, spare = with_shown(ANN, *week(0.9, 0.05)), with_shown(BEN, *week(0.25, 0.3))
    assert chosen(WeeklyBalance(), free(spent, spare, latest=ANN)) == BEN

    unknown = with_shown(ANN, reading("5h", 0.0))
    assert set(WeeklyBalance().order(free(unknown, spare, latest=ANN))) == {BEN}


def test_a_base_judges_nobody() -> None:
    """A strategy brings its score, margin and words."""
    base = Balance()
    for call in (
        lambda: base.score(with_shown(ANN), NOON),
        lambda: base.is_better(1, 0),
        lambda: base.reason(Score(1, "7d")),
    ):
        with pytest.raises(NotImplementedError):
            call()
