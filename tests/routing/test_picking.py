"""routing/picking.py: habits before free choices, and where side calls go; pins, queues and ramps have files of their own."""

from routing.decisions import Answer, Use, Wait
from routing.observations import Dispatched, Ended, Pinned, Succeeded
from routing.words import ExchangeId, Kind
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    EXCHANGE,
    HAIKU,
    NOON,
    account,
    attempt,
    demand,
    limit,
    throttle,
    trail,
    verdict,
)
from tests.routing.shell import Shell
from tests.routing.stories import PERISHING, always, answer_of, first, in_flight, measured, pooled


def test_a_conversation_in_flight_stays_where_it_is() -> None:
    """A second request of the same conversation goes to the same account, until that refused it."""
    shell = pooled(ann=0.2, ben=0.5)
    in_flight(shell, BEN)

    assert first(shell) == Use(account=BEN, because="in flight here")
    assert first(shell, met=trail(attempt("ben", verdict(15)), renewed_at=1)) != Use(
        account=BEN, because="in flight here"
    )


def test_a_warm_cache_outweighs_a_request_of_another_model_in_flight() -> None:
    """In flight with this model, then warm, then in flight with another model."""
    shell = pooled(ann=0.2, ben=0.5, cat=0.6)
    in_flight(shell, CAT, request=demand(family=HAIKU))
    assert first(shell) == Use(account=CAT, because="in flight here")

    shell.router.observe(Succeeded(exchange=EXCHANGE, account=BEN, demand=demand(), at=NOON))
    assert first(shell) == Use(account=BEN, because="sticky")

    in_flight(shell, ANN, "third")
    assert first(shell) == Use(account=ANN, because="in flight here")


def test_unmeasured_accounts_are_measured_one_conversation_each() -> None:
    """Idle unmeasured ones come first; with all busy, the one with the fewest requests in flight."""
    shell = Shell("ann", "ben")
    start = first(shell, demand("one"))
    assert isinstance(start, Use)
    assert start.because == "unmeasured"
    in_flight(shell, start.account, "one", demand("one"))
    second = first(shell, demand("two"))
    assert isinstance(second, Use)
    assert second.account != start.account


def test_an_api_key_comes_last() -> None:
    """It serves only when no subscription may."""
    shell = Shell(account(ANN, kind=Kind.API_KEY), account(BEN))
    measured(shell, ben=0.99)

    assert shell.play(demand(), always()).asked == [BEN]
    run = shell.play(demand(), always(ben=limit()))
    assert run.asked == [BEN, ANN]
    key = Use(account=ANN, because="new: API key, no subscription may serve", is_free=True)
    assert first(shell, demand("chat")) == key


def test_side_calls() -> None:
    """They take the session's latest account, else the best measured, else any; they never pause, and hop instead."""
    shell = Shell("ann", "ben", "cat", rules=PERISHING)
    side = demand(side=True)
    assert first(shell, side).because == "unmeasured"
    measured(shell, ben=0.5, cat=0.2)
    assert first(shell, side) == Use(account=CAT, because="new: 7d perishes soonest (0.033/h)", is_free=True)

    in_flight(shell, BEN)
    assert first(shell, side) == Use(account=BEN, because="the session's latest")
    run = shell.play(side, always(ben=throttle(), cat=throttle()))
    assert run.asked == [BEN, CAT]
    assert answer_of(run) is Answer.RELAY
    assert first(shell) == Use(account=BEN, because="in flight here")


def test_an_own_pin_comes_by_the_ramp_after_a_refusal() -> None:
    """It waits for its turn on its account, and goes when the first to move is answered."""
    shell = pooled(ann=0.2, ben=0.5)
    asked, met = demand("chat"), trail(attempt("ann", limit()))
    other = Dispatched(exchange=ExchangeId("other"), account=BEN, demand=demand("other"), at=NOON, is_move=True)
    shell.router.observe(Pinned(accounts=(BEN,), at=NOON, session="chat"))
    shell.router.observe(other)

    waits = first(shell, asked, met)
    assert isinstance(waits, Wait)
    assert waits.because == "others are moving there just now"
    shell.router.observe(Ended(exchange=other.exchange, trail=trail(), at=NOON))
    assert first(shell, asked, met) == Use(account=BEN, because="hop: ann refused: row 13", is_move=True)
