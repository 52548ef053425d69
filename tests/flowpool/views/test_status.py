"""The screen of status is readable at every width."""

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from flowpool.document import read, without_proxy
from flowpool.views.status import COLOURS, RESERVED, WORDS, clock, view
from routing.snapshot import State
from routing.verdicts import RESERVE_ROW
from tests.flowpool.pictures import FULL

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def local(zone: str, moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(zone))


def shown(document: dict[str, object], width: int) -> str:
    screen = io.StringIO()
    Console(file=screen, width=width, markup=False).print(
        view(read(document), NOON, lambda moment: local("UTC", moment))
    )
    return screen.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60, 71, 80, 120])
def test_everything_is_there_at_every_width(width: int) -> None:
    """No line is wider than the screen, and no number or name is lost."""
    text = shown(FULL, width)
    flat = "".join(text.split())

    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for part in ("5h 100% to 14:20", "7d  43% to Thu 09:00", "7d_oi   -", "held", "disabled", "work"):
        assert part in text
    for part in (
        "5hlimituntil14:20",
        "fable",
        "28Mar09:00",
        "2inflight",
        "asked31timessincetheproxystarted",
        "opus:home;fable:nobodyuntil28Mar09:00",
        "Conversations:3",
    ):
        assert part in flat


def test_the_screen_at_120_columns() -> None:
    """The whole screen, as a person sees it."""
    lines = [line.rstrip() for line in shown(FULL, 120).splitlines()]

    assert lines[0] == "flowpool 0.1.0 listens on 127.0.0.1:3456 (pid 4711, perishing)"
    assert lines[2].split() == ["account", "state", "used", "why"]
    assert lines[4].split("  ")[0].strip() == "work"
    assert lines[-2:] == ["Next opus: home; fable: nobody until 28 Mar 09:00", "Conversations: 3"]


def test_the_screen_at_40_columns() -> None:
    """Where columns would leave no room for words, the accounts stand one below the other."""
    lines = [line.rstrip() for line in shown(FULL, 40).splitlines()]
    at = lines.index("work: held")

    assert lines[at - 1] == ""
    assert lines[at + 1 : at + 4] == ["  5h 100% to 14:20", "  7d  43% to Thu 09:00", "  7d_oi   -"]
    assert lines[at + 4].startswith("  5h limit until 14:20")
    assert not [line for line in lines if "account   state" in line]


def member(name: str, **fields: object) -> dict[str, object]:
    """An account of which nothing is known, but for these fields."""
    plain = {"id": name, "name": name, "provider": "anthropic", "kind": "setup-token", "enabled": True, "rank": None}
    unasked = {"state": "unmeasured", "because": "", "windows": [], "holds": [], "in_flight": 0, "requests": 0}
    return plain | unasked | fields


def held(scope: str, hour: int | None, because: str = "x") -> dict[str, object]:
    """A hold that ends today."""
    return {"scope": scope, "until": hour and f"2026-01-05T{hour}:00:00Z", "because": because, "row": 12}


RESERVE = {
    "scope": "account",
    "until": "2026-01-05T14:00:00Z",
    "because": "at its reserve: 5h 95% used",
    "row": RESERVE_ROW,
}


def test_an_account_at_its_reserve_is_told_from_one_that_met_a_limit() -> None:
    """By its state's word and by what lets it serve; where a limit is met too, that is its state."""
    words = {"state": "held", "because": RESERVE["because"], "windows": [], "in_flight": 0}
    alone = shown(without_proxy("1", "x", "s", (member("work", **words, holds=[RESERVE]),)), 120)
    both = shown(without_proxy("1", "x", "s", (member("work", **words, holds=[RESERVE, held("account", 15)]),)), 120)

    assert "at reserve" in alone
    assert "at reserve" not in both
    assert "at its reserve: 5h 95% used, until 14:00" in alone
    for text in (alone, both):
        assert "run: flowpool reserve work --off, or flowpool pin work" in text


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(0.2, "for 1 s"), (12, "for 12 s"), (59.5, "for 60 s"), (60, "until 12:01"), (-3, "until 11:59")],
)
def test_a_hold_that_ends_within_a_minute_is_told_in_seconds(seconds: float, says: str) -> None:
    """Its minute would be over as it is read."""
    hold = held("account", None) | {"until": (NOON + timedelta(seconds=seconds)).isoformat()}
    document = without_proxy("1", "x", "s", (member("work", state="held", because="x", holds=[hold]),))
    line = member("work", state="held", because="y", holds=[hold])

    assert f"x, {says}" in shown(document, 120)
    assert f"{says}: x" in shown(without_proxy("1", "x", "s", (line,)), 120)


