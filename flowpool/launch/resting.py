"""How a session rests until the pool may serve it again, before it is resumed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

LONGEST = timedelta(hours=6)
"""For what is further away nobody waits: whoever started it learns so at once."""
MARGIN = timedelta(seconds=2)  # the proxy's hold must be over, and not just about to be
LOOK = 60.0  # seconds between two looks at the clock: a machine that slept has no less to wait for


def is_far(until: datetime, now: datetime) -> bool:
    """Tell whether it is further away than anybody waits."""
    return until - now > LONGEST


def shown(until: datetime) -> str:
    """Say a moment within a week, in this machine's time; the next minute where it is none that is whole."""
    return f"{(until + timedelta(seconds=59)).astimezone():%a %H:%M}"


def rest(until: datetime, sleep: Callable[[float], bool], clock: Callable[[], datetime] | None = None) -> bool:
    """Wait until then; False, at once, when a sleep was ended. sleep: waits for seconds and tells whether it was let."""
    now = clock or _now
    while (left := (until + MARGIN - now()).total_seconds()) > 0:
        if not sleep(min(left, LOOK)):
            return False
    return True


def _now() -> datetime:
    return datetime.now(UTC)
