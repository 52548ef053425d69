"""What the proxy before gave is taken once, and only by the process that it was meant for."""

import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons import handed
from addons.handed import NOTHING, READY, VARIABLE, Handed

numbers = st.integers(1000, 100_000)
given_ones = st.builds(
    Handed,
    predecessor=st.just(7),
    sockets=st.lists(st.tuples(st.text(), numbers), max_size=3).map(tuple),
    ready=st.none() | numbers,
    screen=st.none() | numbers,
    before=st.lists(st.tuples(st.integers(2, 99_999), numbers), max_size=3).map(tuple),
)


@given(given_ones)
def test_what_is_told_is_taken(found: Handed) -> None:
    """Once: what this process starts finds nothing of it."""
    environ = {"PATH": "/bin", **found.told()}

    assert handed.take(environ, (7, 8)) == found
    assert environ == {"PATH": "/bin"}
    assert handed.take(environ, (7, 8)) == NOTHING


def test_what_was_meant_for_another_is_dropped() -> None:
    """A variable that a stranger inherited names descriptors that are his own, or nobody's."""
    assert handed.take(dict(Handed(predecessor=7).told()), (8, 9)) == NOTHING


JUNK: list[Any] = ["", "{", "[]", "7", "[" * 99_999, json.dumps({"from": 7}), json.dumps({"from": "7", "sockets": []})]
WHOLE = {"from": 7, "sockets": [], "ready": None, "screen": None, "before": []}
WRONG: list[dict[str, Any]] = [
    {"sockets": [3]},
    {"sockets": [["a"]]},
    {"sockets": [["127.0.0.1:0", -1]]},
    {"sockets": [["127.0.0.1:0", 2**64]]},
    {"ready": "x"},
    {"ready": -1},
    {"screen": 2**64},
    {"from": None},
    {"before": [3]},
    {"before": [[1, 5]]},
    {"before": [[-1, 5]]},
    {"before": [[7, -5]]},
]
JUNK += [json.dumps(WHOLE | wrong) for wrong in WRONG]


@pytest.mark.parametrize("text", JUNK, ids=range(len(JUNK)))
def test_junk_is_nothing(text: str) -> None:
    """What makes no sense is as if it were not there."""
    environ = {VARIABLE: text}

    assert handed.take(environ, (7,)) == NOTHING
    assert environ == {}


def test_a_restart_in_place_follows_nobody() -> None:
    """The process before is this very one."""
    assert Handed(predecessor=os.getpid()).follows is None
    assert Handed(predecessor=1).follows == 1
    assert NOTHING.follows is None


def test_the_word_is_said_and_the_screen_given_back() -> None:
    """Who waits at the pipe reads one byte and its end; stderr is again what it was for the one before."""
    reader, ready = os.pipe()
    shown, screen = os.pipe()
    before = os.dup(2)
    try:
        Handed(predecessor=1, ready=ready, screen=screen).say_ready()
        os.write(2, b"seen")
        assert os.read(shown, 9) == b"seen"
    finally:
        os.dup2(before, 2)
        os.close(before)
    assert os.read(reader, 9) == READY
    assert os.read(reader, 9) == b""
    os.close(reader)
    os.close(shown)
    NOTHING.say_ready()


def test_nobody_at_the_pipe_is_no_fault() -> None:
    """The one before may have ended meanwhile."""
    reader, ready = os.pipe()
    os.close(reader)

    Handed(predecessor=1, ready=ready).say_ready()


def test_this_process_was_given_nothing() -> None:
    """And it is asked once."""
    assert handed.taken() is handed.taken()


def test_what_one_gave_that_has_ended_since_is_taken() -> None:
    """Who started this process was killed before it looked: the sockets are here all the same, and nobody else accepts on them."""
    reader, writer = os.pipe()
    environ = dict(Handed(predecessor=7, sockets=(("127.0.0.1:0", reader),), ready=writer).told())
    stranger = os.open(os.devnull, os.O_RDONLY)
    other = json.loads(environ[VARIABLE]) | {"ready": stranger}

    assert handed.take({VARIABLE: json.dumps(other)}, (1, 9)) == NOTHING
    assert handed.take(dict(environ), (1, 9)).sockets == (("127.0.0.1:0", reader),)
    for number in (reader, writer, stranger):
        os.close(number)
    assert handed.take(environ, (1, 9)) == NOTHING
