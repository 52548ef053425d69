"""The schedule of priming: slots, the stretch of each day, and whole days played with a pretended clock."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.priming import (
    AFTER,
    AGAIN,
    FAILED,
    LENGTH,
    MARK,
    NOT_STARTED,
    Day,
    FiveHours,
    Plan,
    Rest,
    Roster,
    Schedule,
    Standing,
    failure,
    five_hours,
)
from routing.readings import Reading, Source
from routing.words import AccountId
from tests.routing.made import ANN, BEN, CAT, NOON, hours, reading, seconds

BERLIN = ZoneInfo("Europe/Berlin")
UNREAD, UNCLEAR = FiveHours(standing=Standing.UNREAD), FiveHours(standing=Standing.UNCLEAR)


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    """A moment by the wall clock."""
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


def wall(moment: datetime | None, zone: ZoneInfo = BERLIN) -> str:
    assert moment is not None
    return moment.astimezone(zone).strftime("%a %H:%M:%S")


def runs(reset: datetime) -> FiveHours:
    return FiveHours(standing=Standing.RUNNING, reset=reset)


def lapsed(reset: datetime) -> FiveHours:
    return FiveHours(standing=Standing.LAPSED, reset=reset)


def clock(since_midnight: timedelta) -> str:
    minutes = round(since_midnight.total_seconds() / 60)
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}" + ("-" if minutes < 0 else "")


TABLE = [  # the day, N, slots ("-": the evening before), resets within the day
    ("08:00-23:00", 1, "05:30", "10:30 15:30 20:30"),
    ("08:00-23:00", 2, "04:10 06:40", "09:10 11:40 14:10 16:40 19:10 21:40"),
    ("08:00-23:00", 3, "03:50 05:30 07:10", "08:50 10:30 12:10 13:50 15:30 17:10 18:50 20:30 22:10"),
    (
        "08:00-23:00",
        4,
        "03:30 04:50 06:00 07:20",
        "08:30 09:50 11:00 12:20 13:30 14:50 16:00 17:20 18:30 19:50 21:00 22:20",
    ),
    (
        "08:00-23:00",
        5,
        "03:30 04:30 05:30 06:30 07:30",
        " ".join(f"{hour:02}:30" for hour in range(8, 23)),
    ),
    (
        "08:00-23:00",
        6,
        "03:20 04:10 05:00 05:50 06:40 07:30",
        "08:20 09:10 10:00 10:50 11:40 12:30 13:20 14:10 15:00 15:50 16:40 17:30 18:20 19:10 20:00 20:50 21:40 22:30",
    ),
    ("03:00-18:00", 2, "23:10- 01:40", "04:10 06:40 09:10 11:40 14:10 16:40"),
    ("22:00-06:00", 2, "18:10 20:40", "23:10 01:40 04:10"),
]


@dataclass
class World:
    """Accounts whose windows start with their first use and end on a ten-minute mark; every prime is noted by account.

    fails: how many primes of an account come to nothing, and how. known: what was read of each.
    """

    schedule: Schedule
    accounts: tuple[AccountId, ...]
    known: dict[AccountId, datetime] = field(default_factory=dict)
    failed: dict[AccountId, Rest] = field(default_factory=dict)
    primes: list[tuple[AccountId, datetime]] = field(default_factory=list)
    fails: dict[AccountId, list[str]] = field(default_factory=dict)

    def window(self, account: AccountId, now: datetime) -> FiveHours:
        reset = self.known.get(account)
        if reset is None:
            return UNREAD
        return runs(reset) if reset > now else lapsed(reset)

    def plan(self, account: AccountId, now: datetime) -> Plan:
        rests = [self.failed[account]] if account in self.failed else []
        place, count = self.accounts.index(account), len(self.accounts)
        return self.schedule.plan(place, count, self.window(account, now), now, rests=rests)

    def look(self, now: datetime) -> None:
        for account in self.accounts:
            if self.plan(account, now).is_due(now):
                self._prime(account, now)

    def _prime(self, account: AccountId, now: datetime) -> None:
        self.primes.append((account, now))
        fails = self.fails.get(account, [])
        how = fails.pop(0) if fails else ""
        if not how:
            since = now - datetime(2026, 1, 1, tzinfo=UTC)
            self.known[account] = now - since % MARK + LENGTH
        failed = failure(self.window(account, now), now, has_read=how != FAILED)
        self.failed.pop(account, None)
        if failed is not None:
            self.failed[account] = failed

    def play(self, since: str, until: str, *, asleep: tuple[str, str] | None = None) -> list[str]:
        """Look again and again; when who was primed."""
        asleep_from, awake_at = (at(asleep[0]), at(asleep[1])) if asleep else (at(since), at(since))
        for now in sorted({*ticks(at(since), at(until)), awake_at}):
            if not asleep_from <= now < awake_at:
                self.look(now)
        return [f"{account} {wall(when)}" for account, when in self.primes]


def ticks(now: datetime, end: datetime, every: timedelta = AGAIN) -> Iterator[datetime]:
    """The moments at which something may be due, and some at which nothing is yet."""
    while now < end:
        yield from (now + timedelta(seconds=4), now + timedelta(seconds=5))
        now += every


def world(day: str, *names: AccountId, zone: ZoneInfo = BERLIN) -> World:
    return World(schedule=Schedule(day=Day.parse(day), zone=zone), accounts=names or (ANN,))


@pytest.mark.parametrize(("day", "count", "slots", "resets"), TABLE, ids=[f"{row[0]} N={row[1]}" for row in TABLE])
def test_the_table(day: str, count: int, slots: str, resets: str) -> None:
    """Slots, and the resets that a day of primes then has."""
    assert [clock(slot) for slot in Day.parse(day).slots(count)] == slots.split()

    names = tuple(AccountId(f"a{number}") for number in range(count))
    played = world(day, *names)
    found = set()
    for now in ticks(at("2026-01-05T15:00"), at("2026-01-07T07:00"), MARK):
        played.look(now)
    begin, end = Day.parse(day).start, Day.parse(day).end
    starts = at("2026-01-06T00:00") + begin - (timedelta(days=1) if end < begin else timedelta())
    ends = at("2026-01-06T00:00") + end
    found = {when - (when - NOON) % MARK + LENGTH for _, when in played.primes}
    inside = sorted(reset for reset in found if starts <= reset < ends)
    assert [reset.astimezone(BERLIN).strftime("%H:%M") for reset in inside] == resets.split()
    assert all((when - NOON) % MARK == AFTER for _, when in played.primes if when > at("2026-01-05T23:59"))


def test_two_accounts_unfloored_are_at_a_quarter() -> None:
    """04:15 and 06:45 become 04:10 and 06:40: always earlier, to the ten minutes on which windows reset."""
    slots = Day.parse("08:00-23:00").slots(2)

    assert [clock(slot) for slot in slots] == ["04:10", "06:40"]
    assert [clock(slot) for slot in Day.parse("08:05-23:00").slots(2)] == ["04:20", "06:50"]


@given(start=st.integers(0, 1439), count=st.integers(1, 60))
def test_slots_are_even_and_on_marks(start: int, count: int) -> None:
    """Each is on a mark, at most ten minutes before its exact moment, and a step after the one before it."""
    day = Day(start=timedelta(minutes=start), end=timedelta(minutes=(start + 1) % 1440))

    for place, slot in enumerate(day.slots(count)):
        exact = start * 60 + (place + 0.5) * 18000 / count - 18000
        assert slot % MARK == timedelta()
        assert -1e-6 <= exact - slot.total_seconds() < 600 + 1e-6


def test_a_full_day() -> None:
    """Slot, each reset, nothing after the day's end, next morning's slot."""
    played = world("08:00-23:00", ANN, BEN).play("2026-01-05T00:00", "2026-01-06T08:00")

    assert played == [
        "ann Mon 04:10:05",
        "ben Mon 06:40:05",
        "ann Mon 09:10:05",
        "ben Mon 11:40:05",
        "ann Mon 14:10:05",
        "ben Mon 16:40:05",
        "ann Mon 19:10:05",
        "ben Mon 21:40:05",
        "ann Tue 04:10:05",
        "ben Tue 06:40:05",
    ]


def test_a_day_across_midnight() -> None:
    """The stretch goes on until the next morning, and no further."""
    played = world("22:00-06:00", ANN, BEN).play("2026-01-05T12:00", "2026-01-06T18:30")

    assert played == [
        "ann Mon 18:10:05",
        "ben Mon 20:40:05",
        "ann Mon 23:10:05",
        "ben Tue 01:40:05",
        "ann Tue 04:10:05",
        "ann Tue 18:10:05",
    ]


def test_a_window_that_runs_past_its_slot_is_primed_at_its_reset() -> None:
    """No prime at the slot; the reset is observed, and the day goes on from there."""
    played = world("08:00-23:00", ANN)
    played.known[ANN] = at("2026-01-05T07:20")
    planned = played.plan(ANN, at("2026-01-05T05:31"))

    assert (wall(planned.slot), wall(planned.next_at)) == ("Mon 05:30:00", "Mon 07:20:05")
    assert planned.because == "its window runs until then"
    assert played.play("2026-01-05T05:00", "2026-01-05T13:00") == ["ann Mon 07:20:05", "ann Mon 12:20:05"]


def test_sleep_over_the_slots() -> None:
    """Both accounts are primed on waking, at once."""
    asleep = ("2026-01-05T03:00", "2026-01-05T07:30:40")
    played = world("08:00-23:00", ANN, BEN).play("2026-01-05T00:00", "2026-01-05T12:00", asleep=asleep)

    assert played == ["ann Mon 07:30:40", "ben Mon 07:30:40"]


def test_sleep_until_the_day_has_ended() -> None:
    """Nothing is made up for."""
    asleep = ("2026-01-05T03:00", "2026-01-05T23:00")
    played = world("08:00-23:00", ANN, BEN).play("2026-01-05T00:00", "2026-01-06T04:00", asleep=asleep)

    assert played == []


def test_sleep_over_a_reset() -> None:
    """A missed reset is primed on waking while the day lasts."""
    asleep = ("2026-01-05T10:00", "2026-01-05T13:00")
    played = world("08:00-23:00", ANN).play("2026-01-05T05:00", "2026-01-05T17:00", asleep=asleep)

    assert played == ["ann Mon 05:30:05", "ann Mon 13:00:00"]


@pytest.mark.parametrize("how", [FAILED, NOT_STARTED])
def test_a_prime_that_fails_is_tried_again_five_minutes_on(how: str) -> None:
    """Until it starts the window; meanwhile the plan says what failed."""
    played = world("08:00-23:00", ANN)
    played.known[ANN] = at("2026-01-05T01:00")
    played.fails[ANN] = [how, how]

    assert played.play("2026-01-05T05:00", "2026-01-05T05:32") == ["ann Mon 05:30:05"]
    planned = played.plan(ANN, at("2026-01-05T05:32"))
    assert (wall(planned.next_at), planned.because) == ("Mon 05:35:05", how)
    assert played.play("2026-01-05T05:35", "2026-01-05T09:00")[1:] == ["ann Mon 05:35:05", "ann Mon 05:40:05"]
    assert played.failed == {}


def test_a_failure_at_the_days_end_is_not_tried_again() -> None:
    """The next try would come after it: the next is tomorrow's slot."""
    played = world("08:00-23:00", ANN)
    now = at("2026-01-05T22:57")
    played.failed[ANN] = Rest(until=now + AGAIN, because=FAILED)

    planned = played.plan(ANN, now)
    assert (wall(planned.slot), wall(planned.next_at)) == ("Tue 05:30:00", "Tue 05:30:05")


