"""A store in one private JSON file."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from credentials import files, record
from credentials.credential import Credential
from credentials.errors import AGAIN, NotStored, Unreadable
from credentials.files import DISK, Disk

VERSION = 1
NEWER = "flowpool --version, and install that newer one"

type Entries = dict[str, object]


class FileStore:
    """Keeps credentials in a 0600 file; each change re-reads it inside a lock that spans processes.

    A file that cannot be understood is never overwritten, and an entry that this version does not know is kept.
    because: why secrets are here and not in a keyring, for people.
    """

    def __init__(
        self, path: Path, disk: Disk = DISK, *, because: str = "", clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._path = path
        self._disk = disk
        self._because = because
        self._clock = clock

    def get(self, account_id: str) -> Credential:
        """Return an account's credential; raise NotStored when there is none."""
        entries = self._read()
        if account_id not in entries:
            raise NotStored(account_id)
        try:
            credential = record.load(entries[account_id])
        except ValueError as error:
            raise Unreadable(self._path, f"{account_id}: {error}", AGAIN) from None
        return replace(credential, saved_at=_saved_at(entries[account_id]))

    def put(self, account_id: str, credential: Credential) -> None:
        """Keep a credential in place of any other; it is on the disk when this returns."""
        with files.lock(self._path):
            entry = {**record.dump(credential), "saved_at": self._clock()}
            self._write(self._read() | {account_id: entry})

    def delete(self, account_id: str) -> None:
        """Forget an account's credential, if there is one."""
        with files.lock(self._path):
            entries = self._read()
            if account_id in entries:
                del entries[account_id]
                self._write(entries)

    def ids(self) -> tuple[str, ...]:
        """Return the ids that have a credential, sorted."""
        return tuple(sorted(self._read()))

    def saved_at(self, account_id: str) -> int | None:
        """Return when an account's credential was saved, in ns since 1970; 0 when it cannot be told, None when there is none."""
        entries = self._read()
        return _saved_at(entries[account_id]) if account_id in entries else None

    def drop(self, account_id: str, saved_at: int) -> bool:
        """Forget a credential that was saved at that time; tell whether nothing is kept of it now."""
        with files.lock(self._path):
            entries = self._read()
            if account_id in entries and _saved_at(entries[account_id]) != saved_at:
                return False
            if entries.pop(account_id, None) is not None:
                self._write(entries)
            return True

    def describe(self) -> str:
        """Say where secrets are kept."""
        because = f" ({self._because})" if self._because else ""
        return f"in the file {self._path}, which only you can read{because}"

    def _read(self) -> Entries:
        data = files.read(self._path, private=True)
        if data is None:
            return {}
        try:
            found = json.loads(data.decode())
        except (ValueError, RecursionError):
            raise Unreadable(self._path, "not valid JSON", self._anew()) from None  # the cause would quote it
        match found:
            case {"version": int(version)} if version > VERSION:
                raise Unreadable(self._path, f"written by a newer flowpool (version {version})", NEWER)
            case {"version": 1, "accounts": dict(entries)}:
                return entries
            case _:
                raise Unreadable(self._path, "not a file of secrets", self._anew())

    def _anew(self) -> str:
        """Return what to run when the file cannot be used any more."""
        return f"mv '{self._path}' '{self._path}.broken', then for each account {AGAIN}"

    def _write(self, entries: Entries) -> None:
        text = json.dumps({"version": VERSION, "accounts": entries}, indent=2)
        files.write(self._path, text.encode(), self._disk)


def _saved_at(entry: object) -> int:
    match entry:
        case {"saved_at": int(saved_at)}:
            return saved_at
        case _:
            return 0
