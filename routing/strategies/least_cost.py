"""Prefer what costs nothing more: the plan that is used least.

The law:

    1. subscriptions, whose use is paid for already, before API keys
    2. the least used of the plan: of its fullest week, or of its fullest window where no week was read; unknown after all known
    3. fewer requests in flight
    4. the account whose latest free choice is longest ago

The account of the latest free choice, if it is idle, is not left for one that is less used by noise alone, so the fourth line speaks where use is not
known: for API keys. What a plan costs does not count, only how much of it is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from routing.readings import used_at
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.strategies.steady import DIGITS, idle_latest, is_beaten
from routing.windows import WEEK
from routing.words import AccountId

KEPT = 4  # the place in a key of whether it is the kept latest choice: False if so

type Uses = Mapping[AccountId, float]
"""The use of each account's plan, where it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCost:
    """The strategy."""

    reads_ranks: bool = False
    reads_windows: bool = True
    reads_pressure: bool = False

    def order(self, free: Free) -> Likings:
        """Like the law says."""
        uses = {
            one.account.id: round(use, DIGITS) for one in free.candidates if (use := used(one, free.now)) is not None
        }
        kept, least = _kept(free, uses)
        likings = {}
        for one in free.candidates:
            use = uses.get(one.account.id)
            counted = least if one is kept else use
            known = (counted is None, counted or 0.0)
            key = (not one.account.kind.is_subscription, *known, one.leases, one is not kept, one.given_at)
            likings[one.account.id] = Liking(key, _because(one, use))
        return likings


def used(one: Candidate, now: datetime) -> float | None:
    """Find how much of an account's plan is used; None when that is not known."""
    known = [(r.window.length == WEEK, use) for r in one.readings if (use := used_at(r, now)) is not None]
    return max((min(use, 1.0) for is_week, use in known if is_week or not any(week for week, _ in known)), default=None)


def _kept(free: Free, uses: Uses) -> tuple[Candidate | None, float]:
    """The idle account of the latest free choice, if none of its kind beats it, and the least use among its kind."""
    latest = idle_latest(free)
    if latest is None or latest.account.id not in uses:
        return None, 0.0
    kind = latest.account.kind.is_subscription
    own = uses[latest.account.id]
    alike = [one for one in free.candidates if one.account.id in uses and one.account.kind.is_subscription is kind]
    below = [one for one in alike if uses[one.account.id] < own]
    if is_beaten(latest, below, lambda one, more: -uses[one.account.id] - more):
        return None, 0.0
    return latest, min(uses[one.account.id] for one in alike)


def _because(one: Candidate, use: float | None) -> str:
    if not one.account.kind.is_subscription:
        return "API key, least recently used"
    return "least recently used" if use is None else f"least used of its plan ({use:.0%})"
