"""A folder for one login, that is gone afterwards, with all that was written into it."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from credentials import files
from credentials.errors import Busy
from flowpool.errors import Failure
from home import clientlogin, keychain
from home.paths import Home

PREFIX = "login-"


@contextmanager
def folder(home: Home) -> Iterator[Path]:
    """Give a folder that only we can enter; what a killed program left is removed first. Raises Failure when one is in use."""
    with ExitStack() as stack:
        try:
            stack.enter_context(files.lock(home.state_folder / "login", patience=0))
        except Busy:
            raise Failure("another `flowpool login` is running; end that one first") from None
        for left in home.state_folder.glob(f"{PREFIX}*"):
            _remove(left)
        made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home.state_folder))
        stack.callback(_remove, made)
        yield made


def _remove(path: Path) -> None:
    """Remove it, and what the keychain holds for it; what cannot be is said, for it may hold a login."""
    try:
        if item := clientlogin.of_folder(path, sys.platform).item:
            keychain.forget(item)
        shutil.rmtree(path)
    except (OSError, keychain.KeychainError) as error:
        click.echo(f"flowpool: the login's folder is left over ({error}); run: rm -r '{path}'", err=True)
