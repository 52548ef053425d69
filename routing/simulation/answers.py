"""How the world's answers look to the Router: refusals with a reset, whole percents, and no capacity."""

from datetime import datetime, timedelta
from functools import cache, lru_cache

from routing.readings import Reading, Status
from routing.simulation.books import Gauge
from routing.simulation.world import Refused
from routing.verdicts import OK_ROW, HoldOrder, Hop, Left, Verdict, VerdictKind
from routing.windows import Window

TAKEN = Verdict(row=OK_ROW, kind=VerdictKind.OK, because="answered")
_LIMIT_ROW, _MODEL_LIMIT_ROW = 13, 12
_WHOLE = 100  # percents


def verdict(refused: Refused, start: datetime) -> Verdict:
    """Judge a refusal as a live one is: row 13 for shared windows, row 12 for a family's own.

    It holds the account until the last of them resets. A turn larger than a whole window that has not opened meets no
    reset, and holds nothing.
    """
    short = refused.short
    family = short[0].family
    resets = [gauge.resets_at for gauge in short if gauge.resets_at is not None]
    hold = None
    if resets:
        until = start + timedelta(seconds=max(resets))
        hold = HoldOrder(until=until, family=family, windows=frozenset(gauge.key for gauge in short))
    return Verdict(
        row=_LIMIT_ROW if family is None else _MODEL_LIMIT_ROW,
        kind=VerdictKind.LIMIT if family is None else VerdictKind.MODEL_LIMIT,
        because=f"{short[-1].key} limit",
        hop=Hop.EACH,
        left=Left.OWN,
        hold=hold,
    )


def reading(gauge: Gauge, start: datetime, now: datetime) -> Reading:
    """Report a window as an answer's headers do, in whole percents, a half to the even one."""
    return Reading(
        window=_window(gauge.key),
        used=round(_WHOLE * gauge.used / gauge.capacity) / _WHOLE if gauge.capacity else 1.0,
        resets_at=None if gauge.resets_at is None else _moment(start, gauge.resets_at),
        status=Status.ALLOWED,
        sent_at=now,
        taken_at=now,
    )


@lru_cache(maxsize=256)
def _moment(start: datetime, seconds: float) -> datetime:
    return start + timedelta(seconds=seconds)


@cache
def _window(key: str) -> Window:
    window = Window.parse(key)
    if window is None:
        raise ValueError(f"no window is called {key!r}")
    return window
