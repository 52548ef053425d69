"""Which of the accounts that may serve is better: one key per account, the smallest is chosen, equal ones are tossed.

The key of an account never looks at another account, so dropping one that was not chosen changes nothing.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from routing.readings import Reading, Status, lapsed
from routing.rules import Routing
from routing.strategies.contract import Score, Strategy
from routing.strategies.least_used import LeastUsed
from routing.strategies.perishing import Perishing
from routing.strategies.soonest_reset import SoonestReset
from routing.words import Account, AccountId, ConversationId

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {"perishing": Perishing(), "soonest_reset": SoonestReset(), "least_used": LeastUsed()}
)

_UNKNOWN = float("inf")  # sorts after every known number
_DIGITS = 9  # scores that differ by less are equal: they come out of divisions
_IDLE_UNMEASURED, _MEASURED, _BUSY_UNMEASURED = 0, 1, 2


class Place(NamedTuple):
    """Where an account stands in a fresh choice; the first field that differs decides, the smaller is better.

    Accounts in the same place are told apart by toss(), the rendezvous hash of conversation and account.

    paid_per_token: an API key without a rank comes after all others.
    nearly_full: so does an account with a window that is rejected, or used up to switch_at.
    rank: the operator's order; without one, last.
    measure: a subscription without readings first while it is idle (one answer will measure it); while it is busy, last.
    dislike: the strategy's score, negative, rounded; without one, last.
    leases: requests in flight there.
    """

    paid_per_token: bool
    nearly_full: bool
    rank: float
    measure: int
    dislike: float
    leases: int


def place(
    account: Account,
    readings: tuple[Reading, ...],
    *,
    leases: int,
    rules: Routing,
    now: datetime,
) -> Place:
    """Build the account's key; readings: those of its windows that count for the demand."""
    score = STRATEGIES[rules.strategy].score(readings, now)
    return Place(
        not account.kind.is_subscription and account.rank is None,
        is_nearly_full(readings, rules.switch_at, now),
        _UNKNOWN if account.rank is None else account.rank,
        _measure(account, readings, leases),
        _UNKNOWN if score is None else -round(score.value, _DIGITS),
        leases,
    )


def _measure(account: Account, readings: tuple[Reading, ...], leases: int) -> int:
    if readings or not account.kind.is_subscription:
        return _MEASURED
    return _BUSY_UNMEASURED if leases else _IDLE_UNMEASURED


def is_nearly_full(readings: Iterable[Reading], switch_at: float, now: datetime) -> bool:
    """Whether a window that has not lapsed is rejected, or used up to switch_at."""
    for reading in readings:
        used = reading.used
        is_full = (used is not None and used >= switch_at) or reading.status is Status.REJECTED
        if is_full and not lapsed(reading, now):
            return True
    return False


def best(spots: Iterable[tuple[Place, AccountId]], conversation: ConversationId | None) -> tuple[Place, AccountId]:
    """Pick the smallest key; the toss decides between accounts in the same place."""
    ordered = list(spots)
    first = min(spot for spot, _ in ordered)
    return first, min((i for spot, i in ordered if spot == first), key=lambda i: (toss(conversation, i), i))


def toss(conversation: ConversationId | None, account: AccountId) -> bytes:
    """Draw a number that is the same for the same pair everywhere, and otherwise as good as random."""
    return blake2b(f"{conversation or ''}\0{account}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def reason(account: Account, spot: Place, score: Score | None, strategy: Strategy) -> str:
    """Say in a few words why the account with the smallest key was the one."""
    if spot.paid_per_token:
        return "new: API key, no subscription may serve"
    if spot.nearly_full:
        return "new: nearly full, like every other"
    if account.rank is not None:
        return f"new: rank {account.rank}"
    if spot.measure != _MEASURED:
        return "unmeasured"
    if score is None:
        return "new: fewest requests in flight"
    return "new: " + strategy.reason.format(window=score.window, value=score.value)
