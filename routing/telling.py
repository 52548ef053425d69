"""Why a free choice took one account and none of the others: the words of each strategy for who comes first and who after."""

from collections.abc import Mapping, Sequence

from routing.capacities import Capacities
from routing.forecast import Forecast
from routing.load import Load
from routing.moments import microseconds
from routing.strategies.contract import Candidate, Free, Likings, Strategy
from routing.strategies.headroom import STEADY, Headroom, Look, Need, is_pressed, look
from routing.strategies.perishing import Perishing, score
from routing.strategies.round_robin import RoundRobin
from routing.words import AccountId

ONLY = "the only one that may"
_UNKNOWN = "too little is known of it"
_AFTER = (  # what a strategy says of whom it takes, and what is so of those that come after
    ("soonest reset first, by", "resets later, or is used more, by"),
    ("least used of its plan", "more used of its plan"),
    ("least recently used", "used more recently"),
    (", a better balance", ""),
)

type Words = dict[AccountId, str]


def told(strategy: Strategy, free: Free, likings: Likings, ordered: Sequence[Candidate]) -> Words:
    """Say of each account that stands in front why it comes where it does; ordered: all of them, the one that is taken first."""
    first, *others = ordered
    liking = likings.get(first.account.id)
    words = {} if liking is None else {first.account.id: _first(strategy, first, liking.because)}
    looks = _looks(free) if others and isinstance(strategy, Headroom) else {}
    for one in others:
        its = likings.get(one.account.id)
        if liking is not None and its is not None and its.key == liking.key:
            words[one.account.id] = _alike(one, first)
        elif its is None:
            words[one.account.id] = _UNKNOWN if liking is not None else _alike(one, first)
        elif isinstance(strategy, Headroom):
            words[one.account.id] = _less_headroom(looks[one.account.id], looks[first.account.id])
        elif isinstance(strategy, Perishing):
            words[one.account.id] = _less_perishing(one, first, free)
        elif isinstance(strategy, RoundRobin):
            words[one.account.id] = "its turn came later" if one.given_at else "its turn comes later"
        else:
            words[one.account.id] = _after(its.because)
    return words


def _first(strategy: Strategy, first: Candidate, because: str) -> str:
    if isinstance(strategy, RoundRobin):
        return "its turn came longest ago" if first.given_at else "it had no turn yet"
    return because


def _alike(one: Candidate, first: Candidate) -> str:
    """Say what parts two that a strategy likes alike: see routing.scoring."""
    if one.leases > first.leases:
        return f"as good, but more is in flight there than on {first.account.name}"
    return f"as good; the toss of this conversation fell to {first.account.name}"


def _after(because: str) -> str:
    for before, after in _AFTER:
        because = because.replace(before, after)
    return because


def _looks(free: Free) -> Mapping[AccountId, Look]:
    """Look at all as the strategy headroom does; an idle window counts only while the pool is pressed."""
    forecast = free.forecast or Forecast(Load(), Capacities(), free.demand, free.now)
    need = _need(free, forecast)
    less = 0.0 if free.latest is None else STEADY
    found = {
        one.account.id: look(one, need, forecast, 0.0 if one.account.id == free.latest else less)
        for one in free.candidates
    }
    known = {account: its for account, its in found.items() if its is not None}
    pressed = is_pressed(need, known, free.latest)
    return {account: (*its[:4], its[4] and pressed, *its[5:]) for account, its in known.items()}


def _need(free: Free, forecast: Forecast) -> Need:
    family, now_us = free.demand.family, microseconds(free.now)
    return Need(forecast.cold, forecast.pace, family, forecast.pledges, forecast.holds, now_us)


def _less_headroom(its: Look, best: Look) -> str:
    cover, tightest, loss, week, is_fresh, *_ = its
    wanted = f"{max(cover, 0.0):.1f} times what is wanted"
    if cover < 1:
        return f"short in its {tightest}: {wanted}"
    if best[4] and not is_fresh:
        return "roomy, but its 5h runs already"
    if week and loss < best[2]:
        return f"roomy, but {week} perishes later ({loss:.3f}/h)"
    return f"less roomy in its {tightest}: {wanted}"


def _less_perishing(one: Candidate, first: Candidate, free: Free) -> str:
    own, best = score(one, free.now), score(first, free.now)
    if own is None or best is None:
        return _UNKNOWN
    value = f"({own.value:.3f}/h)"
    if one.pressed and not first.pressed:
        return f"under pressure, though {own.window} perishes {value}"
    if own.value < best.value:
        return f"{own.window} perishes later {value}"
    if free.home == first.account.id:
        return f"{own.window} perishes sooner {value}, but by too little to leave {first.account.name}"
    if free.latest == first.account.id:
        return f"{own.window} perishes as soon {value}, but too little sooner to change over from {first.account.name}"
    return f"{own.window} perishes as soon {value}, but the 5h of {first.account.name} resets first, or is used less"
