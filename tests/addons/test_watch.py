"""Watch: a changed accounts.toml is noticed and read, with the secrets, in a thread of its own."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from addons import watch
from addons.watch import Found, Watch
from credentials.credential import Credential, parse
from credentials.errors import CredentialError
from credentials.memory import MemoryStore
from home import accounts as book
from routing.words import Account, AccountId
from tests.addons import made

PATIENCE = 20.0
SECRET = parse("setup-token", "sk-ant-oat01-PLANTED-work")


class Locked(MemoryStore):
    """A store that fails, or waits, while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.opened = threading.Event()
        self.opened.set()
        self.threads: set[str] = set()

    def get(self, account_id: str) -> Credential:
        self.threads.add(threading.current_thread().name)
        self.opened.wait(PATIENCE)
        if self.broken:
            raise CredentialError("the keyring is locked", "unlock it")
        return super().get(account_id)


class Looks:
    """What a watch told, as it comes."""

    def __init__(self, path: Path, store: MemoryStore) -> None:
        self.path = path
        self.queue: asyncio.Queue[Found] = asyncio.Queue()
        self.watch = Watch(path, store, self.queue.put_nowait, every=0.02)

    @contextmanager
    def going(self) -> Iterator[None]:
        """Look until the block ends."""
        self.watch.start(asyncio.get_running_loop())
        try:
            yield
        finally:
            self.watch.stop()

    async def next(self) -> Found:
        """What is told next."""
        return await asyncio.wait_for(self.queue.get(), PATIENCE)

    async def whole(self) -> Found:
        """The next that has the secrets, too, or tells that there is nothing to be had."""
        while not (found := await self.next()).is_whole:
            pass
        return found


def write(path: Path, *accounts: Account) -> None:
    """Write accounts.toml as flowpool does."""
    book.edit(path, lambda _: accounts)


WORK, HOME = made.accounts("work", "home").values()


def looks(tmp_path: Path, store: MemoryStore | None = None) -> Looks:
    """A watch on a file with the account work, whose secret is stored."""
    path, kept = tmp_path / "accounts.toml", store or Locked()
    write(path, WORK)
    kept.put(WORK.id, SECRET)
    return Looks(path, kept)


def test_the_first_look_tells_the_accounts_then_their_secrets(tmp_path: Path) -> None:
    """What can be known at once is told at once; a slow store delays only the secrets, and never the loop."""
    store = Locked()
    made_looks = looks(tmp_path, store)
    store.opened.clear()

    async def story() -> None:
        with made_looks.going():
            first = await made_looks.next()
            assert (first.accounts, first.credentials, first.is_whole) == ((WORK,), {}, False)
            store.opened.set()
            second = await made_looks.next()
            assert (second.accounts, second.credentials, second.is_whole) == ((WORK,), {WORK.id: SECRET}, True)

    asyncio.run(story())
    assert store.threads == {"flowpool accounts"}


