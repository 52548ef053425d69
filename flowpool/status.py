"""`flowpool status`: asks the running proxy how the pool stands."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import click

from flowpool import document, proxy
from flowpool.arguments import pass_home
from flowpool.document import Plain, Status
from flowpool.proxy import Proxy
from home import running
from home.paths import Home
from home.running import CHANGED

PATH = "/_flowpool/status"


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@pass_home
def status(home: Home, as_json: bool) -> None:
    """Show the accounts, how full they are and who serves next."""
    found = proxy.find(home)
    plain, picture = (found and _ask(home, found)) or _alone(home)
    if as_json:
        click.echo(json.dumps(plain, indent=2))
        return
    from flowpool.views.screen import show  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.status import view  # noqa: PLC0415

    show(view(picture, datetime.now(UTC)))


def _ask(home: Home, proxy: Proxy) -> tuple[Plain, Status] | None:
    """Return what the proxy says, and what it cannot know; None when nothing listens there."""
    data = proxy.get(PATH)
    if data is None:
        return None
    try:
        plain, picture = document.parse(data)
    except ValueError as error:
        raise proxy.strange() from error
    found = running.read(home.running)
    if found is None or not running.is_changed(found, home.config):
        return plain, picture
    changed = f"config.toml was {CHANGED}"
    return plain | {"notices": [*plain.get("notices", ()), changed]}, replace(
        picture, notices=(*picture.notices, changed)
    )


def _alone(home: Home) -> tuple[Plain, Status]:
    """Return the picture without a proxy."""
    from flowpool import alone  # noqa: PLC0415  # none of it is needed beside a running proxy

    plain = alone.draw(home, datetime.now(UTC))
    return plain, document.read(plain)
