"""What programs that were killed left behind: found without changing anything, and taken away by `flowpool doctor --fix`."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from credentials import files
from credentials.errors import Busy, CredentialError
from flowpool.errors import Failure
from flowpool.launch import connect, foreign, link, touched
from flowpool.launch.binary import is_link
from flowpool.launch.touched import Touched
from flowpool.vendor import isolation
from home import clientlogin, keychain, running
from home.errors import HomeError
from home.paths import Home

_OF_LINK = re.compile(r"\.claude(?:\.cmd)?\.(?P<pid>[0-9]{1,10})\.tmp")  # as flowpool/launch/link.py names it
_STARTS = re.compile(rf"^(?:exec |@)(.+) -P -m {re.escape(link.MODULE)} ", re.MULTILINE)  # in the link


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One thing that is left. what: in words. take_away: does so, and returns what was done; may raise what is in FAULTS."""

    what: str
    take_away: Callable[[], str]


FAULTS = (OSError, Failure, HomeError, CredentialError)


def find(home: Home) -> Iterator[Leftover]:
    """Yield all that is left over; what a running program has in hand is none."""
    yield from _changes(home)
    yield from _proxies(home)
    yield from _logins(home)
    yield from _temporary(home)
    yield from _links(home)


def _changes(home: Home) -> Iterator[Leftover]:
    """A change of another program's file that was begun and not ended."""
    for one in _begun(home):
        yield Leftover(
            what=f"a change of {one.file} was begun and not ended",
            take_away=partial(_undone, home, one),
        )


def _undone(home: Home, one: Touched) -> str:
    return "; ".join(connect.undo_one(home, one.file)) or f"{one.file}: as before"


def _begun(home: Home) -> tuple[Touched, ...]:
    try:
        found = tuple(one for one in touched.load(home) if one.program == connect.PROGRAM and one.is_begun)
    except CredentialError:
        return ()
    return found if found and is_free(touched.path(home)) else ()


def _proxies(home: Home) -> Iterator[Leftover]:
    """The record of a proxy that did not end by itself."""

    def is_stale() -> bool:
        return os.path.lexists(home.running) and running.read(home.running) is None

    def forget() -> str:
        if is_stale():
            home.running.unlink(missing_ok=True)
        return f"removed {home.running}"

    if is_stale():
        last = running.left(home.running)
        whose = f"a proxy, pid {last.pid}, that is gone" if last else "no proxy that makes sense"
        yield Leftover(what=f"{home.running} tells of {whose}", take_away=forget)


def _logins(home: Home) -> Iterator[Leftover]:
    """The folder of a login that was killed; it may hold the login."""
    found = sorted(home.state_folder.glob(f"{isolation.PREFIX}*"))
    if not found or not is_free(home.state_folder / "login"):
        return
    for folder in found:
        yield Leftover(
            what=f"{folder} is left of a login that was interrupted",
            take_away=partial(_without_login, home, folder),
        )


def _without_login(home: Home, folder: Path) -> str:
    with files.lock(home.state_folder / "login", patience=0):
        if item := clientlogin.of_folder(folder, sys.platform).item:
            keychain.forget(item)
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
    return f"removed {folder}"


def _temporary(home: Home) -> Iterator[Leftover]:
    """Files that were to take another's place, of programs that are gone."""
    clients = [connect.usual()]
    with suppress(CredentialError):
        clients += [one.file for one in touched.load(home)]
    found = [path for client in clients for path in foreign.left_beside(client)]
    found += [path for folder in _folders(home) for path in foreign.abandoned(folder)]
    found += [path for path in home.link.parent.glob(".claude*.tmp") if _is_of_dead_link(path)]
    for path in dict.fromkeys(found):
        yield _file(path, f"{path} is left of a program that was killed while it wrote")


def _is_of_dead_link(path: Path) -> bool:
    match = _OF_LINK.fullmatch(path.name)
    return match is not None and not running.is_alive(int(match["pid"]))


def _folders(home: Home) -> tuple[Path, ...]:
    return home.config_folder, home.state_folder, home.log.parent, home.link.parent


def _links(home: Home) -> Iterator[Leftover]:
    """A `claude` of ours that points nowhere, or whose Python is gone. Other links are the person's: what they lead to may come back."""
    if home.link.is_symlink() and not home.link.exists():
        yield _file(home.link, f"{home.link} is a link that points nowhere")
    if is_link(home.link) and (python := _python(home.link)) and not python.exists():
        yield Leftover(
            what=f"{home.link} starts {python}, which is gone", take_away=lambda: "; ".join(link.unlink(home))
        )


def _python(script: Path) -> Path | None:
    """Return the interpreter that our link starts; None when it does not say."""
    found = _STARTS.search(script.read_text(encoding="utf-8", errors="surrogateescape"))
    try:
        return Path(shlex.split(found[1])[0]) if found else None
    except (ValueError, IndexError):
        return None


def _file(path: Path, what: str) -> Leftover:
    def remove() -> str:
        path.unlink(missing_ok=True)
        return f"removed {path}"

    return Leftover(what=what, take_away=remove)


def is_free(path: Path) -> bool:
    """Tell whether no program holds the lock of a file; none is made."""
    if not path.with_name(f"{path.name}.lock").exists():
        return True
    try:
        with files.lock(path, patience=0):
            return True
    except Busy:
        return False
