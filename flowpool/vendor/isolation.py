"""A folder for one login, that is gone afterwards, with all that was written into it."""

import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from credentials import files
from credentials.errors import Busy
from flowpool.errors import Failure
from home import clientlogin, keychain
from home.paths import Home

PREFIX = ".flowpool-login-"  # of a name that is nobody else's: what begins so is removed
ENDING = tuple(
    number
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT")
    if isinstance(number := getattr(signal, name, None), signal.Signals)
)


@contextmanager
def folder(home: Home) -> Iterator[Path]:
    """Give a folder that only we can enter; what a killed program left is removed first. Raises Failure when one is in use."""
    with ExitStack() as stack:
        try:
            stack.enter_context(files.lock(home.state_folder / "login", patience=0))
        except Busy:
            raise Failure("another `flowpool login` is running; end that one first") from None
        stack.enter_context(_ending_well())
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
        with suppress(FileNotFoundError):  # whoever ran in it may have removed it
            shutil.rmtree(path)
    except (OSError, keychain.KeychainError) as error:
        click.echo(
            f"flowpool: the login's folder is left over ({error}); run: rm -r {shlex.quote(str(path))}", err=True
        )


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let what usually ends a program at once unwind it, so that nothing is left behind."""

    def unwind(number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, unwind) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
