"""What several commands take: the home, how much is shown, and whether they go on."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate

import click

from home.paths import Home

MOST = 100_000  # rows or lines that are shown at once

COUNT = click.option(
    "-n",
    "count",
    metavar="N",
    type=click.IntRange(0, MOST),
    default=50,
    show_default=True,
    help="How many, the latest last.",
)
FOLLOW = click.option("-f", "--follow", is_flag=True, help="Go on and show more as it comes; Ctrl-C stops.")

NO_VERIFY = click.option(
    "--no-verify", is_flag=True, help="Do not ask the provider first whether it accepts the secret."
)
FORCE = click.option("--force", is_flag=True, help="Also where the secret that an account has is the better one.")


def account_name(_context: click.Context, _parameter: click.Parameter, typed: str | None) -> str | None:
    """Return a name that an account may have; None when it was left out."""
    from home import accounts as book  # noqa: PLC0415  # costs `status`, which takes no name, 20 ms

    if typed is not None and (not book.is_name(typed) or typed.startswith("sk-")):
        raise click.UsageError(f"NAME must be {book.NAME_RULE}; a secret is never an argument")  # nor quoted
    return typed


def pass_home[**P, R](command: Callable[Concatenate[Home, P], R]) -> Callable[P, R]:
    """Give a command its home; one that cannot be made is the same line and exit code for all."""

    @click.pass_obj
    @wraps(command)
    def run(home: Home, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return command(home.make(), *args, **kwargs)

    return run
