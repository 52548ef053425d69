"""What is pinned is said in lines; the commands' own tests show the rest."""

from typing import Any

import pytest

from flowpool.pinned import MOST, lines, listed, staying, undo, yielding

OF_ALL = {"session": None, "accounts": ["work", "home"], "because": "running conversations stay"}


def own(session: str, because: str = "pinned by you") -> dict[str, Any]:
    """A session's pin."""
    return {"session": session, "accounts": ["work"], "because": because}


def test_each_pin_is_a_line_with_its_undoing() -> None:
    """Nothing in it steers a terminal, and its command can be pasted."""
    assert list(lines([OF_ALL, own("a b\x1b")])) == [
        "all are pinned to work, home: running conversations stay; undo: flowpool pin auto",
        "session a b  is pinned to work: pinned by you; undo: flowpool pin auto --session 'a b '",
    ]
    assert list(lines([])) == ["nothing is pinned; run: flowpool pin NAME"]


@pytest.mark.parametrize("count", range(6))
def test_sessions_that_stay_pinned_are_counted(count: int) -> None:
    """A few are named; the pin of all is none of them."""
    said = staying([OF_ALL, *(own(f"s{number}") for number in range(count))])

    assert said.count(" to work") == min(count, MOST)
    assert (f"{count} session" in said) == bool(count)
    assert ("more)" in said) == (count > MOST)


def test_a_pin_that_yields_says_so() -> None:
    """Its own words, of whom it is about."""
    pins = [OF_ALL, own("s", "yields: work has no room")]

    assert yielding(pins, None) == ""
    assert yielding(pins, "s") == "; for now it yields: work has no room"
    assert yielding(pins, "t") == ""


def test_what_is_missing_is_left_out() -> None:
    """An older proxy may say less."""
    assert listed({}) == ""
    assert undo("s") == "flowpool pin auto --session s"
