"""A passphrase: asked for without showing it, or the first line of a file; never an argument."""

import shlex
from pathlib import Path

import click

from credentials import files
from credentials.parcel import SHORTEST
from flowpool.errors import Failure
from flowpool.intake import asking

OPTION = click.option(
    "--passphrase-file",
    "passphrase_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Take the passphrase from a file's first line instead of asking for it.",
)


def ask(file: Path | None, command: str, *, twice: bool) -> str:
    """Return the passphrase. twice: it is a new one, so that a slip must show. command: what to run once more."""
    passphrase = _read(file) if file else _prompt(command, twice=twice)
    if twice and len(passphrase) < SHORTEST:
        raise Failure(f"a passphrase needs at least {SHORTEST} characters; take a longer one, then run: {command}")
    return passphrase


def _read(file: Path) -> str:
    data, quoted = files.read(file, private=False), shlex.quote(str(file))
    if data is None:
        raise Failure(f"{file} is not there; write the passphrase into it, then run: chmod 600 {quoted}")
    try:
        first, *_ = data.decode("utf-8-sig").splitlines() or [""]
    except UnicodeDecodeError:
        raise Failure(f"{file} is not text; run: file {quoted}") from None
    if not first:
        raise Failure(f"the first line of {file} is empty; write the passphrase into it, then run: chmod 600 {quoted}")
    return first


def _prompt(command: str, *, twice: bool) -> str:
    if not asking.has_terminal():
        raise Failure(f"there is no terminal to ask for the passphrase; run: {command} --passphrase-file FILE")
    answer: str = click.prompt("passphrase (not shown)", hide_input=True, confirmation_prompt=twice, err=True)
    return answer
