"""A picture of the Router for people: what `status` shows of each account, and who would serve next."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from routing.holds import AccountHolds
from routing.memory import Memory
from routing.readings import Reading, Source, Status, used_at
from routing.verdicts import AUTH_ROW
from routing.words import Account, AccountId

ACCOUNT_SCOPE = "account"
ANY_FAMILY = "any"


class State(StrEnum):
    """How an account stands; the first that fits, in this order."""

    DISABLED = "disabled"
    AUTH_DEAD = "auth_dead"
    HELD = "held"  # for at least one family
    UNMEASURED = "unmeasured"
    HEALTHY = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPicture:
    """One window as last reported; used: fraction, 0.0 once its reset has passed, None when unknown."""

    key: str
    used: float | None
    resets_at: datetime | None
    status: Status | None
    source: Source
    taken_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldPicture:
    """One hold in force; scope: "account", or the family that alone it bars. until: None when only a mend ends it."""

    scope: str
    until: datetime | None
    because: str
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPicture:
    """One account; in_flight: requests now; requests: all that went out, side calls included."""

    account: Account
    state: State
    because: str
    windows: tuple[WindowPicture, ...]
    holds: tuple[HoldPicture, ...]
    in_flight: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The whole picture at one moment.

    next: by family, and under "any", the account that a new conversation would get; None when none would.
    conversations: how many are warm.
    """

    at: datetime
    accounts: tuple[AccountPicture, ...]
    next: Mapping[str, AccountId | None]
    conversations: int


def picture(memory: Memory, account: Account, now: datetime) -> AccountPicture:
    """How one account stands now."""
    holds = tuple(hold for hold in memory.holds.get(account.id, ()) if not hold.is_over(now))
    readings = sorted(memory.readings.get(account.id, {}).values(), key=lambda r: (r.window.length, r.window.key))
    state, because = _state(account, holds, readings, now)
    return AccountPicture(
        account=account,
        state=state,
        because=because,
        windows=tuple(_window(reading, now) for reading in readings),
        holds=_holds(holds),
        in_flight=memory.leases.count(account.id),
        requests=memory.requests.get(account.id, 0),
    )


def _state(account: Account, holds: AccountHolds, readings: list[Reading], now: datetime) -> tuple[State, str]:
    if not account.enabled:
        return State.DISABLED, "disabled"
    dead = [hold for hold in holds if hold.row == AUTH_ROW]
    if dead:
        return State.AUTH_DEAD, max(dead, key=lambda hold: hold.until).because
    if holds:
        return State.HELD, max(holds, key=lambda hold: hold.until).because
    if not readings:
        return State.UNMEASURED, "no answer has shown its windows yet"
    used, key = max((used_at(reading, now) or 0.0, reading.window.key) for reading in readings)
    return State.HEALTHY, f"{key} {used:.0%} used"


def _window(reading: Reading, now: datetime) -> WindowPicture:
    return WindowPicture(
        key=reading.window.key,
        used=used_at(reading, now),
        resets_at=reading.resets_at,
        status=reading.status,
        source=reading.source,
        taken_at=reading.taken_at,
    )


def _holds(holds: AccountHolds) -> tuple[HoldPicture, ...]:
    """One picture per scope and row, the one that ends last; soonest end first."""
    latest = {(hold.family, hold.row): hold for hold in sorted(holds, key=lambda hold: hold.until)}
    return tuple(
        HoldPicture(scope=hold.family or ACCOUNT_SCOPE, until=hold.ends, because=hold.because, row=hold.row)
        for hold in sorted(latest.values(), key=lambda hold: hold.until)
    )
