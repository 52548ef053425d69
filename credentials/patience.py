"""Calls that may hang: each in a thread of its own that is left behind when it takes too long."""

import queue
import threading
import time
from collections.abc import Callable

from credentials.errors import KeyringBroken, KeyringDenied, KeyringFault, KeyringLocked
from credentials.faults import translate

LIMIT = 5.0  # seconds for one call; a keyring that is well answers within 50 ms
REST = 60.0  # seconds until a keyring that hung or is locked is asked again; each time it may prompt a person


class Patience:
    """Calls a keyring and gives up on the call in time, on the keyring never (X106).

    limit: seconds for one call. clock: seconds, for the rest between two tries.
    A call that was left behind may still take effect later: nothing can stop it.
    """

    def __init__(self, limit: float = LIMIT, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._fault: KeyringFault | None = None
        self._rests_until = 0.0

    def run[T](self, call: Callable[[], T]) -> T:
        """Return what the call returns; raise KeyringFault when it fails, hangs, or a rest is not over yet."""
        if self._fault and (left := self._rests_until - self._clock()) > 0:
            raise self._fault.later(left)
        answers: queue.SimpleQueue[T | KeyringFault] = queue.SimpleQueue()
        threading.Thread(target=_work, args=(call, answers), name="flowpool-keyring", daemon=True).start()
        try:
            answer = answers.get(timeout=self._limit)
        except queue.Empty:
            answer = KeyringBroken(f"the keyring did not answer within {self._limit:g} s")
            self._rest(answer)
        if not isinstance(answer, KeyringFault):
            self._fault = None
            return answer
        if isinstance(answer, KeyringLocked | KeyringDenied):
            self._rest(answer)
        raise answer

    def _rest(self, fault: KeyringFault) -> None:
        self._fault = fault
        self._rests_until = self._clock() + REST


def _work[T](call: Callable[[], T], answers: queue.SimpleQueue[T | KeyringFault]) -> None:
    """Put the result, or what went wrong: the backend's own exception, which may quote a secret, ends here."""
    try:
        answers.put(call())
    except BaseException as error:  # noqa: BLE001  # backends raise whatever their system raises
        answers.put(translate(error))
