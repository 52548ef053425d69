"""`flowpool status`: asks the running proxy how the pool stands."""

import json
from datetime import UTC, datetime

import click

from flowpool import document, proxy
from flowpool.document import Plain, Status
from flowpool.proxy import Proxy
from home.paths import Home

PATH = "/_flowpool/status"


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.pass_obj
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
    """Return the picture without a proxy, from the files alone."""
    from flowpool.accounts import describe  # noqa: PLC0415  # none of this is needed beside a running proxy
    from home import accounts, settings  # noqa: PLC0415
    from home.version import version  # noqa: PLC0415

    chosen = settings.load(home.config)
    known = tuple(dict(describe(account)) for account in accounts.load(home.accounts))
    plain = document.without_proxy(version(), str(chosen.listen.claude), chosen.routing.strategy, known)
    return plain, document.read(plain)
