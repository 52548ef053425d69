"""`flowpool env`: what a shell must export so that Claude Code finds the pool."""

import os
import re
import shlex
from collections.abc import Callable, Mapping
from typing import NamedTuple

import click

from flowpool.addresses import reachable
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.launch import environment, placed
from flowpool.launch.environment import Way
from home import controlkey, running
from home.checks import Address
from home.errors import HomeError
from home.paths import Home
from home.settings import Settings


class Shell(NamedTuple):
    """How one kind of shell sets a variable, quotes a text, and adds a line to what a variable has."""

    sets: str
    quote: Callable[[str], str]
    adds: str
    unsets: str


_QUOTES = re.compile("['\u2018-\u201b]")  # each of them ends a text there
SHELLS = {
    "sh": Shell("export {name}={value}", shlex.quote, 'export {name}="${name}\n"{value}', "unset {name}"),
    "fish": Shell(
        "set -gx {name} {value}",
        lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'",
        'set -gx {name} "${name}"\\n{value}',
        "set -e {name}",
    ),
    "powershell": Shell(
        "$env:{name} = {value}",
        lambda text: "'" + _QUOTES.sub(r"\g<0>\g<0>", text) + "'",
        '$env:{name} = "$env:{name}`n" + {value}',
        "Remove-Item Env:{name}",
    ),
}
NAMES = (
    environment.BASE,
    *environment.RESTORED,
    environment.TIMEOUT,
    environment.WATCHDOG,
    environment.NO_PROXY,
    environment.NO_PROXY.lower(),
)
"""What may be printed. No credential is among them; headers are a person's own, and ours are added to them unseen.

The placeholder, which a Claude Code without a login gets, is no token: nobody takes it, and the proxy lets it out to nobody.
"""
UNKNOWN = (
    f"Claude Code has no login of its own: {environment.TOKEN} is a placeholder, with which the pool serves it; "
    "after a login run this again"
)


HELP = """Print the lines that point a shell's Claude Code at the pool.

\b
Use it as: eval "$(flowpool env)"
           flowpool env --shell fish | source
           flowpool env --shell powershell | Out-String | Invoke-Expression

"flowpool run" does the same for one Claude Code, and starts the proxy. A token is never printed: a Claude Code without a login of its own gets a placeholder, which is none.
"""


@click.command(help=HELP, short_help="Print the lines that point a shell's Claude Code at the pool.")
@click.option("--shell", type=click.Choice(list(SHELLS)), default="sh", show_default=True, help="Whose words to print.")
@pass_home
def env(home: Home, shell: str) -> None:
    """Print what a shell needs."""
    proxy = running.read(home.running)
    listen = proxy.listen.get("claude") if proxy else None
    chosen = _settings(home, is_needed=listen is None)
    variables = os.environ
    token = _placeholder() if placed.lacks_login(variables) else ""
    for line in lines(home, chosen, _address(chosen, listen), variables, SHELLS[shell], token=token):
        click.echo(line)
    if token:
        click.echo(f"flowpool: {UNKNOWN}", err=True)
    for name in environment.KEYS:
        if variables.get(name):
            click.echo(f"flowpool: {name} is set: with it Claude Code would not use a login; unset it", err=True)


def _placeholder() -> str:
    from providers.anthropic.placeholder import PLACEHOLDER  # noqa: PLC0415  # most clients are logged in

    return PLACEHOLDER


def _settings(home: Home, *, is_needed: bool) -> Settings | None:
    """Return the settings; None beside a running proxy when they are wrong, for its address is told all the same."""
    from home import settings  # noqa: PLC0415  # not needed for --help

    try:
        return settings.load(home.config)
    except HomeError as error:
        if is_needed:
            raise
        click.echo(f"flowpool: only the address is told: {str(error).splitlines()[0]}", err=True)
        return None


def _address(chosen: Settings | None, listen: Address | None) -> Address:
    """Return where the running proxy listens, else where one would."""
    if listen is None:
        assert chosen is not None  # noqa: S101  # they were needed
        listen = chosen.listen.claude
    if listen.port == 0:
        raise Failure("the port is chosen when the proxy starts; start it with: flowpool start")
    return reachable(listen)


def lines(
    home: Home,
    chosen: Settings | None,
    address: Address,
    variables: Mapping[str, str],
    shell: Shell,
    *,
    token: str = "",
) -> list[str]:
    """Return what the shell is to run; of what it has already, only the address. token: the placeholder, for a client without a login."""
    way = Way(base_url=f"http://{address}", token=token, wait=chosen.wait if chosen else Way().wait)
    values = environment.prepared(variables, way).values
    wanted = [name for name in NAMES if name == environment.BASE or values.get(name) != variables.get(name)]
    told = [shell.sets.format(name=name, value=shell.quote(values[name])) for name in wanted if name in values]
    told += _stand_in(variables.get(environment.TOKEN, ""), token, shell)
    if chosen is not None and chosen.admit.key:
        told += _key(controlkey.ensure(home.client_key).reveal(), variables.get(environment.HEADERS, ""), shell)
    return told


def _stand_in(shown: str, token: str, shell: Shell) -> list[str]:
    """Return what lets the shell have the placeholder, or none; the person's own token is neither printed nor taken away."""
    if token and not shown:
        return [shell.sets.format(name=environment.TOKEN, value=shell.quote(token))]
    if shown.endswith(environment.PLACED) and not token:
        return [shell.unsets.format(name=environment.TOKEN)]
    return []


def _key(key: str, theirs: str, shell: Shell) -> list[str]:
    """Return what adds the key to the headers that the shell has, which are not printed."""
    ours = f"{environment.KEY}: {key}"
    if ours in theirs.splitlines():
        return []
    if environment.KEY in theirs.lower():
        click.echo(f"flowpool: {environment.HEADERS} has an older key; unset it, then run this again", err=True)
        return []
    line = shell.adds if theirs.strip() else shell.sets
    return [line.format(name=environment.HEADERS, value=shell.quote(ours))]
