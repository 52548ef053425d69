"""`flowpool status`: asks the running proxy how the pool stands."""

import json
from datetime import UTC, datetime

import click

from flowpool import document, proxy
from flowpool.arguments import pass_home
from flowpool.document import Plain, Status
from flowpool.proxy import Proxy
from home.paths import Home

PATH = "/_flowpool/status"


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@pass_home
def status(home: Home, as_json: bool) -> None:
    """Show the accounts, how full they are and who serves next."""
    found = proxy.find(home)
    plain, picture = (found and _ask(found)) or _alone(home)
    if as_json:
        click.echo(json.dumps(plain, indent=2))
        return
    from flowpool.views.screen import show  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.status import view  # noqa: PLC0415

    show(view(picture, datetime.now(UTC)))


def _ask(proxy: Proxy) -> tuple[Plain, Status] | None:
    """Return what the proxy says; None when nothing listens there."""
    data = proxy.get(PATH)
    if data is None:
        return None
    try:
        return document.parse(data)
    except ValueError as error:
        raise proxy.strange() from error


def _alone(home: Home) -> tuple[Plain, Status]:
    """Return the picture without a proxy."""
    from flowpool import alone  # noqa: PLC0415  # none of it is needed beside a running proxy

    plain = alone.draw(home, datetime.now(UTC))
    return plain, document.read(plain)
