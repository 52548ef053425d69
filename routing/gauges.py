"""What asking for an account's windows met so far, and how long it is left alone for that. It outlives a restart."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from routing.rules import Probing

LONGEST = timedelta(hours=1)  # between two tries, however often they fail
LONGEST_OBEYED = timedelta(days=1)  # of what a provider asks for; more is a slip of units
ENOUGH = 10  # doublings: far beyond LONGEST, and no overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """What measuring one account met so far. It blames nobody: a failure here is no word on the account.

    met_with: the fingerprint of the credential that it was asked with. asked_at: when it was asked last. failures: how often in a
    row it gave nothing. rest_until: until when it is left alone for that, and because. is_throttled: whether the provider asked for
    that rest. is_closed: whether its credential may not ask for use.
    """

    met_with: str = ""
    asked_at: datetime | None = None
    failures: int = 0
    rest_until: datetime | None = None
    because: str = ""
    is_throttled: bool = False
    is_closed: bool = False

    def facing(self, credential: str) -> "Gauge":
        """Say what still holds for the credential of this fingerprint.

        Another one begins anew; but how often was asked, and the provider's own limit on that, count for the account, and so stand.
        """
        if self.met_with == credential:
            return self
        if self.is_throttled:
            return replace(self, met_with=credential, is_closed=False)
        return Gauge(met_with=credential, asked_at=self.asked_at)

    def asked(self, at: datetime) -> "Gauge":
        """Note that it is asked now: should no answer be noted, that it was asked still counts."""
        return replace(self, asked_at=at)

    def read(self, at: datetime) -> "Gauge":
        """Note that it was measured."""
        return Gauge(met_with=self.met_with, asked_at=at, is_closed=self.is_closed)

    def closed(self, at: datetime) -> "Gauge":
        """Note that its credential may not ask for use."""
        return Gauge(met_with=self.met_with, asked_at=at, is_closed=True)

    def failed(self, at: datetime, because: str, rules: Probing) -> "Gauge":
        """Note that nothing was learned: the rest after it doubles."""
        return self._resting(at, because, _doubled(rules, self.failures + 1))

    def throttled(self, at: datetime, because: str, rules: Probing, retry_after: timedelta | None) -> "Gauge":
        """Note that the provider was asked too often: it rests for as long as was asked for, and no less than after a failure."""
        asked = min(retry_after or timedelta(), LONGEST_OBEYED)
        resting = self._resting(at, because, max(_doubled(rules, self.failures + 1), asked))
        return replace(resting, is_throttled=True)

    def restored(self, now: datetime) -> "Gauge":
        """Say what of it stands after a restart: the clock may have gone back since, so nothing was met later than now.

        A rest keeps its length, and is no longer than one that is obeyed; `every` counts from when it was asked, whatever its length.
        """
        if self.asked_at is None:
            return replace(self, rest_until=None)
        asked_at = min(self.asked_at, now)
        if self.rest_until is None:
            return replace(self, asked_at=asked_at)
        rest = max(timedelta(), min(self.rest_until - self.asked_at, LONGEST_OBEYED))
        return replace(self, asked_at=asked_at, rest_until=asked_at + rest)

    def _resting(self, at: datetime, because: str, rest: timedelta) -> "Gauge":
        failures = self.failures + 1
        return replace(self, asked_at=at, failures=failures, rest_until=at + rest, because=because, is_throttled=False)


UNTRIED = Gauge()


def _doubled(rules: Probing, failures: int) -> timedelta:
    """The rest after so many failures in a row: twice `every`, four times, … and at most LONGEST, or `every` if that is more."""
    every = timedelta(seconds=rules.every)
    return max(every, min(every * (1 << min(failures, ENOUGH)), LONGEST))
