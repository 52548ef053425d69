"""Who comes behind under the strategy soonest_reset: by the first line of its law that differs."""

from functools import partial

from routing.behind.taken import Behind, Taken
from routing.strategies.contract import Candidate
from routing.strategies.soonest_reset import Found, Parts, parts

_HOUR = 60  # in minutes
_TOLD_IN_MINUTES = 2 * _HOUR


def behind(taken: Taken) -> Behind:
    """Find what says why one comes after the first; at least one line is known of each."""
    return partial(_behind, taken, parts(taken.first.readings, taken.free.now))


def _behind(taken: Taken, first: Parts, one: Candidate) -> str:
    week, session, most, left = parts(one.readings, taken.free.now)
    first_week, first_session, first_most, first_left = first
    if week.much < first_week.much:
        return _later(week, first_week) or "no weekly reset of it is to come"
    if session.much < first_session.much:
        return _as_soon(week) + (_later(session, first_session) or "no 5h reset of it is to come")
    if left == first_left:
        return taken.as_good(one)
    if left < first_left:
        return f"{_as_soon(week, session)}{most.key} is more used ({most.much:.0%})"
    less = f"{_as_soon(week, session)}{most.key or first_most.key} is less used ({most.much:.0%})"
    return f"{less} by too little to change over from {taken.name}"


def _later(its: Found, first: Found) -> str:
    """Say by how much a reset is later, where that is known; empty where none is to come."""
    if its.much <= 1:  # farther off than the window is long
        return f"{its.key} resets later" if its.much else ""
    minutes = first.much - its.much
    span = f"{minutes:.0f} min" if minutes < _TOLD_IN_MINUTES else f"{minutes / _HOUR:.0f} h"
    return f"{its.key} resets {span} later"


def _as_soon(*lines: Found) -> str:
    """Name the windows whose resets decided nothing."""
    keys = [its.key for its in lines if its.much]
    return f"{' and '.join(keys)} {'reset' if len(keys) > 1 else 'resets'} as soon, but " if keys else ""
