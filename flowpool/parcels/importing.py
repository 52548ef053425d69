"""`flowpool accounts import`: accounts and their secrets out of a parcel of another machine."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from credentials import files, parcel
from credentials.backends import open_store
from credentials.errors import BadParcel
from flowpool.errors import Failure
from flowpool.intake import telling
from flowpool.parcels import carrying, passphrase
from flowpool.parcels.carrying import Arrival
from home import accounts as book
from home import settings
from home.paths import Home

STDIN = Path("-")


def run(home: Home, file: Path, passphrase_file: Path | None, *, replaces: bool) -> None:
    """Open the parcel, take in what is new, and say what became of each account."""
    command = f"flowpool accounts import {shlex.quote(str(file))}"
    sealed = _read(file)
    try:
        opened = parcel.unseal(sealed, passphrase.ask(passphrase_file, command, twice=False))
    except BadParcel as error:
        raise Failure(str(error).replace(parcel.AGAIN, command)) from None
    luggage = carrying.unpack(opened, file)
    backend = settings.load(home.config).credentials.backend
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    arrival = carrying.unload(home.accounts, store, luggage, datetime.now(UTC), replaces=replaces)
    telling.tell(home, [one for one in book.load(home.accounts) if one.name in arrival.replaced])
    for line in _lines(arrival, command):
        click.echo(line)


def _read(file: Path) -> bytes:
    if file == STDIN:
        if sys.stdin is None:
            raise Failure("there is no stdin to read; run: flowpool accounts import FILE")
        data = sys.stdin.buffer.read(files.LARGEST + 1)
        if len(data) > files.LARGEST:
            raise BadParcel("this is no file that `flowpool accounts export` wrote", parcel.AGAIN)
        return data
    found = files.read(file, private=False)
    if found is None:
        raise Failure(f"{file} is not there; make it with: flowpool accounts export FILE")
    return found


def _lines(arrival: Arrival, command: str) -> list[str]:
    """What became of each account."""
    lines = [f"added {here}" if here == name else f"added {name} as {here}" for name, here in arrival.added.items()]
    lines += [f"replaced the secret of {name}" for name in arrival.replaced]
    lines += [
        f"kept the secret of {name}, which is better: {why}; to log in anew, run: flowpool login {name}"
        for name, why in arrival.kept.items()
    ]
    again = f"to give it the secret of the file, run: {command} --replace"
    lines += [f"skipped {name}: it is here already, as {here}; {again}" for name, here in arrival.skipped.items()]
    return lines
