"""The most that any router could serve of a workload: a linear program that knows the future and may split what it likes.

It maximises served units at warm cost over all ways to lay fractions of turns on accounts, under these rules only:

    least cost    a turn takes from an account its price with a warm cache, or its cold price where no earlier turn of its
                  conversation and model is near enough to have left one anywhere; nothing is charged for moves
    once          the fractions of a turn add up to at most one
    too large     a turn that an empty account could not take whole takes nothing there
    weeks         an account's week gives what it holds, and to each family its part, exactly
    5-hour        a window begins in some cell of time, by a fraction; any cells that lie within five hours begin at most one
    windows       together; what is taken in a cell comes from windows that may reach it, each as full as its fraction

Every real play is a point of it, so its value is never below what was served: a real turn pays at least its least cost to one account,
a real window begins with a use, that is in a cell in which something happens, and real windows of an account begin five hours apart.
Cells only relax: a window reaches the last cell that it touches whole.

Outside use is not charged. What does not fit is cut, so a router that is quick crowds it out, and a bound that took it off would
not be one; it may begin windows, though. Turns that may wait are taken in any cell from their time to the last at which they can be asked.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flowpool.bound_cells import Cell, Least, cells, least, resets_of
from routing.simulation.workload import WINDOW_S, Plan, Workload, family_of
from routing.words import Family

CELL_S = 1800.0  # seconds; half of it makes the bound up to 0.1 % lower and takes three times as long
LONGEST_CELL_S = WINDOW_S / 2
SLACK = 1e-9  # of a capacity, as the accounts' books allow
FINE = 1.05  # turns whose worth for their cost differs by less are one
_WHOLE = 1e5  # all turns' cost in the program's own unit: the solver is exact to about 1e-7 of it


class Group(NamedTuple):
    """What makes turns alike: the first and the last cell, the family where one is capped, who could take them, worth for cost."""

    first: int
    last: int
    family: Family | None
    takers: tuple[int, ...]
    worth: int


@dataclass(slots=True)
class Asked:
    """The turns of a group: what they cost together, and the most that a unit of them is worth."""

    cost: float = 0.0
    worth: float = 0.0


def bound(workload: Workload, wait: float = 0.0) -> float | None:
    """Find the most units at warm cost that can be served; None where scipy is not installed.

    wait: how many seconds a turn may wait.
    """
    try:
        import scipy.optimize  # noqa: F401, PLC0415  # half a second; and flowpool is installed without it
    except ModuleNotFoundError:
        return None
    turns = list(least(workload, wait))
    total = sum(one.cost for one in turns)
    free = sum(one.value for one in turns if not one.cost)
    if not total:
        return free
    program = _Program(workload, turns, length=min(max(CELL_S, math.ceil(wait)), LONGEST_CELL_S), unit=total / _WHOLE)
    found = free + program.solve() * (1 + SLACK)
    return min(found, sum(one.value for one in turns))


def _caps(plan: Plan) -> dict[Family, float]:
    return {family_of(model): share * plan.week for model, share in plan.models.items()}


@dataclass(slots=True)
class _Rows:
    """Rows of the program, each a sum of columns that may not pass a limit."""

    limits: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)

    def add(self, limit: float, terms: Iterable[tuple[int, float]]) -> None:
        for column, factor in terms:
            self.rows.append(len(self.limits))
            self.columns.append(column)
            self.factors.append(factor)
        self.limits.append(limit)


class _Program:
    """The program as it is built; amounts are in a unit of its own."""

    def __init__(self, workload: Workload, turns: Sequence[Least], *, length: float, unit: float) -> None:
        self._plans = workload.accounts
        self._unit = unit
        self._cells = cells(workload, turns, length)
        self._rows = _Rows()
        self._gains: list[float] = []
        self._taken: dict[tuple[int, int], list[int]] = defaultdict(list)  # columns by account and cell
        self._by_family: dict[tuple[int, int, Family], list[int]] = defaultdict(list)
        for group, asked in self._groups(turns).items():
            self._take(group, asked)
        for account, plan in enumerate(self._plans):
            self._weeks(account, plan)
            self._windows(account, plan)

    def solve(self) -> float:
        """Find the largest gain, in units."""
        from scipy.optimize import linprog  # noqa: PLC0415  # see bound()
        from scipy.sparse import csr_array  # noqa: PLC0415

        rows = self._rows
        shape = (len(rows.limits), len(self._gains))
        matrix = csr_array((rows.factors, (rows.rows, rows.columns)), shape=shape)
        found = linprog([-gain for gain in self._gains], A_ub=matrix, b_ub=rows.limits, method="highs")
        return float(-found.fun) * self._unit if found.success else math.inf  # all that is asked is a bound too

    def _column(self, gain: float = 0.0) -> int:
        self._gains.append(gain)
        return len(self._gains) - 1

    def _groups(self, turns: Sequence[Least]) -> dict[Group, Asked]:
        """Put together what is alike."""
        begins = [cell.begins for cell in self._cells]
        capped = {family for plan in self._plans for family in _caps(plan)}
        groups: dict[Group, Asked] = defaultdict(Asked)
        for turn, until, cost, value in turns:
            if not cost or not value:
                continue
            family = family_of(turn.model)
            takers = tuple(n for n, plan in enumerate(self._plans) if cost <= _most(plan, family) * (1 + SLACK))
            group = Group(
                first=bisect_right(begins, turn.at) - 1,
                last=bisect_right(begins, until) - 1,
                family=family if family in capped else None,
                takers=takers,
                worth=math.ceil(math.log(value / cost, FINE)),
            )
            groups[group].cost += cost
            groups[group].worth = max(groups[group].worth, value / cost)
        return groups

    def _take(self, group: Group, asked: Asked) -> None:
        """Let a group's turns be taken once, on any account and in any cell that they may be."""
        columns = []
        for account in group.takers:
            for cell in range(group.first, group.last + 1):
                column = self._column(asked.worth)
                columns.append(column)
                self._taken[account, cell].append(column)
                if group.family is not None:
                    self._by_family[account, cell, group.family].append(column)
        self._rows.add(asked.cost / self._unit, ((column, 1) for column in columns))

    def _weeks(self, account: int, plan: Plan) -> None:
        """Let each week give what it holds, and to each family its part."""
        resets = list(resets_of(plan, self._cells[-1].ends))
        weeks: dict[int, list[int]] = defaultdict(list)
        for number, cell in enumerate(self._cells):
            weeks[bisect_right(resets, cell.begins)].append(number)
        for numbers in weeks.values():
            self._limit(plan.week, [c for n in numbers for c in self._taken.get((account, n), ())])
            for family, cap in _caps(plan).items():
                self._limit(cap, [c for n in numbers for c in self._by_family.get((account, n, family), ())])

    def _limit(self, most: float, columns: Sequence[int]) -> None:
        if columns:
            self._rows.add(self._own(most), ((column, 1) for column in columns))

    def _own(self, units: float) -> float:
        """Turn units into the program's own; more than all turns cost is as much as all."""
        return min(units * (1 + SLACK) / self._unit, 2 * _WHOLE)

    def _windows(self, account: int, plan: Plan) -> None:
        """Let windows begin, and fill what is taken in each cell from those that reach it."""
        most = self._own(plan.window_5h)
        starts = [self._column() for _ in self._cells]
        fillers: dict[int, list[int]] = defaultdict(list)
        for number, cell in enumerate(self._cells):
            reached = [n for n in self._reach(number, cell) if (account, n) in self._taken]
            parts = [self._column() for _ in reached]
            for n, part in zip(reached, parts, strict=True):
                fillers[n].append(part)
            self._rows.add(0, [*((part, 1) for part in parts), (starts[number], -most)])
        for n, parts in fillers.items():
            self._rows.add(0, [*((c, 1) for c in self._taken[account, n]), *((part, -1) for part in parts)])
        for first, last in self._together():
            self._rows.add(1, ((column, 1) for column in starts[first:last]))

    def _reach(self, number: int, cell: Cell) -> Iterator[int]:
        """List the cells that a window that begins in this one may touch."""
        for later in range(number, len(self._cells)):
            if self._cells[later].begins >= cell.ends + WINDOW_S:
                return
            yield later

    def _together(self) -> Iterator[tuple[int, int]]:
        """List the longest runs of cells, from one up to another, in which no two windows of an account can begin."""
        last = 0
        for first, cell in enumerate(self._cells):
            before = last
            while last < len(self._cells) and self._cells[last].ends - cell.begins <= WINDOW_S:
                last += 1
            if last > before:
                yield first, last


def _most(plan: Plan, family: Family) -> float:
    """The largest turn that an account can take."""
    return min(plan.window_5h, plan.week, _caps(plan).get(family, math.inf))