MEASURED = {"state": "healthy", "windows": FULL["accounts"][0]["windows"]}
HELD = {"state": "held", "holds": [{"scope": "opus", "until": None, "because": "x", "row": 12}]}
ALL = {"opus": "work", "sonnet": "work", "any": "work"}
NEXT = [  # name, next, accounts, line
    ("one alone", ALL, (member("work"),), "Next: work"),
    ("two equal", ALL, (member("work"), member("home")), "Next: tossed per conversation between work and home"),
    (
        "three equal",
        ALL,
        (member("a"), member("work"), member("c")),
        "Next: tossed per conversation between a, work and c",
    ),
    ("the first is ranked", ALL, (member("work", rank=1), member("home")), "Next: work"),
    (
        "ranked alike",
        {"opus": "b"},
        (member("a", rank=1), member("b", rank=1)),
        "Next: tossed per conversation between a and b",
    ),
    ("one is busy", ALL, (member("work"), member("home", in_flight=1)), "Next: work"),
    ("a key comes last", ALL, (member("work"), member("home", kind="api-key")), "Next: work"),
    ("one is measured", ALL, (member("work"), member("home", **MEASURED)), "Next: work"),
    ("both are measured", ALL, (member("work", **MEASURED), member("home", **MEASURED)), "Next: work"),
    (
        "the login of one ends soon",
        ALL,
        (member("work"), member("home", state="expiring")),
        "Next: tossed per conversation between work and home",
    ),
    ("one is disabled", ALL, (member("work"), member("home", state="disabled")), "Next: work"),
    ("one is dead", ALL, (member("work"), member("home", state="auth_dead")), "Next: work"),
    (
        "held for one family",
        ALL,
        (member("work"), member("home", **HELD)),
        "Next opus: work; sonnet, other models: tossed per conversation between work and home",
    ),
    ("nobody", dict.fromkeys(ALL), (member("work", state="auth_dead"),), "Next: nobody"),
    (
        "nobody before the first is back",
        dict.fromkeys(ALL),
        (
            member("work", state="held", holds=[held("account", 15), held("account", 16)]),
            member("home", state="held", holds=[held("account", 14), held("opus", 18), held("sonnet", 13)]),
        ),
        "Next opus: nobody until 16:00; sonnet, other models: nobody until 14:00",
    ),
    (
        "an end that is not known",
        dict.fromkeys(ALL),
        (
            member("work", state="held", holds=[held("account", None)]),
            member("home", state="disabled", holds=[held("account", 14)]),
        ),
        "Next: nobody",
    ),
    ("one may not serve for another reason", ALL, (member("work"), member("home", state="secretless")), "Next: work"),
    ("a name that is not there", {"opus": "gone"}, (member("work"),), "Next: gone"),
    ("no family", {}, (member("work"),), ""),
]


@pytest.mark.parametrize(("following", "accounts", "line"), [case[1:] for case in NEXT], ids=[case[0] for case in NEXT])
def test_next_names_who_is_next_or_says_that_it_is_tossed(
    following: dict[str, str | None], accounts: tuple[dict[str, object], ...], line: str
) -> None:
    """Among accounts in one place it depends on the conversation, so no name is promised."""
    lines = shown(FULL | {"next": following, "accounts": list(accounts)}, 120).splitlines()

    assert lines[-2].strip() == line
    assert lines[-1] == "Conversations: 3"


@pytest.mark.parametrize(
    ("count", "says"),
    [(0, ""), (1, "asked once since the proxy started"), (2, "asked 2 times since the proxy started")],
)
def test_requests_are_counted_in_words_that_agree(count: int, says: str) -> None:
    """One is once; side calls and refused attempts count, too."""
    text = shown(FULL | {"accounts": [member("work", requests=count)]}, 80)

    assert re.findall(r"asked .*started", text) == ([says] if says else [])


def test_without_proxy_or_accounts_it_says_what_to_do() -> None:
    """An empty pool names the two commands that begin."""
    text = shown(without_proxy("1", "127.0.0.1:1", "perishing", ()), 80)

    assert "flowpool start" in text
    assert "flowpool login NAME" in text


