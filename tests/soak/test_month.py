"""A month of six logins: nothing is spent twice, nothing is lost that could be kept, and what is said of it is true."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.month import AGAIN, ANEW, AWAY, BUSY, MONTH, NAMES, PACE, START, live, report

pytestmark = pytest.mark.soak

# When no login can serve: the longer outage, once the last token is over, and the end of all logins.
DARK = (AWAY[1] - AWAY[0] - timedelta(hours=7)) + (ANEW - START - timedelta(days=29))


def test_a_month_of_logins(tmp_path: Path) -> None:
    """Eight-hour tokens, nine restarts, two outages, and the end of all six logins after 29 days."""
    month, log = live(tmp_path)

    vendor = month.vendor
    assert f"{month.served} requests served" in report(month)
    assert max(vendor.spent.values()) == 1
    assert all(vendor.spent[token] == 1 for token, count in vendor.sent.items() if count > 1)
    assert sum(vendor.sent.values()) - sum(vendor.spent.values()) == len(NAMES)  # each ended login was asked with once
    per_login = 29 * 24 / 8
    assert sum(vendor.spent.values()) > 0.97 * per_login * len(NAMES)

    states = {state for _, found in month.stands for state in found}
    assert states == {"unmeasured", "healthy", "error", "expiring", "auth_dead"}
    assert set(at(month.stands, BUSY[0] - PACE)) == {"healthy"}
    assert set(at(month.stands, AWAY[1] - PACE)) == {"error"}
    assert set(at(month.stands, AWAY[1] + 2 * 6 * PACE)) == {"healthy"}
    assert set(at(month.stands, ANEW - PACE)) == {"auth_dead"}
    last = dict(zip(NAMES, month.stands[-1][1], strict=True))
    assert {name for name, state in last.items() if state == "healthy"} == set(AGAIN)

    said = [line for _, line in log if "no login of" in line or "work again" in line]
    assert said[-1] == "flowpool: logins of anthropic work again"
    assert [when for when, line in log if "work again" in line] == pytest.approx(
        [AWAY[1], ANEW], abs=timedelta(hours=1)
    )
    assert month.refused <= DARK / PACE + len(NAMES)
    assert month.served + month.refused == pytest.approx(MONTH / PACE, abs=2)


def at(stands: list[tuple[datetime, tuple[str, ...]]], moment: datetime) -> tuple[str, ...]:
    """How the accounts stood then."""
    return [found for when, found in stands if when <= moment][-1]
