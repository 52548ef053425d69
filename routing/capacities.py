"""What a window holds, learned: nobody tells it, but answers tell what they cost, and readings what share that was.

    capacity = own cost / change of the share used        summed over all accounts and divided by the size of their plans

An account's own sums count beside those of all, the more of its window they have seen: a plan's size may be unknown or wrong, and who is
used from elsewhere as well has, for us, a smaller window. Use from elsewhere only ever makes the estimate smaller, which is careful.

A reading counts when the answer that brought it has ended, so that both speak of the same requests. It begins anew with every
reset; what is between the last reading of one window and the first of the next is not counted on either side.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from routing.readings import JITTER, Reading, Source, lapsed
from routing.words import Account, AccountId

ENOUGH = 0.1  # share of a window, over all accounts, before which nothing is said: readings are whole percents
OWN = 0.5  # share of a window at which an account's own sums weigh as much as those of all
LASTING = 2.0  # windows after which an account's sums begin to forget: plans change
FELL = 0.02  # a share that is smaller by more than this is of another window

_TIMES = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)\s*x?\s*$")

type TallyKey = tuple[AccountId, str]
"""An account and the key of a window."""


class Tally(NamedTuple):
    """What was paid while a window filled up; cost: in tokens of fresh input. share: by how much, 1 is a whole window."""

    cost: float
    share: float


@dataclass(slots=True)
class Track:
    """One window as it fills up: what is read of it."""

    resets_at: datetime | None
    used: float


@lru_cache(maxsize=256)
def size_of(plan: str) -> float:
    """Read a plan's size from the provider's words: 20 of "max 20x"; 1 where they do not say."""
    found = _TIMES.search(plan)
    size = float(found[1]) if found else 0.0
    return size or 1.0


class _Known(dict[str, Mapping[AccountId, float]]):
    """Fills itself with what is asked for."""

    def __init__(self, find: Callable[[str], Mapping[AccountId, float]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, window: str) -> Mapping[AccountId, float]:
        found = self[window] = self._find(window)
        return found


@dataclass(slots=True)
class Capacities:
    """All tallies; those of an account go with it."""

    _tallies: dict[str, dict[AccountId, Tally]] = field(default_factory=dict)
    _tracks: dict[TallyKey, Track] = field(default_factory=dict)
    _sizes: Mapping[AccountId, float] = field(default_factory=dict)
    _known: _Known = field(init=False)

    def __post_init__(self) -> None:
        """Estimate what is asked for, once after each change."""
        self._known = _Known(self._estimates)

    def know(self, accounts: Iterable[Account]) -> None:
        """These are the accounts."""
        self._sizes = {account.id: size_of(account.identity.plan) for account in accounts}
        self._known.clear()

    def paid(self, account: AccountId, readings: Iterable[Reading], cost: float, at: datetime) -> None:
        """An answer ended; readings: of all windows that it used up, with what it brought itself."""
        for reading in readings:
            if reading.used is not None and reading.source is not Source.RESTORED and not lapsed(reading, at):
                self._follow((account, reading.window.key), reading, reading.used, cost)

    @property
    def known(self) -> Mapping[str, Mapping[AccountId, float]]:
        """What windows hold, by key and account; an account is absent while too little is known, a key never."""
        return self._known

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        for tallies in self._tallies.values():
            tallies.pop(account, None)
        self._tracks = {key: track for key, track in self._tracks.items() if key[0] != account}
        self._known.clear()

    def remembered(self) -> Mapping[TallyKey, Tally]:
        """Copy the tallies."""
        return {(account, key): tally for key, tallies in self._tallies.items() for account, tally in tallies.items()}

    def restore(self, tallies: Mapping[TallyKey, Tally]) -> None:
        """Take in tallies of before; what was learned since stays."""
        for (account, window), tally in tallies.items():
            self._tallies.setdefault(window, {}).setdefault(account, tally)
        self._known.clear()

    def _follow(self, key: TallyKey, reading: Reading, used: float, cost: float) -> None:
        track = self._tracks.get(key)
        if track is None or used < track.used - FELL or _is_another(track.resets_at, reading.resets_at):
            self._tracks[key] = Track(reading.resets_at, used)
            return
        more = max(used - track.used, 0.0)
        track.used = max(track.used, used)
        account, window = key
        tallies = self._tallies.setdefault(window, {})
        held = tallies.get(account)
        if held is not None:
            cost, more = held.cost + cost, held.share + more
        tallies[account] = Tally(cost / 2, more / 2) if more > LASTING else Tally(cost, more)
        self._known.pop(window, None)

    def _estimates(self, window: str) -> Mapping[AccountId, float]:
        return estimates(self._tallies.get(window, {}), self._sizes)


def estimates(tallies: Mapping[AccountId, Tally], sizes: Mapping[AccountId, float]) -> Mapping[AccountId, float]:
    """What one window of each account holds, by its own sums and those of all; empty while too little is known."""
    seen = sum([tally.share for tally in tallies.values()])
    cost = sum([tally.cost for tally in tallies.values()])
    if seen < ENOUGH or cost <= 0:
        return {}
    sized = sum([tally.share * sizes.get(account, 1.0) for account, tally in tallies.items()])
    found = {account: size * cost / sized for account, size in sizes.items()}
    for account, own in tallies.items():
        if account in found:
            found[account] = (found[account] * OWN + own.cost) / (OWN + own.share)
    return found


def _is_another(held: datetime | None, told: datetime | None) -> bool:
    return held is not None and told is not None and abs(told - held) > JITTER
