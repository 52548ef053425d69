"""An account's picture is plain JSON."""

import json

from home import pictures
from routing.health import Check
from routing.lifetimes import Lifetime
from routing.observations import AccountsChanged, Restored
from routing.remembered import Remembered
from routing.router import Router
from routing.rules import Rules
from tests.routing.made import ANN, NOON, account, hold, hours, reading


def test_everything_of_an_account_is_in_it() -> None:
    """Moments are text in UTC, states and kinds their words."""
    router = Router(Rules())
    router.observe(AccountsChanged(accounts=(account(ANN),)))
    one = reading()
    router.observe(
        Restored(
            remembered=Remembered(
                readings={(ANN, one.window.key): one},
                holds={ANN: (hold(),)},
                checks={ANN: Check(checked_at=NOON)},
                lifetimes={ANN: Lifetime(expires_at=NOON + hours(1))},
            ),
            at=NOON,
        )
    )
    (picture,) = router.snapshot(NOON).accounts
    found = pictures.plain(picture)

    assert json.loads(json.dumps(found)) == found
    assert (found["expires_at"], found["refresh_expires_at"], found["checked_at"]) == (
        "2026-01-05T13:00:00.000+00:00",
        None,
        "2026-01-05T12:00:00.000+00:00",
    )
    assert (found["state"], [hold["until"] for hold in found["holds"]]) == ("held", ["2026-01-05T14:00:00.000+00:00"])


def test_a_window_that_runs_out_is_in_it_while_it_does() -> None:
    """When and why; otherwise there is no such field."""
    router = Router(Rules())
    router.observe(AccountsChanged(accounts=(account(ANN),)))
    assert pictures.plain(router.snapshot(NOON).accounts[0])["pressure"] is None

    one = reading("5h", 0.5, resets=3)
    router.observe(Restored(remembered=Remembered(readings={(ANN, one.window.key): one}), at=NOON))
    found = pictures.plain(router.snapshot(NOON).accounts[0])
    assert found["pressure"] == {
        "runs_out_at": "2026-01-05T14:00:00.000+00:00",
        "because": "5h runs out before its reset: 25% an hour since it began",
    }
