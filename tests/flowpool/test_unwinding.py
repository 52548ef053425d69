"""What usually ends a program at once unwinds it."""

import os
import signal
import sys

import pytest

from flowpool.unwinding import ENDING, Ended, unwinding


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_it_from_within(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    """What was opened is closed first, then there is one line; the code is what a shell expects."""
    closed = []

    def interrupted() -> None:
        try:
            os.kill(os.getpid(), number)
            signal.pause()
        finally:
            closed.append(capsys.readouterr().err)

    with pytest.raises(Ended) as caught, unwinding():
        interrupted()

    assert (caught.value.code, closed) == (128 + number, [""])
    assert capsys.readouterr().err == "flowpool: stopped\n"


def test_afterwards_signals_mean_what_they_meant() -> None:
    """However it ended."""
    before = [signal.getsignal(number) for number in ENDING]
    with pytest.raises(KeyError), unwinding():
        raise KeyError

    assert [signal.getsignal(number) for number in ENDING] == before
