"""How far a long run is."""

import io
from collections.abc import Generator, Iterator
from itertools import count

import pytest

from flowpool.views.progress import duration, told, watched

ERASED = "\r\x1b[2K"


class Terminal(io.StringIO):
    """A stderr that somebody looks at."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def opened(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Look at stderr; only where the test itself calls this, for pytest takes stderr back after each fixture."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    return screen


def three(closed: list[bool] | None = None) -> Generator[int]:
    """Three things, one after another."""
    try:
        yield from (1, 2, 3)
    finally:
        if closed is not None:
            closed.append(True)


def seconds(step: float) -> Iterator[float]:
    """A clock that goes on by so much whenever it is asked."""
    return count(0.0, step)


def test_the_line_tells_how_many_and_how_long() -> None:
    """What is left is guessed from what there was; from nothing there is no guess."""
    assert told(0, 600, 9) == "played 0 of 600"
    assert told(150, 600, 40) == "played 150 of 600, about 2 min left"
    assert told(150, 600, 10) == "played 150 of 600, about 30 s left"
    assert told(1, 600, 30) == "played 1 of 600, about 5.0 h left"


@pytest.mark.parametrize(("length", "said"), [(59, "59 s"), (60, "1 min"), (5400, "1.5 h"), (43_000, "12 h")])
def test_durations_are_told_in_the_unit_that_fits(length: float, said: str) -> None:
    """Rounded."""
    assert duration(length) == said


def test_a_terminal_sees_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one line, which is gone when it ends."""
    terminal = opened(monkeypatch)
    clock = seconds(10)

    assert list(watched(three(), 3, lambda: next(clock))) == [1, 2, 3]
    assert [line for line in terminal.getvalue().split(ERASED) if line] == [
        "played 0 of 3",
        "played 1 of 3, about 20 s left",
        "played 2 of 3, about 10 s left",
    ]
    assert terminal.getvalue().endswith(ERASED)


def test_the_line_is_gone_while_others_may_print(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever something was found."""
    terminal = opened(monkeypatch)
    assert all(terminal.getvalue().endswith(ERASED) for _ in watched(three(), 3))


def test_nothing_is_told_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """A log holds no line of it."""
    assert list(watched(three(), 3)) == [1, 2, 3]
    assert capsys.readouterr() == ("", "")


def test_a_dumb_terminal_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot erase."""
    terminal = opened(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")

    assert list(watched(three(), 3)) == [1, 2, 3]
    assert terminal.getvalue() == ""


def test_who_stops_early_closes_what_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves no line behind."""
    terminal = opened(monkeypatch)
    closed: list[bool] = []
    found = watched(three(closed), 3)
    next(found)
    found.close()

    assert closed == [True]
    assert terminal.getvalue().endswith(ERASED)


def test_a_fault_leaves_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is said of it begins at the edge."""
    terminal = opened(monkeypatch)

    def broken() -> Generator[int]:
        yield 1
        raise ValueError("it broke")

    with pytest.raises(ValueError, match="it"):
        list(watched(broken(), 3))

    assert terminal.getvalue().endswith(ERASED)
