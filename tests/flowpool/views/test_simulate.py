"""The table of a simulation."""

import io

from rich.console import Console

from flowpool.views.simulate import HEADINGS, cells, view
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
)


def test_every_number_is_shown_on_a_narrow_screen() -> None:
    """Large numbers are rounded, not cut off."""
    screen = io.StringIO()
    Console(file=screen, width=80).print(view("office", {"burn_rate_balance": OUTCOME}))
    shown = screen.getvalue()

    assert "office" in shown
    assert all(word in shown for heading in HEADINGS for word in heading.split())
    assert all(cell in shown for cell in cells("burn_rate_balance", OUTCOME))
    assert cells("x", OUTCOME) == ("x", "99999", "99999", "99999", "123457", "1000.0", "123.5M", "12.3k", "999")


def test_small_numbers_are_shown_in_full() -> None:
    """Units to a tenth."""
    assert cells("x", Outcome(served_units=1.25, rebuilt_tokens=999))[4:7] == ("1.2", "0.0", "999")
