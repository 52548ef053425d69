"""Means, and how sure they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from flowpool.confidence import interval

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50)


def test_the_interval_is_students() -> None:
    """By hand: five values, standard deviation sqrt(2.5), quantile 2.776."""
    found = interval([1, 2, 3, 4, 5])

    assert found.mean == 3
    assert found.plus_minus == pytest.approx(2.776 * 2.5**0.5 / 5**0.5)


def test_one_value_says_nothing_of_others() -> None:
    """There is a mean, and no interval."""
    assert interval([7.5]) == (7.5, None)


@pytest.mark.parametrize("count", [2, 3, 5, 10, 30, 31, 41, 61, 101, 500, 1001])
def test_the_quantiles_are_those_of_the_distribution(count: int) -> None:
    """Exact to the third digit in the table, at most 3 % too wide beyond it."""
    half = interval([0.0] * (count - 1) + [float(count)]).plus_minus
    deviation = count**0.5  # of one count among zeros
    assert half is not None
    quantile = half * count**0.5 / deviation

    exact = stdtrit(count - 1, 0.975)

    assert exact - 1e-3 <= quantile <= exact * 1.03


@given(VALUES, st.floats(0.5, 2), st.floats(-100, 100))
def test_it_moves_and_grows_with_the_values(values: list[float], times: float, more: float) -> None:
    """In the same measure; and the order is no matter."""
    found, changed = interval(values), interval([one * times + more for one in reversed(values)])

    assert found.plus_minus is not None
    assert changed.mean == pytest.approx(found.mean * times + more, abs=1e-3)
    assert changed.plus_minus == pytest.approx(found.plus_minus * times, abs=1e-3)
