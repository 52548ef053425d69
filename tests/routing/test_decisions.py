"""Tests of routing/decisions.py."""

from routing.decisions import Answer, GiveUp


def test_giving_up_needs_no_more_than_an_answer() -> None:
    """Who recovers and who was passed over may be unknown."""
    choice = GiveUp(answer=Answer.RELAY, because="row 23")

    assert (choice.recovers, choice.barred) == (None, ())
