"""Who comes behind under the strategy headroom: short of what is wanted, or a worse week and comfort."""

from collections.abc import Mapping
from functools import partial

from routing.behind.taken import Behind, Taken
from routing.capacities import Capacities
from routing.forecast import Forecast
from routing.load import Load
from routing.moments import microseconds
from routing.strategies.contract import Candidate, Free
from routing.strategies.headroom import STEADY, Look, Need, is_pressed, look
from routing.words import AccountId


def behind(taken: Taken) -> Behind:
    """Find what says why one comes after the first."""
    return partial(_behind, _looks(taken.free), taken.first)


def _looks(free: Free) -> Mapping[AccountId, Look]:
    """Look at all as the strategy does; an idle window counts only while the pool is pressed."""
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


def _behind(known: Mapping[AccountId, Look], first: Candidate, one: Candidate) -> str:
    (cover, tightest, loss, week, is_fresh, *_), best = known[one.account.id], known[first.account.id]
    wanted = f"{max(cover, 0.0):.1f} times what is wanted"
    if cover < 1:
        return f"short in its {tightest}: {wanted}"
    if best[4] and not is_fresh:
        return "roomy, but its 5h runs already"
    if week and loss < best[2]:
        return f"roomy, but {week} perishes later ({loss:.3f}/h)"
    return f"less roomy in its {tightest}: {wanted}"
