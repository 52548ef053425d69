"""Tests of routing/trail.py."""

from routing.decisions import Wait
from routing.words import AccountId
from tests.routing.made import ANN, NOON, attempt, limit, overloaded, seconds, trail


def test_growing_copies() -> None:
    """A trail that grew leaves the one before it as it was."""
    before = trail()
    after = before.grown(attempt("ann", limit()))

    assert (len(before.attempts), len(after.attempts)) == (0, 1)
    assert before.last is None
    assert after.attempts[0] == after.last


def paused(account: AccountId | None = None, *, is_for_room: bool = False) -> Wait:
    """A pause of one second."""
    return Wait(until=NOON + seconds(1), account=account, because="it is tested", is_for_room=is_for_room)


def test_only_a_wait_for_recovery_starts_counts_anew() -> None:
    """Who waited for room has asked whom it asked; both are charged to what an exchange may wait, a pause between tries is not."""
    met = trail(attempt("ann", overloaded()))

    assert met.resumed(paused(ANN), seconds(1)) == met
    for_room = met.resumed(paused(is_for_room=True), seconds(1))
    assert (for_room.counted, for_room.recovery_waited, for_room.renewals) == (met.attempts, seconds(1), 0)
    assert (met.has_waited_for_room, for_room.has_waited_for_room) == (False, True)
    assert not for_room.grown(attempt("ben", limit())).has_waited_for_room
    for early in (False, True):
        after = met.resumed(paused(), seconds(1), early=early)
        assert (after.counted, after.recovery_waited, after.renewals) == ((), seconds(1), 0 if early else 1)


def test_a_wait_for_recovery_starts_counts_anew() -> None:
    """After it no earlier attempt counts, but the pauses between tries still do."""
    met = trail(attempt("ann", overloaded()), attempt("ann", overloaded(), waited=1)).renewed()

    assert met.counted == ()
    assert met.last is None
    assert seconds(1) == met.waited
    assert met.grown(attempt("ben", limit())).counted[0].account == "ben"
