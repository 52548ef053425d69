"""Watch: looks at accounts.toml twice a second and reads it, and the secrets, in a thread of its own.

A file that changed without anybody saying so is read once it has been left alone for a moment: an editor may be in the
middle of writing it.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from credentials.credential import Credential
from credentials.errors import CredentialError, NotStored
from credentials.store import Store
from home import accounts as book
from home.errors import HomeError
from routing.words import AccountId

EVERY = 0.5  # seconds; a change is to be known within one
SETTLED = 0.1  # seconds without a further change
MOST_LOOKS = 5  # at a file that never settles
RETRY = 30.0  # seconds after which secrets that could not be read are tried again

logger = logging.getLogger(__name__)

type Stamp = tuple[int, ...]
type Asked = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the files say.

    accounts: None when accounts.toml cannot be read. credentials: of all accounts, None where there is none; one that could not
    be read is absent. missing: why the secret of an enabled account is not at hand. is_whole: whether the secrets were read, too.
    faults: a line for each thing that is wrong, an enabled account without a secret included.
    """

    accounts: book.Accounts | None = None
    credentials: Mapping[AccountId, Credential | None] = field(default_factory=dict)
    missing: Mapping[AccountId, str] = field(default_factory=dict)
    is_whole: bool = True
    faults: tuple[str, ...] = ()


class Watch:
    """Tells, on the event loop, what the files say whenever they changed or somebody asks."""

    def __init__(self, path: Path, store: Store, tell: Callable[[Found], None], *, every: float = EVERY) -> None:
        self._path = path
        self._store = store
        self._tell = tell
        self._every = every
        self._asks: queue.SimpleQueue[Asked] = queue.SimpleQueue()
        self._over = threading.Event()
        self._seen: Stamp | None = None  # nothing was looked at yet
        self._retry_at = float("inf")

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to look; the first look reads everything."""
        threading.Thread(target=self._run, args=(loop,), name="flowpool accounts", daemon=True).start()

    def stop(self) -> None:
        """End, without waiting for a store that hangs."""
        self._over.set()
        self._asks.put(lambda: None)

    def ask(self, then: Asked) -> None:
        """Read now; then is called on the loop once what was found has been told."""
        self._asks.put(then)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            asked = self._wait()
            if self._over.is_set():
                return
            try:
                self._look(loop, asked)
            except Exception:  # the next look may go well, and without this thread there would be none
                if loop.is_closed():
                    return
                logger.exception("flowpool: a fault while reading accounts.toml")

    def _wait(self) -> list[Asked]:
        """Wait for the next look; who asked for it."""
        asked: list[Asked] = []
        try:
            if self._seen is not None:
                asked.append(self._asks.get(timeout=self._every))
            while True:
                asked.append(self._asks.get_nowait())
        except queue.Empty:
            return asked

    def _look(self, loop: asyncio.AbstractEventLoop, asked: list[Asked]) -> None:
        stamp = stamp_of(self._path)
        if not asked and stamp == self._seen and time.monotonic() < self._retry_at:
            return
        if not asked and self._seen not in (None, stamp):
            stamp = self._settled(stamp)
        self._seen = stamp
        self._read(lambda found: loop.call_soon_threadsafe(self._tell, found))
        for then in asked:
            loop.call_soon_threadsafe(then)

    def _settled(self, stamp: Stamp) -> Stamp:
        for _ in range(MOST_LOOKS):
            before = stamp
            self._over.wait(SETTLED)
            stamp = stamp_of(self._path)
            if stamp == before:
                break
        return stamp

    def _read(self, tell: Callable[[Found], object]) -> None:
        """Tell who the accounts are at once, and again when their secrets have been read: a store may be slow."""
        self._retry_at = float("inf")
        try:
            accounts = book.load(self._path)
        except HomeError as error:
            tell(Found(faults=(f"the accounts stay as they were: {error}",)))
            return
        tell(Found(accounts=accounts, is_whole=False))
        credentials: dict[AccountId, Credential | None] = {}
        missing: dict[AccountId, str] = {}
        faults = []
        for account in accounts:
            try:
                credentials[account.id] = self._store.get(account.id)
            except CredentialError as error:
                if isinstance(error, NotStored):
                    credentials[account.id] = None
                if account.enabled:
                    missing[account.id] = str(error.naming(account.name))
                    faults.append(f"the secret of {account.name} cannot be read: {missing[account.id]}")
        if faults:
            self._retry_at = time.monotonic() + RETRY
        tell(Found(accounts=accounts, credentials=credentials, missing=missing, faults=tuple(faults)))


def stamp_of(path: Path) -> Stamp:
    """What changes whenever the file is written or replaced; empty when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
