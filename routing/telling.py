"""Why a free choice took one account and none of the others: the words of each strategy for who comes first and who after."""

from collections.abc import Sequence
from functools import partial

from routing.behind import alone, balance, first_then_spill, headroom, least_cost, perishing, soonest_reset, turns
from routing.behind.taken import Behind, Taken
from routing.strategies.alone import Alone
from routing.strategies.balance import Balance
from routing.strategies.contract import Candidate, Free, Likings, Strategy
from routing.strategies.failover import Failover
from routing.strategies.first_then_spill import FirstThenSpill
from routing.strategies.headroom import Headroom
from routing.strategies.least_cost import LeastCost
from routing.strategies.perishing import Perishing
from routing.strategies.priority import Priority
from routing.strategies.round_robin import RoundRobin
from routing.strategies.soonest_reset import SoonestReset
from routing.words import AccountId

ONLY = "the only one that may"
_UNKNOWN = "too little is known of it"

type Words = dict[AccountId, str]


def told(strategy: Strategy, free: Free, likings: Likings, ordered: Sequence[Candidate]) -> Words:
    """Say of each account that stands in front why it comes where it does; ordered: all of them, the one that is taken first."""
    first, *others = ordered
    taken = Taken(free=free, likings=likings, first=first)
    first_key = taken.key(first)
    words = {first.account.id: _first(strategy, taken)} if first.account.id in likings else {}
    if not others or not words:  # of nobody is anything known
        return words | {one.account.id: taken.as_good(one) for one in others}
    behind = _behind(strategy, taken)
    for one in others:
        if taken.key(one) == first_key:
            words[one.account.id] = taken.as_good(one)
        else:
            words[one.account.id] = behind(one) if one.account.id in likings else _UNKNOWN
    return words


def _first(strategy: Strategy, taken: Taken) -> str:
    if isinstance(strategy, RoundRobin):
        return "its turn came longest ago" if taken.first.given_at else "it had no turn yet"
    return taken.because(taken.first)


def _behind(strategy: Strategy, taken: Taken) -> Behind:
    """Find what says of one that is liked less why it is."""
    match strategy:
        case Headroom():
            found = headroom.behind(taken)
        case Perishing():
            found = perishing.behind(taken)
        case SoonestReset():
            found = soonest_reset.behind(taken)
        case Alone():
            found = alone.behind(taken, strategy)
        case Balance():
            found = balance.behind(taken, strategy)
        case LeastCost():
            found = least_cost.behind(taken)
        case _:
            found = _in_turn(strategy, taken)
    return found


def _in_turn(strategy: Strategy, taken: Taken) -> Behind:
    match strategy:
        case Priority():
            return partial(turns.by_priority, taken)
        case Failover():
            return partial(turns.by_failover, taken)
        case FirstThenSpill():
            return first_then_spill.behind(taken)
        case RoundRobin():
            return partial(turns.by_round, taken)
        case _:  # one of somebody else's making
            return taken.because
