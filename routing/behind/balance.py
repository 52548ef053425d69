"""Who comes behind under a strategy that balances: less open, a lower score, or a higher one by less than the margin."""

from functools import partial

from routing.behind.taken import Behind, Taken
from routing.strategies.balance import BACK, OPEN, REST, STAYS, Balance, is_open, left
from routing.strategies.contract import Candidate
from routing.strategies.steady import DIGITS
from routing.strategies.weekly_balance import BETTER
from routing.windows import SESSION


def behind(taken: Taken, strategy: Balance) -> Behind:
    """Find what says why one comes after the first; both have a score."""
    best = strategy.score(taken.first, taken.free.now)
    return partial(_behind, taken, strategy, 0.0 if best is None else round(best.value, DIGITS))


def _behind(taken: Taken, strategy: Balance, best: float, one: Candidate) -> str:
    (group, lacking), first_key = taken.key(one), taken.key(taken.first)
    own = -lacking
    if first_key == STAYS:
        is_closed = strategy.is_better(own, best) and not is_open(one, taken.free.now)
    else:
        is_closed = group != first_key[0]
    if is_closed:
        return _too_full(taken, one)
    if own == best:
        return taken.as_good(one)
    words = taken.because(one).removesuffix(BETTER)
    return taken.less(words) if own < best else taken.too_little_more(words)


def _too_full(taken: Taken, one: Candidate) -> str:
    """Say which of its windows keeps one from being open."""
    group, now = taken.key(one)[0], taken.free.now
    room = left(one, now)
    if group == REST or (group == OPEN and room < BACK):
        return f"only {room:.0%} of its fullest window is left"
    return f"only {left(one, now, SESSION):.0%} of its 5h is left"
