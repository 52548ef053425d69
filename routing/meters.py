"""What is known of windows: how full they were read to be, for whom each counts, how fast they fill up, and what they hold."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.capacities import Capacities
from routing.gauges import Gauge
from routing.pressure import Pressures
from routing.readings import Reading, merge
from routing.windows import KNOWN_LINES
from routing.words import Account, AccountId, Family

FAMILIES = 64  # whose windows are kept at hand; clients make up names

type Lines = Mapping[str, frozenset[Family]]


class _Counting(dict[AccountId, tuple[Reading, ...]]):
    """Fills itself with what is asked for."""

    def __init__(self, find: Callable[[AccountId, Family], tuple[Reading, ...]], family: Family) -> None:
        super().__init__()
        self._find = find
        self._family = family

    def __missing__(self, account: AccountId) -> tuple[Reading, ...]:
        found = self[account] = self._find(account, self._family)
        return found


@dataclass(slots=True)
class Meters:
    """The readings by account and key of the window; lines: the families that each unknown model line was met on.

    gauges: what asking for windows, without a client's request, met.

    Nothing outside changes them: what counts for a family is found once, and stands until an account is read anew.
    """

    readings: dict[AccountId, dict[str, Reading]] = field(default_factory=dict)
    lines: dict[str, frozenset[Family]] = field(default_factory=dict)
    pressures: Pressures = field(default_factory=Pressures)
    capacities: Capacities = field(default_factory=Capacities)
    gauges: dict[AccountId, Gauge] = field(default_factory=dict)
    _counting: dict[Family, _Counting] = field(default_factory=dict)

    def know(self, accounts: Iterable[Account]) -> None:
        """These are the accounts."""
        self.capacities.know(accounts)

    def read(self, account: AccountId, readings: Iterable[Reading], family: Family | None = None) -> None:
        """Merge what was read; family: whose request it was that showed it."""
        for reading in readings:
            window = reading.window
            known = self.readings.setdefault(account, {})
            held = known.get(window.key)
            known[window.key] = reading if held is None else merge(held, reading)
            self.pressures.read(account, known[window.key])
            if window.line is not None and family is not None and window.line not in KNOWN_LINES:
                self._meet(window.line, frozenset({family}))
        self._changed(account)

    def counting(self, family: Family) -> Mapping[AccountId, tuple[Reading, ...]]:
        """The readings of each account's windows that a request of the family uses up; every account is in it."""
        found = self._counting.get(family)
        if found is None:
            if len(self._counting) >= FAMILIES:
                self._counting.clear()
            found = self._counting[family] = _Counting(self._find, family)
        return found

    def of(self, account: AccountId) -> tuple[Reading, ...]:
        """The readings of all of an account's windows, shortest first."""
        known = self.readings.get(account, {}).values()
        return tuple(sorted(known, key=lambda reading: (reading.window.length, reading.window.key)))

    def paid(self, account: AccountId, family: Family, cost: float, at: datetime) -> None:
        """An answer ended that cost so much."""
        self.capacities.paid(account, self.counting(family)[account], cost, at)

    def forget(self, account: AccountId, windows: Iterable[str]) -> None:
        """Believe what was read of these windows no more."""
        known = self.readings.get(account, {})
        for key in windows:
            known.pop(key, None)
        self._changed(account)

    def restore(self, readings: Iterable[tuple[AccountId, Reading]], lines: Lines) -> None:
        """Take in what was read before; what was read since is newer."""
        for account, reading in readings:
            known = self.readings.setdefault(account, {})
            key = reading.window.key
            known[key] = merge(reading, known[key]) if key in known else reading
        for line, families in lines.items():
            self._meet(line, families)
        self._counting.clear()

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self.readings.pop(account, None)
        self.pressures.drop(account)
        self.capacities.drop(account)
        self.gauges.pop(account, None)
        self._changed(account)

    def _meet(self, line: str, families: frozenset[Family]) -> None:
        met = self.lines.get(line, frozenset())
        if not families <= met:
            self.lines[line] = met | families
            self._counting.clear()

    def _changed(self, account: AccountId) -> None:
        for found in self._counting.values():
            found.pop(account, None)

    def _find(self, account: AccountId, family: Family) -> tuple[Reading, ...]:
        known = self.readings.get(account)
        if not known:
            return ()
        return tuple([r for r in known.values() if r.window.line is None or r.window.counts_for(family, self.lines)])