def test_a_reset_just_before_and_at_the_days_end() -> None:
    """While before the end, five seconds included."""
    plan = Schedule(day=Day.parse("08:00-23:00"), zone=BERLIN).plan
    now = at("2026-01-05T22:00")

    assert wall(plan(0, 1, runs(at("2026-01-05T22:50")), now).next_at) == "Mon 22:50:05"
    assert wall(plan(0, 1, runs(at("2026-01-05T22:59:55")), now).next_at) == "Tue 05:30:05"
    assert wall(plan(0, 1, runs(at("2026-01-05T23:00")), now).next_at) == "Tue 05:30:05"


def test_a_slot_s_five_seconds() -> None:
    """Not at the slot, but 5 s on."""
    plan = Schedule(day=Day.parse("08:00-23:00"), zone=BERLIN).plan

    assert not plan(0, 1, UNREAD, at("2026-01-05T05:30:04")).is_due(at("2026-01-05T05:30:04"))
    assert plan(0, 1, UNREAD, at("2026-01-05T05:30:05")).is_due(at("2026-01-05T05:30:05"))


def test_what_cannot_be_judged_is_not_primed() -> None:
    """A 5-hour window that was not read among others: no time, and why."""
    planned = Schedule(day=Day.parse("08:00-23:00"), zone=BERLIN).plan(0, 1, UNCLEAR, at("2026-01-05T12:00"))

    assert planned.next_at is None
    assert not planned.is_due(at("2026-01-05T12:00"))
    assert planned.because == "whether its 5h window runs is not known"


