"""What a strategy is shown of the accounts among which it is to choose."""

from collections.abc import Mapping
from datetime import timedelta

from routing.forecast import Forecast
from routing.question import Eligible, Question
from routing.reserves import by_length, is_reached
from routing.scoring import STRATEGIES
from routing.strategies.contract import NO_RESERVES, Candidate, Free
from routing.strategies.steady import POINT
from routing.windows import SESSION


def free(question: Question, eligible: Eligible) -> Free:
    """Draw a free choice among these accounts."""
    memory, demand, now = question.memory, question.demand, question.now
    traffic, meters = memory.traffic, memory.meters
    shown, leases, given_at = meters.counting(demand.family), traffic.leases.counts, traffic.given.ordinals
    candidates = {
        i: Candidate(account=account, readings=shown[i], leases=leases.get(i, 0), given_at=given_at.get(i, 0))
        for i, account in eligible.items()
    }
    for account in memory.reserved:
        if account.id in candidates:
            candidates[account.id].reserves = _reserves(candidates[account.id], question)
    if STRATEGIES[question.rules.routing.strategy].reads_pressure:
        for one in candidates.values():
            one.pressed = _is_pressed(one, question)
    return Free(
        demand=demand,
        candidates=tuple(candidates.values()),
        now=now,
        home=traffic.habits.home(demand),
        latest=traffic.given.latest(demand.provider),
        forecast=Forecast(traffic.load, meters.capacities, demand, now),
    )


def _reserves(one: Candidate, question: Question) -> Mapping[timedelta, float]:
    """What is held back from the demand: nothing of an account that is pinned, or that serves as the last resort."""
    is_pinned = one.account.id in question.memory.pins.spent(question.demand)
    if is_pinned or is_reached(one.account, one.readings, question.now):
        return NO_RESERVES
    return by_length(one.account)


def _is_pressed(one: Candidate, question: Question) -> bool:
    """Whether its 5-hour window is out, or runs out before its reset; of the latest choice even with a point less used."""
    account, memory = one.account, question.memory
    more = -POINT if memory.traffic.given.latest(account.provider) == account.id else 0.0
    reserve = one.reserves.get(SESSION, 0.0)
    return memory.meters.pressures.is_pressed(account.id, one.readings, question.now, reserve=reserve, more=more)
