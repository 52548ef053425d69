"""A store in the system's keyring."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from credentials import entries, files
from credentials.credential import Credential
from credentials.entries import Generation, Head, NewerVersion
from credentials.errors import CredentialError, KeyringBroken, NotStored, Torn
from credentials.patience import Patience

SERVICE = "flowpool"

type Known = Callable[[], Iterable[str]]


class Ring(Protocol):
    """A backend of the package keyring: what we use of it. It may block, prompt a person, and raise anything."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """Return what is kept; None when nothing is."""

    def set_password(self, service: str, username: str, password: str, /) -> None:
        """Keep a text in place of any other."""

    def delete_password(self, service: str, username: str, /) -> None:
        """Forget a text; raise when there is none."""


class KeyringStore:
    """Keeps credentials in a keyring, under the service flowpool; entries.py says how.

    known: returns the ids that may have a credential, as accounts.toml lists them: a keyring cannot list.
    lock: the file beside which processes and threads wait for each other when they change something.
    """

    def __init__(
        self,
        ring: Ring,
        lock: Path,
        known: Known = tuple,
        patience: Patience | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._ring = ring
        self._lock = lock
        self._known = known
        self._patience = patience or Patience()
        self._clock = clock
        self._put: set[str] = set()

    def get(self, account_id: str) -> Credential:
        """Return an account's credential; raise NotStored when there is none, Torn when a part of it is missing."""
        head = self._head(account_id)
        while True:
            if head is None or head.now is None:
                raise NotStored(account_id)
            try:
                return self._assemble(account_id, head, head.now)
            except Torn:
                before, head = head, self._head(account_id)
                if head == before:  # not replaced meanwhile by another process
                    raise

    def put(self, account_id: str, credential: Credential) -> None:
        """Keep a credential in place of any other; whatever fails, the old one or the new one is there, whole."""
        with files.lock(self._lock):
            old, is_first = self._old_head(account_id)
            new, texts, details = entries.lay_out(credential, "" if is_first else entries.new_tag())
            self._write(f"{account_id}/meta", entries.dump(_with_loose(old, (*old.loose, new))))
            for name, text in texts.items():
                for user, piece in zip(new.names(account_id, name), entries.cut(text), strict=True):
                    self._write(user, piece)
            self._put.add(account_id)
            head = Head(now=new, details=details, saved_at=self._clock(), loose=old.every())
            self._write(f"{account_id}/meta", entries.dump(head))
            with suppress(CredentialError):  # the new one stands; what is left over is listed, and erased the next time
                self._sweep(account_id, head)

    def delete(self, account_id: str) -> None:
        """Forget an account's credential, if there is one."""
        with files.lock(self._lock):
            head, is_first = self._old_head(account_id)
            if not is_first:
                self._forget(account_id, head)

    def drop(self, account_id: str, saved_at: int) -> bool:
        """Forget a credential that was saved at that time; tell whether nothing is kept of it now."""
        with files.lock(self._lock):
            head, is_first = self._old_head(account_id)
            if head.now and head.saved_at != saved_at:
                return False
            if not is_first:
                self._forget(account_id, head)
            return True

    def ids(self) -> tuple[str, ...]:
        """Return the ids that have a credential, sorted: of the known ones and of those put here."""
        return tuple(sorted(one for one in {*self._known(), *self._put} if self.saved_at(one) is not None))

    def saved_at(self, account_id: str) -> int | None:
        """Return when an account's credential was saved, in ns since 1970; 0 when it cannot be told, None when there is none."""
        try:
            head = self._head(account_id)
        except Torn:
            return 0
        return head.saved_at if head and head.now else None

    def describe(self) -> str:
        """Say where secrets are kept."""
        kind = type(self._ring)
        return f"in the system's keyring ({kind.__module__}.{kind.__qualname__}, service {SERVICE})"

    def _assemble(self, account_id: str, head: Head, now: Generation) -> Credential:
        texts: entries.Texts = {}
        for name, (_, length) in now.sizes.items():
            pieces = [self._read(user) for user in now.names(account_id, name)]
            texts[name] = "".join(piece for piece in pieces if piece is not None)
            if None in pieces or len(texts[name]) != length:
                raise Torn(f"the keyring has lost a part of {account_id}/{name}")
        try:
            credential = entries.put_together(head.details, texts)
        except (ValueError, KeyError, RecursionError):
            raise Torn(f"what the keyring keeps of {account_id} makes no credential") from None
        return replace(credential, saved_at=head.saved_at)

    def _head(self, account_id: str) -> Head | None:
        text = self._read(f"{account_id}/meta")
        try:
            return None if text is None else entries.load(text)
        except ValueError as error:
            raise Torn(f"{account_id}/meta in the keyring is {error}") from None

    def _old_head(self, account_id: str) -> tuple[Head, bool]:
        """Return what is to be replaced, and whether nothing ever was; a head that makes no sense is replaced as well."""
        text = self._read(f"{account_id}/meta")
        try:
            return (Head(), True) if text is None else (entries.load(text), False)
        except NewerVersion as error:
            raise KeyringBroken(f"{account_id}/meta in the keyring was {error}", "flowpool --version") from None
        except ValueError:
            plain = Generation(tag="", sizes=dict.fromkeys((entries.ACCESS, entries.KEY, entries.REFRESH), (1, 0)))
            return Head(loose=(plain,)), False

    def _forget(self, account_id: str, head: Head) -> None:
        """Erase all that a head lists, then the head."""
        self._sweep(account_id, Head(loose=head.every()))
        self._erase(f"{account_id}/meta")

    def _sweep(self, account_id: str, head: Head) -> None:
        """Erase the loose generations, then their place in the head."""
        if not head.loose:
            return
        if not head.now:
            self._write(f"{account_id}/meta", entries.dump(head))
        for generation in head.loose:
            for user in generation.all_names(account_id):
                self._erase(user)
        self._write(f"{account_id}/meta", entries.dump(_with_loose(head, ())))

    def _read(self, user: str) -> str | None:
        found = self._patience.run(lambda: self._ring.get_password(SERVICE, user))
        return found if isinstance(found, str) else None

    def _write(self, user: str, text: str) -> None:
        """Keep a text, and make sure that it is kept: some backends cut it, or drop it."""
        self._patience.run(lambda: self._ring.set_password(SERVICE, user, text))
        if self._read(user) != text:
            raise KeyringBroken(f"the keyring does not give back what was kept as {user}")

    def _erase(self, user: str) -> None:
        def erase() -> None:
            try:
                self._ring.delete_password(SERVICE, user)
            except Exception:  # backends raise all kinds of things when there is nothing to erase
                if self._ring.get_password(SERVICE, user) is not None:
                    raise

        self._patience.run(erase)


def _with_loose(head: Head, loose: tuple[Generation, ...]) -> Head:
    return Head(now=head.now, details=head.details, saved_at=head.saved_at, loose=loose)
