"""routing/retest.py: an old hold is tested by one live request a minute, and no hold that only a person ends."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import GiveUp, Use, Wait
from routing.holds import Hold
from routing.observations import AccountsChanged, Answered, Dispatched, Ended
from routing.retest import NEVER, candidate, is_due
from routing.router import Router
from routing.rules import Rules, Waiting
from routing.trail import Trail
from routing.verdicts import HoldOrder
from routing.words import ExchangeId
from tests.routing.made import ANN, BEN, EXCHANGE, NOON, account, demand, hours, seconds, verdict

LIMIT = verdict(13, hold=HoldOrder(until=NOON + hours(5), windows=frozenset({"7d"})))
RULES = Rules(wait=Waiting(max=0))


def hold(who: str = ANN, *, row: int = 13, until: float = 3, set_ago: float = 1, restored: bool = False) -> Hold:
    """A hold on an account, its end and beginning in hours from noon."""
    return Hold(
        account=account(who).id,
        family=None,
        row=row,
        until=NOON + hours(until),
        because="7d limit",
        windows=frozenset({"7d"}),
        set_at=NOON - hours(set_ago),
        by=EXCHANGE,
        restored=restored,
    )


@given(st.sampled_from(sorted(NEVER)), st.booleans(), st.floats(0, 9))
def test_what_only_a_person_ends_is_never_tested(row: int, restored: bool, ago: float) -> None:
    """A spend limit, a refused login and an empty balance are believed however old they are; so is a login to be renewed."""
    assert {11, 17, 18, 20} == NEVER
    held = hold(row=row, restored=restored, set_ago=ago)

    assert candidate([account(ANN)], {ANN: (held,)}, demand(), NOON) is None


@pytest.mark.parametrize(
    ("held", "found"),
    [
        (hold(set_ago=1), True),
        (hold(set_ago=0.1), False),
        (hold(set_ago=0, restored=True), True),
        (hold(until=-1), False),
    ],
)
def test_a_hold_is_worth_a_test_when_it_is_old_or_restored(held: Hold, found: bool) -> None:
    """Over ten minutes old, or from before the last start; one that has ended bars nobody."""
    assert candidate([account(ANN)], {ANN: (held,)}, demand(), NOON) == (ANN if found else None)


def test_the_one_that_is_free_soonest_is_asked() -> None:
    """Of several accounts the soonest end; an account with one young hold beside an old one is left alone."""
    ann, ben = account(ANN), account(BEN)

    assert candidate([ann, ben], {ANN: (hold(until=3),), BEN: (hold(BEN, until=2),)}, demand(), NOON) == BEN
    young = hold(BEN, row=19, until=1, set_ago=0.01)
    assert candidate([ann, ben], {ANN: (hold(),), BEN: (hold(BEN, until=2), young)}, demand(), NOON) == ANN
    off = replace(ben, enabled=False)
    assert candidate([ann, off], {ANN: (hold(),), BEN: (hold(BEN, until=2),)}, demand(), NOON) == ANN


@pytest.mark.parametrize(("ago", "due"), [(None, True), (0, False), (59, False), (60, True), (-5, True)])
def test_a_test_is_due_once_in_a_while(ago: float | None, due: bool) -> None:
    """Never before, or long enough ago; a clock that went back does not stop it for good."""
    last = None if ago is None else NOON - seconds(ago)

    assert is_due(last, seconds(60), NOON) is due


def test_one_request_a_minute_asks_in_spite_of_the_hold() -> None:
    """The first request of a minute goes out, the others get their answer; a refusal makes the hold young again."""
    router = Router(RULES)
    router.observe(AccountsChanged(accounts=(account(ANN),)))
    refused = Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=LIMIT, sent_at=NOON, at=NOON)
    router.observe(refused)
    later = NOON + seconds(601)
    trail = Trail(started_at=later)

    assert isinstance(router.choose(demand(), Trail(started_at=NOON), NOON + seconds(599)), GiveUp)
    assert router.choose(demand(side=True), trail, later) != Use(account=ANN, because="")
    choice = router.choose(demand(), trail, later)
    assert isinstance(choice, Use)
    assert choice.because == "to see whether its hold still stands"
    router.observe(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=later))
    router.observe(Ended(exchange=EXCHANGE, trail=trail, at=later))
    assert isinstance(router.choose(demand(), trail, later + seconds(59)), GiveUp | Wait)
    assert isinstance(router.choose(demand(), trail, later + seconds(60)), Use)
    router.observe(replace(refused, sent_at=later, at=later))
    assert isinstance(router.choose(demand(), trail, later + seconds(60)), GiveUp)
    assert router.snapshot(later).next["opus"] is None


def test_an_account_at_its_cap_is_not_asked_in_spite_of_its_hold() -> None:
    """A test is a request like any other: it needs a place."""
    router = Router(RULES)
    router.observe(AccountsChanged(accounts=(replace(account(ANN), cap=1),)))
    router.observe(Dispatched(exchange=ExchangeId("long"), account=ANN, demand=demand("other"), at=NOON))
    router.observe(Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=LIMIT, sent_at=NOON, at=NOON))
    later = NOON + seconds(601)
    trail = Trail(started_at=later)

    assert not isinstance(router.choose(demand(), trail, later), Use)
    router.observe(Ended(exchange=ExchangeId("long"), trail=trail, at=later))
    assert isinstance(router.choose(demand(), trail, later), Use)
