"""What is pinned, as the running proxy says it, or the state; and in lines for people."""

import shlex
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from flowpool import proxy
from flowpool.proxy import Proxy, clean
from home.paths import Home
from routing.sessions import SHORT, Meant

STATUS = "/_flowpool/status"
MOST = 3  # sessions that are named in one line

type Pins = list[dict[str, Any]]


def look(home: Home) -> Pins:
    """Return all pins as they are."""
    running = proxy.find(home)
    data = running.get(STATUS) if running else None
    return kept(home) if running is None or data is None else read(running, data)


def kept(home: Home) -> Pins:
    """Return those that the state has."""
    from flowpool import alone  # noqa: PLC0415  # none of it is needed beside a running proxy

    found: Pins = alone.draw(home, datetime.now(UTC))["pins"]
    return found


def read(running: Proxy, data: bytes) -> Pins:
    """Read them from an answer of the proxy."""
    found = proxy.document(running, data).get("pins")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise running.strange()
    return found


def whose(running: Proxy, data: bytes, typed: str) -> Meant:
    """Read of an answer which session it is about; an older proxy takes an id as it was typed."""
    answer = proxy.document(running, data)
    found = answer.get("session")
    return Meant(found if isinstance(found, str) else typed, is_known=answer.get("is_known", True) is True)


def lines(pins: Pins) -> Iterable[str]:
    """Say all of them, the one of all first; and how each is undone."""
    for pin in pins:
        accounts, because = listed(pin), clean(str(pin.get("because", "")))
        if pin.get("session") is None:
            yield f"all are pinned to {accounts}: {because}; undo: flowpool pin auto"
        else:
            yield f"session {clean(str(pin['session']))} is pinned to {accounts}: {because}; undo: {undo(str(pin['session']))}"
    if not pins:
        yield "nothing is pinned; run: flowpool pin NAME"


def staying(pins: Pins) -> str:
    """Say which pins of sessions and launches stay when that of all ends; nothing when there are none."""
    own = [pin for pin in pins if pin.get("session") is not None]
    if not own:
        return ""
    told = ", ".join(f"{clean(str(pin['session']))[:SHORT]} to {listed(pin)}" for pin in own[:MOST])
    more = f" and {len(own) - MOST} more" if len(own) > MOST else ""
    count = "1 session stays" if len(own) == 1 else f"{len(own)} sessions stay"
    return f"; {count} pinned ({told}{more}); undo: flowpool pin auto --force"


def undo(session: str) -> str:
    """Return the command that sets a session free."""
    return f"flowpool pin auto --session {shlex.quote(clean(session))}"


def yielding(pins: Pins, session: str | None) -> str:
    """Say that a pin yields for now, and why; nothing when it does not."""
    because = next((str(one.get("because", "")) for one in pins if one.get("session") == session), "")
    return f"; for now it {clean(because)}" if because.startswith("yields") else ""


def listed(pin: dict[str, Any]) -> str:
    """Return the names of a pin's accounts."""
    found: Sequence[object] = pin.get("accounts") or ()
    return ", ".join(clean(str(name)) for name in found)