def test_a_hold_is_waited_for() -> None:
    """Where it ends after the day, the next is the first slot after it; where that is far away, none."""
    plan = Schedule(day=Day.parse("08:00-23:00"), zone=BERLIN).plan
    now = at("2026-01-05T12:00")

    for until, next_at in (
        ("2026-01-05T13:00", "Mon 13:00:00"),
        ("2026-01-07T01:00", "Wed 05:30:05"),
        ("2026-01-07T12:00", "Wed 12:00:00"),
    ):
        rest = Rest(until=at(until), because="7d limit")
        planned = plan(0, 1, UNREAD, now, rests=[rest])
        assert wall(planned.next_at) == next_at
    far = plan(0, 1, UNREAD, now, rests=[Rest(until=at("2026-03-01T12:00"), because="7d limit")])
    assert (far.next_at, far.because) == (None, "7d limit")


def test_days_on_which_clocks_change_keep_their_times_of_day() -> None:
    """In Berlin 2026 clocks go forward on 29 March and back on 25 October; a slot is at 05:30 on each, by the wall clock."""
    for first, days in (("2026-03-28T00:00", ("Sat", "Sun", "Mon")), ("2026-10-24T00:00", ("Sat", "Sun", "Mon"))):
        schedule = Schedule(day=Day.parse("08:00-12:00"), zone=BERLIN)
        stretches = list(schedule.stretches(0, 1, at(first)))
        inside = [one for one in stretches if at(first) <= one.slot < at(first) + timedelta(days=3)]
        assert [wall(one.slot) for one in inside] == [f"{day} 05:30:00" for day in days]
        assert [wall(one.end) for one in inside] == [f"{day} 12:00:00" for day in days]
        lengths = {(one.end - one.slot) for one in inside}
        assert lengths == {hours(6.5)}


