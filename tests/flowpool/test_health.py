"""What a proxy says of itself is read whatever else answers there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool import health
from flowpool.health import Health
from tests.flowpool.proxy import listening, reply

SAID = [
    (b'{"status": "ok", "pid": 7}', Health(pid=7)),
    (b'{"status": "draining", "pid": 7, "in_flight": 2}', Health(pid=7, is_draining=True, in_flight=2)),
    (b'{"status": "draining", "pid": 7}', Health(pid=7, is_draining=True)),
    (b'{"status": "draining", "pid": 7, "in_flight": "x"}', Health(pid=7, is_draining=True)),
    (b'{"status": "ok"}', None),
    (b'{"status": "fine", "pid": 7}', None),
    (b"[]", None),
    (b"", None),
    (b"[" * 99_999, None),
]


@pytest.mark.parametrize(("said", "read"), SAID, ids=range(len(SAID)))
def test_an_answer_is_read(said: bytes, read: Health | None) -> None:
    """Of one that serves, of one that ends; anything else is not flowpool."""
    assert health.read(said) == read


@given(st.binary())
def test_no_answer_makes_reading_fail(said: bytes) -> None:
    """Whatever listens there."""
    assert health.read(said) is None or said


def test_who_listens_is_asked() -> None:
    """One that ends answers 503; nobody, and somebody else, are None; one that says nothing raises."""
    with listening(reply(SAID[1][0], "503 Service Unavailable"), []) as address:
        assert health.of(address) == SAID[1][1]
    assert health.of(address) is None
    with listening(b"SSH-2.0-x\r\n", []) as address:
        assert health.of(address) is None
    with listening(None, []) as address, pytest.raises(TimeoutError):
        health.of(address, 0.2)
