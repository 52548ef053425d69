"""Tests of routing/relogin.py."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.chains import Again, Onward, next_step, settle
from routing.relogin import Renewal, may_renew, may_use_current, relogin
from routing.rules import Rules
from routing.trail import Trail
from routing.verdicts import Hop, Left, Verdict, VerdictKind
from tests.routing.made import ANN, BEN, attempt, auth, demand, overloaded, refusals, seconds, trail

REFUSED = replace(auth(), asks_renewal=True)


def turned(renewal: Renewal) -> Verdict:
    """The refused login, as it becomes."""
    return relogin(REFUSED, renewal=renewal)


@pytest.mark.parametrize(
    ("renewal", "row", "again"),
    [
        (Renewal.OUTDATED, 16, True),
        (Renewal.DONE, 17, True),
        (Renewal.FAILED, 17, False),
        (Renewal.NONE, 18, False),
    ],
)
def test_what_becomes_of_a_refused_login(renewal: Renewal, row: int, again: bool) -> None:
    """With a newer token the same account is asked at once; else another; only row 18 holds it. No 401 is ever relayed."""
    verdict = turned(renewal)
    step = next_step(trail(attempt("ann", verdict)), demand(), Rules())

    assert (verdict.row, verdict.kind, verdict.hop, verdict.left) == (row, VerdictKind.AUTH, Hop.EACH, Left.OWN)
    assert (verdict.hold is None) is (row != 18)
    assert verdict.blames_credential
    if again:
        assert isinstance(step, Again)
        assert (step.account, step.wait) == (ANN, seconds(0))
    else:
        assert step is Onward.HOP


@given(refusals, st.sampled_from(Renewal))
def test_what_no_newer_token_mends_stays(verdict: Verdict, renewal: Renewal) -> None:
    """Only a refusal that its provider marked so is turned."""
    assert relogin(verdict, renewal=renewal) == verdict


@pytest.mark.parametrize("renewal", [Renewal.OUTDATED, Renewal.DONE])
@pytest.mark.parametrize("side", [False, True])
@pytest.mark.parametrize("before", range(12))
def test_it_is_asked_again_however_often_it_was_before(renewal: Renewal, side: bool, before: int) -> None:
    """The counter of tries runs over all rows: after two tries of row 21 there is still a turn, for a side call too."""
    verdict = settle(turned(renewal), trail(), demand(side=side), Rules())
    met = trail(*[attempt("ann", overloaded(), waited=1)] * before, attempt("ann", verdict))

    assert isinstance(next_step(met, demand(side=side), Rules()), Again)


def test_an_exchange_has_its_bounds() -> None:
    """Two turns with a token that was replaced and one that was renewed, for each account; waits for recovery begin nothing anew.

    A renewal that gave nothing yet counts for none: after a wait the login may be refused again before it has come.
    """
    stale, renewed = turned(Renewal.OUTDATED), turned(Renewal.DONE)
    once = trail(attempt("ann", stale))
    twice = trail(attempt("ann", stale), attempt("ann", renewed), attempt("ann", stale), renewed_at=3)

    assert (may_use_current(once, ANN), may_renew(once, ANN)) == (True, True)
    assert (may_use_current(twice, ANN), may_renew(twice, ANN)) == (False, False)
    assert (may_use_current(twice, BEN), may_renew(twice, BEN)) == (True, True)
    assert may_renew(trail(*[attempt("ann", turned(Renewal.FAILED))] * 9), ANN)


@given(st.lists(st.sampled_from(Renewal), min_size=20, max_size=20))
def test_a_login_that_stays_refused_ends_as_refused(stands: list[Renewal]) -> None:
    """Whatever is found after each 401, after three more turns at most it is row 18."""
    met: Trail = trail()
    for stand in stands:
        allowed = (
            may_use_current(met, ANN)
            if stand is Renewal.OUTDATED
            else may_renew(met, ANN)
            if stand is Renewal.DONE
            else True
        )
        met = met.grown(attempt("ann", turned(stand if allowed else Renewal.NONE)))
        if not isinstance(next_step(met, demand(), Rules()), Again):
            break

    assert len(met.attempts) <= 4
    assert met.attempts[-1].verdict.row in {17, 18}
