"""`flowpool lift`: ends an account's holds, so that it is asked again now."""

from datetime import UTC, datetime

import click

from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.change import NAMES
from flowpool.proxy import Proxy
from home import accounts as book
from home.paths import Home
from routing.verdicts import RESERVE_ROW
from routing.words import Account

PATH, STATUS = "/_flowpool/lift", "/_flowpool/status"


@click.command
@NAMES
@pass_home
def lift(home: Home, typed: tuple[str, ...]) -> None:
    """Ask accounts again now, before their limits reset.

    After a refusal an account is held: it is left alone until its limit resets. Use this when you know better: you bought credit,
    or the provider has reset a limit. `flowpool status` shows who is held, and why.

    What was read of the windows that a hold rests on is forgotten with it: until the next answer they are missing in `flowpool status`, and reserves and strategies know nothing of them. A reserve that is reached is no hold: "flowpool reserve NAME --off" ends it.
    """
    meant = names.find(book.load(home.accounts), typed)
    running = proxy.find(home)
    lifted = _tell(running, meant) if running else None
    if lifted is None:
        lifted = _edit(home, meant)
    reached = _reached(home) if any(account.reserves for account in meant) else frozenset()
    click.echo(", ".join(f"{account.name}: {_told(lifted.get(account.id), account, reached)}" for account in meant))


def _reached(home: Home) -> frozenset[str]:
    """Return the ids of the accounts that are at their reserves."""
    running = proxy.find(home)
    data = running.get(STATUS) if running else None
    if running is not None and data is not None:
        accounts = proxy.document(running, data).get("accounts", [])
    else:
        from flowpool import alone  # noqa: PLC0415  # none of it is needed beside a running proxy

        accounts = alone.draw(home, datetime.now(UTC))["accounts"]
    return frozenset(one["id"] for one in accounts if any(hold.get("row") == RESERVE_ROW for hold in one["holds"]))


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


def _told(count: object, account: Account, reached: frozenset[str]) -> str:
    ended = count if isinstance(count, int) else 0
    words = [] if not ended else ["1 hold lifted" if ended == 1 else f"{ended} holds lifted"]
    if account.id in reached:
        words.append(f"at its reserve, which is no hold; run: flowpool reserve {account.name} --off")
    return "; ".join(words) or "nothing was held"
