"""The journal of renewals: one holder at a time across processes, on the disk when it says so, and nothing spent is forgotten."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.journal import JournalFault
from credentials.renewal import Renewal
from home.state import database, reader
from home.state.renewals import GAP, HELD, KEPT, Renewals
from home.state.state import State
from routing.remembered import Remembered
from tests.home.state.made import LONG, count, picture, raw
from tests.routing.made import NOON

TINY = timedelta(milliseconds=1)
TRY = Renewal(
    fingerprint="f1",
    outcome="failed",
    at=NOON,
    failures=2,
    retry_at=NOON + timedelta(minutes=1),
    asked_until=NOON + timedelta(seconds=45),
    because="429: slow",
)

type Make = Callable[..., Renewals]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Noon."""
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the state is."""
    return tmp_path / "state.sqlite3"


@pytest.fixture
def make(path: Path, clock: Clock) -> Iterator[Make]:
    """A maker of journals that are closed in the end."""
    with ExitStack() as stack:

        def build(holder: str = "", *, busy: float = LONG) -> Renewals:
            journal = Renewals(path, holder=holder, clock=clock, busy=busy)
            stack.callback(journal.close)
            return journal

        yield build


def test_one_holds_the_claim(make: Make, clock: Clock) -> None:
    """Another waits for the release and a second more; another provider's claim is another."""
    one, two = make(), make()
    assert one.claim("vendor")
    assert not two.claim("vendor")
    assert two.claim("other")
    assert one.extend("vendor")
    assert not two.extend("vendor")
    one.release("vendor")
    assert not one.extend("vendor")
    clock.now += GAP - TINY
    assert not two.claim("vendor")
    assert not one.claim("vendor")
    clock.now += TINY
    assert two.claim("vendor")
    assert not one.claim("vendor")


def test_a_claim_ends_by_itself(make: Make, clock: Clock) -> None:
    """So a holder that hangs bars nobody for long; who slept through it knows that it is another's."""
    one, two = make(), make()
    assert one.claim("vendor")
    clock.now += HELD - TINY
    assert not two.claim("vendor")
    assert one.extend("vendor")
    clock.now += HELD
    assert two.claim("vendor")
    assert not one.extend("vendor")
    one.release("vendor")
    assert not make().claim("vendor")


def test_who_slept_and_was_not_missed_goes_on(make: Make, clock: Clock) -> None:
    """A claim that nobody took meanwhile is still one's own."""
    one = make()
    assert one.claim("vendor")
    clock.now += timedelta(hours=8)
    assert one.extend("vendor")
    assert not make().claim("vendor")


def test_a_holder_that_is_gone_bars_nobody(make: Make, clock: Clock) -> None:
    """Its process does not exist any more; a second is waited for all the same, as it may have asked just before."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert make(f"{gone.pid}-killed").claim("vendor")
    assert not make().claim("vendor")
    clock.now += GAP
    assert make(f"{os.getpid()}-alive").claim("vendor")
    clock.now += GAP
    assert not make().claim("vendor")


def test_a_clock_that_was_set_back_bars_nobody(make: Make, clock: Clock) -> None:
    """No claim reaches that far."""
    assert make().claim("vendor")
    clock.now -= timedelta(hours=1)
    assert make().claim("vendor")


@pytest.mark.parametrize("is_taken", [False, True], ids=["never taken", "over"])
def test_of_many_at_once_one_gets_it(path: Path, is_taken: bool) -> None:
    """Each from a thread and over a connection of its own; a claim that is over is taken once, too."""
    for provider in map(str, range(10)):
        if is_taken:
            long_ago = Renewals(path, clock=lambda: datetime.now(UTC) - timedelta(days=1))
            assert long_ago.claim(provider)
            long_ago.close()
        assert sorted(_race(path, provider)) == [False] * 5 + [True]


def _race(path: Path, provider: str) -> list[bool]:
    """Who of six got it."""
    database.prepare(path)
    start, got = threading.Barrier(6), list[bool]()

    def take() -> None:
        journal = Renewals(path, busy=LONG)
        journal.is_spent("opens the file")
        start.wait()
        got.append(journal.claim(provider))
        journal.close()

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    return got


def test_a_try_is_read_by_the_next_worker_and_by_who_only_looks(make: Make, path: Path) -> None:
    """Every field comes back; an account has its latest try alone."""
    assert make().last("a1") is None
    assert reader.renewals(path) == {}
    make().note("a1", TRY)
    make().note("b2", Renewal(fingerprint="f2", outcome="kept", at=NOON))
    make().note("a1", replace(TRY, failures=3))
    assert make().last("a1") == replace(TRY, failures=3)
    assert reader.renewals(path) == {
        "a1": replace(TRY, failures=3),
        "b2": Renewal(fingerprint="f2", outcome="kept", at=NOON),
    }


def test_what_is_spent_stays_so_for_two_months(make: Make, path: Path) -> None:
    """Whoever asks, and however often it is noted."""
    make().note("a1", replace(TRY, outcome="sent"))
    assert not make().is_spent("f1")
    make().note("a1", TRY, spent="refused")
    make().note("a1", TRY, spent="refused")
    assert make().is_spent("f1")
    assert not make().is_spent("f2")
    later = replace(TRY, fingerprint="f2", at=NOON + KEPT)
    make().note("b2", later, spent="spent")
    assert make().is_spent("f1")
    make().note("b2", replace(later, at=later.at + TINY), spent="spent")
    assert not make().is_spent("f1")
    assert count(path, "spent") == 1


def test_it_is_on_the_disk_at_once(make: Make) -> None:
    """Each note is synced: SQLite calls that FULL."""
    journal = make()
    assert journal._do(lambda connection: connection.exec_driver_sql("PRAGMA synchronous").scalar()) == 2


def test_a_locked_state_is_waited_for(make: Make, path: Path) -> None:
    """And given up in the end, with nothing written."""
    make().note("b2", TRY)
    with raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalFault, match=r"locked; run: ls -l"):
            make(busy=0.01).note("a1", TRY)
        other.execute("ROLLBACK")
    make().note("a1", TRY)
    assert make().last("a1") == TRY


def test_a_disk_that_refuses_is_one_fault(make: Make, path: Path) -> None:
    """A folder in the file's place, and a file of a newer flowpool."""
    path.mkdir()
    with pytest.raises(JournalFault, match=r"cannot be written: .*; run: ls -l"):
        make().claim("vendor")
    path.rmdir()
    State(path).close(LONG)
    with raw(path) as connection:
        connection.execute("UPDATE meta SET value = '2' WHERE name = 'schema'")
    with pytest.raises(JournalFault, match="newer flowpool"):
        make().note("a1", TRY)


