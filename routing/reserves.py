"""Reserves: what is held back of an account's windows for requests that are pinned to it.

An account is at its reserve while a window is used up to what is held back of it, and has not reset since. It may then serve
only what spends the reserve. Its readings say so, and so no answer has to be met: the bar is a hold that is never kept.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from routing.holds import AccountHolds, Hold
from routing.readings import Reading
from routing.strategies.contract import NO_RESERVES
from routing.verdicts import RESERVE_ROW
from routing.windows import KNOWN_LINES, SESSION, WEEK
from routing.words import Account, AccountId, Family

_SLACK = 1e-9

type Lines = Mapping[str, frozenset[Family]]


def by_length(account: Account) -> Mapping[timedelta, float]:
    """What is held back of an account's windows, by their length."""
    reserves = account.reserves
    return {SESSION: reserves.session, WEEK: reserves.week} if reserves else NO_RESERVES


def is_reached(account: Account, readings: Iterable[Reading], now: datetime) -> bool:
    """Whether one of these windows is used up to its reserve."""
    return any(_bar(account, reading, None, now) for reading in readings)


def bars(account: Account, readings: Iterable[Reading], lines: Lines, now: datetime) -> AccountHolds:
    """The bars that an account's readings make, each with its window's reset as the end."""
    found = (
        _bar(account, reading, family, now) for reading in readings for family in _families(reading.window.line, lines)
    )
    return tuple(hold for hold in found if hold is not None)


def with_bars(
    holds: Mapping[AccountId, AccountHolds],
    reserved: Iterable[Account],
    readings: Mapping[AccountId, Mapping[str, Reading]],
    lines: Lines,
    now: datetime,
) -> Mapping[AccountId, AccountHolds]:
    """Add to what is held the bars of these accounts' reserves."""
    made = {one.id: bars(one, readings.get(one.id, {}).values(), lines, now) for one in reserved}
    added = {account: (*holds.get(account, ()), *its) for account, its in made.items() if its}
    return {**holds, **added} if added else holds


def _families(line: str | None, lines: Lines) -> Iterator[Family | None]:
    """Whom a window counts: None is every family."""
    if line is None:
        yield None
    else:
        yield from sorted(KNOWN_LINES[line] if line in KNOWN_LINES else lines.get(line, frozenset()))


def _bar(account: Account, reading: Reading, family: Family | None, now: datetime) -> Hold | None:
    """The bar that one window makes; one whose reset is not known is believed for its length."""
    window, used = reading.window, reading.used
    kept = by_length(account).get(window.length, 0.0)
    end = reading.taken_at + window.length if reading.resets_at is None else reading.resets_at
    if not kept or used is None or used < 1 - kept - _SLACK or end <= now:
        return None
    return Hold(
        account=account.id,
        family=family,
        row=RESERVE_ROW,
        until=end,
        because=f"at its reserve: {window.key} {used:.0%} used, {kept:.0%} kept for pins",
        windows=frozenset({window.key}),
        set_at=now,
    )
