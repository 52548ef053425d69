"""`flowpool restart`: a new process of the proxy, without a refused connection."""

import time

import click

from flowpool import background, health, proxy
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.proxy import Proxy
from flowpool.start import where
from home import running
from home.paths import Home

PATIENCE = 45.0  # seconds for another process to start; the proxy gives it 30
SLACK = 30.0  # seconds for one that starts anew in its own process, beyond what it has in flight
PAUSE = 0.1  # seconds between two looks at it


@click.command
@pass_home
def restart(home: Home) -> None:
    """Have a new process of the proxy take over.

    It reads config.toml as it is now, and nobody is refused; the old one answers what it has in flight.
    """
    found = background.answering(home)
    if found is None:
        click.echo(f"no proxy ran; one runs now {where(background.start(home))}")
        return
    click.echo(renewed(home, found))


def renewed(home: Home, found: Proxy) -> str:
    """Restart the running proxy, and say what became of it. Raises Failure."""
    before = running.read(home.running)
    data = found.post("/_flowpool/restart", {}, PATIENCE)
    if data is None:
        raise Failure("the proxy has just ended; run: flowpool start")
    told = proxy.document(found, data)
    if told.get("in_place") is True:
        return f"restarted, {where(_anew(home, found, before, float(told.get('within', 0)) + SLACK))}"
    fresh = proxy.find(home)
    if fresh is None or fresh.pid != told.get("pid"):
        raise Failure("another process took over, and has ended since; run: flowpool logs")
    return f"restarted, {where(fresh)}; the old process (pid {found.pid}) ends when what it has in flight is answered"


def _answers(found: Proxy) -> bool:
    try:
        return health.of(found.address) is not None
    except TimeoutError:
        return False


def _anew(home: Home, found: Proxy, before: running.Running | None, patience: float) -> Proxy:
    """Wait for the same process to begin anew; a question asked too early waits in the socket."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        now = running.read(home.running)
        if now is not None and before is not None and now.started != before.started and _answers(found):
            return proxy.find(home) or found
        time.sleep(PAUSE)
    raise Failure(f"{found} does not come back; run: flowpool logs")
