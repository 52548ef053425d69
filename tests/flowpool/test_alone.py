"""Without a proxy status tells what the last run left."""

import json
from datetime import UTC, datetime, timedelta

from home import accounts as book
from home.state.state import State
from routing.holds import Hold
from routing.remembered import Remembered
from routing.words import AccountId
from tests.flowpool.cli import Shell


def test_without_a_proxy_it_shows_what_the_last_run_left(shell: Shell) -> None:
    """Limits and holds that still stand, of accounts that are there; one nothing is known of is unmeasured."""
    shell.add("work")
    shell.add("home", secret="another-token")
    work, _ = book.load(shell.home / "accounts.toml")
    now = datetime.now(UTC)
    hold = Hold(
        account=work.id, family=None, row=13, until=now + timedelta(hours=1), because="7d limit", windows=frozenset({"7d"}), set_at=now,
    )  # fmt: skip
    state = State(shell.home / "state.sqlite3")
    state.put(Remembered(holds={work.id: (hold,), AccountId("gone"): (hold,)}))
    state.close()
    found = json.loads(shell.run("status", "--json").stdout)

    assert (found["running"], found["notices"]) == (False, [])
    assert [(one["name"], one["state"], one["because"]) for one in found["accounts"]] == [
        ("work", "held", "7d limit"),
        ("home", "unmeasured", "no proxy is running"),
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
