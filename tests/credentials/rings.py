"""Keyrings that exist only in the process: well ones, failing ones, hanging ones; and a real one in a session of its own."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import override

import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from credentials.patience import REST, Patience

SESSION = Path(__file__).parents[2] / "tools" / "with-secretservice"

type Kept = dict[tuple[str, str], str]


class MemoryRing(KeyringBackend):
    """A backend that keeps texts in a dict. longest: characters that it takes, as Windows does."""

    priority = 2
    viable = False  # never found by anybody: this class is for those to whom it is given

    def __init__(self, kept: Kept | None = None, longest: int | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept = {} if kept is None else kept
        self.longest = longest
        self.calls: list[str] = []

    def called(self, verb: str, text: str = "") -> None:  # noqa: ARG002
        """Note a call; subclasses fail or hang here."""
        self.calls.append(verb)

    @override
    def get_password(self, service: str, username: str) -> str | None:
        self.called("get")
        return self.kept.get((service, username))

    @override
    def set_password(self, service: str, username: str, password: str) -> None:
        self.called("set", password)
        if self.longest is not None and len(password.encode("utf-16-le")) > 2 * self.longest:
            raise RuntimeError(1783, "CredWrite", f"The stub received bad data: {password}")
        self.kept[service, username] = password

    @override
    def delete_password(self, service: str, username: str) -> None:
        self.called("delete")
        if (service, username) not in self.kept:
            raise PasswordDeleteError("no such password")
        del self.kept[service, username]


class FailingRing(MemoryRing):
    """A backend whose n-th call fails, 0 never; its exceptions quote what they were given.

    dead: so do all later calls. landed: the call that fails has been carried out.
    """

    def __init__(self, kept: Kept, fail_at: int, *, dead: bool = False, landed: bool = False) -> None:
        super().__init__(kept)
        self.fail_at = fail_at
        self.dead = dead
        self.landed = landed

    @override
    def called(self, verb: str, text: str = "") -> None:
        super().called(verb, text)
        if not self.landed:
            self.fail(verb, text)

    def fail(self, verb: str, text: str = "") -> None:
        """Raise if it is time to."""
        count = len(self.calls)
        if count == self.fail_at or (self.dead and 0 < self.fail_at < count):
            raise ValueError(f"backend failed at {verb} with {text}")

    @override
    def set_password(self, service: str, username: str, password: str) -> None:
        super().set_password(service, username, password)
        self.fail("set", password)

    @override
    def delete_password(self, service: str, username: str) -> None:
        super().delete_password(service, username)
        self.fail("delete")


class HangingRing(MemoryRing):
    """A backend that hangs while `hangs` is set, until `release`; what hung has no effect."""

    def __init__(self, kept: Kept | None = None, *, hangs: bool = True) -> None:
        super().__init__(kept)
        self.hangs = hangs
        self.release = threading.Event()

    @override
    def called(self, verb: str, text: str = "") -> None:
        super().called(verb, text)
        if self.hangs:
            self.release.wait()
            raise RuntimeError("too late")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def rest(self) -> None:
        """Let the rest after a fault pass."""
        self.now += REST


def short(clock: Clock) -> Patience:
    """Return a patience that waits a twentieth of a second."""
    return Patience(0.05, clock)


def is_missing() -> str:
    """Return what a real SecretService lacks here; empty when nothing."""
    found = [any((Path(folder) / name).exists() for folder in os.get_exec_path()) for name in NEEDED]
    return ", ".join(name for name, there in zip(NEEDED, found, strict=True) if not there)


NEEDED = ("dbus-run-session", "gnome-keyring-daemon")


@contextmanager
def secret_service() -> Iterator[None]:
    """Make a gnome-keyring of its own the one that this process finds; skip when there is none to be had."""
    if missing := is_missing():
        if os.environ.get("FLOWPOOL_SECRETSERVICE") == "required":
            pytest.fail(f"no {missing}; apt-get install -y dbus gnome-keyring")
        pytest.skip(f"no {missing} on this machine")
    command = [str(SESSION), "sh", "-c", 'echo "$DBUS_SESSION_BUS_ADDRESS"; exec cat']
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as session:
        assert session.stdin
        assert session.stdout
        address = session.stdout.readline().strip()
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
                patch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
                yield
        finally:
            session.stdin.close()  # ends cat, and the session with it
            session.wait(timeout=30)
