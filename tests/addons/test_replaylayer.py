"""The streams of a client's connection and their one clock, driven without sockets.

What is used of mitmproxy is pinned in test_replay.py.
"""

import pytest

from addons.exchange import Answered, Relay, Send, Step
from routing.transport import Failure
from tests.addons.scripted import GOOD, POST, Script, talk, woken
from tests.addons.transcript import Clock, is_alive, ticking


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when a test says so."""
    return ticking(monkeypatch)


def test_one_clock_serves_a_connection(clock: Clock) -> None:
    """However many requests had deadlines, no wakeup of theirs is remembered with its stream."""
    steps: list[Step] = [Send(), Relay()] * 50
    made = talk(Script(*steps), clock)
    for _ in range(50):
        made.client(POST).upstream(GOOD)

    assert made.layer.command_sources == {}
    assert len(made.wakeups) < 10
    made.passes(1_000)
    assert (made.wakeups, made.layer.streams) == ([], {})


def test_a_connection_attempt_that_takes_too_long_is_cancelled(clock: Clock) -> None:
    """The dialling is bounded; it then fails like a refused one."""
    made = talk(script := Script(Send(), Relay(), connect_s=2.0), clock)
    made.holds = "dial"

    made.client(POST).passes(1.9)
    assert len(script.ends) == 1
    assert made.passes(0.2).got.startswith(b"HTTP/1.1 502")
    assert script.ends[1].failure is Failure.UNREACHABLE


def test_idle_connections_are_closed_after_a_sleep(clock: Clock) -> None:
    """X68: what accepted before it and says nothing any more is not asked again; the next request takes a new connection."""
    made = talk(script := Script(Send(), Relay(), Send(), Relay()), clock).client(POST).upstream(GOOD)
    woken(made)
    assert made.closed == made.opened
    made.upstream_ends()
    made.client(POST).upstream(GOOD)
    assert len(made.opened) == 2
    assert script.ends == [None, Answered(), None, Answered()]
    assert is_alive(made.layer)


def test_a_sleep_that_is_told_twice_closes_nothing_twice(clock: Clock) -> None:
    """Nor does one before anything was connected."""
    made = woken(talk(Script(Send(), Relay()), clock))
    assert made.closed == []
    made.client(POST).upstream(GOOD)
    woken(woken(made))
    assert len(made.closed) == 1
