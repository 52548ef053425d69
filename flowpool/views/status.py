"""The screen of `status`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flowpool.document import AccountLine, HoldLine, Status, WindowLine
from routing.mending import mending
from routing.verdicts import RESERVE_ROW

type Local = Callable[[datetime], datetime]

COLOURS = {
    "healthy": "green",
    "unmeasured": "cyan",
    "expiring": "yellow",
    "held": "yellow",
    "budget_spent": "yellow",
    "error": "red",
    "auth_dead": "red",
    "broken": "red",
    "disabled": "bright_black",
}
WORDS = {  # of states that are shown under another name
    "expiring": "login ends",
    "budget_spent": "budget spent",
    "error": "renewal fails",
    "auth_dead": "login fails",
    "broken": "no secret",
}
HELD, RESERVED = "held", "at reserve"  # a state, and how it is shown where nothing but a reserve bars
MENDED_BY_HAND = frozenset({"auth_dead", "broken"})  # states that only a new credential ends
MAY_SERVE = frozenset({"unmeasured", "expiring", "held"})  # states of accounts without windows that may be chosen
ANY, OTHERS = "any", "other models"  # of the families that `next` names, and how it is shown
NARROW = 72  # letters of a line, below which columns leave no room for words
NEARLY_FULL = 0.9  # of a window, from which its number is coloured
SOON = timedelta(days=6)  # within which a weekday's name is clear
MINUTE = timedelta(minutes=1)  # within which a clock's minute would say nothing


def view(status: Status, now: datetime, local: Local = datetime.astimezone) -> RenderableType:
    """Draw the pool; local turns a moment into the wall clock's time, with the offset it has on that day."""
    if not status.accounts:
        return Group(
            _head(status),
            *_notices(status),
            Text("No accounts yet; add one with: flowpool login NAME"),
        )
    rows = tuple(_row(account, now, local) for account in status.accounts)
    return Group(_head(status), *_notices(status), _Accounts(rows), *_tail(status, now, local))


class _Row(NamedTuple):
    """What is shown of an account."""

    name: Text
    state: Text
    used: Text
    why: Text


