"""Accounts are measured while nobody asks anything of them; what that meets slows only itself down."""

import asyncio
import logging
from datetime import datetime
from pathlib import Path

import pytest

from addons.probe import Probe
from routing.health import Standing
from routing.observations import AccountsChanged, Checked, Restored
from routing.readings import Reading, Source, Status
from routing.remembered import Remembered
from routing.rules import Probing
from routing.snapshot import State
from routing.words import Kind
from tests.addons.measuring import HOME, WORK, Desk, login_of, run, unified
from tests.routing.made import OK, hours, limit, reading, seconds, window
from tests.upstream import Upstream, bad_token, server_error
from tests.upstream.answer import Answer
from tests.upstream.side import MESSAGES, USAGE
from tests.upstream.usage import usage_limited, usage_of, usage_out_of_scope

PAID = Probing(paid=True)


def probe(desk: Desk, rules: Probing | None = None) -> Probe:
    """The addon under test."""
    return Probe(desk.measure, rules or Probing(), every=0.01)


def read(desk: Desk, key: str = "5h", used: float = 0.2, *, ends: float = 2) -> Reading:
    """What an answer showed just now; ends: in so many hours."""
    return Reading(
        window=window(key),
        used=used,
        resets_at=desk.now + hours(ends),
        status=Status.ALLOWED,
        sent_at=desk.now,
        taken_at=desk.now,
    )


def measuring(of: Probe, desk: Desk) -> dict[str, object]:
    """What the document of `status` has."""
    found: dict[str, object] = of.told(desk.picture(), desk.now)["measuring"]
    return found


def iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def test_every_account_is_asked_once_in_three_minutes() -> None:
    """However often it looks, and each on its own credential."""
    with Upstream() as upstream:
        desk = Desk(upstream, "work", "home")
        addon = probe(desk)
        for _ in range(3):
            run(addon.look, times=4)
            desk.pass_time(179)
            run(addon.look)
            desk.pass_time(1)

        assert desk.asked() == ["work", "home"] * 3
        assert desk.picture().state is State.HEALTHY
        assert {one.source for one in desk.picture(HOME).windows} == {Source.USAGE}


def test_an_answer_s_readings_come_first() -> None:
    """While they are fresh, nobody asks."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        addon = probe(desk)
        desk.met(OK, read(desk))
        run(addon.look)
        assert desk.asked() == []
        assert measuring(addon, desk) == {
            "by": "usage",
            "next_at": iso(desk.now + seconds(180)),
            "because": "its readings are fresh",
        }

        desk.pass_time(180)
        run(addon.look)
        assert desk.asked() == ["work"]


def test_after_a_restart_what_was_read_still_counts(tmp_path: Path) -> None:
    """Another proxy that remembers the readings asks no sooner."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        run(probe(desk).look)
        desk.pass_time(100)
        desk.restart(tmp_path / "s")
        again = probe(desk)
        run(again.look)
        assert desk.asked() == ["work"]

        desk.pass_time(80)
        run(again.look)
        assert desk.asked() == ["work", "work"]


def test_x39_its_own_429_blames_nobody_and_is_backed_off(caplog: pytest.LogCaptureFixture) -> None:
    """The account stands as before; the rest doubles, and Retry-After is obeyed; one line says so (X39)."""
    with Upstream() as upstream, caplog.at_level(logging.INFO, "addons.probe"):
        desk = Desk(upstream)
        addon = probe(desk)
        upstream.script("work", usage_limited(), usage_limited(2895), path=USAGE)
        run(addon.look)
        before = desk.picture()
        assert (before.state, before.holds, before.checked_at) == (State.UNMEASURED, (), None)
        assert measuring(addon, desk)["next_at"] == iso(desk.now + seconds(360))

        desk.pass_time(359)
        run(addon.look)
        assert desk.asked() == ["work"]
        desk.pass_time(1)
        run(addon.look)
        assert measuring(addon, desk)["next_at"] == iso(desk.now + seconds(2895))
        assert "Rate limited" in str(measuring(addon, desk)["because"])
        desk.pass_time(2895)
        run(addon.look)
        assert desk.asked() == ["work"] * 3
        assert desk.picture().state is State.HEALTHY
    said = "flowpool: work was not measured: 429 Rate limited. Please try again later.; its requests go on"
    assert [record.message for record in caplog.records] == [said]


