"""`flowpool enable`, `disable`, `rename`, `rank`: what is set of an account. All names or none."""

from collections.abc import Callable
from dataclasses import replace

import click

from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from home import accounts as book
from home.paths import Home
from routing.words import Account

NAMES = click.argument("typed", metavar="NAME...", nargs=-1, required=True, shell_complete=names.complete)
NAME = click.argument("name", metavar="NAME", shell_complete=names.complete)


class Rank(click.ParamType[int | str]):
    """A whole number, or none."""

    name = "rank"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read what was typed."""
        if value == "none":
            return "none"
        try:
            rank = int(value)
        except ValueError:
            rank = book.FURTHEST + 1
        if not book.is_rank(rank):
            self.fail(f"N must be {book.RANK_RULE}, or none", param, ctx)
        return rank


@click.command
@NAMES
@pass_home
def enable(home: Home, typed: tuple[str, ...]) -> None:
    """Let accounts that were disabled serve requests again."""
    _set(home, typed, lambda account: replace(account, enabled=True))
    click.echo(f"enabled {_listed(typed)}")


@click.command
@NAMES
@pass_home
def disable(home: Home, typed: tuple[str, ...]) -> None:
    """Keep accounts, but let no new request use them.

    Requests that are on their way end normally. `flowpool enable NAME` undoes it.
    """
    now = _set(home, typed, lambda account: replace(account, enabled=False))
    none_left = "" if any(account.enabled for account in now) else "; none is enabled now, so requests are refused"
    click.echo(f"disabled {_listed(typed)}{none_left}")


@click.command
@click.argument("old", metavar="OLD", shell_complete=names.complete)
@click.argument("new", metavar="NEW")
@pass_home
def rename(home: Home, old: str, new: str) -> None:
    """Give an account another name; nothing else of it changes."""
    if not book.is_name(new) or new.startswith("sk-"):  # not quoted: it may be a secret in the wrong place
        raise click.UsageError(f"NEW must be {book.NAME_RULE}")

    def change(known: book.Accounts) -> book.Accounts:
        (account,) = names.find(known, [old])
        if new != old and any(other.name == new for other in known):
            raise Failure(
                f"there is an account {new} already; to give that another name, run: flowpool rename {new} OTHER"
            )
        return tuple(replace(one, name=new) if one is account else one for one in known)

    book.edit(home.accounts, change)
    proxy.tell(home)
    click.echo(f"renamed {old} to {new}")


@click.command(context_settings={"ignore_unknown_options": True})  # -1 is a rank
@NAME
@click.argument("rank", metavar="N|none", type=Rank())
@pass_home
def rank(home: Home, name: str, rank: int | str) -> None:
    """Say in which order accounts are used: lower first.

    N is a whole number. Accounts without a rank come after all that have one; "none" takes it away again. An account that is nearly
    spent comes after the others all the same, whatever its rank.
    """
    wanted = rank if isinstance(rank, int) else None
    _set(home, (name,), lambda account: replace(account, rank=wanted))
    click.echo(f"{name} has no rank now" if wanted is None else f"ranked {name} {wanted}")


def _set(home: Home, typed: tuple[str, ...], change: Callable[[Account], Account]) -> book.Accounts:
    """Change the accounts with these names, and tell the proxy; return all accounts as they are now."""

    def edit(known: book.Accounts) -> book.Accounts:
        meant = names.find(known, typed)
        return tuple(change(one) if one in meant else one for one in known)

    now = book.edit(home.accounts, edit)
    proxy.tell(home)
    return now


def change_all(
    home: Home, typed: tuple[str, ...], change: Callable[[Account], Account], *, is_change: bool = True
) -> tuple[Account, ...]:
    """Change the accounts with these names, tell the proxy, and return them as they are now; without a change only look."""
    now = _set(home, typed, change) if is_change else book.load(home.accounts)
    return names.find(now, typed)


def _listed(typed: tuple[str, ...]) -> str:
    return ", ".join(dict.fromkeys(typed))
