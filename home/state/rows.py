"""What the Router remembers as rows of the tables, and back; a row that makes no sense is passed over."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from home.state.ledger import LONGEST, number, text
from routing.capacities import Tally, TallyKey
from routing.gauges import Gauge
from routing.health import Check
from routing.holds import AccountHolds, Hold, Ladder
from routing.lifetimes import Lifetime
from routing.pins import SCOPES, Pin, PinKey
from routing.readings import Reading, Source, Status
from routing.remembered import ReadingKey, Remembered
from routing.stickiness import Stick, StickKey
from routing.windows import Window
from routing.words import AccountId, ConversationId, Family

type Row = dict[str, Any]
type Found = Mapping[str, Any]

TABLES = ("readings", "holds", "health", "checks", "lifetimes", "sticks", "lines", "capacities", "pins", "gauges")


def remembered_of(tables: Mapping[str, Iterable[Found]]) -> Remembered:
    """Build what the rows of TABLES say; sticks in the order in which they end."""
    held: dict[AccountId, AccountHolds] = {}
    for hold in _each(tables["holds"], _hold):
        held[hold.account] = (*held.get(hold.account, ()), hold)
    lines: dict[str, frozenset[Family]] = {}
    for line, family in _each(tables["lines"], _line):
        lines[line] = lines.get(line, frozenset()) | {family}
    sticks = sorted(_each(tables["sticks"], _stick), key=lambda found: found[1].until)
    return Remembered(
        readings=dict(_each(tables["readings"], _reading)),
        holds=held,
        ladders=dict(_each(tables["health"], _ladder)),
        checks=dict(_each(tables["checks"], _check)),
        lifetimes=dict(_each(tables["lifetimes"], _lifetime)),
        sticks=dict(sticks),
        lines=lines,
        capacities=dict(_each(tables["capacities"], _capacity)),
        pins=dict(_each(tables["pins"], _pin)),
        gauges=dict(_each(tables["gauges"], _gauge)),
    )


def reading_row(key: ReadingKey, reading: Reading) -> Row:
    """One window's newest reading."""
    return sample_row(key, reading) | {"sent_at": reading.sent_at}


def sample_row(key: ReadingKey, reading: Reading) -> Row:
    """One point of a window's history."""
    return {
        "account": key[0],
        "window_key": key[1],
        "used": number(reading.used),
        "resets_at": reading.resets_at,
        "status": None if reading.status is None else reading.status.value,
        "taken_at": reading.taken_at,
    }


def hold_rows(holds: AccountHolds) -> list[Row]:
    """An account's holds."""
    return [
        {
            "account": hold.account,
            "family": hold.family,
            "verdict_row": hold.row,
            "until": hold.until,
            "because": text(hold.because),
            "windows": json.dumps(sorted(hold.windows)),
            "set_at": hold.set_at,
        }
        for hold in holds
        if is_storable(hold.family or "")
    ]


def ladder_row(account: AccountId, ladder: Ladder) -> Row:
    """An account's refused logins."""
    return {"account": account, "auth_failures": ladder.failures, "auth_failed_at": ladder.set_at}


def check_row(account: AccountId, check: Check) -> Row:
    """What is known for sure of an account's credential."""
    return {
        "account": account,
        "failures": check.failures,
        "next_at": check.next_at,
        "checked_at": check.checked_at,
    }


def lifetime_row(account: AccountId, lifetime: Lifetime) -> Row:
    """How long an account's credential lasts."""
    return {
        "account": account,
        "expires_at": lifetime.expires_at,
        "refresh_expires_at": lifetime.refresh_expires_at,
        "is_refreshable": int(lifetime.is_refreshable),
    }


def capacity_row(key: TallyKey, tally: Tally) -> Row:
    """What was paid while an account's window filled up."""
    return {"account": key[0], "window_key": key[1], "cost": tally.cost, "share": tally.share}


def gauge_row(account: AccountId, gauge: Gauge) -> Row:
    """What measuring an account met."""
    return {
        "account": account,
        "met_with": gauge.met_with,
        "asked_at": gauge.asked_at,
        "failures": gauge.failures,
        "rest_until": gauge.rest_until,
        "because": text(gauge.because),
        "is_throttled": int(gauge.is_throttled),
        "is_closed": int(gauge.is_closed),
    }


def pin_row(key: PinKey, pin: Pin) -> Row:
    """A wish, or when it was heeded."""
    scope, name, model = key
    accounts = json.dumps(list(pin.accounts))
    return {"scope": scope, "name": name, "model": model, "accounts": accounts, "moves": int(pin.moves), "at": pin.at}


