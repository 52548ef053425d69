"""Deletes what flowpool keeps: the accounts' secrets, then its own files and folders. What is not known as its own stays."""

import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from credentials.backends import open_store
from flowpool.launch import foreign
from flowpool.vendor.isolation import PREFIX
from home import accounts as book
from home import settings
from home.errors import HomeError
from home.paths import Home

_SIDES = r"(-wal|-shm|-journal)?"
_KNOWN = tuple(
    map(
        re.compile,
        (
            r"(config|accounts)\.toml(\.lock)?",
            r"(secrets|connected|running)\.json(\.lock)?",
            r"(keyring|login)\.lock",
            r"(control|client)\.key",
            rf"state\.sqlite3(\.corrupt(\.\d+)?)?{_SIDES}",
            r"client-ca-[0-9a-f]{8}\.pem",
            r"launch-[0-9a-f]{16}\.json",
            r"authorities\.pem",
        ),
    )
)
_LOGS = re.compile(r"(flowpool|start|service)\.log(\.\d+|\.lock)?")
_AUTHORITY = re.compile(r"mitmproxy-(ca.*|dhparam\.pem)")
AUTHORITY = "mitmproxy"  # the folder of the authority that forward mode needs


def secrets(home: Home) -> str:
    """Delete every account's secret from the keyring or the file; say so. Raises CredentialError and HomeError, and then some stay."""
    known = book.load(home.accounts)
    if not known:
        return "there were no accounts"
    try:
        backend = settings.parse(home.config, home.config.read_bytes()).credentials.backend
    except (HomeError, OSError):
        backend = "auto"
    store = open_store(backend, home.state_folder, lambda: [account.id for account in known])
    for account in known:
        store.delete(account.id)
    return f"deleted the secrets of {', '.join(account.name for account in known)}, which were kept {store.describe()}"


def folders(home: Home) -> tuple[list[str], list[Path]]:
    """Delete our files, and each of our folders in which nothing else is; return lines of what is gone, and what stays."""
    for folder in home.state_folder.glob(f"{PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)
    _empty(home.log.parent, [_LOGS])
    _empty(home.state_folder / AUTHORITY, [_AUTHORITY])
    _empty(home.link.parent, [])
    done, left = [], []
    for folder in dict.fromkeys((home.state_folder, home.config_folder)):
        if not folder.exists():
            continue
        _empty(folder, _KNOWN)
        if folder.exists():
            left += sorted(folder.iterdir()) or [folder]
        else:
            done.append(f"deleted {folder}")
    return done, left


def _empty(folder: Path, known: Iterable[re.Pattern[str]]) -> None:
    """Delete the files in a folder that are ours, and then the folder if it holds no more. A folder without any of ours stays."""
    ours = [path for path in _files(folder) if _is_ours(path, known)]
    for path in ours:
        path.unlink(missing_ok=True)
    if ours or not any(_files(folder)):
        with suppress(OSError):  # something else is in it
            folder.rmdir()


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_ours(path: Path, known: Iterable[re.Pattern[str]]) -> bool:
    if path.is_dir() and not path.is_symlink():
        return False
    if foreign.TEMPORARY.fullmatch(path.name):
        return True
    return any(one.fullmatch(path.name) for one in known)