@pytest.mark.parametrize("way", ["replaced", "in place", "old time", "removed"])
def test_every_way_of_changing_the_file_is_noticed(tmp_path: Path, way: str) -> None:
    """Replaced, written in place, replaced by one of an old time, removed: nobody needs to tell."""
    made_looks = looks(tmp_path)
    path = made_looks.path

    def change() -> None:
        data = book.render((WORK, HOME))
        if way == "removed":
            path.unlink()
        elif way == "in place":
            path.write_bytes(data)
        else:
            fresh = path.with_name("fresh")
            fresh.write_bytes(data)
            if way == "old time":
                os.utime(fresh, (0, 0))
            fresh.replace(path)

    async def story() -> None:
        with made_looks.going():
            await made_looks.whole()
            change()
            found = await made_looks.whole()
            assert found.accounts == (() if way == "removed" else (WORK, HOME))

    asyncio.run(story())


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A half that would be valid is never told: an editor empties the file, then fills it."""
    made_looks = looks(tmp_path)
    emptied, told = threading.Event(), list[Found]()
    plain = watch.stamp_of

    def stamp(path: Path) -> watch.Stamp:
        if emptied.is_set() and not path.read_bytes():  # the editor goes on while the watch looks
            seen = plain(path)
            path.write_bytes(book.render((WORK, HOME)))
            return seen
        return plain(path)

    monkeypatch.setattr(watch, "stamp_of", stamp)

    async def story() -> None:
        with made_looks.going():
            await made_looks.whole()
            made_looks.path.write_bytes(b"")
            emptied.set()
            while not told or not told[-1].is_whole:
                told.append(await made_looks.next())

    asyncio.run(story())
    assert {found.accounts for found in told} == {(WORK, HOME)}


def test_who_asks_is_answered_after_what_was_found(tmp_path: Path) -> None:
    """An instruction is done when its answer comes, also when the file did not change."""
    made_looks = looks(tmp_path)

    async def story() -> None:
        with made_looks.going():
            await made_looks.whole()
            done = asyncio.Event()
            made_looks.watch.ask(done.set)
            await asyncio.wait_for(done.wait(), PATIENCE)
            assert [made_looks.queue.get_nowait().is_whole for _ in range(2)] == [False, True]

    asyncio.run(story())


def test_what_cannot_be_read_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken file gives no accounts, a locked store no secret but its account, and is tried again."""
    monkeypatch.setattr(watch, "RETRY", 0.05)
    store = Locked()
    made_looks = looks(tmp_path, store)

    async def story() -> None:
        with made_looks.going():
            await made_looks.whole()
            store.broken = True
            write(made_looks.path, WORK, HOME)
            found = await made_looks.whole()
            assert (found.accounts, found.credentials) == ((WORK, HOME), {})
            assert found.faults[0] == "the secret of work cannot be read: the keyring is locked; run: unlock it"
            store.broken = False
            while WORK.id not in (found := await made_looks.whole()).credentials:
                pass
            assert found.credentials == {WORK.id: SECRET, HOME.id: None}
            (missing,) = found.faults
            assert missing.startswith("the secret of home cannot be read: no secret is stored for account ")
            assert missing.endswith("; run: flowpool add home --replace")
            store.put(HOME.id, SECRET)
            while (found := await made_looks.whole()).faults:
                pass
            made_looks.path.write_text("version = 1\nx")
            while (found := await made_looks.whole()).accounts is not None:
                pass
            assert (found.accounts, len(found.faults)) == (None, 1)
            assert "accounts.toml:2: not valid TOML" in found.faults[0]

    asyncio.run(story())


def test_a_disabled_account_needs_no_secret(tmp_path: Path) -> None:
    """Its login is looked at, since it is kept alive; that there is none is no fault."""
    made_looks = looks(tmp_path)
    off = Account(id=AccountId("off"), name="off", provider="anthropic", kind=WORK.kind, enabled=False)
    write(made_looks.path, off)

    async def story() -> None:
        with made_looks.going():
            whole = await made_looks.whole()
            assert (whole.credentials, whole.missing, whole.faults) == ({off.id: None}, {}, ())

    asyncio.run(story())


def test_a_fault_of_ours_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is logged, and the next change is noticed all the same."""
    made_looks = looks(tmp_path)
    plain, failed = book.load, threading.Event()

    def load(path: Path) -> book.Accounts:
        if failed.is_set():
            return plain(path)
        failed.set()
        raise ZeroDivisionError

    monkeypatch.setattr(book, "load", load)

    async def story() -> None:
        with made_looks.going():
            await asyncio.to_thread(failed.wait, PATIENCE)
            write(made_looks.path, HOME)
            assert (await made_looks.whole()).accounts == (HOME,)

    asyncio.run(story())


def test_it_ends_with_its_loop(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A loop that is closed leaves no thread behind, and that is no fault."""
    made_looks = looks(tmp_path)

    async def story() -> None:
        made_looks.watch.start(asyncio.get_running_loop())
        await made_looks.whole()

    asyncio.run(story())
    (thread,) = [one for one in threading.enumerate() if one.name == "flowpool accounts"]
    write(made_looks.path, HOME)
    thread.join(PATIENCE)

    assert not thread.is_alive()
    assert not caplog.records
