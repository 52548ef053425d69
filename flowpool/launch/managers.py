"""Which system this is, and so who manages its services."""

import sys
from collections.abc import Callable

from flowpool.launch.manager import Manager
from home.paths import Home


def own() -> Callable[[Home], Manager] | None:
    """Return what makes this system's manager; None where services are none of a person's own."""
    if sys.platform == "win32":
        return None
    if sys.platform == "darwin":
        from flowpool.launch.launchctl import Launchd  # noqa: PLC0415  # one of them is enough

        return lambda home: Launchd(home.log.with_name("service.log"))
    from flowpool.launch.systemctl import Systemd  # noqa: PLC0415

    return lambda _home: Systemd()
