"""One's own requests, played again."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.history import history
from flowpool.workloads import UNIT_TOKENS
from home import accounts
from home.paths import Home
from home.state.state import State
from routing.readings import Reading
from routing.remembered import Remembered
from routing.windows import Window
from routing.words import Account, AccountId, Identity, Kind
from tests.flowpool.cli import Shell
from tests.flowpool.test_history_turns import line
from tests.home.state.made import LONG

NOW = datetime.now(UTC).replace(microsecond=0)
RESETS = {"5h": NOW + timedelta(hours=2), "7d": NOW + timedelta(days=3), "7d_opus": NOW + timedelta(days=3)}
RISES = {"5h": 0.02, "7d": 0.01, "7d_opus": 0.02}  # with each turn
TURNS = 20


def account(name: str, plan: str = "max 5x", kind: Kind = Kind.OAUTH) -> Account:
    """An account whose id is not its name."""
    return Account(id=AccountId(f"id-{name}"), name=name, provider="anthropic", kind=kind, identity=Identity(plan=plan))


def reading(key: str, used: float, taken_at: datetime) -> Reading:
    """What an answer told of a window."""
    window = Window.parse(key)
    assert window is not None
    return Reading(window=window, used=used, resets_at=RESETS[key], status=None, sent_at=taken_at, taken_at=taken_at)


def filled(home: Home, turns: int = TURNS) -> None:
    """Let a proxy have run: each turn of one unit raised each window of the account work."""
    home.make()
    accounts.edit(
        home.accounts, lambda _: (account("work"), account("idle", "max 20x"), account("key", kind=Kind.API_KEY))
    )
    state = State(home.state)
    begin = NOW - timedelta(hours=2)
    for number in range(turns + 1):
        at = begin + timedelta(minutes=2 * number)
        known = {(AccountId("id-work"), key): reading(key, round(rise * number, 2), at) for key, rise in RISES.items()}
        idle = {(AccountId("id-idle"), key): reading(key, 0.5, begin) for key in ("5h", "7d")}
        state.put(Remembered(readings=known | idle))
        assert state.flush(LONG)
        if number:
            one = line(0, input=UNIT_TOKENS, conversation="secret words", total_ms=1.0, id=str(number))
            state.enter(one | {"at": (at - timedelta(seconds=1)).isoformat(timespec="milliseconds"), "tried": []})
    state.close(LONG)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home of its own."""
    return Home.find({"FLOWPOOL_HOME": str(tmp_path / "home")})


def test_it_is_what_was_asked_on_accounts_as_large_as_they_seem(home: Home) -> None:
    """Each turn costs one unit and raised the 5-hour window by 2 %, the week by 1 %, its family's by 2 %."""
    filled(home)
    told = history(home, 14, NOW)
    work, idle = told.workload.accounts
    since = NOW - timedelta(days=14)

    assert len(told.workload.turns) == TURNS
    assert {(one.fresh, one.context, one.model) for one in told.workload.turns} == {(UNIT_TOKENS, 0, "claude-opus-4-5")}
    assert (work.name, work.size, idle.name, idle.size) == ("work", 5, "idle", 20)
    assert (work.window_5h, work.week) == pytest.approx((50, 100))
    assert (idle.window_5h, idle.week) == pytest.approx((200, 400))
    assert work.models == pytest.approx({"opus": 0.5})
    assert idle.models == {}
    assert since + timedelta(seconds=work.week_resets_at) == RESETS["7d"]
    assert told.notes == (
        "20 turns of 1 conversations in the last 14 days",
        "work is estimated to hold 5-hour window 50 units ±2%, week 100 units ±4%, week of opus 50 units ±2%",
        "idle is estimated to hold 5-hour window 200 units ±2% by its plan, week 400 units ±4% by its plan",
    )


def test_only_the_last_days_count(home: Home) -> None:
    """What is older might be of other habits."""
    filled(home)
    with pytest.raises(Failure, match=r"no answered request of the last 1 days is known; .*flowpool run"):
        history(home, 1, NOW + timedelta(days=2))


def test_too_little_use_is_told(home: Home) -> None:
    """Four turns raised the week by 4 %."""
    filled(home, turns=4)
    with pytest.raises(Failure, match=r"too little is known of what a 5-hour window holds: .* by 8% in all"):
        history(home, 14, NOW)


def test_accounts_that_were_never_read_are_left_out(home: Home) -> None:
    """And named."""
    filled(home)
    accounts.edit(home.accounts, lambda known: (*known, account("new")))
    told = history(home, 14, NOW)

    assert [plan.name for plan in told.workload.accounts] == ["work", "idle"]
    assert "new is left out: its windows were never read in that time" in told.notes


def test_the_command_plays_it(shell: Shell) -> None:
    """All of it fits here; what was estimated is told beside, and no name of a conversation."""
    filled(Home.find({"FLOWPOOL_HOME": str(shell.home)}))
    done = shell.run("simulate", "--workload", "history", "--days", "3", "--strategy", "perishing", "--json")

    assert json.loads(done.stdout)["perishing"]["served_turns"] == TURNS
    assert "flowpool: work is estimated to hold 5-hour window 50 units" in done.stderr
    assert "secret words" not in done.stdout + done.stderr
