"""Strategies side by side, over seeds and kinds."""

import pytest

from flowpool.comparison import (
    Result,
    bound_of_all,
    confidence,
    differences,
    shares,
    shares_of_all,
    total,
    totals,
)
from flowpool.plays import Bound
from routing.simulator import Outcome


def served(*units: float) -> list[Outcome]:
    """Outcomes of so many units."""
    return [Outcome(served_units=one, served_turns=1) for one in units]


OFFICE = Result(title="office", outcomes={"a": served(8, 9), "b": served(6, 8)}, bounds=[Bound(10, 20), Bound(10, 20)])
NIGHT = Result(title="night", outcomes={"a": served(5, 5), "b": served(5, 4)}, bounds=[Bound(5, 5), Bound(5, 5)])
UNKNOWN = Result(title="x", outcomes={"a": served(5)}, bounds=[Bound(None, 20)])


def test_outcomes_are_added_number_by_number() -> None:
    """None of them is a mean."""
    one, two = Outcome(served_turns=1, lost_units=2.5), Outcome(served_turns=3, moves=4, waited_s=1)

    assert total([one, two]) == Outcome(served_turns=4, lost_units=2.5, moves=4, waited_s=1)
    assert total([]) == Outcome()
    assert totals([OFFICE, NIGHT], "a") == Outcome(served_turns=4, served_units=27)


def test_shares_are_of_each_seeds_own_bound() -> None:
    """Without a bound, of what was asked; all of nothing was served."""
    nothing = Result(title="", outcomes={"a": served(0)}, bounds=[Bound(0, 0)])

    assert shares(OFFICE, "a") == [80, 90]
    assert shares(UNKNOWN, "a") == [25]
    assert shares(nothing, "a") == [100]


def test_every_kind_is_as_weighty_as_another() -> None:
    """Seed by seed; one mean alone where they have not as many."""
    assert shares_of_all([OFFICE, NIGHT], "a") == [90, 95]
    assert shares_of_all([OFFICE, UNKNOWN], "a") == [(85 + 25) / 2]


def test_the_bound_is_a_sum_and_unknown_as_a_whole() -> None:
    """A part of it would be no bound."""
    assert bound_of_all([OFFICE, NIGHT]) == 30
    assert bound_of_all([OFFICE, UNKNOWN]) is None


def test_differences_are_paired() -> None:
    """What all seeds share is no doubt: two that differ by the same everywhere differ for sure."""
    assert differences([80, 50, 20], [70, 40, 10]) == (10, 0)


def test_confidence_as_a_document() -> None:
    """Each kind and all of them: the share, and the difference to the default if that was played."""
    found = confidence([OFFICE, NIGHT], ["a", "b"], "b")

    assert (found["level"], found["served"], found["against"]) == (0.95, "percent of the bound", "b")
    assert list(found["kinds"]) == ["office", "night"]
    assert found["kinds"]["office"]["a"]["seeds"] == 2
    assert found["kinds"]["office"]["a"]["served"]["mean"] == 85
    assert found["kinds"]["office"]["a"]["difference"]["mean"] == 15
    assert found["all"]["a"]["difference"] == {"mean": 12.5, "plus_minus": pytest.approx(12.706 * 2.5)}
    assert found["all"]["b"]["difference"] == {"mean": 0, "plus_minus": 0}


def test_without_the_default_or_a_bound_it_says_so() -> None:
    """No difference, and another meaning of served."""
    found = confidence([UNKNOWN], ["a"], "b")

    assert (found["served"], found["against"]) == ("percent of what was asked", None)
    assert found["all"]["a"] == {"seeds": 1, "served": {"mean": 25, "plus_minus": None}, "difference": None}
