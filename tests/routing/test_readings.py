"""Tests of routing/readings.py."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from routing.moments import microseconds
from routing.readings import JITTER, Reading, Status, lapsed, merge, used_at
from tests.routing.made import NOON, hours, moments, reading, readings, seconds

REJECTED, ALLOWED, WARNING = Status.REJECTED, Status.ALLOWED, Status.ALLOWED_WARNING


@given(readings, readings)
def test_a_known_use_is_never_lost_within_one_window(held: Reading, incoming: Reading) -> None:
    """An answer that does not say how much is used takes nothing from what is known of the same span."""
    assume(not lapsed(held, incoming.taken_at))
    incoming = replace(incoming, used=None, resets_at=held.resets_at)

    assert held.used == merge(held, incoming).used


@given(readings, readings)
def test_overlapping_answers_of_one_window_agree_in_any_order(held: Reading, incoming: Reading) -> None:
    """Of two answers whose requests overlapped, the higher use stands, whichever came in first."""
    held = replace(held, resets_at=NOON + hours(3), sent_at=NOON, taken_at=NOON + seconds(9))
    incoming = replace(incoming, resets_at=held.resets_at, sent_at=NOON, taken_at=NOON + seconds(8))

    assert merge(held, incoming).used == merge(incoming, held).used


@given(readings, readings)
def test_a_later_request_always_has_the_last_word(held: Reading, incoming: Reading) -> None:
    """What was sent after the held reading came in wins, whatever it reads."""
    incoming = replace(incoming, used=0.0, sent_at=held.taken_at + seconds(1))

    assert incoming == merge(held, incoming)


@given(readings)
def test_merging_a_reading_with_itself_changes_nothing(held: Reading) -> None:
    """The same answer told twice is told once."""
    held = replace(held, sent_at=min(held.sent_at, held.taken_at))

    assert held == merge(held, held)


CASES = [
    # held, incoming, expected; the requests overlapped unless sent says otherwise
    ("later reset", reading(used=0.9), reading(used=0.1, resets=30), reading(used=0.1, resets=30)),
    ("earlier reset", reading(used=0.1, resets=30), reading(used=0.9), reading(used=0.1, resets=30)),
    ("higher use", reading(used=0.4), reading(used=0.5, taken=2), reading(used=0.5, taken=2)),
    ("equal use", reading(used=0.4), reading(used=0.4, taken=2), reading(used=0.4, taken=2)),
    (
        "equal use, another status",
        reading(used=0.4, status=WARNING),
        reading(used=0.4, taken=2),
        reading(used=0.4, taken=2),
    ),
    ("lower use", reading(used=0.6, taken=1), reading(used=0.4, taken=2), reading(used=0.6, taken=2)),
    (
        "a held rejection sticks",
        reading(used=1.0, status=REJECTED, taken=1),
        reading(used=0.9, taken=2),
        reading(used=1.0, status=REJECTED, taken=2),
    ),
    (
        "an incoming rejection sticks",
        reading(used=0.9, taken=1),
        reading(used=0.8, status=REJECTED, taken=2),
        reading(used=0.9, status=REJECTED, taken=2),
    ),
    (
        "the status goes with the use that is kept",
        reading(used=0.9, status=WARNING, taken=1),
        reading(used=0.8, taken=2),
        reading(used=0.9, status=WARNING, taken=2),
    ),
    (
        "a status fills an absent one",
        reading(used=0.9, status=None, taken=1),
        reading(used=0.8, taken=2),
        reading(used=0.9, taken=2),
    ),
    (
        "freshness never goes back",
        reading(used=0.9, sent=1, taken=3),
        reading(used=0.8, taken=2),
        reading(used=0.9, sent=1, taken=3),
    ),
    (
        "nothing known of either use",
        reading(used=None, taken=1),
        reading(used=None, taken=2),
        reading(used=None, taken=2),
    ),
    ("held use unknown", reading(used=None, taken=1), reading(used=0.1, taken=2), reading(used=0.1, taken=2)),
    (
        "incoming reset unknown",
        reading(taken=1),
        reading(used=0.1, resets=None, taken=2),
        reading(used=0.1, resets=None, taken=2),
    ),
    ("held reset unknown", reading(resets=None, taken=1), reading(used=0.1, taken=2), reading(used=0.1, taken=2)),
    ("reset unknown, older", reading(resets=None, taken=3), reading(used=0.1, taken=2), reading(resets=None, taken=3)),
    (
        "reset and use unknown",
        reading(used=0.7, status=WARNING, taken=1),
        reading(used=None, resets=None, status=None, taken=2),
        reading(used=0.7, resets=None, status=WARNING, taken=2),
    ),
    (
        "sent later, use unknown, same window",
        reading(used=0.7, taken=1),
        reading(used=None, status=REJECTED, sent=2, taken=3),
        reading(used=0.7, status=REJECTED, sent=2, taken=3),
    ),
    (
        "sent later, use unknown, another window",
        reading(used=0.7, taken=1),
        reading(used=None, resets=48, sent=2, taken=3),
        reading(used=None, resets=48, sent=2, taken=3),
    ),
    (
        "sent later, use unknown, the held window lapsed",
        reading(used=0.7, resets=0, taken=-2),
        reading(used=None, resets=0, sent=2, taken=3),
        reading(used=None, resets=0, sent=2, taken=3),
    ),
    (
        "sent later, lower use lifts a rejection",
        reading(used=1.0, status=REJECTED, taken=1),
        reading(used=0.2, sent=2, taken=3),
        reading(used=0.2, sent=2, taken=3),
    ),
]


@pytest.mark.parametrize(("held", "incoming", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_merge(held: Reading, incoming: Reading, expected: Reading) -> None:
    """Two readings of one window become one by the rules, first match wins."""
    assert expected == merge(held, incoming)


@pytest.mark.parametrize(("apart", "kept"), [(JITTER, 0.9), (-JITTER, 0.9), (JITTER + seconds(1), 0.1)])
def test_a_reset_may_jitter(apart: timedelta, kept: float) -> None:
    """Resets up to five seconds apart are the same reset; a later one begins a new window."""
    held = reading(used=0.9)
    assert held.resets_at is not None
    incoming = replace(reading(used=0.1), resets_at=held.resets_at + apart)

    assert kept == merge(held, incoming).used


def test_a_window_is_empty_once_its_reset_has_passed() -> None:
    """At its reset the use is 0, before it as reported; without a known reset it never lapses."""
    held = reading(used=0.9, resets=1)

    assert (used_at(held, NOON), lapsed(held, NOON)) == (0.9, False)
    assert (used_at(held, NOON + hours(1)), lapsed(held, NOON + hours(1))) == (0.0, True)
    assert not lapsed(reading(resets=None), NOON + hours(9999))
    assert used_at(reading(used=None), NOON) is None


@given(readings, st.none() | moments)
def test_a_reset_is_also_a_number(one: Reading, resets_at: datetime | None) -> None:
    """The same moment, also in a copy with another reset."""
    copied = replace(one, resets_at=resets_at)

    assert copied.ends_us == (None if resets_at is None else microseconds(resets_at))
