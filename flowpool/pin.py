"""`flowpool pin`: says which accounts are to serve, for all, or for one session."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.proxy import Proxy
from home import accounts as book
from home.paths import Home
from routing.words import Account

PATH = "/_flowpool/pin"
AUTO = "auto"
TYPED = click.argument("typed", metavar=f"NAME...|{AUTO}", nargs=-1, required=True, shell_complete=names.complete)
JSON = click.option("--json", "as_json", is_flag=True, help="Print all pins as JSON, for programs.")


@click.command
@TYPED
@click.option("--session", metavar="ID", help="Only for this session, or conversation; its next request goes there.")
@click.option("--move", is_flag=True, help="Running conversations move there, too, with their next request, once each.")
@click.option("--force", is_flag=True, help="The pins of sessions and of launches end.")
@JSON
@pass_home
def pin(home: Home, *, typed: tuple[str, ...], session: str | None, move: bool, force: bool, as_json: bool) -> None:
    """Let these accounts serve: of several, the best.

    New conversations go there; a running one stays where its cache is warm. A pin replaces the one before and lasts until "flowpool pin auto". It spends the reserves of its accounts and ends at their limits: then the others serve. `flowpool status` shows all pins.
    """
    if session is not None and (move or force):
        raise click.UsageError("--session moves that session anyway, and nothing else: leave out --move and --force")
    told = set_pin(home, typed, session=session, moves=move, forces=force)
    click.echo(json.dumps({"pins": told}, indent=2) if as_json else _said(typed, session, told, moves=move))


def set_pin(
    home: Home, typed: Sequence[str], *, session: str | None = None, moves: bool = False, forces: bool = False
) -> list[dict[str, Any]]:
    """Tell the running proxy, else the state; return all pins as they are then. Raises Failure, and changes nothing then."""
    meant = meant_by(home, typed)
    if session is not None and len(meant) > 1:
        raise Failure("a session is pinned to one account; run: flowpool pin NAME --session ID")
    body = {"accounts": [account.id for account in meant], "session": session, "moves": moves, "forces": forces}
    running = proxy.find(home)
    data = running.post(PATH, body) if running else None
    if running is not None and data is not None:
        return _pins(running, data)
    return _edit(home, meant, session=session, moves=moves, forces=forces)


def meant_by(home: Home, typed: Sequence[str]) -> tuple[Account, ...]:
    """Return the accounts that are meant, none for "auto"; raise Failure for names that nobody has or that may not serve."""
    if AUTO in typed:
        if len(set(typed)) > 1:
            raise Failure(f'"{AUTO}" stands alone: it ends the pin; run: flowpool pin {AUTO}')
        return ()
    known = book.load(home.accounts)
    meant = names.find(known, typed)
    off = ", ".join(account.name for account in meant if not account.enabled)
    if off:
        fit = ", ".join(account.name for account in known if account.enabled)
        others = f"these can be pinned: {fit}" if fit else "none can be pinned"
        raise Failure(f"{off} is disabled; {others}; run: flowpool enable {off.replace(',', '')}")
    return meant


def _pins(running: Proxy, data: bytes) -> list[dict[str, Any]]:
    found = proxy.document(running, data).get("pins")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise running.strange()
    return found


def _edit(
    home: Home, meant: tuple[Account, ...], *, session: str | None, moves: bool, forces: bool
) -> list[dict[str, Any]]:
    """Without a proxy: write it where the next one finds it."""
    from flowpool import alone  # noqa: PLC0415  # none of it is needed beside a running proxy
    from home.state import pinning  # noqa: PLC0415  # SQLAlchemy costs 200 ms
    from routing.pins import Pin  # noqa: PLC0415

    now = datetime.now(UTC)
    wish = Pin(accounts=tuple(account.id for account in meant), at=now, moves=moves)
    pinning.pin(home.state, wish, session, forces=forces)
    pins: list[dict[str, Any]] = alone.draw(home, now)["pins"]
    return pins


def _said(typed: Sequence[str], session: str | None, pins: list[dict[str, Any]], *, moves: bool) -> str:
    listed = ", ".join(dict.fromkeys(typed))
    if session is not None:
        return (
            "that session is free again"
            if listed == AUTO
            else f"that session goes to {listed}{yielding(pins, session)}"
        )
    if listed == AUTO:
        return "nothing is pinned for all; each conversation goes where there is room"
    running = "running ones move there" if moves else "running ones stay where they are warm"
    return f"new conversations go to {listed}, {running}{yielding(pins, None)}"


def yielding(pins: list[dict[str, Any]], session: str | None) -> str:
    """Say that a pin yields for now, and why; nothing when it does not."""
    because = next((str(one.get("because", "")) for one in pins if one.get("session") == session), "")
    return f"; for now it {proxy.clean(because)}" if because.startswith("yields") else ""
