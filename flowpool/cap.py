"""`flowpool cap`: says how many requests may be in flight on an account."""

import json
from dataclasses import replace

import click

from flowpool.arguments import pass_home
from flowpool.change import NAME, change_all
from home import accounts as book
from home.paths import Home
from routing.words import Account

OFF = "off"


class Cap(click.ParamType[int | str]):
    """A whole number, or off."""

    name = "cap"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read what was typed."""
        if value == OFF:
            return OFF
        try:
            cap = int(value)
        except ValueError:
            cap = 0
        if not book.is_cap(cap):
            self.fail(f"N is how many requests at once: {book.CAP_RULE}, or {OFF}", param, ctx)
        return cap


@click.command
@NAME
@click.argument("cap", metavar=f"[N|{OFF}]", type=Cap(), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@pass_home
def cap(home: Home, name: str, cap: int | str | None, as_json: bool) -> None:
    """Let an account have at most so many requests in flight.

    When it has, new conversations go to other accounts. One whose cache is warm there waits in the proxy for its turn, as everything does when all accounts are full: first come, first served, for at most wait.max seconds. Without a number it shows what is set.
    """
    wanted = cap if isinstance(cap, int) else None
    (account,) = change_all(home, (name,), lambda account: replace(account, cap=wanted), is_change=cap is not None)
    click.echo(json.dumps(book.describe(account), indent=2) if as_json else _said(account, is_change=cap is not None))


def _said(account: Account, *, is_change: bool) -> str:
    if account.cap is None:
        return f"{account.name} has no cap{' now' if is_change else ''}"
    if is_change:
        return f"capped {account.name} at {account.cap} in flight; undo: flowpool cap {account.name} {OFF}"
    return f"{account.name} is capped at {account.cap} in flight"
