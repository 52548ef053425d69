"""`flowpool env`: what a shell must export so that Claude Code finds the pool."""

import shlex

import click

from flowpool.arguments import pass_home
from flowpool.errors import Failure
from home import running
from home.checks import Address
from home.paths import Home

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # one listens on these but cannot ask them


@click.command
@pass_home
def env(home: Home) -> None:
    """Print the line that points a shell's Claude Code at the pool.

    Use it as: eval "$(flowpool env)"
    """
    click.echo(f"export ANTHROPIC_BASE_URL={shlex.quote(f'http://{_address(home)}')}")


def _address(home: Home) -> Address:
    """Return where the running proxy listens, else where one would."""
    found = running.read(home.running)
    if found and "claude" in found.listen:
        return reachable(found.listen["claude"])
    from home import settings  # noqa: PLC0415  # not needed beside a running proxy

    address = settings.load(home.config).listen.claude
    if address.port == 0:
        raise Failure("the port is chosen when the proxy starts; start it with: flowpool serve")
    return reachable(address)


def reachable(address: Address) -> Address:
    """Return an address that a client of this machine can ask."""
    return Address(host=_ANY.get(address.host, address.host), port=address.port)
