"""flowpool/launch/signals.py: what signals mean beside a program in the foreground."""

import os
import signal
import threading

import pytest

from flowpool.launch.signals import Signals


def test_ctrl_c_between_two_runs_means_us() -> None:
    """The wait ends at once."""
    with Signals() as signals:
        os.kill(os.getpid(), signal.SIGINT)
        assert signals.sleep(60) is False
        assert (signals.code, signals.is_interrupted) == (130, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_is_remembered(number: signal.Signals) -> None:
    """By the code that a shell shows."""
    with Signals() as signals:
        os.kill(os.getpid(), number)
        assert signals.sleep(60) is False
        assert (signals.code, signals.is_interrupted) == (128 + number, False)


def test_what_was_before_is_restored_and_what_is_ignored_stays_so() -> None:
    """A program under nohup outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupt = signal.getsignal(signal.SIGINT)
        with Signals() as signals:
            assert signal.getsignal(signal.SIGINT) != interrupt
            os.kill(os.getpid(), signal.SIGHUP)
            assert signals.sleep(0) is True
        assert signal.getsignal(signal.SIGINT) == interrupt
        assert signals.code is None
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_at_any_moment_of_a_wait_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the middle of looking whether one came: nothing that a handler needs is held there."""
    monkeypatch.setattr("flowpool.launch.signals.SLICE", 0.0005)
    for round_ in range(300):
        with Signals() as signals:
            sender = threading.Timer(round_ / 300_000, os.kill, (os.getpid(), signal.SIGINT))
            sender.start()
            assert signals.sleep(60) is False
            sender.join()
