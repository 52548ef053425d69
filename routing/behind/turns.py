"""Who comes behind under the strategies that take accounts in turn: priority, failover, round_robin."""

from routing.behind.taken import Taken
from routing.strategies.contract import Candidate


def by_priority(taken: Taken, one: Candidate) -> str:
    """Say why one comes after the first in the person's order."""
    rank = one.account.rank
    words = "no rank" if rank is None else f"rank {rank}"
    return words if rank != taken.first.account.rank else f"{words}, added later"


def by_failover(taken: Taken, one: Candidate) -> str:
    """The same, unless the first is kept because it serves still."""
    is_kept = taken.free.latest == taken.first.account.id
    return f"{taken.name} has not refused" if is_kept else by_priority(taken, one)


def by_round(taken: Taken, one: Candidate) -> str:
    """Say where its turn is."""
    del taken
    return "its turn came later" if one.given_at else "its turn comes later"
