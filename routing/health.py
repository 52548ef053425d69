"""How a provider takes a credential, and when one that it refused is looked at again."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto

DISTANCES = tuple(timedelta(minutes=m) for m in (1, 2, 4, 8, 16, 30))  # the last one again and again
REST = timedelta(minutes=1)  # between two notes that requests go on being accepted


class Standing(Enum):
    """How a provider takes a credential."""

    VALID = auto()
    INVALID = auto()
    DISABLED = auto()  # the credential is known, and its organisation may not use it
    LIMITED = auto()  # nothing was refused but the moment
    UNKNOWN = auto()  # the answer, or its absence, says nothing of the credential

    @property
    def is_refusal(self) -> bool:
        """Whether the credential is refused for sure."""
        return self in (Standing.INVALID, Standing.DISABLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is known for sure of one account's credential.

    failures: how often in a row it was refused for sure. next_at: when to look again; None while there is no need.
    checked_at: when the provider last accepted or refused it for sure.
    """

    failures: int = 0
    next_at: datetime | None = None
    checked_at: datetime | None = None

    def refused(self, at: datetime) -> "Check":
        """Count one more refusal for sure."""
        failures = self.failures + 1
        return Check(failures=failures, next_at=at + distance(failures), checked_at=at)

    def accepted(self, at: datetime, *, is_certain: bool = False) -> "Check":
        """Begin anew after an acceptance; the time of a mere success is noted once a minute (is_certain: always)."""
        known = self.checked_at
        if is_certain or known is None or abs(at - known) >= REST:
            return Check(checked_at=at)
        return self.unscheduled() if self.failures or self.next_at else self

    def delayed(self, at: datetime) -> "Check":
        """Look again at the same distance: this time nothing could be told."""
        return self if self.next_at is None else replace(self, next_at=at + distance(self.failures))

    def unscheduled(self) -> "Check":
        """Forget the refusals, not when the last one was."""
        return Check(checked_at=self.checked_at)

    def is_due(self, refused_at: datetime, now: datetime) -> bool:
        """Whether to look now; refused_at: when what is to be looked at was met, for refusals that were never counted here.

        A clock that went back makes it due.
        """
        next_at = refused_at + DISTANCES[0] if self.next_at is None else self.next_at
        return not timedelta() < next_at - now <= DISTANCES[-1]


NEVER_CHECKED = Check()


def distance(failures: int) -> timedelta:
    """How long after so many refusals in a row the next look is: 1, 2, 4, 8, 16, 30, 30 … minutes."""
    return DISTANCES[min(max(failures, 1), len(DISTANCES)) - 1]
