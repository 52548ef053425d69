"""`flowpool switch`: makes one account the one that everything uses from now on."""

import json

import click

from flowpool import names
from flowpool.arguments import pass_home
from flowpool.pin import AUTO, JSON, set_pin, show
from flowpool.pinned import staying, yielding
from home import accounts as book
from home.paths import Home


@click.command
@click.argument("typed", metavar=f"[NAME|{AUTO}]", nargs=-1, shell_complete=names.complete)
@JSON
@pass_home
def switch(home: Home, typed: tuple[str, ...], as_json: bool) -> None:
    """Make one account the one that all conversations use.

    It is short for "flowpool pin NAME --move": running conversations come with their next request, one by one, but for those with a pin of their own. At a limit of the account the others serve. "flowpool switch auto" undoes it. Without a name it shows what is pinned.
    """
    if not typed:
        show(home, as_json=as_json)
        return
    if len(typed) > 1:
        several = " ".join(typed) if all(map(book.is_name, typed)) else "NAME NAME"
        raise click.UsageError(f"everything goes to one account; for several: flowpool pin {several} --move")
    (name,) = typed
    pins = set_pin(home, [name], moves=name != AUTO).pins
    if as_json:
        click.echo(json.dumps({"pins": pins}, indent=2))
    elif name == AUTO:
        click.echo(f"each conversation goes where there is room{staying(pins)}")
    else:
        click.echo(f"new and running conversations go to {name}{yielding(pins, None)}; undo: flowpool switch {AUTO}")
