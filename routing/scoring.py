"""Which of the accounts that may serve is better: those that stand in front, then the strategy, then a toss.

In front stand the accounts with the smallest place(); the strategy orders them; then fewer requests in flight; accounts that are
still alike are told apart by toss(), the rendezvous hash of conversation and account.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from routing.readings import Reading, Status, lapsed
from routing.rules import Routing
from routing.strategies.burn_rate_balance import BurnRateBalance
from routing.strategies.contract import Candidate, Free, Liking, Likings, Strategy
from routing.strategies.failover import Failover
from routing.strategies.first_then_spill import FirstThenSpill
from routing.strategies.headroom import Headroom
from routing.strategies.least_cost import LeastCost
from routing.strategies.least_used import LeastUsed
from routing.strategies.perishing import Perishing
from routing.strategies.priority import Priority
from routing.strategies.round_robin import RoundRobin
from routing.strategies.soonest_reset import SoonestReset
from routing.strategies.steady import POINT
from routing.strategies.weekly_balance import WeeklyBalance
from routing.words import AccountId, ConversationId, Kind

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "headroom": Headroom(),
        "perishing": Perishing(),
        "soonest_reset": SoonestReset(),
        "priority": Priority(),
        "least_cost": LeastCost(),
        "round_robin": RoundRobin(),
        "failover": Failover(),
        "first_then_spill": FirstThenSpill(),
        "weekly_balance": WeeklyBalance(),
        "burn_rate_balance": BurnRateBalance(),
        "least_used": LeastUsed(),
    }
)

_UNKNOWN = float("inf")  # sorts after every known number
_UNLIKED = Liking((_UNKNOWN,), "fewest requests in flight")
_IDLE_UNMEASURED, _MEASURED, _BUSY_UNMEASURED = 0, 1, 2


class Place(NamedTuple):
    """Where an account stands before the strategy is asked; the first field that differs decides, the smaller is better.

    paid_per_token: an API key without a rank comes after all others.
    nearly_full: so does an account with a window that is rejected, or used up to switch_at.
    rank: the operator's order; without one, last. All the same where the strategy reads ranks itself.
    measure: a subscription without readings first while it is idle (one answer will measure it); while it is busy, last. All the
    same where the strategy needs no readings.
    """

    paid_per_token: bool
    nearly_full: bool
    rank: float
    measure: int


class Pick(NamedTuple):
    """The account that is liked best, and why."""

    account: AccountId
    because: str


def place(
    candidate: Candidate, strategy: Strategy, rules: Routing, now: datetime, *, latest: AccountId | None = None
) -> Place:
    """Find where a candidate stands.

    latest: the account of the latest free choice. All others are nearly full a point sooner, so that an account whose readings
    jitter about switch_at is not left and returned to.
    """
    return Place(*_spot(candidate, strategy, rules, now, latest))


def _spot(
    candidate: Candidate, strategy: Strategy, rules: Routing, now: datetime, latest: AccountId | None
) -> tuple[bool, bool, float, int]:
    """The same as a plain tuple: a choice makes one of each candidate."""
    account, readings = candidate.account, candidate.readings
    rank, is_key = account.rank, account.kind is Kind.API_KEY
    switch_at = rules.switch_at if latest is None or latest == account.id else rules.switch_at - POINT
    measure = _MEASURED
    if strategy.reads_windows and not readings and not is_key:
        measure = _BUSY_UNMEASURED if candidate.leases else _IDLE_UNMEASURED
    return (
        is_key and rank is None,
        is_nearly_full(readings, switch_at, now),
        0 if strategy.reads_ranks else _UNKNOWN if rank is None else rank,
        measure,
    )


def is_nearly_full(readings: Iterable[Reading], switch_at: float, now: datetime) -> bool:
    """Whether a window that has not lapsed is rejected, or used up to switch_at."""
    for reading in readings:
        used = reading.used
        is_full = (used is not None and used >= switch_at) or reading.status is Status.REJECTED
        if is_full and not lapsed(reading, now):
            return True
    return False


def pick(free: Free, strategy: Strategy, rules: Routing) -> Pick:
    """Choose among the candidates, of which there is at least one."""
    now, latest = free.now, free.latest
    spots = [_spot(one, strategy, rules, now, latest) for one in free.candidates]
    first = min(spots)
    front = tuple([one for one, its in zip(free.candidates, spots, strict=True) if its == first])
    likings = strategy.order(free if len(front) == len(spots) else replace(free, candidates=front))
    keys = [(likings.get(one.account.id, _UNLIKED).key, one.leases) for one in front]
    smallest = min(keys)
    conversation = free.demand.conversation
    alike = [one for one, key in zip(front, keys, strict=True) if key == smallest]
    chosen = min(alike, key=lambda one: (toss(conversation, one.account.id), one.account.id))
    return Pick(chosen.account.id, reason(chosen, Place(*first), likings, strategy))


def toss(conversation: ConversationId | None, account: AccountId) -> bytes:
    """Draw a number that is the same for the same pair everywhere, and otherwise as good as random."""
    return blake2b(f"{conversation or ''}\0{account}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def reason(chosen: Candidate, spot: Place, likings: Likings, strategy: Strategy) -> str:
    """Say in a few words why the candidate was the one."""
    if spot.paid_per_token:
        return "new: API key, no subscription may serve"
    if spot.nearly_full:
        return "new: nearly full, like every other"
    if chosen.account.rank is not None and not strategy.reads_ranks:
        return f"new: rank {chosen.account.rank}"
    if spot.measure != _MEASURED:
        return "unmeasured"
    return f"new: {likings.get(chosen.account.id, _UNLIKED).because}"
