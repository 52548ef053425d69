"""5-hour windows are opened early, on the schedule of the person's day."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from addons.prime import Prime, schedule_of
from addons.probe import Probe
from home import tables
from routing.priming import Day, Schedule
from routing.readings import Reading, Status
from routing.rules import Probing
from routing.words import AccountId, Kind
from tests.addons.measuring import HOME, WORK, Desk, run, unified
from tests.routing.made import OK, hours, limit, window
from tests.upstream import Upstream, bad_token
from tests.upstream.answer import Answer

DAY = "08:00-23:00"
MARK = timedelta(minutes=10)


def prime(desk: Desk, day: str = DAY) -> Prime:
    """The addon under test, by a wall clock of UTC."""
    schedule = schedule_of(tables.Prime(day=day, timezone="UTC" if day else ""))
    return Prime(desk.measure, schedule, every=0.01)


def desk_at(upstream: Upstream, text: str, *names: str, kind: Kind = Kind.SETUP_TOKEN) -> Desk:
    """A desk whose clock shows that time of day."""
    desk = Desk(upstream, *names, kind=kind)
    desk.now = at(text)
    for name in desk.members:
        upstream.default(name, lambda _: opened(desk.now))
    return desk


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-01-05T{text}").replace(tzinfo=UTC)


def opened(now: datetime) -> Answer:
    """A window that starts on the mark before now, in headers."""
    begun = now - (now - datetime(2026, 1, 1, tzinfo=UTC)) % MARK
    return unified({"5h": (0.0, begun + hours(5))})


def shown(desk: Desk, *, ends: datetime) -> Reading:
    return Reading(
        window=window("5h"),
        used=0.5,
        resets_at=ends,
        status=Status.ALLOWED,
        sent_at=desk.now,
        taken_at=desk.now,
    )


def told(addon: Prime, desk: Desk, account: AccountId = WORK) -> dict[str, object]:
    found: dict[str, object] = addon.told(desk.picture(account), desk.now)["prime"]
    return found


def test_a_day_of_primes() -> None:
    """Each account at its slot and at every reset until the day ends; each look in between sends nothing."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "04:00:05", "work", "home")
        addon, seen = prime(desk), []
        while desk.now < at("23:59:00"):
            before = len(upstream.requests)
            run(addon.look)
            seen += [f"{desk.now:%H:%M:%S} {one.account}" for one in list(upstream.requests)[before:]]
            desk.pass_time(600)

        assert seen == [
            "04:10:05 work",
            "06:40:05 home",
            "09:10:05 work",
            "11:40:05 home",
            "14:10:05 work",
            "16:40:05 home",
            "19:10:05 work",
            "21:40:05 home",
        ]
        assert len(desk.models()) == len(seen)  # one token each, and nobody's prompt
        assert told(addon, desk)["slot"] == "2026-01-06T04:10:00.000+00:00"


def test_status_says_what_is_next() -> None:
    """The slot, when, and why."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "04:00:00", "work", "home")
        addon = prime(desk)
        assert addon.told(desk.picture(), desk.now) == {"prime": None}  # it has not looked yet
        run(addon.look)
        slot = "2026-01-05T06:40:00.000+00:00"
        assert told(addon, desk, HOME) == {
            "slot": slot,
            "next_at": "2026-01-05T06:40:05.000+00:00",
            "because": "its slot",
        }

        desk.now = at("06:40:05")
        run(addon.look)
        assert told(addon, desk, HOME) == {
            "slot": slot,
            "next_at": "2026-01-05T11:40:05.000+00:00",
            "because": "its window runs until then",
        }


def test_a_window_that_runs_is_left_alone_until_its_reset() -> None:
    """Running at its slot: no prime; the next at that reset and 5 s."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "05:00:00")
        addon = prime(desk)
        desk.met(OK, shown(desk, ends=at("07:20:00")))
        for text, primes in (("05:30:05", 0), ("07:20:04", 0), ("07:20:05", 1), ("07:20:06", 1)):
            desk.now = at(text)
            run(addon.look)
            assert len(upstream.requests) == primes


def test_both_at_once_on_waking() -> None:
    """Slots that were slept over, while the day lasts; nothing once it has ended."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "07:30:00", "work", "home")
        run(prime(desk).look)
        assert sorted(one.account for one in upstream.requests) == ["home", "work"]

        late = desk_at(upstream, "23:00:00", "work", "home")
        upstream.requests.clear()
        run(prime(late).look)
        assert len(upstream.requests) == 0


def test_what_fails_is_tried_again_five_minutes_on(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing read, and a window that did not start, each in its words; no hold is set."""
    with Upstream() as upstream, caplog.at_level(logging.INFO, "addons.prime"):
        desk = desk_at(upstream, "04:00:00")
        addon = prime(desk)
        desk.met(OK, shown(desk, ends=at("04:00:00")))
        desk.now = at("05:30:05")
        upstream.script("work", bad_token(), unified({"5h": (0.5, at("05:35:00"))}))
        for _ in range(5):
            run(addon.look)
        assert told(addon, desk)["because"] == "prime failed"
        assert desk.picture().holds == ()

        desk.pass_time(299)
        run(addon.look)
        assert len(upstream.requests) == 1
        desk.pass_time(1)
        run(addon.look, times=2)
        assert told(addon, desk)["because"] == "prime didn't start the window"
        assert len(upstream.requests) == 2
        desk.pass_time(300)
        run(addon.look, times=2)
        assert told(addon, desk)["next_at"] == "2026-01-05T10:40:05.000+00:00"
        assert len(upstream.requests) == 3
    said = [record.message for record in caplog.records]
    assert said[0].startswith("flowpool: work: prime failed: 401 ")
    assert said[0].endswith("; again at 2026-01-05T05:35:05.000+00:00")
    assert said[1:] == [
        "flowpool: work: prime didn't start the window; again at 2026-01-05T05:40:05.000+00:00",
        "flowpool: primed work: its 5h window runs until 2026-01-05T10:40:00.000+00:00",
    ]


