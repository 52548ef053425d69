"""A picture of the Router for people: what `status` shows of each account, and who would serve next."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from routing.holds import AccountHolds, Cure, Hold
from routing.lifetimes import UNKNOWN, Level, expiry
from routing.memory import Memory
from routing.mending import mending
from routing.pins import Pin
from routing.pressure import Pressure
from routing.readings import Reading, Source, Status, used_at
from routing.reserves import bars
from routing.verdicts import AUTH_ROW, BALANCE_ROW, RENEWED_ROW, SPEND_ROW
from routing.words import Account, AccountId

ACCOUNT_SCOPE = "account"
ANY_FAMILY = "any"


class State(StrEnum):
    """How an account stands; the first that fits, in this order."""

    DISABLED = "disabled"
    BROKEN = "broken"  # its secret is not at hand
    AUTH_DEAD = "auth_dead"  # its login was refused, or has ended
    ERROR = "error"  # its login could not be renewed, and serves no more until it is
    BUDGET_SPENT = "budget_spent"  # nothing is left to pay with, or a spend limit is reached
    HELD = "held"  # for at least one family
    EXPIRING = "expiring"  # it serves, but its login ends within days, or cannot be renewed any more
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
    """One account; in_flight: requests now; queued: who waits for a place there, or anywhere; requests: all that went out, side calls included.

    expires_at: when its access token ends; refresh_expires_at: when its login can be renewed no more; None where not known.
    checked_at: when the provider last accepted or refused its credential for sure.
    pressure: the 5-hour window that runs out before its reset at its recent rate; None when none does.
    """

    account: Account
    state: State
    because: str
    expires_at: datetime | None = None
    refresh_expires_at: datetime | None = None
    checked_at: datetime | None = None
    windows: tuple[WindowPicture, ...]
    holds: tuple[HoldPicture, ...]
    in_flight: int
    queued: int
    requests: int
    pressure: Pressure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PinPicture:
    """One wish; session: what it is about, None: all; is_launch: whether a client was launched with it."""

    accounts: tuple[AccountId, ...]
    session: str | None
    at: datetime
    moves: bool
    is_launch: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The whole picture at one moment.

    next: by family, and under "any", the account that a new conversation would get; None when none would.
    conversations: how many are warm. pins: the one of all first. queued: how many requests wait for a place below a cap.
    """

    at: datetime
    accounts: tuple[AccountPicture, ...]
    next: Mapping[str, AccountId | None]
    conversations: int
    pins: tuple[PinPicture, ...] = ()
    queued: int = 0


def pins(memory: Memory, accounts: tuple[AccountPicture, ...]) -> tuple[PinPicture, ...]:
    """Draw what was wished, the wish for all first."""
    every = memory.pins.of_all
    drawn = [] if every is None else [_pin(every, None, accounts, is_launch=False)]
    told = memory.pins.of_sessions().items()
    drawn += [_pin(pin, session, accounts, is_launch=is_launch) for session, (pin, is_launch) in told]
    return tuple(drawn)


def _pin(pin: Pin, session: str | None, accounts: tuple[AccountPicture, ...], *, is_launch: bool) -> PinPicture:
    named = [picture for picture in accounts if picture.account.id in pin.accounts]
    barred = [one for one in named if not one.account.enabled or any(h.scope == ACCOUNT_SCOPE for h in one.holds)]
    if named and len(barred) == len(named):
        because = "yields: " + ", ".join(f"{one.account.name} has no room ({one.because})" for one in barred)
    elif session is not None:
        because = "launched so" if is_launch else "pinned by you"
    else:
        because = (
            "running conversations move there, too" if pin.moves else "running conversations stay while they are warm"
        )
    return PinPicture(
        accounts=pin.accounts, session=session, at=pin.at, moves=pin.moves, is_launch=is_launch, because=because
    )


def picture(memory: Memory, account: Account, now: datetime) -> AccountPicture:
    """How one account stands now."""
    every = memory.pins.of_all
    met = tuple(hold for hold in memory.held.holds.get(account.id, ()) if not hold.is_over(now))
    is_spent = not account.reserves or (every is not None and account.id in every.accounts)
    holds = (
        met
        if is_spent
        else (*met, *bars(account, memory.meters.readings.get(account.id, {}).values(), memory.meters.lines, now))
    )
    readings = memory.meters.of(account.id)
    lifetime = memory.held.logins.lifetimes.get(account.id, UNKNOWN)
    state, because = _state(memory, account, holds, readings, now)
    return AccountPicture(
        account=account,
        state=state,
        because=because,
        expires_at=lifetime.expires_at,
        refresh_expires_at=lifetime.refresh_expires_at,
        checked_at=memory.held.logins.check(account.id).checked_at,
        windows=tuple(_window(reading, now) for reading in readings),
        holds=_holds(holds),
        in_flight=memory.traffic.leases.count(account.id),
        queued=memory.traffic.queue.count(account.id),
        requests=memory.traffic.requests.get(account.id, 0),
        pressure=memory.meters.pressures.of(account.id, readings, now, reserve=account.reserves.session),
    )


def _state(
    memory: Memory, account: Account, holds: AccountHolds, readings: tuple[Reading, ...], now: datetime
) -> tuple[State, str]:
    if not account.enabled:
        return State.DISABLED, "disabled"
    if holds:
        return _barred(holds)
    level, ends = expiry(memory.held.logins.lifetimes.get(account.id, UNKNOWN), now)
    failed = memory.held.logins.unrenewed.get(account.id)
    if failed is not None and failed.until is None:
        return State.EXPIRING, _with_mend(failed.because, account)
    if level in (Level.URGENT, Level.OVER):
        return State.EXPIRING, _with_mend(ends, account)
    state, because = _by_use(readings, now)
    return state, "; ".join(filter(None, (because, ends, failed.because if failed else "")))


def _barred(holds: AccountHolds) -> tuple[State, str]:
    """The worst that the holds say, and why; of several that say it, the one that ends last speaks."""
    state = min(map(_state_of, holds), key=list(State).index)
    return state, max((h for h in holds if _state_of(h) is state), key=lambda hold: hold.until).because


def _state_of(hold: Hold) -> State:
    if hold.cure is Cure.SECRET:
        return State.BROKEN
    if hold.row in (AUTH_ROW, RENEWED_ROW):
        return State.AUTH_DEAD if hold.row == AUTH_ROW else State.ERROR
    is_spent = hold.row in (SPEND_ROW, BALANCE_ROW) and hold.family is None
    return State.BUDGET_SPENT if is_spent else State.HELD


def _by_use(readings: tuple[Reading, ...], now: datetime) -> tuple[State, str]:
    if not readings:
        return State.UNMEASURED, "no answer has shown its windows yet"
    used, key = max((used_at(reading, now) or 0.0, reading.window.key) for reading in readings)
    return State.HEALTHY, f"{key} {used:.0%} used"


def _with_mend(because: str, account: Account) -> str:
    return because if "run: " in because else f"{because}; run: {mending(account.kind, account.name)}"


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
