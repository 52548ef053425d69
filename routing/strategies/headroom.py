"""Prefer an account with room for what is coming; among those, the one whose week would lose the most unused room per hour.

What is scarce is not the week but the warm cache: an account that fills up throws out every conversation that lives there, and each
is rebuilt elsewhere for six to ten times the cost of a turn. Only while the cache is cold is a choice free, so this is the moment to
look ahead.

The law, in one unit for every window that counts for the demand:

    left  = (1 - used - reserve) x what the window holds - what is in flight there
    hours = AHEAD, or until its reset if that is sooner
    want  = this turn, paid cold + hours x (its conversation's pace + the paces of the others at work there)
    roomy = want <= left, in every window

    1. roomy accounts first; when pressed, those of them whose 5-hour window has not begun
    2. among roomy ones: the most perishing x comfort, where
       perishing = (1 - used - reserve) / hours to the weekly reset, as strategies.perishing has it
       comfort   = the root of left / want, which counts up to PLENTY, in the window where it is least
    3. where none is roomy: the most left / want, each account by the window where that is least

Pressed: what all accounts together are to give within AHEAD is more than PRESSED of what their running 5-hour windows still hold. Then
a window that begins early is worth more than one that begins late: it also ends early.

What a window holds is learned (routing.capacities). Before that, a window shorter than a week is roomy while HALF of it is left, a
longer one while LAST is, and the more is left the better. No window with a known use: no liking.

Of every account but that of the latest free choice, STEADY less counts as left in each window, so that readings which jitter do not
swing the choices. (More for the latest one would serve as well, and let it fill up: that costs 0.4 points.)
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from routing.capacities import Capacities
from routing.forecast import Forecast
from routing.load import Load
from routing.moments import microseconds
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.windows import KNOWN_LINES, WEEK
from routing.words import AccountId, Family

AHEAD = 1.0  # hours: about as long as a conversation lasts; half an hour is worse, two are no better
PRESSED = 0.15  # of the running windows: later, what is begun early no longer helps; at once, it fills up weeks
HALF = 0.5  # of a 5-hour window whose size is unknown
LAST = 0.02  # of a longer one
PLENTY = 8.0  # times what is wanted: more room than that is no better
STEADY = 0.011  # of a window: more than two readings, each off by half a percent, can differ

HOUR_S, SECOND_US = 3600, 1_000_000
AHEAD_S = AHEAD * HOUR_S
WEEK_HOURS = WEEK.total_seconds() / HOUR_S
NOTHING = 1e-9  # is less than any request wants
UNKNOWN = 1e-9  # lost per hour by a week whose reset is not known: after all others, and the roomier the better
_FRESH, _ROOMY, _SHORT = 0, 1, 2


class Need(NamedTuple):
    """What is to come, as costs: the turn paid cold, its conversation's pace per hour, its family, the other conversations' paces.

    holds: what windows hold, by key and account. now_us: the moment of the choice, in microseconds().
    """

    cold: float
    pace: float
    family: Family
    pledges: Mapping[AccountId, float]
    holds: Mapping[str, Mapping[AccountId, float]]
    now_us: int


type Look = tuple[float, str, float, str, bool, float, float]
"""What is found of one account; a plain tuple, because fifty are made for a choice.

