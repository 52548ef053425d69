"""The tables of a simulation."""

import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from flowpool.comparison import Result
from flowpool.confidence import Interval
from flowpool.fewer import Fewer
from flowpool.plays import Bound
from flowpool.views.simulate import WITHOUT, Rows, compared, fewer_rows, markdown, percents, title_of, view
from routing.simulator import Outcome

OUTCOME = Outcome(
    served_turns=99_999,
    refused_turns=99_999,
    attempts_refused=99_999,
    served_units=123_456.7,
    lost_units=999.96,
    rebuilt_tokens=123_456_789,
    moved_warm_tokens=12_345,
    moves=999,
    waited_turns=9_999,
    waited_s=360_000,
)
RESULT = Result(title="office", outcomes={"burn_rate_balance": [OUTCOME] * 3}, bounds=[Bound(200_000.0, 0)] * 3)
NARROW = 80


def of_one(outcome: Outcome, seeds: int = 1, bound: float | None = 1) -> Result:
    """What came of a kind that one strategy played, alike each time."""
    return Result(title="", outcomes={"x": [outcome] * seeds}, bounds=[Bound(bound, 2.5)] * seeds)


def row(result: Result, *, waits: bool = False) -> dict[str, str]:
    """What is shown of its strategy, by the headings."""
    headings, (cells,) = compared([result], list(result.outcomes), "x", waits=waits)
    return dict(zip(headings, cells, strict=True))


def shown(columns: Sequence[str], rows: Rows, width: int = NARROW) -> str:
    """A table on a screen."""
    screen = io.StringIO()
    Console(file=screen, width=width).print(view("office", columns, rows))
    return screen.getvalue()


def test_large_numbers_are_rounded() -> None:
    """Units are whole."""
    assert tuple(row(RESULT, waits=True).values()) == (
        "burn_rate_balance", "61.7 ±0.0", "299997", "299997", "29997 (300h)", "3000", "370M", "37.0k", "2997",
    )  # fmt: skip


def test_small_numbers_are_shown_in_full() -> None:
    """Who never waited has no time."""
    small = of_one(Outcome(served_units=1.25, rebuilt_tokens=999, lost_units=2.4), bound=None)

    assert tuple(row(small, waits=True).values()) == ("x", "50.0", "0", "0", "0", "2", "999", "0", "0")


COUNTS = st.integers(0, 99_999)
OUTCOMES = st.builds(
    Outcome,
    refused_turns=COUNTS,
    attempts_refused=COUNTS,
    served_units=st.floats(0, 1e4),
    lost_units=st.floats(0, 99_999),
    rebuilt_tokens=st.integers(0, 10**8),
    moved_warm_tokens=st.integers(0, 10**8),
    moves=COUNTS,
)


@given(mine=st.lists(OUTCOMES, min_size=3, max_size=3), others=st.lists(OUTCOMES, min_size=3, max_size=3))
def test_nothing_is_cut_on_a_narrow_screen(mine: list[Outcome], others: list[Outcome]) -> None:
    """Every word of the headings and the cells stands there as a whole."""
    outcomes = {"headroom": mine, "burn_rate_balance": others}
    result = Result(title="office", outcomes=outcomes, bounds=[Bound(1e4, 1e4)] * 3)
    headings, rows = compared([result], list(outcomes), "headroom", waits=False)
    words = [word for line in (headings, *rows) for cell in line for word in cell.split()]
    found = shown(headings, rows)

    assert not set(words) - set(found.split())
    assert max(map(len, found.splitlines())) <= NARROW


def test_waits_are_shown_where_turns_may_wait() -> None:
    """They too fit on a narrow screen."""
    outcome = Outcome(served_units=7_000, waited_turns=9_999, waited_s=36_000, refused_turns=999, rebuilt_tokens=10**7)
    names = ("headroom", "burn_rate_balance")
    result = Result(title="", outcomes={name: [outcome] * 5 for name in names}, bounds=[Bound(1e4, 1)] * 5)
    headings, rows = compared([result], names, "headroom", waits=True)

    assert rows[0][headings.index("waited")] == "49995 (50h)"
    assert {"waited", "49995", "(50h)", "±0.0"} <= set(shown(headings, rows).split())
    assert "waited" not in compared([result], names, "headroom", waits=False)[0]


