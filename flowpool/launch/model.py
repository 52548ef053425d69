"""Whether the pool has room for the model that launches are to use: only what is known for sure, and now, speaks against it.

Pure. What is unknown counts as room: a launch on the wrong model is worse than a limit that is met.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from routing.verdicts import RESERVE_ROW
from routing.windows import Window
from routing.words import Family

FRESH = timedelta(minutes=15)  # how old a reading may be that names no reset
LASTING = timedelta(minutes=5)  # a shorter hold is over by the time that somebody has typed
OPTION, VARIABLE, END = "--model", "ANTHROPIC_MODEL", "--"
ACCOUNT = "account"  # the scope of a hold on all families
FULL, REJECTED = 1.0, "rejected"

type Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRoom:
    """No account has room. until: when the first has again; None where nobody knows."""

    until: datetime | None


def is_named(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Tell whether the person chose a model, by option or by variable."""
    options = arguments[: arguments.index(END)] if END in arguments else arguments
    return bool(variables.get(VARIABLE)) or any(one == OPTION or one.startswith(f"{OPTION}=") for one in options)


def named(arguments: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return the model that the person chose; empty where they chose none."""
    options = arguments[: arguments.index(END)] if END in arguments else arguments
    behind = [options[at + 1] for at, one in enumerate(options[:-1]) if one == OPTION]
    joined = [one.partition("=")[2] for one in options if one.startswith(f"{OPTION}=")]
    return next(iter((*behind, *joined)), variables.get(VARIABLE, ""))


def room(
    status: Document, family: Family, now: datetime, *, pinned: str = "", lasting: timedelta = LASTING
) -> NoRoom | None:
    """Return NoRoom where each enabled account is known to have none for the family; None where one has, or may have.

    status: as `flowpool status --json` prints it. pinned: the account that the launch is to use, whose reserve is its to spend.
    lasting: what is over sooner bars nobody.
    """
    try:
        accounts = [one for one in status["accounts"] if one["enabled"]]
        ends = [_end(one, family, now, lasting, is_pinned=one["name"] == pinned) for one in accounts]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    barred = [end for end in ends if end is not None]
    if not ends or len(barred) < len(ends):
        return None
    known = [end for end in barred if end is not _NEVER]
    return NoRoom(until=min(known, default=None))


_NEVER = datetime.max.replace(tzinfo=UTC)


def _end(account: Document, family: Family, now: datetime, least: timedelta, *, is_pinned: bool) -> datetime | None:
    """When the last of what bars the account ends, _NEVER where nobody knows; None where nothing bars it for sure."""
    bars = [*_of_holds(account["holds"], family, is_pinned=is_pinned), *_of_windows(account["windows"], family, now)]
    lasting = [end for end in bars if end - now > least]
    return max(lasting, default=None)


def _of_holds(holds: Iterable[Document], family: Family, *, is_pinned: bool) -> Iterator[datetime]:
    for hold in holds:
        if hold["scope"] in (ACCOUNT, family) and not (is_pinned and hold.get("row") == RESERVE_ROW):
            yield _moment(hold["until"]) or _NEVER


def _of_windows(windows: Iterable[Document], family: Family, now: datetime) -> Iterator[datetime]:
    for told in windows:
        window, used = Window.parse(told["key"]), told["used"]
        is_full = told["status"] == REJECTED or (used is not None and float(used) >= FULL)
        if window is None or not is_full or not window.counts_for(family):
            continue
        resets_at, taken_at = _moment(told["resets_at"]), _moment(told.get("taken_at"))
        if resets_at is not None:
            yield resets_at
        elif taken_at is not None and now - taken_at <= FRESH:
            yield _NEVER


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
