"""`flowpool service`: lets the system start the proxy, and start it again when it fails."""

import subprocess
import sys

import click

from credentials import files
from flowpool import logs as logfile
from flowpool.addresses import reachable
from flowpool.arguments import COUNT, FOLLOW, pass_home
from flowpool.errors import Failure
from flowpool.launch import installed, takeover
from flowpool.launch.manager import Manager, Standing
from flowpool.launch.managers import own
from flowpool.launch.program import program
from home import running
from home.paths import Home

WINDOWS = (
    "Windows has no such service for one person's own programs; run, in a terminal, once:"
    ' schtasks /Create /TN flowpool /SC ONLOGON /RL LIMITED /TR "{python} -P -m flowpool start"'
)
YES = click.option("--yes", is_flag=True, help="Do not ask first; a proxy that was started by hand is stopped.")


@click.group(invoke_without_command=True)
@click.pass_context
def service(ctx: click.Context) -> None:
    """Let the system start the proxy.

    It starts with your session, and again when it fails: a systemd user service, or a launchd agent.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(status)


@service.command
@YES
@pass_home
def install(home: Home, yes: bool) -> None:
    """Install and start the service; what is installed already is brought up to date.

    A proxy that runs by hand must end first: at a terminal you are asked.
    """
    manager = manager_of(home)
    proxy = program(home)
    manager.reach()
    before, after = installed.read_ours(manager, home), manager.text(proxy)
    takeover.make_way(home, manager, yes=yes)
    if before != after:
        manager.path.parent.mkdir(parents=True, exist_ok=True)
        files.write(manager.path, after)
    proxy.log.parent.mkdir(parents=True, exist_ok=True)
    manager.start(before, after)
    address = takeover.answering(home, manager)
    done = "installed" if before is None else "unchanged" if before == after else "rewritten"
    click.echo(f"{manager.path}: {done}")
    click.echo(f"the proxy answers at {address}; to see how it does: flowpool service status")
    for hint in manager.hints():
        click.echo(f"flowpool: {hint}", err=True)


@service.command
@pass_home
def uninstall(home: Home) -> None:
    """Stop the service and take it away; accounts, settings and history stay."""
    installed.read_ours(manager_of(home), home)
    for line in remove(home):
        click.echo(line)


@service.command
@pass_home
def status(home: Home) -> None:
    """Say whether the service is installed, and how it stands. Ends with 1 unless it runs."""
    manager = manager_of(home)
    text = installed.read(manager)
    if text is None:
        click.echo("installed  no; to install it: flowpool service install")
        sys.exit(1)
    standing = manager.look()
    other = installed.differs(home, manager, text)
    click.echo(f"installed  {manager.path}{f'; {other.what}; run: {other.mend}' if other else ''}")
    click.echo(f"enabled    {'yes' if standing.is_enabled else 'no; to enable it: flowpool service install'}")
    click.echo(f"running    {_running(home, standing)}")
    if not standing.is_running:
        sys.exit(1)


@service.command
@COUNT
@FOLLOW
@pass_home
def logs(home: Home, count: int, follow: bool) -> None:
    """Show what the service said: the journal, or the file that launchd keeps; else what `flowpool logs` shows."""
    manager = manager_of(home)
    said = manager.said(count) if installed.read(manager) is not None else ""
    if not said:
        click.get_current_context().invoke(logfile.logs, count=count, follow=follow)
        return
    line = manager.follow(count) if follow else ()
    if line:
        sys.exit(subprocess.call(line))  # noqa: S603  # the system's own program
    click.echo(said)


def remove(home: Home) -> list[str]:
    """Stop the service and take it away; return lines of what was undone, or why it stays. Raises Failure when that fails."""
    if own() is None:
        return []
    manager = manager_of(home)
    text = installed.read(manager)
    if text is None:
        return [f"no service is installed: there is no {manager.path}"]
    other = installed.differs(home, manager, text)
    if other is not None and other.is_foreign:
        return [f"{manager.path} stays: {other.what}"]
    lines = []
    try:
        manager.reach()
    except Failure as error:
        lines.append(f"the service was not stopped: {str(error).partition('; run: ')[0]}; run: flowpool stop")
    else:
        manager.stop()
        lines.append(f"stopped the service, which {manager.name} starts no more")
    manager.path.unlink(missing_ok=True)
    manager.forget()
    return [*lines, f"removed {manager.path}"]


def manager_of(home: Home) -> Manager:
    """Return this system's manager of services. Raises Failure where there is none."""
    make = own()
    if make is None:
        raise Failure(WINDOWS.format(python=sys.executable))
    return make(home)


def _running(home: Home, standing: Standing) -> str:
    if not standing.is_running:
        return f"no: {standing.word}; to start it: flowpool service install; what it said: flowpool service logs"
    found = running.read(home.running)
    is_it = found is not None and found.pid == standing.pid
    started = f"{found.started:%Y-%m-%d %H:%M:%S} UTC" if found and is_it else ""
    since = standing.since or started
    where = f", at {reachable(found.listen['claude'])}" if found and is_it and "claude" in found.listen else ""
    return f"yes, pid {standing.pid}{where}{f', since {since}' if since else ''}"
