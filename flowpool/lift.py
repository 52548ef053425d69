"""`flowpool lift`: ends an account's holds, so that it is asked again now."""

import click

from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.change import NAMES
from flowpool.proxy import Proxy
from home import accounts as book
from home.paths import Home
from routing.words import Account

PATH = "/_flowpool/lift"


@click.command
@NAMES
@pass_home
def lift(home: Home, typed: tuple[str, ...]) -> None:
    """Ask accounts again now, before their limits reset.

    After a refusal an account is held: it is left alone until its limit resets. Use this when you know better: you bought credit,
    or the provider has reset a limit. `flowpool status` shows who is held, and why.
    """
    meant = names.find(book.load(home.accounts), typed)
    running = proxy.find(home)
    lifted = _tell(running, meant) if running else None
    if lifted is None:
        lifted = _edit(home, meant)
    click.echo(", ".join(f"{account.name}: {_told(lifted.get(account.id))}" for account in meant))


def _tell(running: Proxy, meant: tuple[Account, ...]) -> dict[str, object] | None:
    """Return how many holds the running proxy ended, by id; None when nothing listens there."""
    data = running.post(PATH, {"accounts": [account.id for account in meant]})
    if data is None:
        return None
    lifted = proxy.document(running, data).get("lifted")
    if not isinstance(lifted, dict):
        raise running.strange()
    return lifted


def _edit(home: Home, meant: tuple[Account, ...]) -> dict[str, object]:
    """Without a proxy: end what the next one would restore."""
    if not home.state.exists():
        return {}
    from home.state import lifting  # noqa: PLC0415  # SQLAlchemy costs 200 ms

    return {account.id: lifting.lift(home.state, [account.id]) for account in meant}


def _told(count: object) -> str:
    if not isinstance(count, int) or count == 0:
        return "nothing was held"
    return "1 hold lifted" if count == 1 else f"{count} holds lifted"
