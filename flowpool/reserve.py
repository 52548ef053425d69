"""`flowpool reserve`: holds back a part of an account for what is pinned to it."""

import json
from dataclasses import replace

import click

from flowpool.arguments import pass_home
from flowpool.change import NAME, change_all
from home import accounts as book
from home.paths import Home
from routing.words import Account, Reserves

MOST = 99


class Percent(click.ParamType[int]):
    """A whole percent."""

    name = "percent"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read what was typed."""
        try:
            percent = int(value)
        except ValueError:
            percent = -1
        if not 0 <= percent <= MOST:
            self.fail(f"PERCENT is a whole percent from 0 to {MOST}", param, ctx)
        return percent


PERCENT = Percent()


@click.command
@NAME
@click.option("--5h", "session", metavar="PERCENT", type=PERCENT, help="Of its 5-hour windows; 0 to 99.")
@click.option("--week", metavar="PERCENT", type=PERCENT, help="Of its weekly windows; 0 to 99.")
@click.option("--off", is_flag=True, help="Hold nothing back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@pass_home
def reserve(home: Home, *, name: str, session: int | None, week: int | None, off: bool, as_json: bool) -> None:
    """Hold back a part of an account, for yourself.

    Once a window is used up to that part, the account serves nothing more until the window resets, but what is pinned to it (see "flowpool pin"). Without an option it shows what is held back. With routing.reserve_last_resort = true it also serves when nobody else may.
    """
    if off and (session is not None or week is not None):
        raise click.UsageError("--off holds nothing back: leave out --5h and --week")

    def change(account: Account) -> Account:
        held = Reserves() if off else account.reserves
        return replace(
            account,
            reserves=Reserves(
                session=held.session if session is None else session / 100,
                week=held.week if week is None else week / 100,
            ),
        )

    is_change = off or session is not None or week is not None
    (account,) = change_all(home, (name,), change, is_change=is_change)
    click.echo(json.dumps(book.describe(account), indent=2) if as_json else _said(account, is_change=is_change))


def _said(account: Account, *, is_change: bool) -> str:
    kept = account.reserves
    if not kept:
        return f"{account.name} holds nothing back"
    parts = [f"{part:.0%} of {of}" for part, of in ((kept.session, "its 5 hours"), (kept.week, "its week")) if part]
    undo = f"; undo: flowpool reserve {account.name} --off" if is_change else ""
    return f"{account.name} holds back {' and '.join(parts)}{undo}"
