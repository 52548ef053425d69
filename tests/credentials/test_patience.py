"""Calls that hang are left behind, and a keyring is never given up for good."""

import threading

import pytest

from credentials.errors import KeyringBroken, KeyringDenied, KeyringFault, KeyringLocked, NoKeyring
from credentials.patience import Patience
from tests.credentials.rings import Clock, short


def test_a_call_runs_in_a_daemon_thread_of_its_own() -> None:
    """The result comes back from another thread, which does not keep the process alive."""
    thread = Patience().run(threading.current_thread)

    assert thread is not threading.current_thread()
    assert thread.daemon


def test_a_result_may_be_anything() -> None:
    """None is a result like others."""
    assert Patience().run(lambda: None) is None


def test_a_hanging_call_is_left_behind_and_tried_again_after_a_rest() -> None:
    """After a time-out nothing is called until 60 s have passed; then it is, and all is well (X106)."""
    clock, calls, release = Clock(), list[str](), threading.Event()
    patience = short(clock)
    with pytest.raises(KeyringBroken, match=r"within 0\.05 s; run"):
        patience.run(release.wait)
    for passed in (0, 30, 29):
        clock.now += passed
        with pytest.raises(KeyringBroken, match="asked again in"):
            patience.run(lambda: calls.append("too early"))
    clock.now += 1
    patience.run(lambda: calls.append("again"))
    patience.run(lambda: calls.append("well"))

    assert calls == ["again", "well"]
    release.set()


def _fail(fault: BaseException) -> None:
    raise fault


@pytest.mark.parametrize("fault", [KeyringLocked(), KeyringDenied()], ids=lambda fault: type(fault).__name__)
def test_a_prompt_is_not_repeated_at_once(fault: KeyringFault) -> None:
    """After a keyring was locked or refused us it rests as well: each try may ask a person."""
    clock = Clock()
    patience = Patience(clock=clock)
    with pytest.raises(type(fault)):
        patience.run(lambda: _fail(fault))
    with pytest.raises(type(fault), match=r"asked again in 60 s; run: ") as caught:
        patience.run(lambda: None)
    assert caught.value.mend == fault.mend

    clock.rest()
    assert patience.run(lambda: 1) == 1


@pytest.mark.parametrize("fault", [ValueError("PLANTED"), SystemExit("PLANTED"), NoKeyring("none")], ids=repr)
def test_a_failure_that_comes_at_once_may_be_repeated_at_once(fault: BaseException) -> None:
    """A call that failed quickly costs nothing to repeat; its exception is translated and hidden."""
    patience = Patience(clock=Clock())
    with pytest.raises(KeyringFault) as caught:
        patience.run(lambda: _fail(fault))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "PLANTED" not in str(caught.value)

    assert patience.run(lambda: 1) == 1
