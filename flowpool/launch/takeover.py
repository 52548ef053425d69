"""From a proxy that runs by hand to one that the service runs: who answers now, and who is to."""

import sys
import time

import click

from credentials.errors import CredentialError
from flowpool import background, proxy
from flowpool.errors import Failure
from flowpool.launch import ourselves
from flowpool.launch.manager import Manager
from flowpool.proxy import clean
from home import ports, settings
from home.checks import Address
from home.errors import HomeError
from home.paths import Home

PATIENCE = 20.0  # seconds until a service that was started must answer
PAUSE = 0.1  # seconds between two tries


def make_way(home: Home, manager: Manager, *, yes: bool) -> None:
    """Stop a proxy of this home that the service does not run; ask first.

    Raises Failure when it is to go on, or when another program has the address.
    """
    found, pid = reached(home), manager.look().pid
    if found is None and pid is None:
        _need_address(settings.load(home.config).listen.claude)
    if found is None or found.pid == pid:
        return
    what = f"a proxy that was started by hand runs (pid {found.pid}, {found.address})"
    if not yes and not (sys.stdin is not None and sys.stdin.isatty()):
        raise Failure(f"{what}; stop it first with `flowpool stop`, or run: flowpool service install --yes")
    if not yes and not click.confirm(f"{what}; stop it, and let the service take over?", default=True, err=True):
        raise Failure(f"nothing was changed: {what}; run: flowpool stop")
    if ourselves.call("stop"):
        raise Failure("it did not stop; nothing was changed; run: flowpool stop --now")


def _need_address(listen: Address) -> None:
    if ports.is_taken(listen):
        raise Failure(
            f"{listen} is taken by {ports.owner(listen.port)}, so no service could start; run: flowpool doctor"
        )


def reached(home: Home) -> proxy.Proxy | None:
    """Return this home's proxy when it serves."""
    try:
        return background.answering(home)
    except (Failure, HomeError, CredentialError):  # it starts or ends just now
        return None


def answering(home: Home, manager: Manager) -> Address:
    """Wait until the service's proxy answers; return where. Raises Failure."""
    over = time.monotonic() + PATIENCE
    while True:
        found = reached(home)
        standing = manager.look()
        if found is not None and standing.pid in (None, found.pid):
            return found.address
        if standing.is_failed or time.monotonic() > over:
            said = "".join(f": {line}" for line in manager.said(1).splitlines()[-1:])
            raise Failure(
                f"the service was started, but it is {standing.word}{clean(said)}; run: flowpool service logs"
            )
        time.sleep(PAUSE)
