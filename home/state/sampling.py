"""Which readings become points of a window's history."""

from collections.abc import Mapping
from datetime import timedelta

from routing.readings import JITTER, Reading, Source
from routing.remembered import ReadingKey

EVERY = timedelta(minutes=1)
CHANGE = 0.01  # of the window
_NOISE = 1e-9  # 0.31 - 0.30 is a little less than 0.01

type Sample = tuple[ReadingKey, Reading]


class Sampler:
    """Picks, of each picture's readings, those that tell something new."""

    def __init__(self) -> None:
        self._seen: Mapping[ReadingKey, Reading] = {}
        self._taken: dict[ReadingKey, Reading] = {}

    def pick(self, readings: Mapping[ReadingKey, Reading]) -> list[Sample]:
        """List what is due; the mapping must not change any more."""
        fresh = [
            (key, r) for key, r in readings.items() if self._seen.get(key) is not r and r.source != Source.RESTORED
        ]
        if len(readings) < len(self._taken):  # an account is gone
            self._taken = {key: r for key, r in self._taken.items() if key in readings}
        self._seen = readings
        due = [(key, reading) for key, reading in fresh if is_due(self._taken.get(key), reading)]
        self._taken.update(due)
        return due


def is_due(last: Reading | None, reading: Reading) -> bool:
    """Whether a reading is worth keeping after the last one that was kept."""
    if last is None or reading.taken_at - last.taken_at >= EVERY or reading.status is not last.status:
        return True
    return _moved(last, reading)


def _moved(last: Reading, reading: Reading) -> bool:
    if last.used is None or reading.used is None:
        return last.used is not reading.used
    if abs(reading.used - last.used) >= CHANGE - _NOISE:
        return True
    if last.resets_at is None or reading.resets_at is None:
        return last.resets_at is not reading.resets_at
    return abs(reading.resets_at - last.resets_at) > JITTER
