"""The worker ends with one line, asks as its patience allows, and works on every kind of store."""

import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from credentials.credential import parse
from credentials.errors import KeyringLocked
from credentials.file import FileStore
from credentials.keyring import KeyringStore
from credentials.renewal import Granted, Later
from credentials.renewer import Handed, Outcome, read
from credentials.secret import Secret
from credentials.store import Store
from credentials.web import UnreachableError
from flowpool import worker
from home import accounts as book
from home.paths import Home
from home.state import reader
from routing.words import Account, AccountId, Kind
from tests.credentials.disks import FailingDisk
from tests.credentials.rings import Clock, FailingRing, MemoryRing, short
from tests.flowpool.proxy import listening, reply
from tests.upstream import Upstream
from tests.upstream.vendor import TokenEndpoint

GAPLESS = timedelta(0)
ACCOUNT = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.OAUTH)


class Desk:
    """A home with one account, and what a worker in this process says."""

    def __init__(self, folder: Path, endpoint: TokenEndpoint) -> None:
        self.home = Home(config_folder=folder / "home", state_folder=folder / "home").make()
        self.endpoint = endpoint
        self.said: list[Outcome | Handed | None] = []
        text = f'providers.anthropic.token_url = "{endpoint.url}"\ncredentials.backend = "file"\n'
        self.home.config.write_text(text)
        book.edit(self.home.accounts, lambda _: (ACCOUNT,))
        self.first = parse("oauth", endpoint.login_file(endpoint.issue("work")))

    def work(self) -> Outcome:
        """Run a worker to its end; its last word."""
        self.said.clear()
        worker.work(self.home, "a1", is_due_only=False, is_asked_for=False)
        last = self.said[-1]
        assert isinstance(last, Outcome)
        return last

    def is_latest_in(self, store: Store) -> bool:
        """Whether a store has what the endpoint gave last."""
        return store.get("a1").access.reveal() == self.endpoint.latest["work"].access


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A worker whose lines are caught."""
    with Upstream() as upstream:
        desk = Desk(tmp_path, TokenEndpoint(upstream))
        monkeypatch.setattr(worker, "say", lambda line: desk.said.append(read(line)))
        yield desk
        assert upstream.faults == []


def test_the_pair_comes_first_and_the_outcome_last(desk: Desk) -> None:
    """Two lines."""
    store = FileStore(desk.home.secrets)
    store.put("a1", desk.first)
    assert desk.work() == Outcome("renewed")
    handed, _ = desk.said
    assert isinstance(handed, Handed)
    assert handed.credential.access.reveal() == desk.endpoint.latest["work"].access
    assert handed.whose["owner"] == "owner-of-work"
    assert desk.is_latest_in(store)


def _faulty(*_: object) -> None:
    raise ZeroDivisionError("sk-ant-PLANTED")


def test_whatever_happens_there_is_an_outcome(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """No account, no secret, wrong settings, a state that is newer, a fault of our own."""
    assert desk.work().because == "no secret is stored for account a1; run: flowpool add work --replace"
    monkeypatch.setattr(worker, "_hand_over", _faulty)
    FileStore(desk.home.secrets).put("a1", desk.first)
    assert desk.work() == Outcome("failed", "a fault of flowpool's own, ZeroDivisionError")
    desk.home.config.write_text("nonsense = 1\n")
    assert "nonsense" in desk.work().because
    desk.home.config.unlink()
    book.edit(desk.home.accounts, lambda _: ())
    assert desk.work() == Outcome("gone", "there is no such account")


def test_a_silent_endpoint_costs_the_patience(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pair, if there is one, is lost; the account is alive, and asked with again after a pause."""
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    FileStore(desk.home.secrets).put("a1", desk.first)
    desk.endpoint.script("hang")
    outcome = desk.work()
    assert (outcome.name, outcome.because) == ("failed", "the service is unreachable (no answer within 0.2 s)")
    assert reader.renewals(desk.home.state)[ACCOUNT.id].failures == 1
    assert desk.work().name == "waiting"
    assert len(desk.endpoint.calls) == 1


