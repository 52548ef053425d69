"""routing/ramps.py: moved conversations come onto the next account one by one."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from routing.chains import asked
from routing.decisions import Use, Wait
from routing.observations import AccountsChanged, Answered, Dispatched, Ended
from routing.ramps import OVER, PAUSE, Ramps
from routing.router import Router
from routing.rules import Rules, Waiting
from routing.trail import Trail
from routing.verdicts import HoldOrder, Hop, Left, Verdict
from routing.words import ExchangeId
from tests.routing.made import ANN, BEN, NOON, OK, account, attempt, demand, hours, seconds, trail, verdict

LIMIT = verdict(13, hop=Hop.EACH, left=Left.OWN, hold=HoldOrder(until=NOON + hours(5), windows=frozenset({"7d"})))
STEPS = st.lists(st.tuples(st.sampled_from(["go", "answer", "end"]), st.integers(0, 5)), max_size=40)


@given(STEPS)
def test_never_more_in_flight_than_were_allowed(steps: list[tuple[str, int]]) -> None:
    """One at first, one more for each request that was answered, whatever happens in whatever order."""
    ramps, flying, answered = Ramps(), set[ExchangeId](), set[ExchangeId]()
    proofs = 0
    for what, number in steps:
        exchange = ExchangeId(f"x{number}")
        if what == "go" and exchange not in flying and not ramps.is_full(ANN, NOON):
            ramps.dispatched(exchange, ANN, NOON)
            flying.add(exchange)
        elif what == "answer":
            proofs += exchange in flying and exchange not in answered
            answered |= {exchange} & flying
            ramps.answered(exchange)
        elif what == "end":
            flying.discard(exchange)
            answered.discard(exchange)
            ramps.ended(exchange)
        assert len(flying) <= 1 + proofs
        assert ramps.is_full(ANN, NOON) == (len(flying) >= 1 + proofs and bool(flying))


def test_a_ramp_ends_when_nobody_has_moved_for_a_while() -> None:
    """The next move begins with one again; other accounts have ramps of their own."""
    ramps = Ramps()
    for number in range(3):
        exchange = ExchangeId(f"x{number}")
        ramps.dispatched(exchange, ANN, NOON)
        ramps.answered(exchange)
    assert not ramps.is_full(ANN, NOON)
    for number in range(3):
        ramps.ended(ExchangeId(f"x{number}"))

    later = NOON + OVER + timedelta(seconds=1)
    ramps.dispatched(ExchangeId("y"), ANN, later)
    assert ramps.is_full(ANN, later)
    assert not ramps.is_full(BEN, later)
    ramps.drop(ANN)
    assert not ramps.is_full(ANN, later)


def moved(router: Router, name: str) -> Use | Wait:
    """What a conversation gets that ann has just refused, dispatched where the Router says."""
    asked, met = demand(name), trail(attempt("ann", LIMIT))
    choice = router.choose(asked, met, NOON)
    assert isinstance(choice, Use | Wait)
    if isinstance(choice, Use):
        sent = Dispatched(
            exchange=ExchangeId(name), account=choice.account, demand=asked, at=NOON, is_move=choice.is_move
        )
        router.observe(sent)
    return choice


def pool(rules: Rules | None = None, met: Verdict = LIMIT) -> Router:
    """Ann, who is held, and ben."""
    router = Router(rules or Rules())
    router.observe(AccountsChanged(accounts=(account(ANN), account(BEN))))
    router.observe(
        Answered(exchange=ExchangeId("x"), account=ANN, demand=demand("x"), verdict=met, sent_at=NOON, at=NOON)
    )
    return router


def test_the_second_to_move_waits_until_the_first_is_answered() -> None:
    """It pauses for a moment at a time, is let on by an answer or by an end, and does not wait behind itself."""
    router = pool()

    assert moved(router, "one") == Use(account=BEN, because="hop: ann refused: row 13", is_move=True, is_free=True)
    waits = moved(router, "two")
    assert waits == Wait(until=NOON + PAUSE, account=None, because="others are moving there just now", is_for_room=True)
    router.observe(
        Answered(exchange=ExchangeId("one"), account=BEN, demand=demand("one"), verdict=OK, sent_at=NOON, at=NOON)
    )
    assert isinstance(moved(router, "two"), Use)
    assert isinstance(moved(router, "three"), Wait)
    router.observe(Ended(exchange=ExchangeId("one"), trail=Trail(started_at=NOON), at=NOON))
    assert isinstance(moved(router, "three"), Use)


def test_who_waits_for_its_turn_asks_nobody_twice() -> None:
    """Not even an account that refused it without a hold: a wait for room makes nobody better."""
    router, bare = Router(Rules()), verdict(15, hop=Hop.ONE)
    router.observe(AccountsChanged(accounts=(account(ANN), account(BEN))))
    met = trail(attempt("ann", bare))
    moves = router.choose(demand("one"), met, NOON)
    assert isinstance(moves, Use)
    router.observe(
        Dispatched(exchange=ExchangeId("one"), account=BEN, demand=demand("one"), at=NOON, is_move=moves.is_move)
    )
    waits = router.choose(demand("two"), met, NOON)
    assert isinstance(waits, Wait)
    router.observe(Ended(exchange=ExchangeId("one"), trail=met, at=NOON))

    after = router.choose(demand("two"), met.resumed(waits, PAUSE), NOON + PAUSE)
    assert isinstance(after, Use)
    assert (after.account, after.because) == (BEN, "hop: ann refused: row 15")


def test_whose_hold_ended_while_others_moved_is_asked_again() -> None:
    """Without a wait for room nobody is; each further time it rests for longer, however soon its holds end."""
    met = trail(*[attempt("ann", LIMIT)] * 2, attempt("ben", verdict(15, hop=Hop.ONE)))
    waited = met.resumed(Wait(until=NOON + PAUSE, account=None, because="it is tested", is_for_room=True))

    assert asked(met, NOON + hours(1)) == {ANN, BEN}
    assert asked(waited, NOON + seconds(1.9)) == {ANN, BEN}
    assert asked(waited, NOON + seconds(2)) == {BEN}
    assert asked(waited.grown(attempt("ann", LIMIT)), NOON + hours(1)) == {ANN, BEN}


def test_who_recovered_serves_who_waits_for_its_turn_elsewhere() -> None:
    """It may be the only one with room."""
    soon = verdict(13, hop=Hop.EACH, left=Left.OWN, hold=HoldOrder(until=NOON + seconds(30)))
    router = pool(met=soon)
    moved(router, "one")
    waits = moved(router, "two")
    assert isinstance(waits, Wait)
    after = trail(attempt("ann", soon)).resumed(waits, PAUSE)

    assert isinstance(router.choose(demand("two"), after, NOON + seconds(29)), Wait)
    back = router.choose(demand("two"), after, NOON + seconds(30))
    assert isinstance(back, Use)
    assert back.account == ANN


def test_who_was_refused_there_is_in_flight_there_no_longer() -> None:
    """A moved request that waits until that account recovers waits neither for itself nor in the way of others."""
    router, later = pool(), NOON + seconds(31)
    moved(router, "one")
    soon = verdict(13, hop=Hop.EACH, left=Left.OWN, hold=HoldOrder(until=NOON + seconds(30)))
    router.observe(
        Answered(exchange=ExchangeId("one"), account=BEN, demand=demand("one"), verdict=soon, sent_at=NOON, at=NOON)
    )
    met = trail(attempt("ann", LIMIT), attempt("ben", soon))

    assert router.choose(demand("one"), met, NOON) == Wait(until=NOON + seconds(30), account=None, because="row 13")
    for name in ("one", "two"):
        choice = router.choose(demand(name), met.renewed(seconds(31)), later)
        assert isinstance(choice, Use)
        assert (choice.account, choice.is_move) == (BEN, True)


def test_new_conversations_and_side_calls_are_not_held_back() -> None:
    """Who was not moved has no cache to rebuild; a side call never waits."""
    router = pool()
    moved(router, "one")

    new = router.choose(demand("new"), Trail(started_at=NOON), NOON)
    assert isinstance(new, Use)
    assert (new.account, new.is_move) == (BEN, False)
    side = router.choose(demand("two", side=True), trail(attempt("ann", LIMIT)), NOON)
    assert isinstance(side, Use)


def test_nobody_is_refused_because_of_a_ramp() -> None:
    """Who may not wait goes at once."""
    router = pool(Rules(wait=Waiting(max=0)))
    moved(router, "one")
    assert isinstance(moved(router, "two"), Use)

    late = router.choose(demand("three"), trail(attempt("ann", LIMIT)), NOON + seconds(599))
    assert isinstance(late, Use)
