"""How sure a mean is that was taken over seeds: Student's interval, in which the true one lies 95 times of 100."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

LEVEL = 0.95
# The 97.5 % quantiles of Student's t by degrees of freedom, from 1; between those of the second list the larger one stands.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_LATER = ((1000, 1.962), (100, 1.984), (60, 2.000), (40, 2.021))


class Interval(NamedTuple):
    """A mean, and how far the true one may be away from it; None where one value says nothing of that."""

    mean: float
    plus_minus: float | None


def interval(values: Sequence[float]) -> Interval:
    """Find the mean of at least one value, each of another seed."""
    count = len(values)
    if count == 1:
        return Interval(values[0], None)
    return Interval(fmean(values), _quantile(count - 1) * stdev(values) / sqrt(count))


def _quantile(freedom: int) -> float:
    if freedom <= len(_T):
        return _T[freedom - 1]
    return next((quantile for least, quantile in _LATER if freedom >= least), _T[-1])