def test_a_state_that_cannot_be_written_asks_nothing(desk: Desk) -> None:
    """A pair that might be asked for twice is not asked for at all."""
    FileStore(desk.home.secrets).put("a1", desk.first)
    desk.home.state.mkdir()
    outcome = desk.work()
    assert (outcome.name, "cannot be written" in outcome.because) == ("failed", True)
    assert desk.endpoint.calls == []


def test_a_full_disk_that_is_freed_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair is tried to be kept until the disk takes it."""
    FileStore(desk.home.secrets).put("a1", desk.first)
    disk = FullDisk(5)
    monkeypatch.setattr(worker, "open_store", lambda *_: FileStore(desk.home.secrets, disk))
    assert desk.work() == Outcome("renewed")
    assert disk.left == 0
    assert desk.is_latest_in(FileStore(desk.home.secrets))
    assert len(desk.endpoint.calls) == 1


class FullDisk(FailingDisk):
    """A disk on which the first so many files cannot be made."""

    def __init__(self, left: int) -> None:
        super().__init__(0)
        self.left = left

    def create(self, path: Path) -> int:
        """Refuse, or make it."""
        if self.left:
            self.left -= 1
            raise OSError(28, "No space left on device")
        return super().create(path)


def test_a_keyring_keeps_the_pair(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that fails at any of its calls, once: the pair or the old login is there, and the last try is good."""
    for fail_at in range(60):
        kept = MemoryRing().kept
        KeyringStore(MemoryRing(kept), desk.home.state_folder / "keyring", lambda: ["a1"]).put("a1", desk.first)
        ring = FailingRing(kept, fail_at)
        store = KeyringStore(ring, desk.home.state_folder / "keyring", lambda: ["a1"], short(Clock()))
        monkeypatch.setattr(worker, "open_store", lambda *_, store=store: store)
        monkeypatch.setattr("home.state.renewals.GAP", GAPLESS)
        outcome = desk.work()
        if outcome.name == "failed":  # before anything was sent: the secret could not be read
            assert desk.endpoint.latest["work"].access == desk.first.access.reveal()
            continue
        assert outcome == Outcome("renewed")
        assert desk.is_latest_in(KeyringStore(MemoryRing(kept), desk.home.state_folder / "keyring", lambda: ["a1"]))
        desk.first = parse("oauth", desk.endpoint.login_file(desk.endpoint.latest["work"]))
        if fail_at > len(ring.calls):
            break
    assert fail_at < 59


def test_a_locked_keyring_asks_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcome says what opens it."""

    def locked(*_: object) -> Store:
        raise KeyringLocked

    monkeypatch.setattr(worker, "open_store", locked)
    assert desk.work().because == str(KeyringLocked())
    assert desk.endpoint.calls == []


def test_signals_are_ignored_for_a_while() -> None:
    """And heard again afterwards."""
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with worker.deaf():
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                os.kill(os.getpid(), number)
        assert heard == []
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_nobody_at_the_endpoint() -> None:
    """The token was not sent."""
    with listening(b"", []) as address:
        pass
    with pytest.raises(UnreachableError) as caught:
        worker.ask(f"http://{address}/v1/oauth/token", Secret("sk-ant-ort01-PLANTED"))
    assert not caught.value.was_sent


def test_the_answer_is_read() -> None:
    """A redirect is an answer like any other: the token goes nowhere else."""
    body = b'{"access_token": "sk-ant-oat01-PLANTED"}'
    with listening(reply(body), []) as address:
        assert isinstance(worker.ask(f"http://{address}/", Secret("sk-ant-ort01-PLANTED")), Granted)
    heard: list[bytes] = []
    with listening(reply(b"", "307 Go\r\nLocation: http://127.0.0.1:1/"), heard) as address:
        assert isinstance(worker.ask(f"http://{address}/", Secret("sk-ant-ort01-PLANTED")), Later)
    assert len(heard) == 1


def test_a_parent_that_is_gone_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed pipe is no fault."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        monkeypatch.setattr(worker.sys, "stdout", pipe)  # type: ignore[attr-defined]
        worker.say("{}")
