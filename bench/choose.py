"""`Router.choose` by itself: 50 accounts with readings, 2,000 conversations that are warm, and as many new ones.

What every conversation costs, and what every window holds, was learned on the way.
"""

import time
from datetime import UTC, datetime, timedelta
from statistics import median

from providers.anthropic import ANTHROPIC
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Succeeded
from routing.router import Router
from routing.rules import Rules
from routing.spent import Spent
from routing.trail import Trail
from routing.verdicts import OK_ROW, Verdict, VerdictKind
from routing.words import Account, AccountId, ConversationId, Demand, ExchangeId, Family, Kind
from tests.upstream.limits import healthy

ACCOUNTS = 50
CONVERSATIONS = 2_000
SPENT = Spent(read=60_000, written=2_000, fresh=10, output=800)
GOOD = Verdict(row=OK_ROW, kind=VerdictKind.OK, because="served")


def _demand(name: str) -> Demand:
    conversation = ConversationId(name)
    return Demand(
        provider="anthropic", model="claude-opus-5-5", family=Family("opus"), conversation=conversation, tokens=62_000
    )


def _router(now: datetime) -> Router:
    """A Router that has served every conversation once."""
    router = Router(Rules())
    ids = [AccountId(f"account-{n:02d}") for n in range(ACCOUNTS)]
    known = (Account(id=i, name=i, provider="anthropic", kind=Kind.SETUP_TOKEN) for i in ids)
    router.observe(AccountsChanged(accounts=tuple(known)))
    for n in range(CONVERSATIONS):
        which, turn = n % ACCOUNTS, n // ACCOUNTS
        exchange, account, demand = ExchangeId(f"e{n}"), ids[which], _demand(f"warm {n}")
        used_5h, used_7d = 0.01 * (which % 37) + 0.0004 * turn, 0.02 * (which % 31) + 0.0001 * turn
        headers = dict(healthy(used_5h, used_7d, in_7d=86_400 * (1 + which % 6)))
        readings = ANTHROPIC.readings(headers, sent_at=now, now=now)
        router.observe(Dispatched(exchange=exchange, account=account, demand=demand, at=now))
        router.observe(
            Answered(
                exchange=exchange, account=account, demand=demand, verdict=GOOD, sent_at=now, at=now, readings=readings
            )
        )
        router.observe(Succeeded(exchange=exchange, account=account, demand=demand, at=now, spent=SPENT))
        router.observe(Ended(exchange=exchange, trail=Trail(started_at=now), at=now))
    return router


def choose_us(count: int) -> tuple[float, float]:
    """Microseconds of a choice for a new conversation, where every account is weighed, and for a warm one; medians."""
    now = datetime.now(UTC)
    router, trail = _router(now), Trail(started_at=now)
    later = now + timedelta(seconds=5)
    cold, warm = ([_demand(f"{kind} {n}") for n in range(count)] for kind in ("cold", "warm"))

    def timed(demand: Demand) -> float:
        begun = time.perf_counter()
        router.choose(demand, trail, later)
        return (time.perf_counter() - begun) * 1e6

    return median(map(timed, cold)), median(map(timed, warm))
