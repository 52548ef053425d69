"""`flowpool setup`: step by step from nothing to a pool that serves; each step says what is done, and may be left out."""

import os
import sys
from collections.abc import Callable

import click

from credentials import files
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.launch import installed, link, managers, ourselves
from flowpool.launch.binary import is_link
from flowpool.launch.manager import Manager
from home import accounts as book
from home import checks, running, settings, template
from home.paths import Home
from home.toml import lines

DAY = "prime.day"
COMMANDS = (
    "flowpool login NAME",
    "flowpool config check",
    "flowpool service install",
    "flowpool link",
    "flowpool doctor",
)

type Step = Callable[[Home], list[str]]
"""What is done, or left out as the person wishes; it returns what is not done all the same, a line each, with its command."""


class NoTerminal(Failure):  # reads as the fact it states
    """Nobody can be asked."""

    exit_code = 2


@click.command
@pass_home
def setup(home: Home) -> None:
    """Set flowpool up, step by step.

    The steps: your day, accounts, the service, the link, and a look at all of it.

    It may be run again at any time: what is done is said and stays as it is. Ctrl-C ends it; what was done until then is whole.
    """
    if not _is_terminal():
        raise NoTerminal(
            "setup asks, and there is no terminal to ask at; run instead, one by one:\n" + "\n".join(COMMANDS)
        )
    steps: tuple[tuple[str, Step], ...] = (
        ("your day", _day),
        ("accounts", _accounts),
        ("the service", _service),
        ("the link", _link),
        ("a look at all of it", _look),
    )
    left: list[str] = []
    for number, (title, step) in enumerate(steps, start=1):
        click.secho(f"\n{number}/{len(steps)}  {title}", bold=True)
        left += step(home)
    click.echo("\nNot done yet:" if left else "\nAll is set up. To use it: flowpool run")
    for line in left:
        click.echo(f"  {line}")


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _day(home: Home) -> list[str]:
    """The priming day. config.toml is the person's: it is made with the day in it, or not touched at all."""
    data = files.read(home.config, private=False)
    if data is not None:
        _day_there(home, settings.parse(home.config, data), data)
        return []
    click.echo(
        "Once you have a day, 5-hour windows are opened early, so that they end one by one through it; each costs"
        " one small request."
    )
    day = click.prompt("Your day, such as 08:00-23:00 (Enter: none)", default="", show_default=False, value_proc=_read)
    files.create(home.config, template.render({DAY: day} if day else {}).encode())
    click.echo(f"{home.config} is made{f', with {template.line(DAY, day)}' if day else ''}; it is yours from now on")
    return []


def _read(typed: str) -> str:
    try:
        return str(checks.day(typed))
    except ValueError as error:
        raise click.UsageError(f"a day is {error}") from None


def _day_there(home: Home, chosen: settings.Settings, data: bytes) -> None:
    if chosen.prime.day:
        click.echo(f"done: {template.line(DAY, chosen.prime.day)}, in {home.config}")
        return
    at = lines(data).get(("prime",))
    place = f"below [prime], on line {at}" if at else "at its end, below a line [prime]"
    click.echo(
        f"{home.config} is yours, and flowpool changes nothing in it. For windows that end one by one through your day,"
        f" put {place}:\n    {template.line('day', '08:00-23:00')}"
    )


def _accounts(home: Home) -> list[str]:
    """As many logins as the person has."""
    click.echo(
        "Each subscription gets a login of its own, made by Claude Code's own program. (A key: flowpool add NAME --kind api-key)"
    )
    while True:
        known = book.load(home.accounts)
        names = ", ".join(account.name for account in known)
        click.echo(
            f"{'done: ' if known else ''}{len(known)} account{'' if len(known) == 1 else 's'}{names and ': '}{names}"
        )
        more = "another account" if known else "your first account"
        name = click.prompt(f"A name for {more} (Enter: no more)", default="", show_default=False, value_proc=_name)
        if not name:
            return [] if known else ["the pool has no account; run: flowpool login NAME"]
        if any(account.name == name for account in known):
            click.echo(f"{name} is there already; a new login for it: flowpool login {name}")
        elif ourselves.call("login", name):
            click.echo("it was not added")


def _name(typed: str) -> str:
    if typed and (not book.is_name(typed) or typed.startswith("sk-")):  # which is not quoted
        raise click.UsageError(f"a name is {book.NAME_RULE}; a secret is never typed here")
    return typed


def _service(home: Home) -> list[str]:
    make = managers.own()
    if make is None:
        ourselves.call("service", "install")  # which says what there is instead
        return _started(home)
    manager = make(home)
    try:
        manager.reach()
    except Failure as failure:
        click.echo(f"no service can be installed: {failure}")
        return [f"nothing starts the proxy by itself: {failure}", *_started(home)]
    return _installed(home, manager)


def _installed(home: Home, manager: Manager) -> list[str]:
    text = installed.read(manager)
    other = None if text is None else installed.differs(home, manager, text)
    if other is not None:
        click.echo(f"{manager.path} is there, but {other.what}; run: {other.mend}")
    elif text is not None:
        standing = manager.look()
        click.echo(f"done: {manager.path}; it is {standing.word}")
        if standing.is_running:
            return []
    if not click.confirm(f"Let {manager.name} start the proxy, and start it again when it fails?", default=True):
        return _started(home)
    if not ourselves.call("service", "install"):
        return []
    return ["the service is not installed; run: flowpool service install", *_started(home)]


def _started(home: Home) -> list[str]:
    """Start a proxy in the background, unless one runs; whoever wants none is asked nothing more."""
    if running.read(home.running) is not None or not click.confirm("Start it now, in the background?", default=True):
        return []
    return ["the proxy did not start; run: flowpool start"] if ourselves.call("start") else []


def _link(home: Home) -> list[str]:
    """Linking again is no harm, and says anew how the shell finds it."""
    if is_link(home.link):
        click.echo(f"done: {home.link}")
        return _linked(home)
    click.echo(
        "With the link, `claude` goes through the pool whenever a proxy answers; without it, `flowpool run` does."
    )
    return _linked(home) if click.confirm("Link it?", default=True) else []


def _linked(home: Home) -> list[str]:
    if ourselves.call("link"):
        return ["there is no link; run: flowpool link"]
    if link.is_first(os.environ):
        return []
    line = link.path_line(home.link.parent, os.environ)
    return [f"the link's folder is not first on the PATH; put into your shell's own file: {line}"]


def _look(_home: Home) -> list[str]:
    failed = "something failed above, which says what mends it; then run: flowpool doctor"
    return [failed] if ourselves.call("doctor") else []
