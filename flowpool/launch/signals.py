"""What signals mean to a program that has another one in its foreground."""

import signal
import time
from types import FrameType, TracebackType
from typing import Any, Self

from flowpool.launch.child import KILLED_BY, Child

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_CHILDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
SLICE = 0.1  # seconds; nothing is waited on that has a lock, for a handler that sets it would wait for the one it interrupts


class Signals:
    """While it is entered: Ctrl-C is the child's, which gets it from the terminal; a signal to end ends the child, and then us.

    child: who is in the foreground; None between two runs, when Ctrl-C means us. is_interrupted: whether Ctrl-C came.
    """

    def __init__(self) -> None:
        self.child: Child | None = None
        self.is_interrupted = False
        self._told: int | None = None
        self._is_over = False
        self._before: dict[int, Any] = {}

    @property
    def code(self) -> int | None:
        """What to end with because a signal says so; None when none did."""
        return None if self._told is None else KILLED_BY + self._told

    def __enter__(self) -> Self:
        for number in (*_ENDING, *_CHILDS):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup's wish stays, and is the child's too
                self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _tb: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def sleep(self, seconds: float) -> bool:
        """Wait; False, as good as at once, when a signal says that it is over."""
        until = time.monotonic() + seconds
        while not self._is_over and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, SLICE))
        return not self._is_over

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if number in _CHILDS:
            self.is_interrupted = True
            if self.child is not None:
                return
        self._told = number
        self._is_over = True
        if self.child is not None:
            self.child.signal(number)
