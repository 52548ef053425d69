"""How much better another account must be than the one that got the latest free choice, so that noise in readings moves nothing.

Readings come in whole percents, so each is up to half a point off, now this way and now that. The latest account is left only for
one that is better still when its own readings are a whole point too low, and those of the latest a whole point too high: what
passes that test was better at the time of the latest choice too, unless something has really changed. While requests are in flight on the
latest account, new ones may spread as the readings say.
"""

from collections.abc import Callable, Iterable

from routing.strategies.contract import Candidate, Free

POINT = 0.01  # of a limit
DIGITS = 9  # scores that differ by less are equal: they come out of divisions
SLACK = 1e-9  # by so much a score may miss a threshold, for the same reason

type Scored = Callable[[Candidate, float], float]
"""An account's score, more is better, if so much more were used of each of its windows than was read."""


def latest_of(free: Free) -> Candidate | None:
    """The account that got the latest free choice, if it stands in front."""
    if free.latest is None:
        return None
    return next((one for one in free.candidates if one.account.id == free.latest), None)


def idle_latest(free: Free) -> Candidate | None:
    """The same, if nothing is in flight there."""
    latest = latest_of(free)
    return None if latest is None or latest.leases else latest


def is_beaten(latest: Candidate, others: Iterable[Candidate], scored: Scored) -> bool:
    """Whether one of the others is better even if each reading is a point off."""
    favoured = scored(latest, -POINT)
    return any(scored(one, POINT) > favoured for one in others)
