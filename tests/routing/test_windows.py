"""Tests of routing/windows.py."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.windows import KNOWN_FAMILIES, KNOWN_LINES, Window
from routing.words import Family
from tests.routing.made import HAIKU, OPUS, window


@given(st.text())
def test_a_key_makes_a_window_or_none(key: str) -> None:
    """Whatever a provider names its window, reading the name never fails, and keeps it."""
    parsed = Window.parse(key)

    assert parsed is None or (parsed.key == key and parsed.length > timedelta())


@pytest.mark.parametrize(
    ("key", "length", "line"),
    [
        ("5h", timedelta(hours=5), None),
        ("7d", timedelta(days=7), None),
        ("7d_oi", timedelta(days=7), "oi"),
        ("7d_opus", timedelta(days=7), "opus"),
        ("30d_new_line", timedelta(days=30), "new_line"),
    ],
)
def test_length_and_line_come_from_the_name(key: str, length: timedelta, line: str | None) -> None:
    """A key tells how long its window is and whether it counts one model line alone."""
    parsed = window(key)

    assert (length, line) == (parsed.length, parsed.line)
    assert (line is None) is parsed.is_shared


@pytest.mark.parametrize("key", ["overage", "fallback", "representative", "0h", "5", "h", "5m", "5h_", "5h-x", ""])
def test_labels_are_no_windows(key: str) -> None:
    """What names no span makes no window."""
    assert Window.parse(key) is None


@pytest.mark.parametrize(
    ("key", "family", "expected"),
    [
        ("5h", HAIKU, True),
        ("7d", OPUS, True),
        ("7d_opus", OPUS, True),
        ("7d_opus", HAIKU, False),
        ("7d_oi", Family("fable"), True),
        ("7d_oi", Family("mythos"), True),
        ("7d_oi", OPUS, False),
        ("7d_new", OPUS, True),
        ("7d_new", HAIKU, False),
        ("7d_other", OPUS, False),
    ],
)
def test_a_line_counts_for_its_families(key: str, family: Family, expected: bool) -> None:
    """A shared window counts for all, a known line for its families, another for those it was seen on."""
    seen = {"new": frozenset({OPUS}), "opus": frozenset({HAIKU})}

    assert expected is window(key).counts_for(family, seen)


def test_nothing_seen_is_the_default() -> None:
    """A line that was never met counts for nobody."""
    assert not window("7d_new").counts_for(OPUS)


def test_every_known_line_is_of_a_known_family() -> None:
    """The families of the known lines are among those that status speaks of."""
    assert frozenset().union(*KNOWN_LINES.values()) <= frozenset(KNOWN_FAMILIES)


def test_a_week_is_long() -> None:
    """And so is what is longer; equal windows are equal."""
    assert [window(key).is_long for key in ("5h", "6d", "167h", "168h", "7d", "7d_opus", "30d")] == [False] * 3 + [
        True
    ] * 4
    assert window("7d") == window("7d")
