"""`flowpool run`: starts Claude Code with the pool before it."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import override

import click

from flowpool import names
from flowpool.arguments import account_name, pass_home
from flowpool.errors import Failure
from flowpool.launch import binary, launching, management
from flowpool.launch.launching import Launch, say
from flowpool.launch.starting import become
from home import accounts as book
from home import running, settings
from home.paths import Home
from home.settings import Settings

FLAGS = frozenset({"--direct", "--forward", "--resume-on-limit"})
ACCOUNT, END = "--account", "--"
ASKING = ("--help", "-h")
HELP = """Start Claude Code with the pool before it.

\b
  flowpool run                           the proxy is started if none runs
  flowpool run -p "say hi"
  flowpool run --account work -- --resume

What follows the options above is Claude Code's, from the first word that is none of them; after -- everything is. It keeps its login, and its code is the code of this command.
"""


class Launching(click.Command):
    """A command whose options end at the first word that is none of them: the rest is the other program's, untouched."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing and (word := misplaced(args)):
            say(f"{word} is passed to Claude Code: flowpool's own options come before all of Claude Code's")
        return super().parse_args(ctx, fenced(args))


def fenced(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--` where ours end, unless it is there."""
    at = _end(arguments)
    if arguments[at : at + 1] in ([], [END]):
        return list(arguments)
    return [*arguments[:at], END, *arguments[at:]]


def misplaced(arguments: Sequence[str]) -> str:
    """Return the first of our options that stands among Claude Code's, nothing where none does, or a `--` says that it is meant so."""
    theirs = arguments[_end(arguments) :]
    before = theirs[: theirs.index(END)] if END in theirs else theirs
    return next((word for word in before if word in (*FLAGS, ACCOUNT) or word.startswith(f"{ACCOUNT}=")), "")


def _end(arguments: Sequence[str]) -> int:
    """Return where ours end: at `--`, at the first word that is none of them, or behind all."""
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == ACCOUNT:
            at += 2
        elif word in (*FLAGS, *ASKING) or word.startswith(f"{ACCOUNT}="):
            at += 1
        else:
            break
    return min(at, len(arguments))


@click.command(
    cls=Launching, help=HELP, options_metavar="[OPTIONS]", short_help="Start Claude Code with the pool before it."
)
@click.option(
    ACCOUNT,
    metavar="NAME",
    callback=account_name,
    shell_complete=names.complete,
    help="Let this account serve it, while it can.",
)
@click.option("--direct", is_flag=True, help="Without the pool; with --account, on that account's own secret.")
@click.option("--forward", is_flag=True, help="By HTTPS_PROXY, so that Claude Code asks the vendor's own address.")
@click.option(
    "--resume-on-limit", "resumes", is_flag=True, help="Resume the session when a limit ends it, at most 3 times."
)
@click.argument("arguments", metavar="[--] [ARGS]...", nargs=-1, type=click.UNPROCESSED)
@pass_home
def run(
    home: Home, *, account: str | None, direct: bool, forward: bool, resumes: bool, arguments: tuple[str, ...]
) -> None:
    """Start Claude Code."""
    if direct and (forward or resumes):
        raise click.UsageError("--direct goes without the pool: leave out --forward and --resume-on-limit")
    program = binary.find(os.environ, ours=home.link)
    if management.is_management(arguments):
        sys.exit(become(program, arguments, os.environ))
    chosen = settings.load(home.config)
    launch = Launch(
        program=program,
        arguments=arguments,
        environ=os.environ,
        account=_fit(home, account, is_direct=direct),
        forward=forward,
        resumes=resumes or chosen.launch.resume_on_limit,
    )
    sys.exit(_direct(home, chosen, launch) if direct else _pooled(home, chosen, launch))


def _fit(home: Home, name: str | None, *, is_direct: bool) -> str:
    """Return the account's name, nothing where none is named; raise Failure for one that is not there or may not serve."""
    if name is None:
        return ""
    (account,) = names.find(book.load(home.accounts), [name])
    if not account.enabled and not is_direct:
        raise Failure(f"{name} is disabled; run: flowpool enable {name}")
    return name


def _pooled(home: Home, chosen: Settings, launch: Launch) -> int:
    from flowpool import background  # noqa: PLC0415  # not needed without the pool

    launching.need_account(home, launch)
    background.ensure(home)
    proxy = running.read(home.running)
    if proxy is None or launching.CLAUDE not in proxy.listen:
        raise Failure("the proxy ended as soon as it had begun; run: flowpool logs")
    return launching.start(home, chosen, proxy, launch)


def _direct(home: Home, chosen: Settings, launch: Launch) -> int:
    from flowpool.launch import direct  # noqa: PLC0415  # opens the store of secrets

    ready, arguments = direct.prepared(home, chosen, launch, datetime.now(UTC))
    for note in ready.notes:
        say(note)
    return become(launch.program, arguments, ready.values)
