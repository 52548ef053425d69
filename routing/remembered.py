"""What the Router knows that outlives a restart, and which of it still stands at a later moment."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from routing.capacities import Tally, TallyKey
from routing.gauges import Gauge
from routing.health import DISTANCES, Check
from routing.holds import AccountHolds, Hold, Ladder
from routing.lifetimes import Lifetime
from routing.pins import Pin, PinKey, still_wished
from routing.readings import Reading, Source, lapsed
from routing.stickiness import Stick, StickKey
from routing.words import AccountId, Family

type ReadingKey = tuple[AccountId, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A picture for the disk; nothing in it changes once it is drawn.

    readings: by account and the key of the window. sticks: the one served longest ago first.
    lines: families that each unknown model line was met on. capacities: by account and the key of the window.
    pins: wishes, and when they were heeded. gauges: what measuring met.
    """

    readings: Mapping[ReadingKey, Reading] = field(default_factory=dict)
    holds: Mapping[AccountId, AccountHolds] = field(default_factory=dict)
    ladders: Mapping[AccountId, Ladder] = field(default_factory=dict)
    checks: Mapping[AccountId, Check] = field(default_factory=dict)
    lifetimes: Mapping[AccountId, Lifetime] = field(default_factory=dict)
    sticks: Mapping[StickKey, Stick] = field(default_factory=dict)
    lines: Mapping[str, frozenset[Family]] = field(default_factory=dict)
    pins: Mapping[PinKey, Pin] = field(default_factory=dict)
    capacities: Mapping[TallyKey, Tally] = field(default_factory=dict)
    gauges: Mapping[AccountId, Gauge] = field(default_factory=dict)


def still_standing(old: Remembered, accounts: Collection[AccountId], now: datetime) -> Remembered:
    """Keep what is true now of accounts that exist, marked as restored.

    The clock may have gone back since: nothing was met later than now, or no answer could ever outdate it.
    """
    holds = {account: _running(held, now) for account, held in old.holds.items() if account in accounts}
    return Remembered(
        readings={
            key: replace(
                reading,
                sent_at=min(reading.sent_at, now),
                taken_at=min(reading.taken_at, now),
                source=Source.RESTORED,
            )
            for key, reading in old.readings.items()
            if key[0] in accounts and not is_outdated(reading, now)
        },
        holds={account: held for account, held in holds.items() if held},
        ladders={
            account: replace(ladder, set_at=min(ladder.set_at, now))
            for account, ladder in old.ladders.items()
            if account in accounts
        },
        checks={account: _no_later(check, now) for account, check in old.checks.items() if account in accounts},
        lifetimes={account: lifetime for account, lifetime in old.lifetimes.items() if account in accounts},
        sticks={key: stick for key, stick in old.sticks.items() if stick.account in accounts and now <= stick.until},
        lines=old.lines,
        pins=still_wished(old.pins, accounts, now),
        capacities={key: tally for key, tally in old.capacities.items() if key[0] in accounts},
        gauges={account: gauge.restored(now) for account, gauge in old.gauges.items() if account in accounts},
    )


def is_outdated(reading: Reading, now: datetime) -> bool:
    """Whether the window was reset since; one that named no reset is trusted for the window's length."""
    return lapsed(reading, now) or (reading.resets_at is None and reading.taken_at + reading.window.length <= now)


def _running(holds: AccountHolds, now: datetime) -> tuple[Hold, ...]:
    return tuple(
        replace(hold, set_at=min(hold.set_at, now), by=None, restored=True, since=None)
        for hold in holds
        if not hold.is_over(now)
    )


def _no_later(check: Check, now: datetime) -> Check:
    next_at, checked_at = check.next_at, check.checked_at
    return replace(
        check,
        next_at=None if next_at is None else min(next_at, now + DISTANCES[-1]),
        checked_at=None if checked_at is None else min(checked_at, now),
    )
