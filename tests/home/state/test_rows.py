"""What the Router remembers becomes rows and comes back."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home.state import rows
from home.state.ledger import LONGEST
from routing.capacities import Tally
from routing.gauges import Gauge
from routing.health import Check
from routing.holds import Hold, Ladder
from routing.lifetimes import Lifetime
from routing.pins import Pin
from routing.readings import Reading
from routing.remembered import Remembered
from routing.stickiness import Stick
from routing.words import ConversationId, Family
from tests.home.state.made import picture, restored
from tests.routing.made import ANN, NOON, hold, holds, moments, reading, readings

EMPTY: dict[str, list[rows.Row]] = {name: [] for name in rows.TABLES}


@given(readings)
def test_a_reading_comes_back(one: Reading) -> None:
    """With everything but where it came from."""
    key = (ANN, one.window.key)
    found = rows.remembered_of(EMPTY | {"readings": [rows.reading_row(key, one)]})

    assert found == Remembered(readings={key: restored(one)})


@given(st.lists(holds, max_size=4))
def test_holds_come_back_in_their_order(held: list[Hold]) -> None:
    """With everything but the exchange that met the refusal."""
    found = rows.remembered_of(EMPTY | {"holds": rows.hold_rows(tuple(held))})

    assert found.holds.get(ANN, ()) == tuple(replace(one, by=None) for one in held)


def test_ladders_sticks_and_lines_come_back() -> None:
    """Sticks in the order in which they end: the oldest are forgotten first."""
    late, early = (ConversationId("late"), "m"), (ConversationId("early"), "m")
    sticks = {late: Stick(account=ANN, until=NOON.replace(hour=14)), early: Stick(account=ANN, until=NOON)}
    ladder = Ladder(failures=3, set_at=NOON)
    found = rows.remembered_of(
        EMPTY
        | {
            "health": [rows.ladder_row(ANN, ladder)],
            "sticks": [rows.stick_row(key, stick) for key, stick in sticks.items()],
            "lines": [{"line": "new", "family": "opus"}, {"line": "new", "family": "fable"}],
        }
    )

    assert (found.ladders, found.sticks, list(found.sticks)) == ({ANN: ladder}, sticks, [early, late])
    assert found.lines == picture().lines


moments_or_none = st.none() | moments
some_lifetimes = st.builds(
    Lifetime, expires_at=moments_or_none, refresh_expires_at=moments_or_none, is_refreshable=st.booleans()
)


@given(some_lifetimes, st.integers(1, 10**9), moments_or_none, moments_or_none)
def test_lifetimes_and_checks_come_back(
    lifetime: Lifetime, failures: int, next_at: datetime | None, checked_at: datetime | None
) -> None:
    """Whatever is not known of them; no schedule without a refusal."""
    check = Check(failures=failures, next_at=next_at, checked_at=checked_at)
    found = rows.remembered_of(
        EMPTY | {"checks": [rows.check_row(ANN, check)], "lifetimes": [rows.lifetime_row(ANN, lifetime)]}
    )

    assert found == Remembered(checks={ANN: check}, lifetimes={ANN: lifetime})
    none = rows.remembered_of(EMPTY | {"checks": [rows.check_row(ANN, replace(check, failures=0))]})
    assert none.checks == {ANN: Check(checked_at=checked_at)}


@given(st.floats(0, 1e12), st.floats(0, 2))
def test_tallies_come_back(cost: float, share: float) -> None:
    """Of whichever window."""
    tally = Tally(cost=cost, share=share)
    found = rows.remembered_of(EMPTY | {"capacities": [rows.capacity_row((ANN, "7d_oi"), tally)]})

    assert found == Remembered(capacities={(ANN, "7d_oi"): tally})


some_gauges = st.builds(
    Gauge,
    met_with=st.text("0123456789abcdef", max_size=16),
    asked_at=moments_or_none,
    failures=st.integers(0, 10**9),
    rest_until=moments_or_none,
    because=st.text("abc 429", max_size=9),
    is_throttled=st.booleans(),
    is_closed=st.booleans(),
)


@given(some_gauges)
def test_gauges_come_back(gauge: Gauge) -> None:
    """With all that measuring met."""
    found = rows.remembered_of(EMPTY | {"gauges": [rows.gauge_row(ANN, gauge)]})

    assert found == Remembered(gauges={ANN: gauge})


@pytest.mark.parametrize(
    "odd",
    [{"failures": -1}, {"failures": "x"}, {"asked_at": "soon"}, {"rest_until": 7}, {"is_closed": None}],
)
def test_a_gauge_that_makes_no_sense_is_passed_over(odd: rows.Row) -> None:
    """The others are read all the same."""
    good = rows.gauge_row(ANN, Gauge(asked_at=NOON))

    assert rows.remembered_of(EMPTY | {"gauges": [good | odd]}) == Remembered()
    assert rows.remembered_of(EMPTY | {"gauges": [good]}) == Remembered(gauges={ANN: Gauge(asked_at=NOON)})


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("capacities", {"account": "ann", "window_key": "5h", "cost": -1.0, "share": 0.1}),
        ("capacities", {"account": "ann", "window_key": "5h", "cost": 1.0, "share": "x"}),
        ("checks", {"account": "ann", "failures": -1, "next_at": None, "checked_at": None}),
        ("checks", {"account": "ann", "failures": "x", "next_at": None, "checked_at": None}),
        ("checks", {"account": "ann", "failures": 1, "next_at": "soon", "checked_at": None}),
        ("lifetimes", {"account": "ann", "expires_at": None, "refresh_expires_at": None, "is_refreshable": "x"}),
        ("lifetimes", {"account": "ann", "expires_at": 1, "refresh_expires_at": None, "is_refreshable": 1}),
    ],
)
def test_a_row_that_makes_no_sense_is_passed_over(table: str, row: rows.Row) -> None:
    """The others are read all the same."""
    assert rows.remembered_of(EMPTY | {table: [row]}) == Remembered()


@pytest.mark.parametrize("used", [-0.1, float("nan"), float("inf")])
def test_an_impossible_use_is_not_reported(used: float) -> None:
    """It is unknown, not 0."""
    assert rows.sample_row((ANN, "7d"), reading(used=used))["used"] is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", True),
        ("opus", True),
        ("x" * LONGEST, True),
        ("x" * (LONGEST + 1), False),
        ("a\0", False),
        ("\udcff", False),
    ],
)
def test_which_names_come_back(name: str, expected: bool) -> None:
    """One that would be changed or cut on its way is not stored."""
    assert rows.is_storable(name) is expected
    assert bool(rows.hold_rows((hold(family=Family(name)),))) is expected


def test_pins_come_back_and_what_is_none_is_passed_over() -> None:
    """A scope of a newer flowpool, or accounts that are no list, are not read."""
    pins = {
        ("all", "", ""): Pin(accounts=(ANN,), at=NOON, moves=True),
        ("own", "session", ""): Pin(accounts=(), at=NOON),
        ("heeded", "talk", "opus"): Pin(accounts=(), at=NOON),
    }
    good = [rows.pin_row(key, pin) for key, pin in pins.items()]
    odd = [good[0] | {"scope": "newer"}, good[0] | {"accounts": "7"}, good[0] | {"accounts": "["}]

    assert rows.remembered_of(EMPTY | {"pins": [*good, *odd]}).pins == pins