def test_a_time_that_the_clocks_leave_out_or_have_twice() -> None:
    """A slot at 02:30: read as the clocks stood before the change, the first of two."""
    schedule = Schedule(day=Day.parse("05:00-12:00"), zone=BERLIN)

    def slot(now: str) -> datetime:
        return next(one for one in schedule.stretches(0, 1, at(now)) if one.slot >= at(now)).slot

    assert slot("2026-03-28T12:00") == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # 03:30, an hour on
    assert slot("2026-10-24T12:00") == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # the first 02:30


def test_a_day_with_a_change_of_clocks_in_it() -> None:
    """The night of 24 to 25 October lasts an hour more, and windows still 5 hours."""
    played = world("22:00-06:00", ANN).play("2026-10-24T12:00", "2026-10-25T12:00")

    assert played == ["ann Sat 19:30:05", "ann Sun 00:30:05", "ann Sun 04:30:05"]


def test_a_token_gained_slots_everyone_anew_and_one_lost_at_the_second_look() -> None:
    """04:10/06:40 become 03:50/05:30/07:10."""
    day, known = Day.parse("08:00-23:00"), (ANN, BEN, CAT)

    def slots(roster: Roster) -> list[str]:
        return [clock(slot) for slot in day.slots(len(roster.members))]

    two = Roster().looked(known, {ANN, CAT})
    assert (two.members, slots(two)) == ((ANN, CAT), ["04:10", "06:40"])
    three = two.looked(known, {ANN, BEN, CAT})
    assert (three.members, slots(three)) == (known, ["03:50", "05:30", "07:10"])
    once = three.looked(known, {ANN, CAT})
    assert once.members == known
    assert once.looked(known, {ANN, BEN, CAT}).looked(known, {ANN, CAT}).members == known
    assert once.looked(known, {ANN, CAT}).members == (ANN, CAT)
    assert three.looked((ANN, BEN), {ANN, BEN}).members == (ANN, BEN)