WHY = [  # state, because, holds, what is said of a setup token
    ("broken", "its keyring is locked", [held("account", None, "its keyring is locked")], "no secret its keyring is locked run: flowpool add work --replace"),
    ("broken", "it is gone; run: x", [held("account", None, "it is gone; run: x")], "no secret it is gone; run: x"),
    ("error", "no answer", [held("account", 14, "no answer")], "renewal fails no answer, until 14:00"),
    ("budget_spent", "no credits", [held("account", 14, "no credits")], "budget spent no credits, until 14:00"),
    ("expiring", "its login ends 18:00 UTC; run: x", [], "login ends its login ends 18:00 UTC; run: x"),
    ("auth_dead", "401: bad token", [held("account", 14, "401: bad token")], "login fails 401: bad token, until 14:00 run: flowpool add work --replace"),
    ("auth_dead", "it is gone; run: x", [held("account", 14, "it is gone; run: x")], "login fails it is gone; run: x, until 14:00"),
    ("held", "5h limit until 14:00 UTC", [held("account", 14, "5h limit until 14:00 UTC")], "held 5h limit until 14:00 UTC"),
    ("held", "throttled", [held("account", None, "throttled")], "held throttled"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "because", "holds", "says"), WHY, ids=range(len(WHY)))
def test_a_hold_is_told_with_its_end_and_what_mends_it(
    state: str, because: str, holds: list[object], says: str
) -> None:
    """A refused login ends with the command that gives a new one; an end that the reason names is not told twice."""
    account = member("work", state=state, because=because, holds=holds)
    lines = shown(FULL | {"accounts": [account]}, 120).splitlines()[4:-3]
    text = " ".join(" ".join(lines).split())

    assert text == f"work {says}"


@pytest.mark.parametrize("state", ["auth_dead", "broken"])
def test_a_login_is_given_anew_by_logging_in(state: str) -> None:
    """What the vendor's own program can renew is not pasted by hand."""
    text = shown(FULL | {"accounts": [member("work", kind="oauth", state=state, because="no")]}, 120)

    assert "run: flowpool login work" in text


@pytest.mark.parametrize("state", [state.value for state in State])
def test_every_state_has_its_colour(state: str) -> None:
    """None is forgotten, and each has words for people."""
    assert state in COLOURS
    assert "_" not in WORDS.get(state, state)


def test_what_the_last_run_left_is_shown_as_such() -> None:
    """The first lines say that no proxy runs, and what the table is then."""
    left = without_proxy("1", "127.0.0.1:1", "perishing", (FULL["accounts"][0], member("home")))

    assert [line.rstrip() for line in shown(left, 80).splitlines()[:2]] == [
        "flowpool 1 is not running; start it with: flowpool start",
        "This is what its last run left:",
    ]
    assert "5h 100% to 14:20" in shown(left, 120)
    none = without_proxy("1", "127.0.0.1:1", "perishing", (member("home"),))
    assert "last run" not in shown(none, 80)


CLOCKS = [  # zone, moment, now, text
    ("UTC", datetime(2026, 1, 5, 14, 20, tzinfo=UTC), NOON, "14:20"),
    ("Asia/Tehran", datetime(2026, 1, 5, 14, 20, tzinfo=UTC), NOON, "17:50"),
    ("America/New_York", datetime(2026, 1, 6, 4, 20, tzinfo=UTC), NOON, "23:20"),
    ("UTC", datetime(2026, 1, 6, 4, 20, tzinfo=UTC), NOON, "Tue 04:20"),
    ("UTC", datetime(2026, 1, 12, 4, 20, tzinfo=UTC), NOON, "12 Jan 04:20"),
    ("Europe/Berlin", datetime(2026, 3, 29, 9, 0, tzinfo=UTC), datetime(2026, 3, 28, 9, 0, tzinfo=UTC), "Sun 11:00"),
    ("Europe/Berlin", datetime(2026, 3, 28, 9, 0, tzinfo=UTC), datetime(2026, 3, 28, 9, 0, tzinfo=UTC), "10:00"),
]


@pytest.mark.parametrize(("zone", "moment", "now", "text"), CLOCKS, ids=range(len(CLOCKS)))
def test_times_are_the_wall_clocks(zone: str, moment: datetime, now: datetime, text: str) -> None:
    """A moment is shown by the wall clock of its own day, daylight saving included."""
    assert clock(moment, now, lambda one: local(zone, one)) == text


