"""`flowpool switch`: makes one account the one that everything uses from now on."""

import json

import click

from flowpool import names
from flowpool.arguments import pass_home
from flowpool.pin import AUTO, JSON, set_pin, yielding
from home.paths import Home


@click.command
@click.argument("name", metavar=f"NAME|{AUTO}", shell_complete=names.complete)
@JSON
@pass_home
def switch(home: Home, name: str, as_json: bool) -> None:
    """Make one account the one that all conversations use.

    It is short for "flowpool pin NAME --move": running conversations come with their next request, one by one, but for those with a pin of their own. At a limit of the account the others serve. "flowpool switch auto" undoes it.
    """
    told = set_pin(home, [name], moves=name != AUTO)
    if as_json:
        click.echo(json.dumps({"pins": told}, indent=2))
    elif name == AUTO:
        click.echo("each conversation goes where there is room")
    else:
        click.echo(f"new and running conversations go to {name}{yielding(told, None)}")
