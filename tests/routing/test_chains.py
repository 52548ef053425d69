"""Tests of routing/chains.py."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.chains import Again, Onward, asked, next_step, settle
from routing.rules import Retry, Rules
from routing.trail import Attempt, Trail
from routing.verdicts import Hop, Verdict
from routing.words import Demand
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    NAMES,
    NOON,
    THROTTLE_LONGER,
    attempt,
    auth,
    demand,
    demands,
    limit,
    overloaded,
    refusals,
    seconds,
    throttle,
    trail,
    verdict,
)

RULES = Rules()
SIDE = demand(side=True)

attempts = st.builds(attempt, st.sampled_from(NAMES), refusals, waited=st.sampled_from([0, 1, 2]))
trails = st.lists(attempts, min_size=1, max_size=6).map(lambda met: trail(*met))


def again(name: str, wait: float, *, ended: float = 0) -> Again:
    """The same account after so many seconds."""
    return Again(account=NAMES[NAMES.index(name)], wait=seconds(wait), at=NOON + seconds(ended + wait))


@given(trails, demands)
def test_pauses_between_tries_stay_within_the_budget(met: Trail, request: Demand) -> None:
    """No next try on the same account takes the exchange's pauses over the budget, and a side call never pauses."""
    step = next_step(met, request, RULES)

    if isinstance(step, Again) and step.wait:
        assert met.waited + step.wait <= seconds(RULES.retry.budget_s)
        assert not request.side


@given(trails, demands)
def test_only_a_row_that_hops_hops(met: Trail, request: Demand) -> None:
    """A row that says no hop never leads to another account."""
    assert met.last is not None
    step = next_step(met, request, RULES)

    assert step is not Onward.HOP or met.last.verdict.hop is not Hop.NO


@given(refusals, trails, demands)
def test_settling_twice_is_settling_once(met: Verdict, before: Trail, request: Demand) -> None:
    """A settled verdict is final."""
    settled = settle(met, before, request, RULES)

    assert settled == settle(settled, before, request, RULES)
    assert settled.unless_fits is None
    assert settled.row in {met.row, THROTTLE_LONGER.row}


@given(refusals, trails)
def test_a_side_call_neither_holds_nor_pauses(met: Verdict, before: Trail) -> None:
    """Where a row waits, a side call hops at once, and it never holds an account."""
    settled = settle(met, before, SIDE, RULES)

    assert settled.hold is None
    assert not any(settled.same)


def tries(name: str, met: Verdict, waits: Iterable[float]) -> tuple[Attempt, ...]:
    """Attempts on one account, each after its pause."""
    return tuple(attempt(name, met, waited=wait) for wait in waits)


ONE = verdict(15, hop=Hop.ONE)
BROKEN = verdict(3, same=(0,))
CASES = [
    ("529: a second", tries("ann", overloaded(), [0]), again("ann", 1)),
    ("529: then two", tries("ann", overloaded(), [0, 1]), again("ann", 2)),
    ("529: then one hop", tries("ann", overloaded(), [0, 1, 2]), Onward.HOP),
    (
        "529: as long on the next",
        (*tries("ann", overloaded(), [0, 1, 2]), *tries("ben", overloaded(), [0, 1])),
        again("ben", 2),
    ),
    (
        "529: six requests, then nothing",
        (*tries("ann", overloaded(), [0, 1, 2]), *tries("ben", overloaded(), [0, 1, 2])),
        Onward.STOP,
    ),
    (
        "one counter over all rows",
        (attempt("ann", throttle()), attempt("ann", overloaded(), waited=2)),
        again("ann", 2),
    ),
    (
        "the list of a shorter row is used up",
        (attempt("ann", overloaded()), attempt("ann", verdict(22, same=(1,)), waited=1)),
        Onward.STOP,
    ),
    ("throttled: twice, then nothing", tries("ann", throttle(1), [0, 1, 1]), Onward.STOP),
    ("a pause that no longer fits is none", (*tries("ann", verdict(14, same=(6, 6)), [0, 6]),), Onward.STOP),
    ("a pause that just fits", tries("ann", verdict(14, same=(5, 5)), [0, 5]), again("ann", 5)),
    ("each hop to whoever was not asked", (attempt("ann", limit()), attempt("ben", auth())), Onward.HOP),
    ("one hop is shared", (attempt("ann", ONE), attempt("ben", ONE)), Onward.STOP),
    ("one hop after a free one", (attempt("ann", limit()), attempt("ben", ONE)), Onward.HOP),
    ("a free hop after the one", (attempt("ann", ONE), attempt("ben", limit())), Onward.HOP),
    (
        "no second one after a free hop",
        (attempt("ann", ONE), attempt("ben", limit()), attempt("cat", ONE)),
        Onward.STOP,
    ),
    ("at once", (attempt("ann", BROKEN, ended=3),), again("ann", 0, ended=3)),
    ("at once, though the budget is spent", (attempt("ann", BROKEN, waited=10),), again("ann", 0)),
    ("client fault", (attempt("ann", verdict(23)),), Onward.STOP),
]