def test_a_full_disk_is_one_fault(make: Make) -> None:
    """The next try opens the file anew."""
    journal = make()
    journal.note("a1", TRY)
    pages = journal._do(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar())
    journal._do(lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(JournalFault, match="full"):
        journal.note("a1", replace(TRY, because="x" * 100_000))
    assert journal.last("a1") == TRY
    journal.note("a1", replace(TRY, failures=9))
    assert journal.last("a1") == replace(TRY, failures=9)


def test_what_flowpool_never_wrote_bars_nobody(make: Make, path: Path) -> None:
    """A time that is none: the claim is free, and the try is not known."""
    make().claim("vendor")
    make().note("a1", TRY)
    with raw(path) as connection:
        connection.execute("UPDATE claims SET until = 'soon'")
        connection.execute("UPDATE renewals SET at = 'once'")
    assert make().claim("vendor")
    assert make().last("a1") is None


def test_a_torn_file_is_set_aside(make: Make, path: Path) -> None:
    """Where only a page of it is torn, nobody else may ever notice, and every login would end."""
    make().note("a1", TRY)
    with raw(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'claims'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    assert make().claim("vendor")
    assert not make().claim("vendor")
    assert path.with_name(f"{path.name}.corrupt").exists()


def test_an_older_file_gets_the_tables_it_lacks(make: Make, path: Path) -> None:
    """With all that is in it, also beside a proxy that has it open; who only reads does without."""
    state = State(path)
    state.put(picture())
    assert state.flush(LONG)
    before = reader.remembered(path)
    with raw(path) as connection:
        for table in ("claims", "renewals", "spent"):
            connection.execute(f"DROP TABLE {table}")
    assert reader.renewals(path) == {}
    make().note("a1", TRY)
    assert reader.renewals(path) == {"a1": TRY}
    state.close(LONG)
    assert reader.remembered(path) == before != Remembered()


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["claim", "extend", "release", "wait", "long"]))))
def test_never_two_hold_it_and_never_two_in_a_second(steps: list[tuple[int, str]]) -> None:
    """Whatever three workers do, told the time."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        journals = [Renewals(Path(folder) / "s", holder=f"{os.getpid()}-{number}", clock=clock) for number in range(3)]
        for journal in journals:
            stack.callback(journal.close)
        holder, until, free = None, NOON, NOON
        for who, what in steps:
            match what:
                case "claim":
                    may = clock.now >= (until if holder is not None else free)
                    assert journals[who].claim("vendor") is may
                    if may:
                        holder, until = who, clock.now + HELD
                case "extend":
                    assert journals[who].extend("vendor") is (holder == who)
                    until = clock.now + HELD if holder == who else until
                case "release":
                    journals[who].release("vendor")
                    if holder == who:
                        holder, free = None, clock.now + GAP
                case "wait":
                    clock.now += timedelta(seconds=0.7)
                case _:
                    clock.now += timedelta(seconds=80)