@given(moment=st.datetimes(min_value=datetime(1970, 1, 3), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_any_moment_can_be_shown(moment: datetime) -> None:
    """Every moment has a short text."""
    assert 5 <= len(clock(moment, NOON)) <= 12


@pytest.mark.parametrize("accounts", [FULL["accounts"], []])
def test_notices_stand_above_the_table(accounts: list[object]) -> None:
    """What is wrong with the files is said before anything else."""
    lines = shown(FULL | {"notices": ["the accounts stay as they were"], "accounts": accounts}, 80).splitlines()

    assert lines[1].startswith("the accounts stay as they were")


def test_every_state_is_explained() -> None:
    """docs/states.md has each state once, in the order in which the first that fits is shown, under the screen's word."""
    text = (Path(__file__).parents[3] / "docs" / "states.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z ]+) \| `(\w+)` \|", text, re.MULTILINE)
    own = (RESERVED, State.HELD.value)  # the screen's word for one way to be held
    assert rows[rows.index(own) - 1] == ("held", State.HELD.value)
    assert [row for row in rows if row != own] == [(WORDS.get(state, state.value), state.value) for state in State]


@pytest.mark.parametrize(
    ("prime", "says"),
    [
        ({"slot": "x", "next_at": "2026-01-06T05:30:05Z", "because": "its slot"}, "next prime Tue 05:30 (its slot)"),
        ({"slot": "x", "next_at": None, "because": "7d limit"}, "not primed: 7d limit"),
        (None, ""),
    ],
)
def test_when_an_account_is_primed_is_said_where_there_is_a_day(prime: dict[str, str] | None, says: str) -> None:
    """One short line each; none where priming is off, whatever else is said of measuring."""
    first, *others = FULL["accounts"]
    measuring = {"by": "usage", "next_at": None, "because": "its readings are fresh"}
    text = shown({**FULL, "accounts": [{**first, "prime": prime, "measuring": measuring}, *others]}, 120)

    assert says in text
    assert ("prime" in text) == bool(says)
    assert "measur" not in text


def test_a_window_that_runs_out_before_its_reset_is_said() -> None:
    """In one line: why, and when."""
    first, *others = FULL["accounts"]
    pressure = {"runs_out_at": "2026-01-05T13:40:00Z", "because": "5h runs out before its reset: 34% an hour lately"}
    text = shown({**FULL, "accounts": [{**first, "pressure": pressure}, *others]}, 200)

    assert "5h runs out before its reset: 34% an hour lately, full 13:40" in text
    assert "runs out" not in shown(FULL, 120)


def pin(session: str | None, *names: str, because: str = "pinned by you") -> dict[str, object]:
    """A wish for these accounts."""
    return {"session": session, "accounts": list(names), "moves": False, "launch": False, "because": because}


PINNED = [  # pins, lines
    ((pin(None, "work", "home", because="yields: x"),), ["Pinned to work, home: yields: x"]),
    ((pin("s", "work"),), ["One session is pinned to work: pinned by you"]),
    (
        (pin(None, "work"), pin("s", "work"), pin("t", "home")),
        ["Pinned to work: pinned by you", "2 sessions are pinned (--json lists them)"],
    ),
]


@pytest.mark.parametrize(("pins", "lines"), PINNED, ids=range(len(PINNED)))
@pytest.mark.parametrize("running", [True, False])
def test_pins_are_told_tersely(pins: tuple[dict[str, object], ...], lines: list[str], running: bool) -> None:
    """For all in a line, of sessions how many; with a proxy and without."""
    text = shown({**FULL, "running": running, "pins": pins}, 120)

    assert [line.rstrip() for line in text.splitlines() if "inned" in line] == lines


def test_bounds_and_queues_are_told() -> None:
    """How many of how many are in flight, who waits, what is kept back."""
    busy = member("work", cap=4, in_flight=4, queued=2, reserve_5h=0.1, reserve_week=0.25)
    text = shown({**FULL, "accounts": [busy, member("home", cap=2, primary=True), member("third")], "queued": 2}, 120)

    assert "4 of 4 in flight, 2 waiting" in text
    assert "10% of 5h and 25% of 7d kept back" in text
    assert "0 of 2 in flight" in text
    assert text.count("in flight") == 2
    assert text.count("primary") == 1
    assert "Waiting for a place: 2" in text


def test_next_is_tossed_between_pinned_accounts_alone() -> None:
    """Others get a new conversation only when the pin yields."""
    accounts = (member("work"), member("home"), member("third"))
    one = shown({**FULL, "next": ALL, "accounts": accounts, "pins": [pin(None, "work")]}, 120)
    two = shown({**FULL, "next": ALL, "accounts": accounts, "pins": [pin(None, "work", "home")]}, 120)

    assert "Next: work\n" in one.replace(" \n", "\n")
    assert "tossed per conversation between work and home" in two