def test_a_prime_joins_a_probe_under_way(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing more is sent, and it is logged as a prime alone."""
    with Upstream() as upstream, caplog.at_level(logging.DEBUG, "addons"):
        desk = desk_at(upstream, "05:00:00")
        desk.met(OK, shown(desk, ends=at("05:30:00")))
        probe = Probe(desk.measure, Probing(paid=True))
        addon = prime(desk)
        desk.now = at("05:29:59")
        upstream.script("work", opened(at("05:30:05")).late("asked"))

        async def go() -> None:
            probing = asyncio.create_task(probe.look())
            await asyncio.to_thread(upstream.wait_held, "asked")
            desk.now = at("05:30:05")
            priming = asyncio.create_task(addon.look())
            await asyncio.sleep(0.01)
            upstream.release("asked")
            await asyncio.gather(probing, priming)

        asyncio.run(go())
        assert len(upstream.requests) == 1
    assert [record.message for record in caplog.records if record.name.startswith("addons.pr")] == [
        "flowpool: primed work: its 5h window runs until 2026-01-05T10:30:00.000+00:00"
    ]


def test_one_that_is_held_is_not_primed() -> None:
    """It would meet the same refusal; the end of its hold is the next moment."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "05:00:00")
        addon = prime(desk)
        desk.met(limit(end=-4))  # until eight
        desk.now = at("05:30:05")
        run(addon.look)
        assert told(addon, desk)["next_at"] == "2026-01-05T08:00:00.000+00:00"
        assert len(upstream.requests) == 0

        desk.now = at("08:00:00")
        run(addon.look)
        assert len(upstream.requests) == 1


def test_what_cannot_be_judged_is_not_primed() -> None:
    """Windows were read, but not this one."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "05:00:00")
        addon = prime(desk)
        week = Reading(
            window=window("7d"),
            used=0.5,
            resets_at=None,
            status=None,
            sent_at=desk.now,
            taken_at=desk.now,
        )
        desk.met(OK, week)
        desk.now = at("05:30:05")
        run(addon.look)

        assert told(addon, desk)["next_at"] is None
        assert len(upstream.requests) == 0


def test_a_lost_token_slots_others_anew_at_the_second_look_and_is_not_primed() -> None:
    """At the first the slots still stand; an API key has no window, and no slot."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "03:00:00", "work", "home")
        addon = prime(desk)
        run(addon.look)
        assert told(addon, desk)["slot"] == "2026-01-05T04:10:00.000+00:00"
        desk.accounts.credentials.become({WORK: desk.accounts.credentials[WORK]})
        desk.now = at("07:00:00")
        run(addon.look)
        assert [one.account for one in upstream.requests] == ["work"]
        assert told(addon, desk, HOME)["because"] == "its slot"  # it was not tried, and so did not fail
        run(addon.look)
        assert told(addon, desk)["slot"] == "2026-01-05T05:30:00.000+00:00"
        assert addon.told(desk.picture(HOME), desk.now) == {"prime": None}

        keys = desk_at(upstream, "07:00:00", kind=Kind.API_KEY)
        idle = prime(keys)
        upstream.requests.clear()
        run(idle.look)
        assert len(upstream.requests) == 0


def test_without_a_day_nothing_runs_and_nothing_is_told() -> None:
    """It is off by default."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "07:00:00")
        addon = prime(desk, "")

        async def go() -> None:
            addon.running()
            await asyncio.sleep(0)
            addon.done()

        asyncio.run(go())
        run(addon.look)
        assert addon.told(desk.picture(), desk.now) == {}
        assert len(upstream.requests) == 0


def test_it_looks_by_itself() -> None:
    """From the proxy's start to its end."""
    with Upstream() as upstream:
        desk = desk_at(upstream, "07:00:00")
        addon = prime(desk)

        async def go() -> None:
            addon.running()
            async with asyncio.timeout(10):
                while not desk.picture().windows:  # noqa: ASYNC110  # what is looked at tells nobody
                    await asyncio.sleep(0.01)
            addon.done()

        asyncio.run(go())
        assert len(upstream.requests) == 1


def test_the_schedule_of_the_settings() -> None:
    """None without a day; this machine's zone without a name."""
    assert schedule_of(tables.Prime()) is None
    assert schedule_of(tables.Prime(day=DAY)) == Schedule(day=Day.parse(DAY), zone=None)
    named = schedule_of(tables.Prime(day=DAY, timezone="Europe/Berlin"))
    assert named == Schedule(day=Day.parse(DAY), zone=ZoneInfo("Europe/Berlin"))
