"""The server connections of a client's connection, driven without sockets."""

import pytest
from mitmproxy.proxy.layers import TCPLayer

from addons.exchange import Pause, Relay, Send
from addons.servers import has_ours
from routing.transport import Failure
from tests.addons.scripted import GOOD, POST, Script, talk
from tests.addons.transcript import Clock, ticking


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when a test says so."""
    return ticking(monkeypatch)


def test_an_unreachable_upstream_is_dialled_again(clock: Clock) -> None:
    """Row 1: a failed connection is forgotten, so that the next attempt dials."""
    made = talk(script := Script(Send(), Pause(0.25), Send(), Relay()), clock, refuses=1).client(POST)
    assert script.ends[1].failure is Failure.UNREACHABLE
    assert made.passes(0.2).sent == b""

    assert made.passes(0.1).upstream(GOOD).got == GOOD


def test_only_layers_of_ours_are_told(clock: Clock) -> None:
    """What carries a tunnel's bytes knows no such event."""
    made = talk(Script(), clock)
    assert has_ours(made.layer)
    assert not has_ours(TCPLayer(made.layer.context, ignore=True))
    assert not has_ours(None)