@dataclass(frozen=True, slots=True)
class _Accounts:
    """The accounts, in columns where there is room for them, else one below the other."""

    rows: tuple[_Row, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= NARROW:
            yield self._table()
            return
        for row in self.rows:
            yield Text.assemble("\n", row.name, ": ", row.state)
            yield from (Padding(part, (0, 0, 0, 2), expand=False) for part in (row.used, row.why) if part)
        yield Text()

    def _table(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("account", overflow="fold", max_width=32)
        table.add_column("state", no_wrap=True)
        table.add_column("used", no_wrap=True)
        table.add_column("why", overflow="fold", ratio=1)
        for row in self.rows:
            table.add_row(*row)
        return table


def _row(account: AccountLine, now: datetime, local: Local) -> _Row:
    return _Row(
        name=Text(account.name),
        state=Text(_word(account), style=COLOURS.get(account.state, "")),
        used=Text("\n").join(_window(window, now, local) for window in account.windows),
        why=Text("\n".join(_why(account, now, local))),
    )


def _word(account: AccountLine) -> str:
    """What a state is called; an account that only its reserve bars has met no refusal."""
    if account.state == HELD and account.holds and all(hold.row == RESERVE_ROW for hold in account.holds):
        return RESERVED
    return WORDS.get(account.state, account.state)


def _head(status: Status) -> Text:
    if not status.running:
        is_left = any(account.windows or account.holds for account in status.accounts)
        left = "\nThis is what its last run left:" if is_left else ""
        return Text(f"flowpool {status.version} is not running; start it with: flowpool start{left}")
    return Text(f"flowpool {status.version} listens on {status.listen} (pid {status.pid}, {status.strategy})")


def _notices(status: Status) -> list[Text]:
    return [Text(notice, style="yellow") for notice in status.notices]


def _tail(status: Status, now: datetime, local: Local) -> list[Text]:
    pins = _pins(status)
    if not status.running:
        return [Text(line) for line in pins]
    waiting = [f"Waiting for a place: {status.queued}"] if status.queued else []
    return [
        Text(line) for line in (*pins, *_next(status, now, local), f"Conversations: {status.conversations}", *waiting)
    ]


def _pins(status: Status) -> list[str]:
    """Say what is pinned: for all in a line, of sessions how many."""
    lines = [f"Pinned to {', '.join(pin.accounts)}: {pin.because}" for pin in status.pins if pin.session is None]
    own = [pin for pin in status.pins if pin.session is not None]
    if len(own) == 1:
        return [*lines, f"One session is pinned to {own[0].accounts[0]}: {own[0].because}"]
    return [*lines, f"{len(own)} sessions are pinned (--json lists them)"] if own else lines


def _next(status: Status, now: datetime, local: Local) -> list[str]:
    """Say who gets a new conversation, families that fare alike together."""
    fates: dict[str, list[str]] = {}
    for family, name in status.next.items():
        fates.setdefault(_fate(status, family, name, now, local), []).append(OTHERS if family == ANY else family)
    if len(fates) == 1:
        return [f"Next: {fate}" for fate in fates]
    told = "; ".join(f"{', '.join(families)}: {fate}" for fate, families in fates.items())
    return [f"Next {told}"] if told else []


def _fate(status: Status, family: str, name: str | None, now: datetime, local: Local) -> str:
    """Say who comes next: who that is among unmeasured accounts in one place is known only once a conversation is there."""
    pinned = {name for pin in status.pins if pin.session is None for name in pin.accounts}
    might = [one for one in status.accounts if name not in pinned or one.name in pinned]
    places = {account.name: _place(account, family) for account in might}
    place = places.get(name or "")
    equal = [other for other, its in places.items() if its == place]
    if name is None:
        ends = [end for account in status.accounts if (end := _recovery(account, family))]
        return f"nobody until {clock(min(ends), now, local)}" if ends else "nobody"
    if place is None or len(equal) == 1:
        return name
    return f"tossed per conversation between {', '.join(equal[:-1])} and {equal[-1]}"


def _place(account: AccountLine, family: str) -> tuple[bool, int | None, int] | None:
    """Return where an account that was not measured stands, as in routing.scoring; None for others and who may not serve."""
    if account.windows or account.state not in MAY_SERVE or _bars(account, family):
        return None
    return account.kind == "api-key", account.rank, account.in_flight


def _bars(account: AccountLine, family: str) -> list[HoldLine]:
    return [hold for hold in account.holds if hold.scope in ("account", family)]


def _recovery(account: AccountLine, family: str) -> datetime | None:
    """Return when the last hold ends that keeps an account from serving; None when that cannot be told."""
    ends = [hold.until for hold in _bars(account, family)]
    known = [end for end in ends if end]
    return max(known) if known and len(known) == len(ends) and account.state != "disabled" else None


def _window(window: WindowLine, now: datetime, local: Local) -> Text:
    text = Text(f"{window.key} ")
    used = "  -" if window.used is None else f"{window.used:4.0%}"
    full = window.status == "rejected" or (window.used or 0) >= NEARLY_FULL
    text.append(used, style="yellow" if full else "")
    if window.resets_at:
        text.append(f" to {clock(window.resets_at, now, local)}", style="dim")
    return text


def _why(account: AccountLine, now: datetime, local: Local) -> list[str]:
    lines = [_because(account, now, local)]
    lines += [_hold(hold, now, local) for hold in account.holds if hold.because != account.because]
    if account.state in MENDED_BY_HAND and "run: " not in account.because:
        lines.append(f"run: {mending(account.kind, account.name)}")
    if any(hold.row == RESERVE_ROW for hold in account.holds):
        lines.append(f"run: flowpool reserve {account.name} --off, or flowpool pin {account.name}")
    if account.pressure:
        lines.append(f"{account.pressure.because}, full {clock(account.pressure.runs_out_at, now, local)}")
    lines += _prime(account, now, local)
    lines += _bounds(account)
    if account.requests:
        times = "once" if account.requests == 1 else f"{account.requests} times"
        lines.append(f"asked {times} since the proxy started")
    return [line for line in lines if line]


def _bounds(account: AccountLine) -> list[str]:
    """Say how busy it is, what the person holds back of it, and whether it is the primary."""
    cap = "" if account.cap is None else f" of {account.cap}"
    waiting = f", {account.queued} waiting" if account.queued else ""
    lines = [f"{account.in_flight}{cap} in flight{waiting}"] if account.in_flight or cap else []
    kept = [f"{part:.0%} of {key}" for part, key in ((account.reserve_5h, "5h"), (account.reserve_week, "7d")) if part]
    lines += [f"{' and '.join(kept)} kept back"] if kept else []
    return [*lines, "primary"] if account.primary else lines


def _prime(account: AccountLine, now: datetime, local: Local) -> list[str]:
    """Say when its 5-hour window is opened next, or why not, where there is a day for that."""
    if account.prime is None:
        return []
    if account.prime.next_at is None:
        return [f"not primed: {account.prime.because}"]
    return [f"next prime {clock(account.prime.next_at, now, local)} ({account.prime.because})"]


def _because(account: AccountLine, now: datetime, local: Local) -> str:
    """Say why an account stands as it does, and until when, unless the reason says so itself."""
    ends = [hold.until for hold in account.holds if hold.because == account.because and hold.until]
    if not ends or " until " in account.because:
        return account.because
    return f"{account.because}, {_end(max(ends), now, local)}"


def _hold(hold: HoldLine, now: datetime, local: Local) -> str:
    scope = "" if hold.scope == "account" else f"{hold.scope} "
    until = _end(hold.until, now, local) if hold.until else "until mended"
    return f"{scope}{until}: {hold.because}"


def _end(moment: datetime, now: datetime, local: Local) -> str:
    """Say when a hold ends; within a minute in seconds, for its minute may be the one that is shown."""
    left = moment - now
    if timedelta() < left < MINUTE:
        return f"for {math.ceil(left.total_seconds())} s"
    return f"until {clock(moment, now, local)}"


def clock(moment: datetime, now: datetime, local: Local = datetime.astimezone) -> str:
    """Say a moment as briefly as is clear: 14:20, Thu 14:20 or 3 Dec 14:20, by the wall clock."""
    there, here = local(moment), local(now)
    if there.date() == here.date():
        return f"{there:%H:%M}"
    if abs(there - here) < SOON:
        return f"{there:%a %H:%M}"
    return f"{there.day} {there:%b %H:%M}"
