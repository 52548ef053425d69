"""A request's body: gathered whole, up to a size and for a time, driven without sockets.

What is used of mitmproxy is pinned in test_replay.py.
"""

import pytest

from addons.exchange import Relay, Send
from tests.addons.made import signer
from tests.addons.scripted import GET, GOOD, POST, Script, talk
from tests.addons.transcript import Clock, Transcript, ticking


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when a test says so."""
    return ticking(monkeypatch)


def test_a_body_over_the_cap_is_read_and_dropped(clock: Clock) -> None:
    """Own answer D: 413 once the body was read to its end; nothing goes upstream, and the connection lives."""
    made = talk(script := Script(Send(), Relay(), body_mib=0.00001), clock)
    made.client(POST.replace(b"Length: 4", b"Length: 40") + b"x" * 35)
    assert made.got == b""

    made.client(b"x")
    assert made.got.startswith(b"HTTP/1.1 413")
    assert (made.sent, script.exchange.answer, script.ends, script.exchange.is_logged) == (b"", "D", [], False)
    assert made.client(POST).upstream(GOOD).got.endswith(GOOD)


@pytest.mark.parametrize(("sent", "status"), [(POST[:-1], b"408"), (POST.replace(b": 4", b": 99") + b"x" * 40, b"413")])
def test_a_body_that_does_not_end_is_answered(clock: Clock, sent: bytes, status: bytes) -> None:
    """Own answer D: 408, or 413 when it was over the cap already, and the connection is closed."""
    made = talk(script := Script(body_read_s=5.0, body_mib=0.00001), clock).client(sent)

    assert made.passes(4.9).got == b""
    assert made.passes(0.2).got.startswith(b"HTTP/1.1 " + status)
    assert (script.exchange.answer, made.sent) == ("D", b"")
    assert made.peer in made.closed


def test_what_admission_never_saw_fails_closed(clock: Clock) -> None:
    """Nobody has masked it, or asked where it goes: it is answered 502, whatever the client sends and shows."""
    made = Transcript(signer({}), clock=clock).client(POST).client(GET)

    assert made.got.count(b"HTTP/1.1 502 ") == 2
    assert (made.opened, made.take()) == ([], b"")