@pytest.mark.parametrize(("seconds", "told"), [(59, "1 (59s)"), (60, "1 (1min)"), (7200, "1 (2.0h)")])
def test_waits_are_told_in_the_unit_that_fits(seconds: float, told: str) -> None:
    """All of a strategy's together."""
    assert row(of_one(Outcome(waited_turns=1, waited_s=seconds)), waits=True)["waited"] == told


def test_over_several_kinds_served_is_a_mean_and_the_rest_are_sums() -> None:
    """Each kind counts alike, however large it is."""
    other = Result(title="", outcomes={"burn_rate_balance": [Outcome(moves=1)] * 3}, bounds=[Bound(1.0, 0)] * 3)
    _, (cells,) = compared([RESULT, other], ["burn_rate_balance"], "x", waits=False)

    assert (cells[1], cells[-1]) == ("30.9 ±0.0", "3000")


def units(*served: float) -> list[Outcome]:
    """Outcomes of so many units."""
    return [Outcome(served_units=one) for one in served]


@pytest.mark.parametrize(
    ("mine", "others", "default", "told"),
    [
        ((50, 60, 70), (40, 55, 57), "a", ("", "-9.3 ±10.0")),
        ((50, 60), (40, 55), "a", ("", "-7.5")),
        ((50,), (40,), "a", None),
        ((50, 60, 70), (40, 55, 57), "c", None),
    ],
    ids=["three seeds", "an interval of two says nothing", "one seed", "without the default"],
)
def test_the_difference_to_the_default_is_paired(
    mine: tuple[float, ...], others: tuple[float, ...], default: str, told: tuple[str, ...] | None
) -> None:
    """Where the default was played, and more than once."""
    bounds = [Bound(100, 100)] * len(mine)
    result = Result(title="", outcomes={"a": units(*mine), "b": units(*others)}, bounds=bounds)
    headings, rows = compared([result], ["a", "b"], default, waits=False)
    columns = dict(zip(headings, zip(*rows, strict=True), strict=True))

    assert columns.get("against default") == told
    assert "against default" not in compared([result], ["a"], default, waits=False)[0]


def test_two_workloads_are_enough_for_a_difference() -> None:
    """Of one seed each: the mean alone."""
    result = Result(title="", outcomes={"a": units(50), "b": units(40)}, bounds=[Bound(100, 100)])
    _, rows = compared([result, result], ["a", "b"], "a", waits=False)

    assert [line[2] for line in rows] == ["", "-10.0"]


def test_the_title_says_what_served_is_a_part_of() -> None:
    """The bound, or what was asked."""
    assert title_of("x", is_bounded=True) == "x (served: % of the bound)"
    assert title_of("x", is_bounded=False) == "x (served: % of what was asked)"


def test_percents_have_one_digit() -> None:
    """And their interval, where three seeds or more make one."""
    assert percents(Interval(93.46, 0.84), 3) == "93.5 ±0.8"
    assert percents(Interval(93.46, 20.84), 2) == "93.5"
    assert percents(Interval(93.46, None), 1) == "93.5"
    assert percents(Interval(2, 0.25), 5, sign="+") == "+2.0 ±0.2"


def test_a_table_in_markdown() -> None:
    """Numbers to the right."""
    assert markdown("office", ("strategy", "moves"), [("a", "1"), ("b", "2")]) == (
        "**office**\n\n| strategy | moves |\n| --- | --: |\n| a | 1 |\n| b | 2 |\n"
    )


def test_a_missing_account_has_a_line() -> None:
    """After one with all of them."""
    full, less = Outcome(served_units=80, refused_turns=2), Outcome(served_units=50, refused_turns=5)
    fewer = Fewer(title="w", full={"x": [full]}, without={"ann": {"x": [less]}}, asked=[100.0])
    rows = fewer_rows(fewer)

    assert rows == [("x", "none", "80.0", "", "80.0", "2", "0"), ("x", "ann", "50.0", "-30.0", "50.0", "5", "0")]
    assert all(cell in shown(WITHOUT, rows, 100) for line in rows for cell in line)
