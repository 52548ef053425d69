"""The screen of `status`."""

from collections.abc import Callable
from datetime import datetime, timedelta

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from flowpool.document import AccountLine, HoldLine, Status, WindowLine

type Local = Callable[[datetime], datetime]

COLOURS = {"healthy": "green", "unmeasured": "cyan", "held": "yellow", "auth_dead": "red", "disabled": "bright_black"}
NEARLY_FULL = 0.9  # of a window, from which its number is coloured
SOON = timedelta(days=6)  # within which a weekday's name is clear


def view(status: Status, now: datetime, local: Local = datetime.astimezone) -> RenderableType:
    """Draw the pool; local turns a moment into the wall clock's time, with the offset it has on that day."""
    if not status.accounts:
        return Group(
            _head(status),
            *_notices(status),
            Text("No accounts yet; add one with: flowpool add NAME --kind setup-token"),
        )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("account", overflow="fold", max_width=32)
    table.add_column("state", no_wrap=True)
    table.add_column("used", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=1)
    for account in status.accounts:
        table.add_row(
            Text(account.name),
            Text(account.state, style=COLOURS.get(account.state, "")),
            Text("\n").join(_window(window, now, local) for window in account.windows),
            Text("\n".join(_why(account, now, local))),
        )
    return Group(_head(status), *_notices(status), table, *_tail(status))


def _head(status: Status) -> Text:
    if not status.running:
        return Text(f"flowpool {status.version} is not running; start it with: flowpool serve")
    return Text(f"flowpool {status.version} listens on {status.listen} (pid {status.pid}, {status.strategy})")


def _notices(status: Status) -> list[Text]:
    return [Text(notice, style="yellow") for notice in status.notices]


def _tail(status: Status) -> list[Text]:
    if not status.running:
        return []
    following = ", ".join(f"{family}: {name or 'nobody'}" for family, name in status.next.items())
    lines = [f"Next {following}"] if following else []
    return [Text(line) for line in (*lines, f"Conversations: {status.conversations}")]


def _window(window: WindowLine, now: datetime, local: Local) -> Text:
    text = Text(f"{window.key} ")
    used = "  -" if window.used is None else f"{window.used:4.0%}"
    full = window.status == "rejected" or (window.used or 0) >= NEARLY_FULL
    text.append(used, style="yellow" if full else "")
    if window.resets_at:
        text.append(f" to {clock(window.resets_at, now, local)}", style="dim")
    return text


def _why(account: AccountLine, now: datetime, local: Local) -> list[str]:
    lines = [account.because, *(_hold(hold, now, local) for hold in account.holds if hold.because != account.because)]
    if account.in_flight:
        lines.append(f"{account.in_flight} in flight")
    if account.requests:
        lines.append(f"{account.requests} requests")
    return [line for line in lines if line]


def _hold(hold: HoldLine, now: datetime, local: Local) -> str:
    scope = "" if hold.scope == "account" else f"{hold.scope} "
    until = f"until {clock(hold.until, now, local)}" if hold.until else "until mended"
    return f"{scope}{until}: {hold.because}"


def clock(moment: datetime, now: datetime, local: Local = datetime.astimezone) -> str:
    """Say a moment as briefly as is clear: 14:20, Thu 14:20 or 3 Dec 14:20, by the wall clock."""
    there, here = local(moment), local(now)
    if there.date() == here.date():
        return f"{there:%H:%M}"
    if abs(there - here) < SOON:
        return f"{there:%a %H:%M}"
    return f"{there.day} {there:%b %H:%M}"
