"""Tests of routing/outcomes.py."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Answer, Barred, GiveUp, Wait
from routing.holds import Hold
from routing.outcomes import Dead, outcome
from routing.relogin import Renewal, relogin
from routing.rules import Retry, Rules, Waiting
from routing.trail import Attempt
from routing.words import Account, AccountId, Demand
from tests.routing.made import (
    ANN,
    BEN,
    HAIKU,
    NOON,
    OPUS,
    account,
    attempt,
    auth,
    demand,
    demands,
    forbidden,
    hold,
    holds,
    hours,
    limit,
    moments,
    overloaded,
    pools,
    seconds,
    trail,
)

UNRENEWED = relogin(replace(auth(), asks_renewal=True), renewal=Renewal.FAILED)
POOL = (account(ANN), account(BEN))
SOON = 0.05  # hours: three minutes


def dead(
    *held: Hold,
    accounts: tuple[Account, ...] = POOL,
    met: tuple[Attempt, ...] = (),
    request: Demand | None = None,
    now: datetime = NOON,
    rules: Rules | None = None,
) -> Dead:
    """A moment at noon at which nobody may serve."""
    by_account: dict[AccountId, tuple[Hold, ...]] = {}
    for one in held:
        by_account[one.account] = (*by_account.get(one.account, ()), one)
    return Dead(
        accounts=accounts,
        holds=by_account,
        demand=demand() if request is None else request,
        trail=trail(*met),
        rules=Rules() if rules is None else rules,
        now=now,
    )


def ann(row: int, end: float = 2, **more: Any) -> Hold:
    """A hold on the first account."""
    return hold(row, end=end, name=ANN, **more)


def ben(row: int, end: float = 2, **more: Any) -> Hold:
    """A hold on the second account."""
    return hold(row, end=end, name=BEN, **more)


@given(st.lists(holds, max_size=4), pools, demands, moments)
def test_a_wait_is_within_the_clients_patience(
    held: list[Hold], accounts: tuple[Account, ...], request: Demand, now: datetime
) -> None:
    """A wait ends after now, within [wait] max, before the client gives up; a side call never waits."""
    choice = outcome(dead(*held, accounts=accounts, request=request, now=now))

    if isinstance(choice, Wait):
        assert now < choice.until <= now + seconds(240)
        assert choice.until <= NOON + request.patience - seconds(30)
        assert not request.side


@given(st.lists(holds, max_size=4), pools, demands, moments)
def test_everybody_passed_over_is_named(
    held: list[Hold], accounts: tuple[Account, ...], request: Demand, now: datetime
) -> None:
    """Giving up says of every account why it did not serve."""
    choice = outcome(dead(*held, accounts=accounts, request=request, now=now))

    if isinstance(choice, GiveUp):
        assert [one.id for one in accounts] == [barred.account for barred in choice.barred]
        assert all(barred.because for barred in choice.barred)


WAITS = [
    ("until the soonest recovery", dead(ann(13, 0.06), ben(13, SOON)), SOON),
    ("an account recovers when its last hold ends", dead(ann(13, 0.06), ben(13, 0.01), ben(14, SOON)), SOON),
    ("only those that recover by themselves count", dead(ann(18, 0.01), ben(13, SOON)), SOON),
    ("one that is also locked out does not", dead(ann(18, 0.02), ann(13, 0.01), ben(13, SOON)), SOON),
    (
        "one that is disabled does not",
        dead(ann(13, 0.01), ben(13, SOON), accounts=(account(ANN, enabled=False), POOL[1])),
        SOON,
    ),
    ("another family's hold bars nobody", dead(ann(12, 0.01, family=HAIKU), ben(12, SOON, family=OPUS)), SOON),
    ("a login that is being renewed recovers", dead(ann(17, SOON), ben(13, 2)), SOON),
    (
        "also when it was refused here",
        dead(ann(17, SOON), ben(18), met=(attempt(ANN, UNRENEWED), attempt(BEN, auth()))),
        SOON,
    ),
    ("also after a refusal", dead(ann(13, SOON), ben(18), met=(attempt(ANN, limit()), attempt(BEN, auth()))), SOON),
]


@pytest.mark.parametrize(("moment", "expected"), [c[1:] for c in WAITS], ids=[c[0] for c in WAITS])
def test_wait(moment: Dead, expected: float) -> None:
    """Where an account recovers soon enough, the request waits for it."""
    choice = outcome(moment)

    assert isinstance(choice, Wait)
    assert (NOON + hours(expected), None) == (choice.until, choice.account)


ANSWERS = [
    ("A: too long", dead(ann(13, 2), ben(13, 3)), Answer.LIMITED, ANN),
    ("A: a side call never waits", dead(ann(13, SOON), ben(13, 3), request=demand(side=True)), Answer.LIMITED, ANN),
    ("A: the client is impatient", dead(ann(13, SOON), ben(13, 3), request=demand(patience=200)), Answer.LIMITED, ANN),
    ("A: what has passed counts", dead(ann(13, 0.175), ben(13, 3), now=NOON + seconds(450)), Answer.LIMITED, ANN),
    (
        "A: [wait] max is a setting",
        dead(ann(13, SOON), ben(13, 3), rules=Rules(wait=Waiting(max=60))),
        Answer.LIMITED,
        ANN,
    ),
    ("A: before B", dead(ann(18), ben(20, 3)), Answer.LIMITED, BEN),
    ("B: all logins refused", dead(ann(18), ben(19, family=OPUS)), Answer.LOCKED_OUT, None),
    (
        "B: refused here, and the hold was taken back",
        dead(ann(18), met=(attempt(BEN, forbidden()),)),
        Answer.LOCKED_OUT,
        None,
    ),
    (
        "B: the last answer of an account counts",
        dead(ann(18), met=(attempt(BEN, overloaded()), attempt(BEN, forbidden()))),
        Answer.LOCKED_OUT,
        None,
    ),
    ("B: locked out and out of credit", dead(ann(18), ann(11), ben(19)), Answer.LOCKED_OUT, None),
    (
        "B: the disabled do not matter",
        dead(ann(18), accounts=(POOL[0], account(BEN, enabled=False))),
        Answer.LOCKED_OUT,
        None,
    ),
    ("A: a renewal that takes long", dead(ann(17, 1), ben(18)), Answer.LIMITED, ANN),
    ("A: one of them may be renewed yet", dead(ben(18), met=(attempt(ANN, UNRENEWED),)), Answer.LIMITED, ANN),
    ("C: none enabled", dead(ann(13), accounts=(account(ANN, enabled=False),)), Answer.NONE_ENABLED, None),
    ("C: no account at all", dead(accounts=()), Answer.NONE_ENABLED, None),
    (
        "neither: the answer that blames no login",
        dead(ben(19), met=(attempt(ANN, overloaded()), attempt(BEN, forbidden()))),
        Answer.RELAY_EARLIER,
        None,
    ),
    ("neither, and nothing to relay", dead(ann(11, 3), ben(11, 1)), Answer.LIMITED, BEN),
    (
        "neither, and only a login's refusal to relay",
        dead(ann(11, 3), met=(attempt(BEN, auth()),)),
        Answer.LIMITED,
        ANN,
    ),
    ("nothing known at all", dead(met=(attempt(BEN, auth()),)), Answer.LIMITED, None),
]


@pytest.mark.parametrize(("moment", "answer", "recovers"), [c[1:] for c in ANSWERS], ids=[c[0] for c in ANSWERS])
def test_answer(moment: Dead, answer: Answer, recovers: str | None) -> None:
    """The first of A, B and C that fits, else an earlier answer, else what is known of the limits."""
    choice = outcome(moment)

    assert isinstance(choice, GiveUp)
    assert answer is choice.answer
    assert recovers == (choice.recovers and choice.recovers.account)


@pytest.mark.parametrize(("renewal_s", "soon"), [(20, 20), (0, 1)])
def test_a_login_that_is_being_renewed_is_no_limit(renewal_s: float, soon: float) -> None:
    """A side call does not wait for it, so no hold says when; the answer is row 17's and comes with a time all the same."""
    rules = Rules(retry=Retry(renewal_s=renewal_s))
    choice = outcome(dead(met=(attempt(ANN, UNRENEWED),), accounts=POOL[:1], rules=rules))

    assert isinstance(choice, GiveUp)
    assert choice.recovers == Barred(account=ANN, because=UNRENEWED.because, row=17, until=NOON + seconds(soon))


def test_a_limited_answer_says_who_recovers_when_and_why_each_was_passed_over() -> None:
    """It carries the soonest recovery, and for each account its bar or how it answered."""
    cat = account("cat")
    choice = outcome(dead(ann(13, 2), accounts=(*POOL, cat), met=(attempt(BEN, overloaded()),)))

    first = Barred(account=ANN, because="row 13", row=13, until=NOON + hours(2))
    assert choice == GiveUp(
        answer=Answer.LIMITED,
        because="row 13",
        recovers=first,
        barred=(first, Barred(account=BEN, because="row 21"), Barred(account=cat.id, because="not tried")),
    )
