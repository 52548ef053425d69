"""Tests of routing/snapshot.py."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from routing.health import Check
from routing.holds import unsigned
from routing.lifetimes import Lifetime
from routing.memory import Memory
from routing.observations import RenewalFailed
from routing.readings import Source, Status
from routing.rules import Holds
from routing.snapshot import HoldPicture, State, WindowPicture, picture
from routing.words import ExchangeId, Reserves
from tests.routing.made import ANN, EXCHANGE, HAIKU, NOON, OPUS, account, demand, hold, hours, reading


def memory() -> Memory:
    """What is known before anything was observed."""
    return Memory(rules=Holds())


def test_an_account_nobody_heard_of_is_unmeasured() -> None:
    """Without readings and holds there is nothing to show."""
    shown = picture(memory(), account(), NOON)

    assert (
        shown.state,
        shown.windows,
        shown.holds,
        shown.in_flight,
        shown.requests,
    ) == (State.UNMEASURED, (), (), 0, 0)


@pytest.mark.parametrize(
    ("enabled", "rows", "measured", "state", "because"),
    [
        (False, (18, 13), True, State.DISABLED, "disabled"),
        (True, (13, 17, 18), True, State.AUTH_DEAD, "row 18"),
        (True, (13, 17, 20), True, State.ERROR, "row 17"),
        (True, (13, 20), True, State.BUDGET_SPENT, "row 20"),
        (True, (11, 13), True, State.BUDGET_SPENT, "row 11"),
        (True, (13, 19), True, State.HELD, "row 13"),
        (True, (), False, State.UNMEASURED, "no answer has shown its windows yet"),
        (True, (), True, State.HEALTHY, "7d 50% used"),
    ],
)
def test_the_first_state_that_fits(
    enabled: bool, rows: tuple[int, ...], measured: bool, state: State, because: str
) -> None:
    """Disabled, auth-dead, error, budget spent, held, unmeasured, healthy: in this order."""
    known = memory()
    known.held.holds[ANN] = tuple(hold(row, family=OPUS if row == 13 else None) for row in rows)
    if measured:
        known.meters.readings[ANN] = {"5h": reading("5h", None), "7d": reading("7d", 0.5)}
    shown = picture(known, account(enabled=enabled), NOON)

    assert (state, because) == (shown.state, shown.because)


def test_a_budget_is_spent_only_where_the_whole_account_is_held() -> None:
    """One that lacks credits for one family serves the others."""
    known = memory()
    known.held.holds[ANN] = (hold(11, family=OPUS),)

    assert picture(known, account(), NOON).state is State.HELD


def test_a_secret_that_is_not_at_hand_comes_before_what_it_was_refused_for() -> None:
    """Nothing that a provider said is told of an account that cannot be asked."""
    known = memory()
    known.held.holds[ANN] = (hold(18), unsigned(ANN, "its keyring is locked"))
    shown = picture(known, account(), NOON)

    assert (shown.state, shown.because) == (State.BROKEN, "its keyring is locked")
    assert {one.until for one in shown.holds} == {None}


def unrenewed(until: datetime | None) -> RenewalFailed:
    """A failed renewal, of an access token that still serves."""
    return RenewalFailed(account=ANN, at=NOON, because="no answer", until=until, bars=False)


DAYS = timedelta(days=1)
LOGIN = "its login ends Thu 8 Jan 12:00 UTC"


@pytest.mark.parametrize(
    ("lifetime", "failed", "state", "because"),
    [
        (Lifetime(expires_at=NOON + 3 * DAYS), None, State.EXPIRING, f"{LOGIN}; run: flowpool login ann"),
        (
            Lifetime(expires_at=NOON, refresh_expires_at=NOON + 3 * DAYS, is_refreshable=True),
            unrenewed(NOON + hours(1)),
            State.EXPIRING,
            f"{LOGIN}; run: flowpool login ann",
        ),
        (
            Lifetime(expires_at=NOON - 3 * DAYS),
            None,
            State.EXPIRING,
            "its login ended Fri 2 Jan 12:00 UTC; run: flowpool login ann",
        ),
        (
            Lifetime(expires_at=NOON + 20 * DAYS),
            None,
            State.HEALTHY,
            "7d 50% used; its login ends Sun 25 Jan 12:00 UTC",
        ),
        (Lifetime(expires_at=NOON, is_refreshable=True), None, State.HEALTHY, "7d 50% used"),
        (Lifetime(), unrenewed(NOON + hours(1)), State.HEALTHY, "7d 50% used; no answer"),
        (Lifetime(), unrenewed(None), State.EXPIRING, "no answer; run: flowpool login ann"),
        (Lifetime(), replace(unrenewed(None), because="gone; run: x"), State.EXPIRING, "gone; run: x"),
    ],
)
def test_a_login_that_ends_soon(lifetime: Lifetime, failed: RenewalFailed | None, state: State, because: str) -> None:
    """It serves, and a person is told in time what to run; a month before only in a few words."""
    known = memory()
    known.meters.readings[ANN] = {"7d": reading("7d", 0.5)}
    known.held.logins.lifetimes[ANN] = lifetime
    if failed is not None:
        known.held.logins.unrenewed[ANN] = failed
    shown = picture(known, account(), NOON)

    assert (shown.state, shown.because) == (state, because)
    assert (shown.expires_at, shown.refresh_expires_at) == (lifetime.expires_at, lifetime.refresh_expires_at)


def test_when_its_credential_was_judged_last() -> None:
    """Unknown until the provider said something for sure."""
    known = memory()
    assert picture(known, account(), NOON).checked_at is None

    known.held.logins.checks[ANN] = Check(checked_at=NOON)
    assert picture(known, account(), NOON).checked_at == NOON


def test_windows_are_shown_as_reported_and_empty_once_lapsed() -> None:
    """Shortest first; a window whose reset has passed shows no use, its status as it was."""
    known = memory()
    known.meters.readings[ANN] = {
        "7d": reading("7d", 0.5, resets=None, status=None),
        "5h": reading("5h", 0.9, resets=0, status=Status.REJECTED, source=Source.RESTORED),
    }

    assert picture(known, account(), NOON).windows == (
        WindowPicture(
            key="5h", used=0.0, resets_at=NOON, status=Status.REJECTED, source=Source.RESTORED, taken_at=NOON
        ),
        WindowPicture(key="7d", used=0.5, resets_at=None, status=None, source=Source.ANSWER, taken_at=NOON),
    )


def test_holds_in_force_are_shown_once_per_scope_and_row() -> None:
    """Soonest end first; ended ones are not shown, and of one row's two the one that ends last."""
    known = memory()
    known.held.holds[ANN] = (
        hold(13, end=3),
        hold(19, end=1, family=HAIKU),
        hold(19, end=2, family=HAIKU, by=ExchangeId("e2")),
        hold(12, end=-1, family=OPUS),
    )

    assert picture(known, account(), NOON).holds == (
        HoldPicture(scope="haiku", until=NOON + hours(2), because="row 19", row=19),
        HoldPicture(scope="account", until=NOON + hours(3), because="row 13", row=13),
    )


def test_requests_are_counted() -> None:
    """Those in flight and all that went out."""
    known = memory()
    known.traffic.leases.move(EXCHANGE, ANN, demand())
    known.traffic.requests[ANN] = 7
    shown = picture(known, account(), NOON)

    assert (shown.in_flight, shown.requests) == (1, 7)


def test_a_window_that_runs_out_is_shown() -> None:
    """When, and at which rate; what is held back cannot be used; None while nothing presses."""
    known = memory()
    session = reading("5h", 0.5, resets=3)
    known.meters.readings[ANN] = {"5h": session}
    found = picture(known, account(), NOON).pressure

    assert found is not None
    assert found.because == "5h runs out before its reset: 25% an hour since it began"
    assert found.runs_out_at == NOON + hours(2)
    held = replace(account(), reserves=Reserves(session=0.25))
    sooner = picture(known, held, NOON).pressure
    assert sooner is not None
    assert sooner.runs_out_at == NOON + hours(1)
    assert picture(known, account(), NOON + hours(3)).pressure is None