@pytest.mark.parametrize(
    ("answer", "rest"),
    [(usage_limited(), 360), (usage_limited(2895), 2895), (bad_token(), 360), (server_error(), 360)],
    ids=["429", "429 with retry-after", "401", "500"],
)
def test_after_a_restart_a_failure_still_counts(answer: Answer, rest: float, tmp_path: Path) -> None:
    """Another proxy rests for as long, says why, and doubles the rest after the next failure."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        upstream.script("work", answer, server_error(), path=USAGE)
        addon = probe(desk)
        run(addon.look)
        before = measuring(addon, desk)
        desk.restart(tmp_path / "s")
        again = probe(desk)
        assert measuring(again, desk) == before
        desk.pass_time(rest - 1)
        run(again.look)
        assert desk.asked() == ["work"]

        desk.pass_time(1)
        run(again.look)
        assert desk.asked() == ["work", "work"]
        assert measuring(again, desk)["next_at"] == iso(desk.now + seconds(720))


def test_after_a_restart_a_closed_way_is_still_closed(tmp_path: Path) -> None:
    """Until the credential changes, which may have happened meanwhile."""
    with Upstream() as upstream:
        desk = Desk(upstream, scopes=())
        upstream.script("work", usage_out_of_scope(), path=USAGE)
        run(probe(desk).look)
        desk.pass_time(86_400)
        desk.restart(tmp_path / "s")
        run(probe(desk).look)
        assert desk.asked() == ["work"]

        desk.renew(WORK)
        desk.restart(tmp_path / "s")
        run(probe(desk).look)
        assert desk.asked() == ["work", "work"]


def test_after_a_restart_a_paid_request_that_failed_still_counts(tmp_path: Path) -> None:
    """It costs, so it is not sent again any sooner."""
    with Upstream() as upstream:
        desk = Desk(upstream, kind=Kind.SETUP_TOKEN)
        desk.met(OK, read(desk))
        desk.pass_time(180)
        upstream.script("work", server_error())
        run(probe(desk, PAID).look)
        desk.restart(tmp_path / "s")
        desk.pass_time(359)
        run(probe(desk, PAID).look)
        assert len(desk.models()) == 1

        desk.pass_time(1)
        run(probe(desk, PAID).look)
        assert len(desk.models()) == 2


def test_a_proxy_that_ends_before_the_answer_has_asked() -> None:
    """That it asks is noted first, so another proxy asks three minutes later."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        kept: list[Remembered] = []

        def answer(_: object) -> Answer:
            kept.append(desk.router.remembered())
            return usage_limited()

        upstream.default("work", answer, path=USAGE)
        run(probe(desk).look)
        desk.router.observe(AccountsChanged(accounts=()))
        desk.router.observe(AccountsChanged(accounts=tuple(desk.members.values())))
        desk.router.observe(Restored(remembered=kept[0], at=desk.now))
        again = probe(desk)

        assert measuring(again, desk) == {
            "by": "usage",
            "next_at": iso(desk.now + seconds(180)),
            "because": "it was asked just now",
        }


@pytest.mark.parametrize("back", [120, 86_400, 10**8])
def test_a_clock_that_went_back_over_a_restart_blocks_for_no_longer_than_the_rest(back: float, tmp_path: Path) -> None:
    """As far as anybody knows the provider was asked just now."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        upstream.script("work", usage_limited(2895), path=USAGE)
        run(probe(desk).look)
        desk.pass_time(-back)
        desk.restart(tmp_path / "s")
        desk.pass_time(2894)
        run(probe(desk).look)
        assert desk.asked() == ["work"]

        desk.pass_time(1)
        run(probe(desk).look)
        assert desk.asked() == ["work", "work"]


@pytest.mark.parametrize("answer", [bad_token(), server_error()], ids=["401", "500"])
def test_no_failure_is_a_word_on_the_login(answer: object) -> None:
    """A 401 of this endpoint least of all; a renewed login is asked as soon as three minutes are over."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        addon = probe(desk)
        upstream.script("work", answer, path=USAGE)  # type: ignore[arg-type]
        run(addon.look)
        assert (desk.picture().state, desk.picture().holds) == (State.UNMEASURED, ())

        desk.renew(WORK, "user:profile")
        desk.pass_time(180)
        run(addon.look)
        assert desk.asked() == ["work", "work"]
        assert desk.picture().state is State.HEALTHY


def test_a_closed_way_stays_closed_until_the_credential_changes() -> None:
    """A token whose scopes nobody said is asked once, and learns that it may not."""
    with Upstream() as upstream:
        desk = Desk(upstream, scopes=())
        addon = probe(desk)
        upstream.script("work", usage_out_of_scope(), path=USAGE)
        run(addon.look)
        desk.pass_time(86_400)
        run(addon.look, times=3)
        assert desk.asked() == ["work"]
        assert measuring(addon, desk) == {"by": None, "next_at": None, "because": "its token may not ask for use"}

        desk.renew(WORK)
        run(addon.look)
        assert desk.asked() == ["work", "work"]


