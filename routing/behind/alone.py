"""Who comes behind under a strategy that scores each account alone: a lower score, more in flight, or better by noise alone."""

from functools import partial

from routing.behind.taken import Behind, Taken
from routing.strategies.alone import Alone
from routing.strategies.contract import Candidate
from routing.strategies.steady import DIGITS


def behind(taken: Taken, strategy: Alone) -> Behind:
    """Find what says why one comes after the first; both have a score."""
    best = strategy.score(taken.first.readings, taken.free.now)
    return partial(_behind, taken, 0.0 if best is None else round(best.value, DIGITS))


def _behind(taken: Taken, best: float, one: Candidate) -> str:
    own = -taken.key(one)[0]  # who is kept comes first, and has another's score in its key
    if own < best:
        return taken.less(taken.because(one))
    return taken.as_good(one) if own == best else taken.too_little_more(taken.because(one))
