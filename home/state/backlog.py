"""What waits to be written: the newest picture, and bounded queues of history, requests and their stories."""

import threading
from collections import deque
from dataclasses import dataclass
from itertools import islice

from home.state.ledger import Line
from home.state.sampling import Sample
from home.state.stories import Story
from routing.remembered import Remembered

BOUND = 10_000  # requests, and as many points of history: minutes of a busy pool
BATCH = 1_000  # rows of one transaction: some 20 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one transaction writes; picture: None when it is as it was."""

    picture: Remembered | None
    samples: tuple[Sample, ...]
    lines: tuple[Line, ...]
    stories: tuple[Story, ...] = ()


class Backlog:
    """Filled by the proxy, emptied by the writer; filling never waits.

    A picture replaces the one before it, so nothing that it tells can be lost. The queues lose their oldest when full.
    """

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._changed = threading.Condition()
        self._picture: Remembered | None = None
        self._samples: deque[Sample] = deque()
        self._lines: deque[Line] = deque()
        self._stories: deque[Story] = deque()
        self._dropped = 0
        self._is_urgent = self._is_closed = self._is_busy = False

    def put(self, picture: Remembered, samples: list[Sample]) -> None:
        """Give the newest picture; the writer wakes at once."""
        with self._changed:
            self._picture = picture
            self._samples.extend(samples)
            self._drop(self._samples)
            self._is_urgent = True
            self._changed.notify_all()

    def enter(self, line: Line) -> None:
        """Give one request; it is written with whatever comes next, or within a second."""
        with self._changed:
            self._lines.append(line)
            self._drop(self._lines)

    def tell(self, story: Story) -> None:
        """Give one request's story; like its line."""
        with self._changed:
            self._stories.append(story)
            self._drop(self._stories)

    def take(self, patience: float) -> Batch | None:
        """Wait for something urgent, at most so many seconds, and take a batch; None when there is nothing."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_urgent or self._is_closed, patience)
            if not self._has_some():
                self._is_urgent = False
                return None
            batch = Batch(
                picture=self._picture,
                samples=_shift(self._samples),
                lines=_shift(self._lines),
                stories=_shift(self._stories),
            )
            self._picture, self._is_busy = None, True
            self._is_urgent = self._has_some()
            return batch

    def newer(self) -> Remembered | None:
        """Take the picture that came since the batch, if one did."""
        with self._changed:
            newest, self._picture = self._picture, None
            return newest

    def done(self) -> None:
        """The batch taken is written, or lost."""
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until all that was given is written; False when it took too long."""
        with self._changed:
            self._is_urgent = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._is_busy and not self._has_some(), timeout)

    def close(self) -> None:
        """Let the writer write what is left, and end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is to come."""
        with self._changed:
            return self._is_closed

    def pause(self, seconds: float) -> None:
        """Wait, but no longer once it is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed, seconds)

    def dropped(self) -> int:
        """Count what was lost to full queues so far."""
        with self._changed:
            return self._dropped

    def _has_some(self) -> bool:
        return bool(self._picture or self._samples or self._lines or self._stories)

    def _drop[T](self, queue: deque[T]) -> None:
        while len(queue) > self._bound:
            queue.popleft()
            self._dropped += 1


def _shift[T](queue: deque[T]) -> tuple[T, ...]:
    taken = tuple(islice(queue, BATCH))
    for _ in taken:
        queue.popleft()
    return taken