def stick_row(key: StickKey, stick: Stick) -> Row:
    """A conversation's habit."""
    return {"conversation": key[0], "model": key[1], "account": stick.account, "until": stick.until}


def is_storable(name: str) -> bool:
    """Whether a name comes back from a database as it was: some are the client's own words."""
    return len(name) <= LONGEST and text(name) == name


def _each[T](rows: Iterable[Found], read: Callable[[Found], T]) -> Iterable[T]:
    for row in rows:
        with suppress(ValueError, TypeError, KeyError, OverflowError):
            yield read(row)


def _reading(row: Found) -> tuple[ReadingKey, Reading]:
    window = Window.parse(row["window_key"])
    if window is None:
        raise ValueError("not a window")
    reading = Reading(
        window=window,
        used=number(row["used"]),
        resets_at=_maybe_moment(row["resets_at"]),
        status=None if row["status"] is None else Status(row["status"]),
        sent_at=_moment(row["sent_at"]),
        taken_at=_moment(row["taken_at"]),
        source=Source.RESTORED,
    )
    return (AccountId(row["account"]), window.key), reading


def _hold(row: Found) -> Hold:
    return Hold(
        account=AccountId(row["account"]),
        family=None if row["family"] is None else Family(row["family"]),
        row=int(row["verdict_row"]),
        until=_moment(row["until"]),
        because=str(row["because"]),
        windows=frozenset(str(key) for key in json.loads(row["windows"])),
        set_at=_moment(row["set_at"]),
    )


def _ladder(row: Found) -> tuple[AccountId, Ladder]:
    failures = int(row["auth_failures"])
    if failures < 1:
        raise ValueError("no failure is no ladder")
    return AccountId(row["account"]), Ladder(failures=failures, set_at=_moment(row["auth_failed_at"]))


def _check(row: Found) -> tuple[AccountId, Check]:
    failures = int(row["failures"])
    if failures < 0:
        raise ValueError("not a count")
    check = Check(
        failures=failures,
        next_at=_maybe_moment(row["next_at"]) if failures else None,
        checked_at=_maybe_moment(row["checked_at"]),
    )
    return AccountId(row["account"]), check


def _lifetime(row: Found) -> tuple[AccountId, Lifetime]:
    lifetime = Lifetime(
        expires_at=_maybe_moment(row["expires_at"]),
        refresh_expires_at=_maybe_moment(row["refresh_expires_at"]),
        is_refreshable=bool(int(row["is_refreshable"])),
    )
    return AccountId(row["account"]), lifetime


def _capacity(row: Found) -> tuple[TallyKey, Tally]:
    cost, share = number(row["cost"]), number(row["share"])
    if cost is None or share is None:
        raise ValueError("not a tally")
    return (AccountId(row["account"]), str(row["window_key"])), Tally(cost=cost, share=share)


def _gauge(row: Found) -> tuple[AccountId, Gauge]:
    failures = int(row["failures"])
    if failures < 0:
        raise ValueError("not a count")
    gauge = Gauge(
        met_with=str(row["met_with"]),
        asked_at=_maybe_moment(row["asked_at"]),
        failures=failures,
        rest_until=_maybe_moment(row["rest_until"]),
        because=str(row["because"]),
        is_throttled=bool(int(row["is_throttled"])),
        is_closed=bool(int(row["is_closed"])),
    )
    return AccountId(row["account"]), gauge


def _pin(row: Found) -> tuple[PinKey, Pin]:
    scope, accounts = str(row["scope"]), json.loads(row["accounts"])
    if scope not in SCOPES or not isinstance(accounts, list):
        raise ValueError("not a wish")
    pin = Pin(
        accounts=tuple(AccountId(str(account)) for account in accounts),
        at=_moment(row["at"]),
        moves=bool(int(row["moves"])),
    )
    return (scope, str(row["name"]), str(row["model"])), pin


def _stick(row: Found) -> tuple[StickKey, Stick]:
    key = (ConversationId(row["conversation"]), str(row["model"]))
    return key, Stick(account=AccountId(row["account"]), until=_moment(row["until"]))


def _line(row: Found) -> tuple[str, Family]:
    return str(row["line"]), Family(row["family"])


def _maybe_moment(value: Any) -> datetime | None:
    return None if value is None else _moment(value)


def _moment(value: Any) -> datetime:
    if not isinstance(value, datetime):
        raise TypeError("not a moment")
    return value
