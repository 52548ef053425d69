"""Tests of routing/gates.py."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Barred
from routing.gates import bar, may_serve
from routing.holds import Hold
from routing.words import Account, Demand
from tests.routing.made import ANN, HAIKU, NOON, OPUS, account, accounts, demand, demands, hold, holds, hours, moments


@given(accounts, demands, st.lists(holds, max_size=4), moments)
def test_an_account_may_serve_only_enabled_and_unheld(
    one: Account, asked: Demand, held: list[Hold], now: datetime
) -> None:
    """Nothing bars an account that is enabled, of the demand's provider and under no hold; anything else does."""
    is_held = any(h.family in (None, asked.family) and h.until > now for h in held)
    expected = one.enabled and one.provider == asked.provider and not is_held

    assert expected is (bar(one, asked, tuple(held), now) is None)
    assert expected is may_serve(one, asked, tuple(held), now)


def test_each_bar_says_why() -> None:
    """Disabled comes before another provider, that before a hold."""
    held = (hold(13),)

    assert bar(account(enabled=False, provider="openai"), demand(), held, NOON) == Barred(
        account=ANN, because="disabled"
    )
    assert bar(account(provider="openai"), demand(), held, NOON) == Barred(account=ANN, because="serves openai")
    assert bar(account(), demand(), held, NOON) == Barred(account=ANN, because="row 13", row=13, until=NOON + hours(2))


def test_the_hold_that_ends_last_speaks() -> None:
    """Of several holds the recovery is the end of the last one in the demand's scope."""
    held = (hold(13, end=2), hold(12, end=5, family=OPUS), hold(19, end=9, family=HAIKU))
    barred = bar(account(), demand(), held, NOON)

    assert barred is not None
    assert (12, NOON + hours(5)) == (barred.row, barred.until)
