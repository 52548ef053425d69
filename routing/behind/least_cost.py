"""Who comes behind under the strategy least_cost: by the first line of its law that differs."""

from functools import partial

from routing.behind.taken import Behind, Taken
from routing.strategies.contract import Candidate
from routing.strategies.least_cost import KEPT, used
from routing.strategies.steady import DIGITS


def behind(taken: Taken) -> Behind:
    """Find what says why one comes after the first."""
    return partial(_behind, taken, _use(taken, taken.first))


def _behind(taken: Taken, best: float | None, one: Candidate) -> str:
    if taken.first.account.kind.is_subscription and not one.account.kind.is_subscription:
        return "an API key, after every subscription"
    own = _use(taken, one)
    if own != best:
        return _by_use(taken, own, best)
    if one.leases == taken.first.leases and taken.key(one)[KEPT] == taken.key(taken.first)[KEPT]:
        return f"as good, but used more recently than {taken.name}"
    return taken.as_good(one)


def _use(taken: Taken, one: Candidate) -> float | None:
    found = used(one, taken.free.now)
    return None if found is None else round(found, DIGITS)


def _by_use(taken: Taken, own: float | None, best: float | None) -> str:
    if own is None:
        return "how much of its plan is used is not known"
    if best is None or own > best:
        return f"more used of its plan ({own:.0%})"
    return f"less used of its plan ({own:.0%}), but by too little to change over from {taken.name}"