def test_who_is_not_asked() -> None:
    """Setup tokens, logins without the scope, keys, refused logins, and whoever has no secret."""
    with Upstream() as upstream:
        desks = [
            Desk(upstream, kind=Kind.SETUP_TOKEN),
            Desk(upstream, scopes=("user:inference",)),
            Desk(upstream, kind=Kind.API_KEY),
            Desk(upstream),
            Desk(upstream),
        ]
        desks[3].router.observe(Checked(account=WORK, standing=Standing.INVALID, at=desks[3].now))
        desks[4].accounts.credentials.become({})
        for desk in desks:
            desk.pass_time(3)
            run(probe(desk).look)

        assert len(upstream.requests) == 0
        assert probe(desks[4]).told(desks[4].picture(), desks[4].now) == {"measuring": None}
        assert measuring(probe(desks[3]), desks[3])["because"] == "its login fails"


def test_one_that_is_held_past_its_window_s_reset_is_measured() -> None:
    """And is free again when it shows room."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        desk.met(limit(end=100_000), reading("7d", 1.0))
        desk.pass_time(181)
        assert desk.picture().state is State.HELD
        upstream.script("work", usage_of(seven_day=2), path=USAGE)
        run(probe(desk).look)

        assert (desk.picture().state, desk.woken) == (State.HEALTHY, 1)


def test_off_means_off() -> None:
    """Nobody is asked, and nothing runs."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        addon = probe(desk, Probing(usage=False))

        async def go() -> None:
            addon.running()
            await asyncio.sleep(0)
            addon.done()

        asyncio.run(go())
        run(addon.look)
        assert len(upstream.requests) == 0
        assert measuring(addon, desk)["because"] == "probe.usage is off"


def test_it_looks_by_itself() -> None:
    """From the proxy's start to its end."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        addon = probe(desk)

        async def go() -> None:
            addon.running()
            async with asyncio.timeout(10):
                while not desk.asked() or not desk.picture().windows:  # noqa: ASYNC110  # what is looked at tells nobody
                    await asyncio.sleep(0.01)
            addon.done()

        asyncio.run(go())
        assert desk.asked() == ["work"]


def test_a_paid_request_only_where_it_is_allowed_and_starts_nothing() -> None:
    """Not without the setting, not on a lapsed window, not while readings are fresh; else one token."""
    with Upstream() as upstream:
        desk = Desk(upstream, kind=Kind.SETUP_TOKEN)
        free, paid = probe(desk), probe(desk, PAID)
        run(paid.look)
        assert measuring(paid, desk)["because"] == "a request could start its 5h window"

        desk.met(OK, read(desk, ends=1))
        run(paid.look)
        desk.pass_time(180)
        run(free.look)
        assert desk.models() == []

        upstream.script("work", unified({"5h": (0.5, desk.now + hours(0.9))}))
        run(paid.look, times=3)
        assert len(desk.models()) == 1
        assert desk.used() == {"5h": 0.5}
        desk.pass_time(3600)
        run(paid.look)
        assert len(desk.models()) == 1


def test_one_that_may_ask_for_use_is_not_paid_for() -> None:
    """Also where both are allowed."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        desk.met(OK, read(desk))
        desk.pass_time(180)
        run(probe(desk, PAID).look)

        assert (desk.asked(), desk.asked(MESSAGES)) == (["work"], [])


def test_a_paid_request_that_fails_blames_nobody() -> None:
    """No hold; the next comes later."""
    with Upstream() as upstream:
        desk = Desk(upstream, kind=Kind.SETUP_TOKEN)
        addon = probe(desk, PAID)
        desk.met(OK, read(desk))
        desk.pass_time(180)
        upstream.script("work", bad_token())
        run(addon.look)

        assert (desk.picture().state, desk.picture().holds) == (State.HEALTHY, ())
        assert measuring(addon, desk)["next_at"] == iso(desk.now + seconds(360))


def test_the_desk_is_honest() -> None:
    """What the tests above rest on: a login's scopes reach the addon."""
    assert login_of("sk-ant-oat01-x-0123456789", "user:profile").extras["scopes"] == ("user:profile",)


def test_an_account_that_was_removed_is_forgotten() -> None:
    """One that comes again under its id begins anew."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        addon = probe(desk)
        upstream.script("work", usage_limited(2895), path=USAGE)
        run(addon.look)
        desk.router.observe(AccountsChanged(accounts=()))
        run(addon.look)
        desk.router.observe(AccountsChanged(accounts=tuple(desk.members.values())))
        run(addon.look)

        assert desk.asked() == ["work", "work"]
