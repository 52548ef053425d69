"""`flowpool start`: the proxy in the background."""

import click

from flowpool import background
from flowpool.addresses import reachable
from flowpool.arguments import pass_home
from flowpool.proxy import Proxy
from home.paths import Home


@click.command
@pass_home
def start(home: Home) -> None:
    """Start the proxy in the background, unless one runs already."""
    found = background.answering(home)
    if found is not None:
        click.echo(f"a proxy runs already {where(found)}")
    else:
        click.echo(f"a proxy runs {where(background.start(home))}; it is ended by: flowpool stop")


def where(proxy: Proxy) -> str:
    """Tell where it listens, and which process it is."""
    return f"on http://{reachable(proxy.address)} (pid {proxy.pid})"
