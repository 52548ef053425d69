"""When 5-hour windows are opened early, so that through a person's day one account after another gets an empty one.

With N accounts a window is to end every 5/N hours, the first half such a step into the day. Each account has a slot: that moment less
5 hours, rounded down to ten minutes, on which windows reset. It is primed there, and again at each reset until the day ends.
All by the wall clock, so that days on which clocks change keep their times of day.
"""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import Enum, auto
from typing import Self

from routing.readings import Reading, Source
from routing.words import AccountId

KEY = "5h"
LENGTH = timedelta(hours=5)
MARK = timedelta(minutes=10)  # windows reset on multiples of it
AFTER = timedelta(seconds=5)  # clocks differ: a prime that comes before the reset starts nothing
AGAIN = timedelta(minutes=5)  # after a prime that failed
FAILED, NOT_STARTED = "prime failed", "prime didn't start the window"
DAYS = range(-2, 10)  # from today, in which a next prime is looked for

_DAY = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)", re.ASCII)
_MINUTES, _HOURS = 60, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The person's day, in time since midnight; one whose end is no later than its start ends the next morning."""

    start: timedelta
    end: timedelta

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read 08:00-23:00; raise ValueError."""
        match = _DAY.fullmatch(text.strip())
        if match is None:
            raise ValueError("no span of two times")
        hours, minutes, to_hours, to_minutes = (int(part) for part in match.groups())
        if max(hours, to_hours) >= _HOURS or max(minutes, to_minutes) >= _MINUTES:
            raise ValueError("no such time")
        start, end = timedelta(hours=hours, minutes=minutes), timedelta(hours=to_hours, minutes=to_minutes)
        if start == end:
            raise ValueError("a day without a length")
        return cls(start=start, end=end)

    def slots(self, count: int) -> tuple[timedelta, ...]:
        """Each of so many accounts' slot, since the day's midnight; below zero it is on the evening before."""
        halves = 2 * count
        # (start + step/2 + i·step - 5 h) in whole numbers: a step of 5 h / 7 has no end as a fraction
        exact = ((self.start - LENGTH) * halves + LENGTH * (2 * at + 1) for at in range(count))
        return tuple(span // (MARK * halves) * MARK for span in exact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The span in which an account is primed for one day."""

    slot: datetime
    end: datetime

    @property
    def begin(self) -> datetime:
        """The first moment at which to prime."""
        return self.slot + AFTER


class Standing(Enum):
    """How an account's 5-hour window stands."""

    UNREAD = auto()  # nothing was read of the account
    LAPSED = auto()
    RUNNING = auto()
    UNCLEAR = auto()  # other windows were read, or this one without its reset


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveHours:
    """An account's 5-hour window; reset: its last one that is known."""

    standing: Standing
    reset: datetime | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether a prime would start it."""
        return self.standing in (Standing.UNREAD, Standing.LAPSED)


def five_hours(readings: Iterable[Reading], now: datetime) -> FiveHours:
    """Judge the window by an account's readings. The provider's own account of use names no reset of one that nothing started."""
    known = tuple(readings)
    if not known:
        return FiveHours(standing=Standing.UNREAD)
    found = next((reading for reading in known if reading.window.key == KEY), None)
    if found is not None and found.resets_at is not None:
        standing = Standing.LAPSED if found.resets_at <= now else Standing.RUNNING
        return FiveHours(standing=standing, reset=found.resets_at)
    is_unstarted = found is not None and found.source is Source.USAGE and found.used == 0
    return FiveHours(standing=Standing.LAPSED if is_unstarted else Standing.UNCLEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A span in which an account is not primed, and why."""

    until: datetime
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is next for one account. slot: of the day that it speaks of. next_at: None when it is not primed as things stand."""

    slot: datetime
    next_at: datetime | None
    because: str

    def is_due(self, now: datetime) -> bool:
        """Whether to prime now."""
        return self.next_at is not None and self.next_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The person's day in a time zone; zone: None is the zone of this machine."""

    day: Day
    zone: tzinfo | None = None

    def stretches(self, place: int, count: int, now: datetime) -> Iterator[Stretch]:
        """The stretches of the account at that place among so many that have not ended, soonest first."""
        today = now.astimezone(self.zone).date()
        slot = self.day.slots(count)[place]
        lasts = self.day.end if self.day.end > self.day.start else self.day.end + timedelta(days=1)
        for days in DAYS:
            at = today + timedelta(days=days)
            stretch = Stretch(slot=self._moment(at, slot), end=self._moment(at, lasts))
            if stretch.end > now:
                yield stretch

    def plan(self, place: int, count: int, window: FiveHours, now: datetime, *, rests: Iterable[Rest] = ()) -> Plan:
        """Say when the account at that place among so many is primed next; rests: other reasons to leave it alone."""
        waits = [(rest.until, rest.because) for rest in rests]
        if window.reset is not None:
            runs = window.standing is Standing.RUNNING
            waits.append((window.reset + AFTER, "its window runs until then" if runs else "its window has ended"))
        first = next(self.stretches(place, count, now))
        if window.standing is Standing.UNCLEAR:
            return Plan(slot=first.slot, next_at=None, because=f"whether its {KEY} window runs is not known")
        for stretch in self.stretches(place, count, now):
            at, because = max([(stretch.begin, "its slot"), *waits], key=lambda wait: wait[0])
            if at < stretch.end:
                return Plan(slot=stretch.slot, next_at=at, because=because)
        return Plan(slot=first.slot, next_at=None, because=max(waits)[1])

    def _moment(self, day: date, since_midnight: timedelta) -> datetime:
        """A time of day by the wall clock; one that the clocks leave out is read as they stood before."""
        days, rest = divmod(since_midnight, timedelta(days=1))
        wall = datetime.combine(day + timedelta(days=days), time()) + rest
        return wall.replace(tzinfo=self.zone).astimezone(UTC)


def failure(window: FiveHours, at: datetime, *, has_read: bool) -> Rest | None:
    """The rest after a prime that came to nothing, by how the window stands then; None when it runs, or that is not known."""
    if has_read and not window.is_stopped:
        return None
    return Rest(until=at + AGAIN, because=NOT_STARTED if has_read else FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Whose slots make the day, in the person's order; missing: those that could not be signed for at the last look."""

    members: tuple[AccountId, ...] = ()
    missing: frozenset[AccountId] = frozenset()

    def looked(self, known: Iterable[AccountId], usable: Container[AccountId]) -> "Roster":
        """Look again: one that can be signed for counts at once; one that cannot is lost only at the second look.

        known: all accounts, in the person's order.
        """
        lingering = frozenset(a for a in self.members if a not in usable and a not in self.missing)
        members = tuple(a for a in known if a in usable or a in lingering)
        return Roster(members=members, missing=lingering & frozenset(members))
