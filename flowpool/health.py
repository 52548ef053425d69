"""What a proxy says of itself to anybody: that it serves, or that it ends."""

import json
from dataclasses import dataclass

from flowpool import ask
from flowpool.addresses import reachable
from home.checks import Address

PATH = "/_flowpool/health"
PATIENCE = 2.0  # seconds; a proxy that is well answers within milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Who answered. is_draining: whether it ends as soon as what it has in flight does. in_flight: how many requests that are."""

    pid: int
    is_draining: bool = False
    in_flight: int = 0


def of(address: Address, patience: float = PATIENCE) -> Health | None:
    """Ask who listens there; None when nobody does, or what does is not flowpool. Raises TimeoutError when it says nothing."""
    try:
        _, data = ask.get(reachable(address), PATH, {}, patience)
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return None
    return read(data)


def read(data: bytes) -> Health | None:
    """Read the answer; None when it makes no sense."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    match found:
        case {"status": "ok", "pid": int(pid)}:
            return Health(pid=pid)
        case {"status": "draining", "pid": int(pid), **more}:
            count = more.get("in_flight", 0)
            return Health(pid=pid, is_draining=True, in_flight=count if isinstance(count, int) else 0)
        case _:
            return None
