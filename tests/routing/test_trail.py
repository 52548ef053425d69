"""Tests of routing/trail.py."""

from tests.routing.made import attempt, limit, overloaded, seconds, trail


def test_growing_copies() -> None:
    """A trail that grew leaves the one before it as it was."""
    before = trail()
    after = before.grown(attempt("ann", limit()))

    assert (len(before.attempts), len(after.attempts)) == (0, 1)
    assert before.last is None
    assert after.attempts[0] == after.last


def test_a_wait_for_recovery_starts_counts_anew() -> None:
    """After it no earlier attempt counts, but the pauses between tries still do."""
    met = trail(attempt("ann", overloaded()), attempt("ann", overloaded(), waited=1)).renewed()

    assert met.counted == ()
    assert met.last is None
    assert seconds(1) == met.waited
    assert met.grown(attempt("ben", limit())).counted[0].account == "ben"