@pytest.mark.parametrize(("met", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_next_step(met: tuple[Attempt, ...], expected: Again | Onward) -> None:
    """What comes next follows from what was met, within the bounds."""
    assert expected == next_step(trail(*met), demand(), RULES)


def test_a_wait_for_recovery_starts_counts_anew() -> None:
    """After it, an account has all its tries again, the one hop is free again, and anybody may be asked."""
    met = trail(*tries("ann", overloaded(), [0, 1, 2]), attempt("ben", ONE), attempt("ann", overloaded()), renewed_at=4)

    assert again("ann", 1) == next_step(met, demand(), RULES)
    assert asked(met, NOON) == {ANN}
    assert asked(replace(met, renewed_at=0), NOON) == {ANN, BEN}


def test_pauses_share_one_budget_across_a_wait_for_recovery() -> None:
    """The ten seconds are the exchange's; a wait for recovery does not refill them."""
    met = trail(attempt("ann", overloaded(), waited=9.5), attempt("ben", overloaded()), renewed_at=1)

    assert next_step(met, demand(), RULES) is Onward.HOP


def test_a_side_call_tries_again_only_without_a_pause() -> None:
    """It skips a list that waits, and takes one that does not."""
    assert next_step(trail(attempt("ann", overloaded())), SIDE, RULES) is Onward.HOP
    assert again("ann", 0) == next_step(trail(attempt("ann", BROKEN)), SIDE, RULES)


def test_asking_before_anything_was_tried_is_a_bug() -> None:
    """There is no next step without a first."""
    with pytest.raises(ValueError, match="nothing was tried"):
        next_step(trail(attempt("ann", limit()), renewed_at=1), demand(), RULES)


SIX_WAITED = tries(CAT, verdict(21), [6])
THROTTLED_ONCE = tries(ANN, throttle(6), [0])
SETTLED = [
    ("fits", throttle(2), (), demand(), replace(throttle(2), unless_fits=None)),
    ("the pause before it counts", throttle(6), THROTTLED_ONCE, demand(), THROTTLE_LONGER),
    (
        "it fits after the pause before it",
        throttle(4),
        THROTTLED_ONCE,
        demand(),
        replace(throttle(4), unless_fits=None),
    ),
    ("fits just", throttle(4), SIX_WAITED, demand(), replace(throttle(4), unless_fits=None)),
    ("no longer fits", throttle(5), SIX_WAITED, demand(), THROTTLE_LONGER),
    ("nothing else to use", verdict(14, same=(11,)), (), demand(), verdict(14, same=(11,))),
    ("nothing to fit", verdict(14, unless_fits=limit()), (), demand(), verdict(14)),
    (
        "side: hops where the row waits",
        throttle(2),
        (),
        SIDE,
        replace(throttle(2), same=(), hop=Hop.ONE, unless_fits=None),
    ),
    ("side: no longer fits", throttle(5), SIX_WAITED, SIDE, replace(THROTTLE_LONGER, hold=None)),
    ("side: each stays each", verdict(21, same=(1,), hop=Hop.EACH), (), SIDE, verdict(21, hop=Hop.EACH)),
    ("side: at once is no pause", BROKEN, (), SIDE, BROKEN),
    ("side: no hold", limit(), (), SIDE, replace(limit(), hold=None)),
]


@pytest.mark.parametrize(
    ("met", "before", "request_", "expected"), [c[1:] for c in SETTLED], ids=[c[0] for c in SETTLED]
)
def test_settle(met: Verdict, before: tuple[Attempt, ...], request_: Demand, expected: Verdict) -> None:
    """A verdict is fitted to what the exchange has waited already and to what kind of call it is."""
    assert expected == settle(met, trail(*before), request_, RULES)


def test_the_budget_is_a_setting() -> None:
    """A smaller budget makes a shorter list."""
    rules = Rules(retry=Retry(budget_s=0.5))

    assert next_step(trail(attempt("ann", overloaded())), demand(), rules) is Onward.HOP
