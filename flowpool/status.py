"""`flowpool status`: asks the running proxy how the pool stands."""

import json
from datetime import UTC, datetime

import click

from flowpool import ask, document
from flowpool.document import Plain, Status
from flowpool.env import reachable
from flowpool.errors import Failure
from home import controlkey, running
from home.paths import Home
from home.running import Running

PATH = "/_flowpool/status"
PATIENCE = 2.0  # seconds; a proxy that is well answers within milliseconds
OK, UNAUTHORIZED, FORBIDDEN = 200, 401, 403


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def status(home: Home, as_json: bool) -> None:
    """Show the accounts, how full they are and who serves next."""
    found = running.read(home.running)
    plain, picture = (found and _ask(home, found)) or _alone(home)
    if as_json:
        click.echo(json.dumps(plain, indent=2))
        return
    from flowpool.views.screen import show  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.status import view  # noqa: PLC0415

    show(view(picture, datetime.now(UTC)))


def _ask(home: Home, proxy: Running) -> tuple[Plain, Status] | None:
    """Return what the proxy says; None when nothing listens there, so that its pid must be another program's."""
    address = proxy.listen.get("claude")
    key = controlkey.read(home.control_key)
    if address is None or key is None:
        raise Failure("the running proxy's key is missing; start the proxy again: flowpool serve")
    try:
        code, data = ask.get(reachable(address), PATH, {"x-flowpool-key": key.reveal()}, PATIENCE)
    except ConnectionRefusedError:
        return None
    except TimeoutError:
        raise Failure(f"the proxy (pid {proxy.pid}) at {address} did not answer within {PATIENCE:g} s") from None
    except (OSError, ValueError) as error:
        raise Failure(f"the proxy (pid {proxy.pid}) at {address} broke off: {type(error).__name__}") from error
    return _understand(data, code, str(address))


def _understand(data: bytes, code: int, address: str) -> tuple[Plain, Status]:
    if code in (UNAUTHORIZED, FORBIDDEN):
        raise Failure(f"the proxy at {address} does not accept this FLOWPOOL_HOME's control.key; start it again")
    if code != OK:
        raise Failure(f"what listens at {address} answered {code}; it may not be flowpool")
    try:
        return document.parse(data)
    except ValueError as error:
        raise Failure(f"what listens at {address} does not answer as flowpool does") from error


def _alone(home: Home) -> tuple[Plain, Status]:
    """Return the picture without a proxy, from the files alone."""
    from flowpool.accounts import describe  # noqa: PLC0415  # none of this is needed beside a running proxy
    from home import accounts, settings  # noqa: PLC0415
    from home.version import version  # noqa: PLC0415

    chosen = settings.load(home.config)
    known = tuple(dict(describe(account)) for account in accounts.load(home.accounts))
    plain = document.without_proxy(version(), str(chosen.listen.claude), chosen.routing.strategy, known)
    return plain, document.read(plain)