The least left / want of its windows, and the key of that window; what the week that perishes soonest loses per hour, as a fraction of
it, and its key (UNKNOWN and empty where none is known); whether no 5-hour window runs; what those that run have left, and what they hold,
both nan while that is not known.
"""
type Known = Mapping[AccountId, Look]


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """The strategy."""

    reads_ranks: bool = False
    reads_windows: bool = True
    reads_pressure: bool = False

    def order(self, free: Free) -> Likings:
        """Like the law says."""
        forecast = free.forecast or Forecast(Load(), Capacities(), free.demand, free.now)
        now_us, family = microseconds(free.now), free.demand.family
        need = Need(forecast.cold, forecast.pace, family, forecast.pledges, forecast.holds, now_us)
        latest, known = free.latest, {}
        less = 0.0 if latest is None else STEADY
        for one in free.candidates:
            account = one.account.id
            found = look(one, need, forecast, 0.0 if account == latest else less)
            if found is not None:
                known[account] = found
        fresh = _FRESH if is_pressed(need, known, latest) else _ROOMY
        likings = {
            account: Liking((_SHORT, -found[0]), "not roomy")
            if found[0] < 1
            else Liking((fresh if found[4] else _ROOMY, -found[2] * min(found[0], PLENTY) ** 0.5), "roomy")
            for account, found in known.items()
        }
        first = min([key for key, _ in likings.values()], default=None)
        return {
            account: Liking(its[0], _say(its[0], known[account], known)) if its[0] == first else its
            for account, its in likings.items()
        }


def look(one: Candidate, need: Need, forecast: Forecast, less: float) -> Look | None:
    """Look at an account's windows, each with so much less left than was read; None when nothing is known of them."""
    account, reserves = one.account.id, one.reserves
    cold, pace, family, pledges, holding, now_us = need
    pledged = pledges.get(account, 0)
    cover, tightest, loss, week = math.inf, "", math.inf, ""
    is_idle, running, total = True, 0.0, 0.0
    for reading in one.readings:
        ends_us, window, used = reading.ends_us, reading.window, reading.used
        left_s = math.inf if ends_us is None else (ends_us - now_us) / SECOND_US
        if left_s <= 0:
            used = 0.0
        elif used is None:
            continue
        key, is_long = window.key, window.is_long
        left = 1 - used - less - (one.reserve(window) if reserves else 0.0)
        if is_long and ends_us is not None:
            lost = left / (WEEK_HOURS if left_s <= 0 else left_s / HOUR_S if left_s > HOUR_S else 1.0)
            if lost < loss:
                loss, week = lost, key
        holds = holding[key].get(account)
        if holds is None:
            holds, want = math.nan, LAST if is_long else HALF
        else:
            families = None if window.line is None else KNOWN_LINES.get(window.line, (family,))
            others = pledged if families is None else forecast.pledged(account, families)
            want, left = cold + (left_s / HOUR_S if 0 < left_s < AHEAD_S else AHEAD) * (pace + others), left * holds
            if one.leases:
                left -= forecast.flying(account, families)
        if not is_long and left_s > 0 and (used > 0 or ends_us is not None):
            is_idle, running, total = False, running + left, total + holds
        its = left / (want or NOTHING)
        if its < cover:
            cover, tightest = its, key
    return (cover, tightest, loss if week else UNKNOWN, week, is_idle, running, total) if tightest else None


def is_pressed(need: Need, known: Known, latest: AccountId | None) -> bool:
    """Whether the windows that run are too few for what is coming; also while it is not known what they hold."""
    running, holds = sum([found[5] for found in known.values()]), sum([found[6] for found in known.values()])
    if math.isnan(holds):
        return True
    if latest is not None and latest in known and known[latest][4]:
        running -= STEADY * holds
    coming = need.pace + sum([need.pledges.get(account, 0) for account in known])
    return need.cold + AHEAD * coming > PRESSED * running


def _say(key: tuple[float, ...], found: Look, known: Known) -> str:
    """Why the account that is liked best is."""
    cover, tightest, loss, week, _, _, _ = found
    if key[0] == _SHORT:
        return f"none is roomy, its {tightest} is the least short"
    if key[0] == _FRESH:
        return "roomy, and its 5h is still to begin"
    if not week:
        return "roomy"
    if loss < max([other[2] for other in known.values() if other[0] >= 1]):
        return f"roomier ({cover:.1f} times what is wanted), and {week} perishes nearly soonest ({loss:.3f}/h)"
    return f"roomy, {week} perishes soonest ({loss:.3f}/h)"
