"""What comes after a refused attempt, from the trail alone.

The bounds of docs/verdicts.md, for the attempts that count (a wait for recovery starts counts anew):
same-account tries are one counter per account over all rows, and the next wait is the last verdict's list at that index;
waits between tries share one budget per exchange; a hop asks each account at most once, but again one whose hold ended while the
exchange waited for room; rows that say "one hop" share a single hop. A side call never waits.
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from itertools import pairwise

from routing.rules import Rules
from routing.trail import Attempt, Trail
from routing.verdicts import Hop, Verdict
from routing.words import AccountId, Demand

SHORTEST = timedelta(seconds=1)  # before an account that did not recover is asked once more
DOUBLINGS = 16  # longer than any pause may be


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Ask the same account once more, this long after its last answer."""

    account: AccountId
    wait: timedelta
    at: datetime


class Onward(Enum):
    """What is left when the same account is not asked again."""

    HOP = "hop"  # an account that was not asked yet
    STOP = "stop"


type Step = Again | Onward


def next_step(trail: Trail, demand: Demand, rules: Rules) -> Step:
    """Say what the last attempt, a refusal, allows next; raises ValueError when no attempt counts."""
    last = trail.last
    if last is None:
        raise ValueError("nothing was tried yet")
    wait = _next_wait(last, trail)
    if wait is not None and _may_wait(wait, trail, demand, rules):
        return Again(account=last.account, wait=wait, at=last.ended_at + wait)
    if last.verdict.hop is Hop.EACH or (last.verdict.hop is Hop.ONE and not _one_hop_was_used(trail)):
        return Onward.HOP
    return Onward.STOP


def asked(trail: Trail, now: datetime) -> frozenset[AccountId]:
    """List the accounts that a hop may not ask again, be they held or not.

    One that set a hold is not among them after a wait for room, but rests 1, 2, 4 ... s: its hold may end as soon as it is set.
    """
    newest = {attempt.account: attempt for attempt in trail.counted}
    since = {attempt.account for attempt in trail.attempts[trail.roomed_at :]}
    refusals = Counter(attempt.account for attempt in trail.counted if attempt.verdict.is_for_a_time)
    return frozenset(
        account
        for account, last in newest.items()
        if account in since or not last.verdict.is_for_a_time or now < last.ended_at + rest(refusals[account])
    )


def rest(times: int) -> timedelta:
    """How long an exchange leaves alone what did not recover so many times."""
    return SHORTEST * (1 << min(times - 1, DOUBLINGS))


def settle(verdict: Verdict, trail: Trail, demand: Demand, rules: Rules) -> Verdict:
    """Fit the verdict to this exchange, before it is observed and before the trail grows by it.

    A first wait that no longer fits the budget makes way for unless_fits. A side call sets no hold and hops where
    the row waits.
    """
    if verdict.unless_fits is not None:
        spent = _pause_before_this(trail, demand, rules)
        fits = not verdict.same or _fits(spent + verdict.same[0], trail, rules)
        verdict = replace(verdict, unless_fits=None) if fits else settle(verdict.unless_fits, trail, demand, rules)
    return _beside(verdict) if demand.side else verdict


def _pause_before_this(trail: Trail, demand: Demand, rules: Rules) -> timedelta:
    """Find what was waited before the attempt that is judged now; the trail does not hold that yet."""
    step = Onward.STOP if trail.last is None else next_step(trail, demand, rules)
    return step.wait if isinstance(step, Again) else timedelta()


def _beside(verdict: Verdict) -> Verdict:
    """Fit the verdict to a side call."""
    if not any(verdict.same):
        return replace(verdict, hold=None)
    hop = Hop.ONE if verdict.hop is Hop.NO else verdict.hop
    return replace(verdict, hold=None, same=(), hop=hop)


def _next_wait(last: Attempt, trail: Trail) -> timedelta | None:
    tries = sum(attempt.account == last.account for attempt in trail.counted) - 1
    return last.verdict.same[tries] if tries < len(last.verdict.same) else None


def _may_wait(wait: timedelta, trail: Trail, demand: Demand, rules: Rules) -> bool:
    return not wait or (not demand.side and _fits(wait, trail, rules))


def _fits(wait: timedelta, trail: Trail, rules: Rules) -> bool:
    return trail.waited + wait <= timedelta(seconds=rules.retry.budget_s)


def _one_hop_was_used(trail: Trail) -> bool:
    return any(here.account != there.account and here.verdict.hop is Hop.ONE for here, there in pairwise(trail.counted))
