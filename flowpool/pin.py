"""`flowpool pin`: says which accounts are to serve, for all, or for one session."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import click

from flowpool import names, pinned, proxy
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.pinned import Pins
from home import accounts as book
from home.paths import Home
from routing.pins import SESSION_RULE, Pin, is_session
from routing.sessions import Meant, meant
from routing.words import Account

PATH = "/_flowpool/pin"
AUTO = "auto"
TYPED = click.argument("typed", metavar=f"[NAME...|{AUTO}]", nargs=-1, shell_complete=names.complete)
JSON = click.option("--json", "as_json", is_flag=True, help="Print all pins as JSON, for programs.")


class Set(NamedTuple):
    """What a wish made: all pins as they are then, and the session that it is about, if it is about one."""

    pins: Pins
    session: Meant | None = None


@click.command
@TYPED
@click.option(
    "--session",
    metavar="ID",
    help="Only for this session, or conversation; its next request goes there. A beginning will do.",
)
@click.option("--move", is_flag=True, help="Running conversations move there, too, with their next request, once each.")
@click.option("--force", is_flag=True, help="The pins of sessions and of launches end.")
@JSON
@pass_home
def pin(home: Home, *, typed: tuple[str, ...], session: str | None, move: bool, force: bool, as_json: bool) -> None:
    """Let these accounts serve: of several, the best.

    New conversations go there; a running one stays where its cache is warm. A pin replaces the one before and lasts until "flowpool pin auto". It spends the reserves of its accounts and ends at their limits: then the others serve. Without a name it shows what is pinned.

    ID is what `flowpool why` and `flowpool requests --json` show, or $CLAUDE_CODE_SESSION_ID inside a session.
    """
    if not typed:
        if session is not None or move or force:
            raise click.UsageError(f"name the accounts that are to serve, or {AUTO}")
        show(home, as_json=as_json)
        return
    if session is not None and not is_session(session):
        raise click.UsageError(
            f"ID must be {SESSION_RULE}; `flowpool status --json` lists the sessions that are pinned"
        )
    if session is not None and (move or force):
        raise click.UsageError("--session moves that session anyway, and nothing else: leave out --move and --force")
    told = set_pin(home, typed, session=session, moves=move, forces=force)
    click.echo(json.dumps({"pins": told.pins}, indent=2) if as_json else _said(typed, told, moves=move))


def show(home: Home, *, as_json: bool) -> None:
    """Show what is pinned."""
    pins = pinned.look(home)
    click.echo(json.dumps({"pins": pins}, indent=2) if as_json else "\n".join(pinned.lines(pins)))


def set_pin(
    home: Home, typed: Sequence[str], *, session: str | None = None, moves: bool = False, forces: bool = False
) -> Set:
    """Tell the running proxy, else the state. Raises Failure, and changes nothing then."""
    accounts = meant_by(home, typed)
    if session is not None and len(accounts) > 1:
        raise Failure("a session is pinned to one account; run: flowpool pin NAME --session ID")
    body = {"accounts": [account.id for account in accounts], "session": session, "moves": moves, "forces": forces}
    running = proxy.find(home)
    data = running.post(PATH, body) if running else None
    if running is not None and data is not None:
        return Set(pinned.read(running, data), None if session is None else pinned.whose(running, data, session))
    return _edit(home, accounts, session=session, moves=moves, forces=forces)


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


def _edit(home: Home, accounts: tuple[Account, ...], *, session: str | None, moves: bool, forces: bool) -> Set:
    """Without a proxy: write it where the next one finds it."""
    from home.state import pinning  # noqa: PLC0415  # SQLAlchemy costs 200 ms

    whose = None if session is None else _meant(home, session)
    wish = Pin(accounts=tuple(account.id for account in accounts), at=datetime.now(UTC), moves=moves)
    pinning.pin(home.state, wish, None if whose is None else whose.id, forces=forces)
    return Set(pinned.kept(home), whose)


def _meant(home: Home, typed: str) -> Meant:
    """Find whose id it is, among those that the state knows."""
    from home.state import reader  # noqa: PLC0415  # not needed beside a running proxy

    own = [str(one["session"]) for one in pinned.kept(home) if one["session"]]
    try:
        return meant(typed, [*reader.conversations_like(home.state, typed), *own])
    except ValueError as error:
        raise Failure(str(error)) from None


def _said(typed: tuple[str, ...], told: Set, *, moves: bool) -> str:
    listed = ", ".join(dict.fromkeys(typed))
    if told.session is not None:
        return _of_session(listed, told.session, told.pins)
    if listed == AUTO:
        return f"nothing is pinned for all; each conversation goes where there is room{pinned.staying(told.pins)}"
    running = "running ones move there" if moves else "running ones stay where they are warm"
    yields = pinned.yielding(told.pins, None)
    return f"new conversations go to {listed}, {running}{yields}; undo: flowpool pin {AUTO}"


def _of_session(listed: str, session: Meant, pins: Pins) -> str:
    if listed == AUTO:
        return f"session {proxy.clean(session.id)} is free again"
    later = "" if session.is_known else "; no request of it is known yet: it holds when one comes"
    yields = pinned.yielding(pins, session.id)
    return f"session {proxy.clean(session.id)} goes to {listed}{later}{yields}; undo: {pinned.undo(session.id)}"