READS = [  # what was read, how the window stands
    ((), Standing.UNREAD),
    ((reading("5h", resets=1),), Standing.RUNNING),
    ((reading("5h", resets=0),), Standing.LAPSED),
    ((reading("7d"), reading("5h", resets=-1)), Standing.LAPSED),
    ((reading("7d"),), Standing.UNCLEAR),
    ((reading("5h", resets=None),), Standing.UNCLEAR),
    ((reading("5h", 0.0, resets=None),), Standing.UNCLEAR),
    ((reading("5h", 0.0, resets=None, source=Source.USAGE),), Standing.LAPSED),
    ((reading("5h", 0.1, resets=None, source=Source.USAGE),), Standing.UNCLEAR),
]


@pytest.mark.parametrize(("reads", "standing"), READS)
def test_how_a_window_stands(reads: tuple[Reading, ...], standing: Standing) -> None:
    """Lapsed or nothing read: not running. Without its reset: not to be judged, unless its provider says that none began."""
    assert five_hours(reads, NOON).standing is standing


def test_what_became_of_a_prime() -> None:
    """Nothing read: failed; still lapsed: not started; running or not to be judged: well."""
    assert failure(lapsed(NOON), NOON, has_read=False) == Rest(until=NOON + AGAIN, because=FAILED)
    assert failure(lapsed(NOON), NOON, has_read=True) == Rest(until=NOON + AGAIN, because=NOT_STARTED)
    assert failure(runs(NOON + hours(5)), NOON, has_read=True) is None
    assert failure(UNCLEAR, NOON, has_read=True) is None


@pytest.mark.parametrize(
    "text", ["", "8-23", "08:00", "08:00-24:00", "08:60-09:00", "08:00-08:00", "\uff18:00-23:00", "x"]
)
def test_what_is_no_day(text: str) -> None:
    """Two times of a day that differ, and nothing else."""
    with pytest.raises(ValueError, match=r"^(no|a) "):
        Day.parse(text)


def test_the_zone_of_this_machine() -> None:
    """Without a zone the machine's own rules hold."""
    local = Schedule(day=Day.parse("08:00-23:00")).plan(0, 1, UNREAD, NOON + hours(12))
    assert local.next_at is not None
    there = local.slot.astimezone()
    assert (there.hour, there.minute) == (5, 30)


@given(
    start=st.integers(0, 1439),
    length=st.integers(1, 1439),
    count=st.integers(1, 8),
    place=st.integers(0, 7),
    minutes=st.integers(0, 366 * 1440),
    reset=st.none() | st.integers(-600, 600),
    failed=st.none() | st.integers(-10, 5),
)
def test_a_prime_is_always_within_a_day(  # noqa: PLR0917
    start: int, length: int, count: int, place: int, minutes: int, reset: int | None, failed: int | None
) -> None:
    """Never before its slot and 5 s, never at the end or later, never while the window runs, never within a rest."""
    day = Day(start=timedelta(minutes=start), end=timedelta(minutes=(start + length) % 1440))
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    ends = None if reset is None else now + timedelta(minutes=reset)
    window = UNREAD if ends is None else runs(ends) if ends > now else lapsed(ends)
    rests = [] if failed is None else [Rest(until=now + timedelta(minutes=failed), because=FAILED)]
    schedule, place = Schedule(day=day, zone=BERLIN), place % count

    planned = schedule.plan(place, count, window, now, rests=rests)
    assert planned.next_at is not None
    (stretch,) = [one for one in schedule.stretches(place, count, now) if one.slot == planned.slot]
    assert stretch.slot + seconds(5) <= planned.next_at < stretch.end
    assert ends is None or planned.next_at >= ends + AFTER
    assert all(planned.next_at >= rest.until for rest in rests)
    assert planned.is_due(now) == (planned.next_at <= now)
