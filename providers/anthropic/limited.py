"""Own answers A, B and C of docs/verdicts.md: what the client gets when no account may serve."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil

from providers.anthropic.headers import UNIFIED, claim_name
from providers.anthropic.replies import MOST_RETRY_AFTER, own
from providers.contract import Fields, Reply
from routing.decisions import Answer, Barred, GiveUp
from routing.mending import mending
from routing.moments import said
from routing.readings import Reading, Status
from routing.verdicts import RESERVE_ROW
from routing.words import Account, AccountId

ENABLING = "flowpool enable {}"
_FORBIDDEN_ROW = 19
_NO_LIMIT_ROWS = frozenset({14, 17})  # a throttle, a login that is being renewed: soon over, and nothing is used up
_SHOWN = frozenset({"5h", "7d"})
_SESSION = timedelta(hours=5)
_FULL = 1.0


def gave_up(
    choice: GiveUp, accounts: Mapping[AccountId, Account], readings: tuple[Reading, ...], now: datetime
) -> Reply:
    """Own answers A, B and C; readings are those of the account that recovers first."""
    match choice.answer:
        case Answer.LIMITED:
            return _limited(choice, accounts, readings, now=now)
        case Answer.LOCKED_OUT:
            return _locked_out(choice, accounts)
        case Answer.NONE_ENABLED:
            return _none_enabled(accounts)
        case _:
            raise ValueError(f"{choice.answer} is an answer of the provider, not one of ours")


def _limited(
    choice: GiveUp, accounts: Mapping[AccountId, Account], readings: tuple[Reading, ...], *, now: datetime
) -> Reply:
    first = choice.recovers
    until = first.until if first else None
    message = "; ".join((_when(first, accounts, now), *_passed_over(choice, accounts), *_spending(first, accounts)))
    if first is not None and first.row in _NO_LIMIT_ROWS:
        seconds = _seconds(until, now) if until else MOST_RETRY_AFTER
        return own(429, message, (("retry-after", str(min(seconds, MOST_RETRY_AFTER))),))
    fields: Fields = (
        (UNIFIED + "status", Status.REJECTED),
        (UNIFIED + "representative-claim", _claim(readings, until, now)),
    )
    if until is not None:
        fields += ((UNIFIED + "reset", str(ceil(until.timestamp()))),)
    fields += tuple(field for r in readings if r.window.key in _SHOWN for field in _window_fields(r, now))
    if until is not None:
        fields += (("retry-after", str(_seconds(until, now))),)
    return own(429, message, fields)


def _seconds(until: datetime, now: datetime) -> int:
    return max(1, ceil((until - now).total_seconds()))


def _when(first: Barred | None, accounts: Mapping[AccountId, Account], now: datetime) -> str:
    if first is None or first.until is None:
        return "No account may serve now, and none said when it will"
    return f"No account may serve before {said(first.until, now)}, when {_name(first.account, accounts)} recovers"


def _passed_over(choice: GiveUp, accounts: Mapping[AccountId, Account]) -> tuple[str, ...]:
    return tuple(f"{_name(barred.account, accounts)}: {barred.because}" for barred in choice.barred)


def _spending(first: Barred | None, accounts: Mapping[AccountId, Account]) -> tuple[str, ...]:
    """Say how the first could serve now, where a reserve alone keeps it from it."""
    if first is None or first.row != RESERVE_ROW:
        return ()
    return (f"run: flowpool reserve {_name(first.account, accounts)} --off",)


def _name(account: AccountId, accounts: Mapping[AccountId, Account]) -> str:
    known = accounts.get(account)
    return known.name if known else account


def _claim(readings: tuple[Reading, ...], until: datetime | None, now: datetime) -> str:
    """The window that keeps the account away: a spent one, else any, whose reset is nearest to its recovery."""
    spent = tuple(r for r in readings if r.status is Status.REJECTED or (r.used is not None and r.used >= _FULL))
    candidates = [r for r in spent or readings if r.resets_at is not None and r.resets_at > now]
    if until is None or not candidates:
        return "seven_day" if until is None or until - now > _SESSION else "five_hour"
    return claim_name(min(candidates, key=lambda r: abs((r.resets_at or now) - until)).window)


def _window_fields(reading: Reading, now: datetime) -> Fields:
    """What the provider said of a window; nothing once it is counted anew."""
    if reading.resets_at is not None and reading.resets_at <= now:
        return ()
    at = reading.resets_at
    told = {
        "status": reading.status,
        "utilization": None if reading.used is None else f"{reading.used:g}",
        "reset": None if at is None else str(ceil(at.timestamp())),
    }
    return tuple((f"{UNIFIED}{reading.window.key}-{name}", str(value)) for name, value in told.items() if value)


def _locked_out(choice: GiveUp, accounts: Mapping[AccountId, Account]) -> Reply:
    barred = tuple(b for b in choice.barred if _is_enabled(b.account, accounts))
    reasons = "; ".join(f"{_name(b.account, accounts)}: {b.because}" for b in barred)
    mends = [_mend(b.account, accounts) for b in barred if b.row != _FORBIDDEN_ROW]
    hint = f"; run: {', '.join(mends)}" if mends else ""
    return _final(502, f"No account's credential is accepted: {reasons or choice.because}{hint}")


def _mend(account: AccountId, accounts: Mapping[AccountId, Account]) -> str:
    """Name the command; of an account that is gone only the id is known."""
    known = accounts.get(account)
    return mending(known.kind, known.name) if known else mending("", account)


def _is_enabled(account: AccountId, accounts: Mapping[AccountId, Account]) -> bool:
    known = accounts.get(account)
    return known is None or known.enabled


def _none_enabled(accounts: Mapping[AccountId, Account]) -> Reply:
    ways = ", ".join(ENABLING.format(account.name) for account in accounts.values()) or ENABLING.format("NAME")
    return _final(503, f"No account is enabled: {ways}")


def _final(status: int, message: str) -> Reply:
    return own(status, message, (("x-should-retry", "false"),))
