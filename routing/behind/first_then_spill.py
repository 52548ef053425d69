"""Who comes behind under the strategy first_then_spill: too little left, or not its turn."""

from functools import partial

from routing.behind.taken import Behind, Taken
from routing.behind.turns import by_priority
from routing.strategies.balance import SPENT, left
from routing.strategies.contract import Candidate
from routing.strategies.first_then_spill import current_of
from routing.strategies.steady import SLACK
from routing.strategies.turns import turns


def behind(taken: Taken) -> Behind:
    """Find what says why one comes after the first."""
    order = turns(taken.free)
    current = current_of(taken.free, order) or taken.first
    if taken.key(taken.first)[0]:
        return partial(_by_room, taken, current)
    room = left(current, taken.free.now)
    later = {i for i, turn in order.items() if turn > order[current.account.id]} if room >= SPENT - SLACK else set()
    waits = f"after {current.account.name}, which has {room:.0%} left"

    def say(one: Candidate) -> str:
        if taken.key(one)[0] == 0:
            return by_priority(taken, one)
        return waits if one.account.id in later else f"only {left(one, taken.free.now):.0%} left"

    return say


def _by_room(taken: Taken, current: Candidate, one: Candidate) -> str:
    """Say it where too little is left of all."""
    room, best = left(one, taken.free.now), left(taken.first, taken.free.now)
    words = f"{room:.0%} left"
    if room == best:
        return f"{words}, no more than {taken.name}" if current is taken.first else by_priority(taken, one)
    return taken.less(words) if room < best else f"{words}, more, but by too little to change over from {taken.name}"
