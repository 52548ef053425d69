"""How every account stood when a request was weighed: for people who ask why it went where it went.

What a choice rests on is taken down as it was, which costs little; it is put into words when somebody asks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from routing.decisions import Barred
from routing.readings import Reading, used_at
from routing.rules import Routing
from routing.scoring import Place, place, toss
from routing.strategies.contract import Candidate, Free, Liking, Strategy
from routing.telling import ONLY, told
from routing.words import Account, AccountId

_UNLIKED = Liking((float("inf"),), "fewest requests in flight")  # of which a strategy knows too little
_BEHIND = {  # by the field of Place that puts an account behind others
    "paid_per_token": "an API key, after every subscription",
    "nearly_full": "nearly full",
    "rank": "others have a better rank",
    "measure": "others are measured first",
}
_BEFORE = {  # by the field that puts one alone before all others
    "paid_per_token": "the only subscription",
    "nearly_full": "the only one with room",
    "rank": "the best rank",
    "measure": "to be measured",
}
_MAY = "may serve"


class Stood(NamedTuple):
    """One account as it stood; readings: those that count for the demand. leases: requests in flight there."""

    account: Account
    readings: tuple[Reading, ...]
    leases: int


class Liked(NamedTuple):
    """What a free choice thought of an account; order: 1 for the one that it takes, 2 for the next."""

    order: int
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """One account, put into words.

    because: why it may not serve, or what was thought of it. row, until: of what bars it, as in Barred.
    order: as in Liked; None when it may not serve, and when no strategy was asked.
    windows: by key, how full those were that count for the demand, 0 to 1; what is not known is left out.
    """

    account: AccountId
    name: str
    may: bool
    because: str
    row: int | None = None
    until: datetime | None = None
    order: int | None = None
    leases: int = 0
    windows: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What was known when a request was weighed.

    barred: the accounts that might not serve. liked: what the strategy thought of the others; empty when it was not asked.
    warm: the account that had the conversation's prompt cache. home: the one that served it last, however long ago.
    full: of the barred, those that only lacked a place below their caps. pinned: those that the request was wished to go to.
    """

    at: datetime
    strategy: str
    stood: tuple[Stood, ...]
    barred: Mapping[AccountId, Barred]
    liked: Mapping[AccountId, Liked]
    warm: AccountId | None = None
    home: AccountId | None = None
    full: frozenset[AccountId] = frozenset()
    pinned: tuple[AccountId, ...] = ()

    def accounts(self) -> tuple[Weighed, ...]:
        """Put it into words: the accounts that may serve first, the best liked at the top."""
        last = len(self.stood) + 1
        return tuple(sorted(self._weighed(), key=lambda one: (not one.may, one.order or last)))

    def _weighed(self) -> Iterator[Weighed]:
        for account, readings, leases in self.stood:
            its, liked = self.barred.get(account.id), self.liked.get(account.id)
            yield Weighed(
                account=account.id,
                name=account.name,
                may=its is None,
                because=its.because if its is not None else self._words(account.id, liked),
                row=None if its is None else its.row,
                until=None if its is None else its.until,
                order=None if its is not None or liked is None else liked.order,
                leases=leases,
                windows=_windows(readings, self.at),
            )

    def _words(self, account: AccountId, liked: Liked | None) -> str:
        """Say of one that may serve whether it was wished for, and what was thought of it, else where the conversation lives."""
        words = [] if not self.pinned else ["pinned" if account in self.pinned else "not pinned"]
        if liked is not None:
            words += [] if liked.because == ONLY and words else [liked.because]
        elif self.warm is not None and (self.warm not in self.barred or self.warm in self.full):
            words.append(f"its conversation lives {'here' if account == self.warm else f'on {self._name(self.warm)}'}")
        return "; ".join(words) or _MAY

    def _name(self, account: AccountId) -> str:
        return next((its.account.name for its in self.stood if its.account.id == account), account)


def likes(free: Free, strategy: Strategy, rules: Routing) -> dict[AccountId, Liked]:
    """Order the accounts that may serve as a free choice does, and say what is thought of each."""
    if not free.candidates:
        return {}
    places = {one.account.id: place(one, strategy, rules, free.now, latest=free.latest) for one in free.candidates}
    first = min(places.values())
    front = tuple(one for one in free.candidates if places[one.account.id] == first)
    among = replace(free, candidates=front)
    found = strategy.order(among)
    likings = {one.account.id: found.get(one.account.id, _UNLIKED) for one in front}

    def key(one: Candidate) -> tuple[object, ...]:
        account = one.account.id
        likes = likings.get(account, _UNLIKED)
        return places[account], likes.key, one.leases, toss(free.demand.conversation, account), account

    best = sorted(free.candidates, key=key)
    ordered = [one.account.id for one in best]
    because = {i: likings[i].because if i in likings else _BEHIND[_field(places[i], first)] for i in ordered}
    because |= told(strategy, among, found, [one for one in best if one.account.id in likings])
    if len(ordered) == 1:
        because[ordered[0]] = ONLY
    elif len(front) == 1:
        because[ordered[0]] = _BEFORE[_field(places[ordered[1]], first)]
    return {account: Liked(order, because[account]) for order, account in enumerate(ordered, 1)}


def _field(spot: Place, first: Place) -> str:
    """Name what sets a place apart from the first."""
    return next(name for name, mine, best in zip(Place._fields, spot, first, strict=True) if mine != best)


def _windows(readings: tuple[Reading, ...], now: datetime) -> dict[str, float]:
    known = sorted(readings, key=lambda reading: (reading.window.length, reading.window.key))
    used = ((reading.window.key, used_at(reading, now)) for reading in known)
    return {key: value for key, value in used if value is not None}
