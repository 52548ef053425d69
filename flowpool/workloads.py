"""Workloads for the simulator, made up from a seed: accounts, turns of conversations, and use from outside.

Every figure is of the size that coding agents show: a turn every one and a half to two minutes, conversations of about
an hour, a cold turn about 4 % of a 5-hour window, and six full 5-hour windows in a week unless a kind says otherwise.
Time starts at a Monday's midnight. The same kind and seed give the same workload everywhere.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any

from flowpool.conversations import DAY, FIVE_MINUTES, FORTNIGHT, HOUR, Manner, Talks, desks, talk, workdays

COST = MappingProxyType({"read": 0.05, "fresh": 1, "write": 1.25, "output": 5})
UNIT_TOKENS = 10_000  # so that an ordinary turn costs about one unit
WINDOW = 200.0  # units in the 5-hour window of an account of size 1: a cold turn of 60,000 tokens is 4 %
WINDOWS_IN_A_WEEK = 6.0
WEEK = 7 * DAY
SUBAGENTS = 24  # of one burst
USES = 20  # of one account in a day, from outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of workload.

    talks: draws the conversations. sizes: of the accounts, 1 is an ordinary one. window: units of a 5-hour window at
    size 1. windows: how many of them a week holds. models: the share of the week that a family may use.
    outside: units a day that other programs use of each account on workdays.
    """

    meaning: str
    talks: Callable[[Random], Talks]
    sizes: tuple[float, ...] = (1, 1, 1)
    window: float = WINDOW
    windows: float = WINDOWS_IN_A_WEEK
    models: Mapping[str, float] = field(default_factory=dict)
    outside: float = 0


def make(kind: str, seed: int) -> dict[str, Any]:
    """Make the workload of this kind and seed; raise ValueError for a kind that there is not.

    Times are seconds from the start, sizes of turns tokens, capacities units. Turns and use from outside stand in the
    order of their times.
    """
    if kind not in _KINDS:
        raise ValueError(f"there is no kind of workload {kind!r}; there are: {', '.join(_KINDS)}")
    plan = _KINDS[kind]
    draw = Random(f"{kind} {seed}")  # noqa: S311  # repeatable
    accounts = [_account(draw, number, size, plan) for number, size in enumerate(plan.sizes, 1)]
    turns = sorted((turn for turns in plan.talks(draw) for turn in turns), key=lambda turn: turn["at"])
    outside = list(_outside(draw, accounts, plan.outside)) if plan.outside else []
    return {
        "accounts": accounts,
        "turns": turns,
        "outside": sorted(outside, key=lambda use: use["at"]),
        "cost": dict(COST),
        "unit_tokens": UNIT_TOKENS,
    }


def _account(draw: Random, number: int, size: float, plan: Kind) -> dict[str, Any]:
    window = plan.window * size
    return {
        "name": f"account-{number}",
        "size": size,
        "window_5h": window,
        "week": window * plan.windows,
        "week_resets_at": draw.randrange(HOUR, WEEK, HOUR),
        "models": dict(plan.models),
    }


def _outside(draw: Random, accounts: list[dict[str, Any]], units: float) -> Iterator[dict[str, Any]]:
    """Let another machine work with each account for one spell of about an hour on each workday."""
    for account in accounts:
        for day in workdays(FORTNIGHT):
            at = day + draw.randrange(9 * HOUR, 16 * HOUR)
            for _ in range(USES):
                at += draw.randint(60, 300)
                share = draw.uniform(0.5, 1.5) / USES
                yield {"at": at, "account": account["name"], "units": round(units * share, 3)}


def _office(draw: Random) -> Talks:
    yield from desks(draw, Manner())


def _long_weeks(draw: Random) -> Talks:
    yield from desks(draw, Manner(), count=2, hours=(9, 16.5), days=26)


def _night(draw: Random) -> Talks:
    yield from desks(draw, Manner(gaps=0), hours=(22, 26.5), rest=180)


def _bursts(draw: Random) -> Talks:
    """Send out 24 subagents twice a day, beside one desk."""
    yield from desks(draw, Manner(), count=1, hours=(9, 17.5))
    helper = Manner(turns=(9, 15), ttl=FIVE_MINUTES, gaps=0)
    for day in workdays(FORTNIGHT):
        for begin, end in ((9, 12), (13, 17)):
            at = day + draw.randrange(begin * HOUR, end * HOUR)
            for number in range(SUBAGENTS):
                yield talk(draw, f"burst-{at}-subagent-{number + 1}", at, helper)


def _fable(draw: Random) -> Talks:
    manner = Manner(models=(("fable", 13), ("opus", 5), ("haiku", 2)))
    yield from desks(draw, manner)


def _idle(draw: Random) -> Talks:
    yield from desks(draw, Manner(), count=1, hours=(10, 12), rest=HOUR)


def _gaps(draw: Random) -> Talks:
    manner = Manner(turns=(14, 26), start=(10_000, 24_000), ttl=FIVE_MINUTES, gap=(400, 1500), gaps=0.4)
    yield from desks(draw, manner, count=5, hours=(8.5, 18), days=19)


_KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "office": Kind(
            meaning="one person with up to four conversations at a time, office hours, 12 days", talks=_office
        ),
        "night_batch": Kind(meaning="four jobs at a time in the first half of each night", talks=_night),
        "bursts": Kind(
            meaning="24 subagents that start in the same second, twice a day, beside ordinary work", talks=_bursts
        ),
        "machines": Kind(
            meaning="office hours, while other machines use the same accounts unseen", talks=_office, outside=25
        ),
        "fable_heavy": Kind(
            meaning="mostly Fable, which may use half of each week", talks=_fable, models={"fable": 0.5}
        ),
        "almost_idle": Kind(meaning="one or two conversations a day", talks=_idle),
        "ttl_gaps": Kind(meaning="pauses that are longer than the cache lives", talks=_gaps, sizes=(1, 1, 1, 1)),
        "plans_1_5_20": Kind(
            meaning="bursts on three plans, the second 5 times and the third 20 times the first",
            talks=_bursts,
            sizes=(1, 5, 20),
            window=22,
        ),
        "many_small": Kind(meaning="six accounts of half the size instead of three", talks=_office, sizes=(0.5,) * 6),
        "weeks_bind": Kind(
            meaning="five accounts whose 5-hour windows are wide and whose weeks are tight, 26 days",
            talks=_long_weeks,
            sizes=(1,) * 5,
            window=288,
            windows=1.15,
        ),
    }
)
KINDS: Mapping[str, str] = MappingProxyType({name: kind.meaning for name, kind in _KINDS.items()})
