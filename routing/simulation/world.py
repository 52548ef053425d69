"""The truth of a simulation: who has how much left, and where each conversation's prompt cache is warm."""

from dataclasses import dataclass

from routing.simulation.books import Books, Gauge, cut
from routing.simulation.workload import Outside, Tokens, Turn, Workload, family_of

type CacheKey = tuple[str, str]
"""A conversation and the model that it speaks with: the caches of two models are two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A turn that an account took.

    units: what it was charged. rebuilt: context written, because no cache of it was warm there; moved_warm: the part of
    that which was warm on another account. moved: whether another account served the conversation last.
    """

    turn: Turn
    units: float
    rebuilt: Tokens
    moved_warm: Tokens
    moved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A turn that an account could not take; short: the windows that do not hold it, shared ones alone if there are any."""

    short: tuple[Gauge, ...]


class World:
    """All accounts; time only goes forward."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._books = {plan.name: Books(plan) for plan in workload.accounts}
        self._caches: dict[CacheKey, dict[str, float]] = {}
        self._homes: dict[str, str] = {}

    def ask(self, turn: Turn, account: str) -> Served | Refused:
        """Let an account take a turn or refuse it; a refusal changes nothing."""
        family = family_of(turn.model)
        caches = self._caches.setdefault((turn.conversation, turn.model), {})
        is_warm = account in caches and turn.at - caches[account] <= turn.ttl
        units = self._workload.price(turn, warm=is_warm)
        books = self._turned(account, turn.at)
        short = tuple([gauge for gauge in books.gauges(family) if not gauge.fits(units)])
        if short:
            return Refused(short=tuple(gauge for gauge in short if gauge.family is None) or short)
        rebuilt = 0 if is_warm else turn.context
        is_elsewhere = not is_warm and any(turn.at - used_at <= turn.ttl for used_at in caches.values())
        books.charge(units, family, turn.at)
        caches[account] = turn.at
        home = self._homes.get(turn.conversation, account)
        self._homes[turn.conversation] = account
        moved_warm = rebuilt if is_elsewhere else 0
        return Served(turn=turn, units=units, rebuilt=rebuilt, moved_warm=moved_warm, moved=home != account)

    def use(self, outside: Outside) -> float:
        """Let an account be used from outside, cut to what fits; say how much that was."""
        books = self._turned(outside.account, outside.at)
        units = cut(outside.units, books.gauges())
        if units > 0:
            books.charge(units, None, outside.at)
        return units

    def gauges(self, turn: Turn, account: str) -> tuple[Gauge, ...]:
        """List the windows of an account that a turn uses, as they stand at its time."""
        return self._turned(account, turn.at).gauges(family_of(turn.model))

    def lost(self, now: float) -> float:
        """Add up what was left in all weeks that have ended by now."""
        return sum(self._turned(account, now).lost for account in self._books)

    def _turned(self, account: str, now: float) -> Books:
        books = self._books[account]
        books.turn_to(now)
        return books
