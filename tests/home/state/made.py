"""States made up for the tests of home/state: pictures with something in every table, and a ledger's line."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from routing.capacities import Tally
from routing.gauges import Gauge
from routing.health import Check
from routing.holds import Hold, Ladder
from routing.lifetimes import Lifetime
from routing.pins import Pin
from routing.readings import Reading, Source
from routing.remembered import Remembered
from routing.stickiness import Stick
from routing.words import AccountId, ConversationId, Family
from tests.routing.made import ANN, BEN, NOON, OPUS, hold, hours, reading

LONG = 30.0  # seconds; a bound for what takes milliseconds on a machine that is not busy

LINE: dict[str, Any] = {
    "at": "2026-01-05T12:00:00.250+00:00",
    "id": "0123456789ab",
    "conversation": "talk",
    "model": "claude-opus-4-1",
    "path": "/v1/messages",
    "account": "home",
    "because": "hop: work refused: 7d limit until Thu 09:00",
    "tried": [
        {"account": "work", "status": 429, "row": 13, "verdict": "limit"},
        {"account": "home", "status": 200, "row": 8, "verdict": "ok"},
    ],
    "status": 200,
    "first_byte_ms": 812.5,
    "total_ms": 4021.0,
    "usage": {"input": 3, "output": 411, "cache_read": 90_000, "cache_write_5m": 0, "cache_write_1h": 1200},
    "answer": None,
    "ended": "complete",
}


def restored(one: Reading) -> Reading:
    """A reading as it comes back."""
    return replace(one, source=Source.RESTORED)


def picture(
    *accounts: AccountId, used: float = 0.5, holds: tuple[Hold, ...] | None = None, talks: tuple[str, ...] = ("talk",)
) -> Remembered:
    """A picture with a reading, a hold, a ladder, a check, a lifetime, a tally, a gauge and sticks of each account, ann and ben by default."""
    names = accounts or (ANN, BEN)
    gauge = Gauge(met_with="0a" * 8, asked_at=NOON, failures=2, rest_until=NOON + hours(1), because="429")
    return Remembered(
        readings={(name, key): restored(reading(key, used)) for name in names for key in ("5h", "7d")},
        holds={name: holds or (hold(name=name, by=None, windows=("7d",)),) for name in names},
        ladders={name: Ladder(failures=2, set_at=NOON) for name in names},
        checks={name: Check(failures=2, next_at=NOON + hours(1), checked_at=NOON) for name in names},
        lifetimes={name: Lifetime(expires_at=NOON, refresh_expires_at=NOON, is_refreshable=True) for name in names},
        sticks={
            (ConversationId(f"{talk} {name}"), "opus"): Stick(account=name, until=NOON + hours(1))
            for name in names
            for talk in talks
        },
        lines={"new": frozenset({OPUS, Family("fable")})},
        gauges=dict.fromkeys(names, gauge),
        capacities={(name, key): Tally(cost=2.5e6, share=0.3) for name in names for key in ("5h", "7d")},
        pins={("all", "", ""): Pin(accounts=names, at=NOON), ("heeded", "talk", "opus"): Pin(accounts=(), at=NOON)},
    )


def line(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A line of the ledger with an id of its own."""
    return {**LINE, "id": f"{number:012x}", **changes}


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as any other program sees it."""
    with closing(sqlite3.connect(path, timeout=LONG, isolation_level=None)) as connection:
        yield connection


def count(path: Path, table: str) -> int:
    """How many rows a table has."""
    with raw(path) as connection:
        found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608  # our own names
        return found
