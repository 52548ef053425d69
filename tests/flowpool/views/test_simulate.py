"""The tables of a simulation."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from flowpool.comparison import Result
from flowpool.confidence import Interval
from flowpool.fewer import Fewer
from flowpool.plays import Bound
from flowpool.views.simulate import HEADINGS, WITHOUT, cells, fewer_rows, markdown, percents, title_of, view
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
RESULT = Result(title="office", outcomes={"burn_rate_balance": [OUTCOME] * 2}, bounds=[Bound(200_000.0, 0)] * 2)


def shown(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """A table on a screen."""
    screen = io.StringIO()
    Console(file=screen, width=width).print(view("office", columns, rows))
    return screen.getvalue()


def test_every_number_is_shown() -> None:
    """Large numbers are rounded, neither cut off nor broken over two lines."""
    row = cells("burn_rate_balance", [RESULT])
    found = shown(HEADINGS, [row], 100)

    assert "office" in found
    assert all(word in found for heading in HEADINGS for word in heading.split())
    assert all(cell in found for cell in row)
    assert row == (
        "burn_rate_balance", "61.7 ±0.0", "199998", "199998", "19998 (200.0 h)", "2000", "246.9M", "24.7k", "1998",
    )  # fmt: skip


def test_small_numbers_are_shown_in_full() -> None:
    """Units to a tenth; who never waited has no time."""
    small = Outcome(served_units=1.25, rebuilt_tokens=999)
    row = cells("x", [Result(title="", outcomes={"x": [small]}, bounds=[Bound(None, 2.5)])])

    assert row == ("x", "50.0", "0", "0", "0", "0.0", "999", "0", "0")


@pytest.mark.parametrize(("seconds", "told"), [(59, "1 (59 s)"), (60, "1 (1 min)"), (7200, "1 (2.0 h)")])
def test_waits_are_told_in_the_unit_that_fits(seconds: float, told: str) -> None:
    """All of a strategy's together."""
    one = Outcome(waited_turns=1, waited_s=seconds)

    assert cells("x", [Result(title="", outcomes={"x": [one]}, bounds=[Bound(1, 1)])])[4] == told


def test_over_several_kinds_served_is_a_mean_and_the_rest_are_sums() -> None:
    """Each kind counts alike, however large it is."""
    other = Result(title="", outcomes={"burn_rate_balance": [Outcome(moves=1)] * 2}, bounds=[Bound(1.0, 0)] * 2)
    row = cells("burn_rate_balance", [RESULT, other])

    assert (row[1], row[8]) == ("30.9 ±0.0", "2000")


def test_the_title_says_what_served_is_a_part_of() -> None:
    """The bound, or what was asked."""
    assert title_of("x", is_bounded=True) == "x (served: % of the bound)"
    assert title_of("x", is_bounded=False) == "x (served: % of what was asked)"


def test_percents_have_one_digit() -> None:
    """And their interval, where there is one."""
    assert percents(Interval(93.46, 0.84)) == "93.5 ±0.8"
    assert percents(Interval(93.46, None)) == "93.5"
    assert percents(Interval(2, 0.25), sign="+") == "+2.0 ±0.2"


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
    assert all(cell in shown(WITHOUT, rows, 100) for row in rows for cell in row)
