"""A workload out of one's own requests: what was asked through the pool, on accounts of the size that the answers told.

Read are the request ledger and the history of readings; neither holds what was said. What is estimated, and how surely, is told in
notes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from flowpool.errors import Failure
from flowpool.history_capacities import Paid, Sampled, Sizes, sizes
from flowpool.history_turns import Spoken, spoken
from flowpool.workloads import COST, UNIT_TOKENS
from home.accounts import load
from home.paths import Home
from home.state import reader
from routing.capacities import size_of
from routing.simulation.workload import Cost, Plan, Turn, Workload, family_of
from routing.windows import KNOWN_LINES
from routing.words import Account

DAYS = 14
MOST = 200_000  # requests; the ledger keeps no more
SESSION, WEEK = "5h", "7d"
PRICES = Cost(**COST)


class Told(NamedTuple):
    """The workload, and what a person should know of how it came about."""

    workload: Workload
    notes: tuple[str, ...]


def history(home: Home, days: int, now: datetime | None = None) -> Told:
    """Make a workload of the last so many days.

    Raises Failure, which names what is lacking: requests, readings, or enough use to estimate what a window holds.
    """
    since = (datetime.now(UTC) if now is None else now) - timedelta(days=days)
    lines = [line for line in reader.requests(home.state, MOST) if datetime.fromisoformat(line["at"]) >= since]
    turns, left_out = spoken(lines)
    if not turns:
        raise Failure(f"no answered request of the last {days} days is known; use the pool first, with: flowpool run")
    accounts = [account for account in load(home.accounts) if account.enabled and account.kind.is_subscription]
    found = sizes([_sampled(home, account, turns, since) for account in accounts], days)
    workload = Workload(
        accounts=tuple(_plan(account, found, since) for account in accounts if account.name in found),
        turns=tuple(_turn(one, since) for one in turns),
        cost=PRICES,
        unit_tokens=UNIT_TOKENS,
    )
    return Told(workload, (_count(turns, left_out, days), *_unmeasured(accounts, found), *_told(found)))


def _sampled(home: Home, account: Account, turns: Sequence[Spoken], since: datetime) -> Sampled:
    """Gather what was paid on an account, and what was read of it meanwhile."""
    keys = (SESSION, WEEK, *(f"{WEEK}_{line}" for line in KNOWN_LINES))
    paid = [Paid(one.ended_at, _price(one), family_of(one.model)) for one in turns if one.account == account.name]
    readings = {key: reader.history(home.state, account.id, key, since) for key in keys}
    return Sampled(name=account.name, size=size_of(account.identity.plan), paid=paid, readings=readings)


def _price(one: Spoken) -> float:
    """What a turn cost in units, by the prices of a workload: of its context, what was read warm and what was written."""
    context = one.warm * PRICES.read + (one.context - one.warm) * PRICES.write
    return (one.fresh * PRICES.fresh + one.output * PRICES.output + context) / UNIT_TOKENS


def _turn(one: Spoken, since: datetime) -> Turn:
    return Turn(
        at=(one.at - since).total_seconds(),
        conversation=one.conversation,
        model=one.model,
        context=one.context,
        fresh=one.fresh,
        output=one.output,
        ttl=one.ttl,
    )


def _plan(account: Account, found: dict[str, Sizes], since: datetime) -> Plan:
    its = found[account.name]
    week = its.windows[WEEK].units
    return Plan(
        name=account.name,
        size=size_of(account.identity.plan),
        window_5h=its.windows[SESSION].units,
        week=week,
        week_resets_at=(its.week_resets_at - since).total_seconds(),
        models={
            family: min(its.windows[f"{WEEK}_{line}"].units / week, 1.0)
            for line, families in KNOWN_LINES.items()
            if f"{WEEK}_{line}" in its.windows
            for family in sorted(families)
        },
    )


def _count(turns: Sequence[Spoken], left_out: int, days: int) -> str:
    talks = len({one.conversation for one in turns})
    left = f"; {left_out} others told no tokens and are left out" if left_out else ""
    return f"{len(turns)} turns of {talks} conversations in the last {days} days{left}"


def _unmeasured(accounts: Sequence[Account], found: dict[str, Sizes]) -> list[str]:
    return [f"{a.name} is left out: its windows were never read in that time" for a in accounts if a.name not in found]


def _told(found: dict[str, Sizes]) -> list[str]:
    return [f"{name} is estimated to hold {its.words()}" for name, its in found.items()]
