"""Without a proxy status tells what the last run left."""

import json
from datetime import UTC, datetime, timedelta

from home import accounts as book
from home.state.state import State
from routing.health import Check
from routing.holds import Hold
from routing.lifetimes import Lifetime
from routing.remembered import Remembered
from routing.words import AccountId
from tests.flowpool.cli import Shell


def test_without_a_proxy_it_shows_what_the_last_run_left(shell: Shell) -> None:
    """What still stands, of accounts that are there; of one that was not asked how long its login lasts."""
    shell.add("work")
    shell.add("home", secret="another-token")
    shell.add("off", secret="a-third-token")
    shell.run("disable", "off")
    work, home, off = book.load(shell.home / "accounts.toml")
    now = datetime.now(UTC)
    hold = Hold(
        account=work.id, family=None, row=13, until=now + timedelta(hours=1), because="7d limit", windows=frozenset({"7d"}), set_at=now,
    )  # fmt: skip
    state = State(shell.home / "state.sqlite3")
    year = now + timedelta(days=365)
    state.put(
        Remembered(
            holds={work.id: (hold,), AccountId("gone"): (hold,)},
            checks={work.id: Check(checked_at=now)},
            lifetimes={home.id: Lifetime(expires_at=year), off.id: Lifetime(expires_at=now)},
        )
    )
    state.close()
    found = json.loads(shell.run("status", "--json").stdout)

    assert (found["running"], found["notices"]) == (False, [])
    assert [(one["name"], one["state"], one["because"]) for one in found["accounts"]] == [
        ("work", "held", "7d limit"),
        ("home", "unmeasured", "no proxy is running"),
        ("off", "disabled", "disabled by you"),
    ]
    assert [one["checked_at"] is None for one in found["accounts"]] == [False, True, True]
    assert [one["expires_at"] and one["expires_at"][:19] for one in found["accounts"]] == [
        None,
        year.isoformat()[:19],
        now.isoformat()[:19],
    ]
    assert [hold["row"] for hold in found["accounts"][0]["holds"]] == [13]
    assert "This is what its last run left:" in shell.run("status").stdout.splitlines()


def test_a_state_that_cannot_be_read_is_a_notice(shell: Shell) -> None:
    """The accounts are shown all the same, exit 0."""
    shell.add("work")
    (shell.home / "state.sqlite3").write_bytes(b"no database at all" * 100)
    found = json.loads(shell.run("status", "--json").stdout)

    assert [one["state"] for one in found["accounts"]] == ["unmeasured"]
    assert found["notices"][0].startswith("what the last run left is not shown: ")


def test_a_login_that_ends_soon_is_told_without_a_proxy(shell: Shell) -> None:
    """The secret is not read for it: the last run left when it ends."""
    shell.add("work")
    (work,) = book.load(shell.home / "accounts.toml")
    state = State(shell.home / "state.sqlite3")
    state.put(Remembered(lifetimes={work.id: Lifetime(expires_at=datetime.now(UTC) + timedelta(days=3))}))
    state.close()
    (found,) = json.loads(shell.run("status", "--json").stdout)["accounts"]

    assert found["state"] == "expiring"
    assert found["because"].endswith("; run: flowpool add work --replace")
