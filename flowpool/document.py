"""The document of `status`: what a running proxy answers, and the same without one."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

type Plain = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLine:
    """One window of an account. used: 0 empty to 1 full; None when not known."""

    key: str
    used: float | None
    resets_at: datetime | None
    status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldLine:
    """One span in which an account is not asked. scope: "account" or a family. row: of docs/verdicts.md, None when not told."""

    scope: str
    until: datetime | None
    because: str
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PressureLine:
    """A 5-hour window that will run out before its reset, as it is used now."""

    runs_out_at: datetime
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimeLine:
    """When an account's 5-hour window is opened early. next_at: None when it is not, as things stand."""

    next_at: datetime | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLine:
    """One account as it stands. rank: the person's order, None when there is none. prime, pressure: None when there is none."""

    name: str
    kind: str
    rank: int | None
    state: str
    because: str
    in_flight: int
    requests: int
    windows: tuple[WindowLine, ...]
    holds: tuple[HoldLine, ...]
    prime: PrimeLine | None = None
    pressure: PressureLine | None = None
    queued: int = 0
    reserve_5h: float = 0.0
    reserve_week: float = 0.0
    cap: int | None = None
    primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PinLine:
    """One wish. session: what it is about; None: all. launch: whether a client was launched with it."""

    accounts: tuple[str, ...]
    session: str | None
    moves: bool
    launch: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The whole pool as it stands.

    pid: None when no proxy runs. next: the account by family, None when none can. notices: what is wrong with its files.
    """

    version: str
    running: bool
    pid: int | None
    listen: str
    strategy: str
    next: Mapping[str, str | None]
    accounts: tuple[AccountLine, ...]
    conversations: int
    notices: tuple[str, ...] = ()
    pins: tuple[PinLine, ...] = ()
    queued: int = 0


def parse(data: bytes) -> tuple[Plain, Status]:
    """Read a proxy's answer, as it came and as values; raise ValueError when it is not one."""
    try:
        document = json.loads(data)
        return document, read(document)
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError("not a status") from error


def read(document: Plain) -> Status:
    """Read a document; raise any of ValueError, KeyError, TypeError, AttributeError when it is not one."""
    pid = document["pid"]
    return Status(
        version=_text(document["version"]),
        running=document["running"] is True,
        pid=None if pid is None else int(pid),
        listen=_text(document["listen"]["claude"]),
        strategy=_text(document["strategy"]),
        next={_text(family): _maybe(_text, name) for family, name in document["next"].items()},
        accounts=tuple(_account(account) for account in document["accounts"]),
        conversations=_count(document["conversations"]),
        notices=tuple(_text(notice) for notice in document.get("notices", ())),
        pins=tuple(_pin(pin) for pin in document.get("pins", ())),
        queued=_count(document.get("queued", 0)),
    )


def without_proxy(
    version: str,
    listen: str,
    strategy: str,
    accounts: tuple[Plain, ...],
    notices: tuple[str, ...] = (),
    *,
    pins: tuple[Plain, ...] = (),
) -> Plain:
    """Return the document for when no proxy runs: nothing is in flight, and nobody is next.

    accounts: each as `accounts --json` has it, and what the last run left of it, if anything.
    """
    return {
        "version": version,
        "running": False,
        "pid": None,
        "listen": {"claude": listen},
        "strategy": strategy,
        "next": {},
        "accounts": [account | _unasked(account["enabled"]) | account for account in accounts],
        "conversations": 0,
        "pins": list(pins),
        "queued": 0,
        "notices": list(notices),
    }


def _unasked(enabled: bool) -> Plain:
    return {
        "expires_at": None,
        "refresh_expires_at": None,
        "checked_at": None,
        "state": "unmeasured" if enabled else "disabled",
        "because": "no proxy is running" if enabled else "disabled by you",
        "windows": [],
        "holds": [],
        "in_flight": 0,
        "queued": 0,
        "requests": 0,
    }


def _account(fields: Plain) -> AccountLine:
    return AccountLine(
        name=_text(fields["name"]),
        kind=_text(fields["kind"]),
        rank=_maybe(int, fields["rank"]),
        state=_text(fields["state"]),
        because=_text(fields["because"] or ""),
        in_flight=int(fields["in_flight"]),
        requests=int(fields["requests"]),
        windows=tuple(_window(window) for window in fields["windows"]),
        holds=tuple(_hold(hold) for hold in fields["holds"]),
        queued=int(fields.get("queued", 0)),
        reserve_5h=float(fields.get("reserve_5h", 0)),
        reserve_week=float(fields.get("reserve_week", 0)),
        cap=_maybe(int, fields.get("cap")),
        primary=fields.get("primary") is True,
        prime=_maybe(_prime, fields.get("prime")),
        pressure=_maybe(_pressure, fields.get("pressure")),
    )


def _window(fields: Plain) -> WindowLine:
    return WindowLine(
        key=_text(fields["key"]),
        used=_maybe(float, fields["used"]),
        resets_at=_maybe(_moment, fields["resets_at"]),
        status=_maybe(_text, fields["status"]),
    )


def _hold(fields: Plain) -> HoldLine:
    return HoldLine(
        scope=_text(fields["scope"]),
        until=_maybe(_moment, fields["until"]),
        because=_text(fields["because"]),
        row=_maybe(int, fields.get("row")),
    )


def _pressure(fields: Plain) -> PressureLine:
    return PressureLine(runs_out_at=_moment(fields["runs_out_at"]), because=_text(fields["because"]))


def _prime(fields: Plain) -> PrimeLine:
    return PrimeLine(next_at=_maybe(_moment, fields["next_at"]), because=_text(fields["because"]))


def _pin(fields: Plain) -> PinLine:
    return PinLine(
        accounts=tuple(_text(name) for name in fields["accounts"]),
        session=_maybe(_text, fields["session"]),
        moves=fields["moves"] is True,
        launch=fields["launch"] is True,
        because=_text(fields["because"]),
    )


def _maybe[T](read_one: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read_one(value)


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else int(value)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(value: Any) -> str:
    """Accept text only, and drop what could steer a terminal: some of it comes from far away."""
    if not isinstance(value, str):
        raise TypeError("not text")
    return "".join(letter if letter.isprintable() else " " for letter in value)
