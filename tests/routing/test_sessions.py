"""A session or conversation is named by a beginning that no other has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.sessions import MOST, UNKNOWN, Meant, meant

UUID = "11111111-2222-4333-8444-555555555555"
TALK = "60a9dfd2" * 4
KNOWN = (UUID, TALK, "60b", "s", "s-1")

FOUND = [
    (UUID, UUID),
    ("1", UUID),
    ("11111111-2222", UUID),
    ("60a9dfd2", TALK),
    ("60b", "60b"),
    ("s", "s"),  # itself, though another begins so
    ("s-", "s-1"),
]


@pytest.mark.parametrize(("typed", "whole"), FOUND)
def test_a_beginning_that_one_alone_has_is_enough(typed: str, whole: str) -> None:
    """A whole id goes before what begins with it."""
    assert meant(typed, KNOWN) == Meant(whole, is_known=True)


@pytest.mark.parametrize("typed", [UUID, TALK, f"body-{TALK}", f"long-{TALK}"])
def test_a_whole_id_is_taken_before_it_is_known(typed: str) -> None:
    """Its first request may be yet to come."""
    assert meant(typed, ()) == Meant(typed, is_known=False)


@pytest.mark.parametrize("typed", ["x", "60a9dfd3", UUID + "0", UUID.replace("1", "G"), "sk-ant-oat01-secret"])
def test_what_nobody_begins_with_is_refused_unquoted(typed: str) -> None:
    """With where ids are found."""
    with pytest.raises(ValueError, match="run: flowpool requests --json") as caught:
        meant(typed, KNOWN)
    assert str(caught.value) == UNKNOWN


@given(st.integers(2, 20))
def test_several_are_named(count: int) -> None:
    """So many as can be read; whoever cannot be pinned is none of them."""
    known = [f"a{number:02}" for number in range(count)]
    with pytest.raises(ValueError, match=r"several begin so: a00, .*give more letters") as caught:
        meant("a", [*known, "a\x1b[2J", "a" * 300])

    assert str(caught.value).count("a0") <= MOST
    assert (" more;" in str(caught.value)) == (count > MOST)
