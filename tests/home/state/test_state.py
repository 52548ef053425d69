"""The state of a running proxy, on real files; long, because one object answers for every promise to the proxy."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from home.state import backlog, reader
from home.state.backlog import Backlog
from home.state.errors import NewerState, StateError
from home.state.state import State, utc_now
from routing.observations import AccountsChanged, Ended, Observation, Restored
from routing.readings import Source
from routing.remembered import Remembered
from routing.router import Router
from routing.rules import Rules
from routing.words import Account, ConversationId, ExchangeId
from tests.home.state.made import LINE, LONG, count, line, picture, raw
from tests.routing.made import ANN, BEN, NOON, hold, hours, pools, reading, trail
from tests.routing.test_router import accounts_of, answers_of_now, lasting, observations, told

ROOT = Path(__file__).parents[3]
PATHS = ("state.sqlite3", "C%3A x/state.sqlite3", "a?b#c;d/s.sqlite3", "ä 日本/%(here)s.sqlite3", "q'uo\"te/s.sqlite3")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the state is to be."""
    return tmp_path / "state.sqlite3"


def reopened(path: Path, *pictures: Remembered, lines: tuple[dict[str, object], ...] = ()) -> Remembered:
    """What the next start remembers after these were put."""
    state = State(path)
    for one in pictures:
        state.put(one)
    for entry in lines:
        state.enter(entry)
    assert state.close(LONG)
    return state_of(path)


def state_of(path: Path) -> Remembered:
    """What a start remembers."""
    state = State(path)
    assert state.close(LONG)
    return state.remembered


@pytest.mark.parametrize("name", PATHS)
def test_what_was_put_is_remembered(tmp_path: Path, name: str) -> None:
    """Every table comes back as it was, whatever the path is made of; nobody else can read the file."""
    path = tmp_path / name
    assert reopened(path, picture(), lines=(LINE,)) == picture()
    assert reader.requests(path) == [LINE]

    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o600}
    assert all(one.name.startswith(path.name) for one in path.parent.iterdir())


@given(pools, st.lists(observations | answers_of_now, max_size=12))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_router_comes_back(tmp_path: Path, pool: tuple[Account, ...], history: list[Observation]) -> None:
    """The next Router shows what the last one showed, but for where readings came from and what is in flight."""
    path = tmp_path / f"{os.urandom(8).hex()}.sqlite3"
    now = NOON + hours(2)
    before = told(pool, history)
    for exchange in ("e1", "e2", "e3"):
        before.observe(Ended(exchange=ExchangeId(exchange), trail=trail(), at=now))
    after = Router(Rules())
    after.observe(AccountsChanged(accounts=tuple(accounts_of(before).values())))
    after.observe(Restored(remembered=reopened(path, before.remembered()), at=now))
    direct = Router(Rules())
    direct.observe(AccountsChanged(accounts=tuple(accounts_of(before).values())))
    direct.observe(Restored(remembered=before.remembered(), at=now))

    assert lasting(after, now) == lasting(direct, now)
    for shown in after.snapshot(now).accounts:
        assert all(window.source is Source.RESTORED for window in shown.windows)


@given(st.lists(st.tuples(st.sampled_from([ANN, BEN]), st.floats(0, 1), st.sets(st.sampled_from("abc")))))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_last_picture_counts(tmp_path: Path, steps: list[tuple[str, float, set[str]]]) -> None:
    """Whatever changed on the way, between pictures and over restarts, what is remembered is the last one."""
    path = tmp_path / f"{os.urandom(8).hex()}.sqlite3"
    pictures = [picture(ANN if name == ANN else BEN, used=u, talks=tuple(sorted(talks))) for name, u, talks in steps]
    half = len(pictures) // 2
    reopened(path, *pictures[:half])

    expected = pictures[-1] if pictures else Remembered()
    assert reopened(path, *pictures[half:]) == expected


def test_what_was_proved_wrong_does_not_come_back(path: Path) -> None:
    """A hold, a stick and a removed account that are gone from the Router are gone from the file."""
    fewer = picture(ANN, holds=(hold(14, by=None),), talks=())

    assert reopened(path, picture(), fewer) == replace(fewer, holds={ANN: (hold(14, by=None),)})
    assert (count(path, "holds"), count(path, "sticks"), count(path, "readings")) == (1, 0, 2)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tehran", "America/St_Johns"])
def test_times_are_the_same_in_every_zone(path: Path, zone: str) -> None:
    """A process anywhere reads the moments that one in UTC wrote, and writes them back unchanged."""
    expected = reopened(path, picture(), lines=(LINE,))
    code = (
        "import sys; from pathlib import Path; from home.state.state import State; from home.state import reader\n"
        "path = Path(sys.argv[1]); state = State(path); reader_sees = reader.remembered(path)\n"
        "assert reader_sees == state.remembered; lines = reader.requests(path); state.put(reader_sees)\n"
        "state.enter(lines[0]); assert state.close(30); print(lines[0]['at'])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={"TZ": zone, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )

    assert shown.stdout.strip() == LINE["at"]
    assert state_of(path) == expected
    assert reader.requests(path) == [LINE, LINE]


def test_samples_become_history(path: Path) -> None:
    """Only what tells something new is a point of a window's history."""
    state = State(path)
    key = (ANN, "7d")
    for used, taken in ((0.30, 0), (0.301, 10), (0.32, 20), (0.32, 70), (0.32, 80)):
        state.put(Remembered(readings={key: reading("7d", used, taken=taken)}))
        assert state.flush(LONG)
    state.close(LONG)

    points = reader.history(path, ANN, "7d", NOON)
    assert [(point["used"], point["taken_at"]) for point in points] == [
        (0.30, NOON),
        (0.32, NOON + hours(20 / 3600)),
        (0.32, NOON + hours(80 / 3600)),
    ]
    assert reader.history(path, ANN, "7d", NOON + hours(1)) == []


WRITE = """
import itertools, os, sys
from dataclasses import replace
from pathlib import Path
from home.state.state import State
from tests.home.state.made import line, picture
state = State(Path(sys.argv[1]))
for n in itertools.count():
    state.put(picture(used=(n % 1000) / 1000, talks=tuple(f"{n} {t}" for t in range(20))))
    state.enter(line(n))
    if n % 5 == 0:
        assert state.flush(30)
        print(n, flush=True)
"""


@pytest.mark.parametrize("nth", range(0, 20, 3))
def test_a_killed_process_leaves_what_was_flushed(path: Path, nth: int) -> None:
    """After a SIGKILL at any moment the file is whole, and holds the last flush or something newer."""
    writer = subprocess.Popen([sys.executable, "-c", WRITE, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert writer.stdout is not None
    flushed = [int(writer.stdout.readline()) for _ in range(nth + 1)][-1]
    threading.Event().wait(nth * 0.0007)  # a moment within a transaction; nothing rests on which
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate(timeout=LONG)
    flushed = int(rest.split()[-1]) if rest.split() else flushed

    lines = reader.requests(path, 10_000)
    assert [int(one["id"], 16) for one in lines] == list(range(len(lines)))
    assert len(lines) > flushed
    found = state_of(path)
    numbers = {int(talk.split()[0]) for talk, _ in found.sticks}
    assert len(numbers) == 1  # a picture is written whole
    assert min(numbers) >= flushed
    assert {one.used for one in found.readings.values()} == {(min(numbers) % 1000) / 1000}
    with raw(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("COMMIT")
"""


@pytest.fixture
def locked(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that keeps the file locked until its stdin ends."""
    with raw(path):
        state_of(path)
    locker = subprocess.Popen([sys.executable, "-c", LOCK, str(path)], stdin=-1, stdout=-1)
    assert locker.stdout is not None
    assert locker.stdout.readline().strip() == b"locked"
    yield locker
    locker.communicate(timeout=LONG)


def test_a_locked_file_delays_nobody_and_loses_nothing(path: Path, locked: subprocess.Popen[bytes]) -> None:
    """While another process holds the write lock, 2,000 puts return at once; when it lets go all of them are there."""
    state = State(path)
    longest = 0.0
    for number in range(2_000):
        begun = time.perf_counter()
        state.put(picture(used=number / 2_000))
        state.enter(line(number))
        longest = max(longest, time.perf_counter() - begun)
    assert not state.flush(2.5)
    locked.communicate(timeout=LONG)

    assert state.flush(LONG)
    assert longest < 0.25  # far less than any lock is waited for
    assert [int(one["id"], 16) for one in reader.requests(path, 5_000)] == list(range(2_000))
    assert state.close(LONG)
    assert {one.used for one in state_of(path).readings.values()} == {1_999 / 2_000}


def test_closing_does_not_wait_for_ever(path: Path, locked: subprocess.Popen[bytes]) -> None:
    """A lock that outlasts our patience costs what was not written; the proxy ends all the same."""
    assert locked.poll() is None
    state = State(path)
    state.put(picture())

    assert not state.close(0.2)


def test_a_full_queue_loses_the_oldest_of_the_ledger_alone(
    path: Path, locked: subprocess.Popen[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """Far behind, the oldest requests are dropped, said once and counted; the newest holds are not."""
    state = State(path, backlog=Backlog(bound=10))
    state.enter(line(0))
    assert not state.flush(0.1)  # the writer has the first in its hands
    for number in range(1, 31):
        state.enter(line(number))
        state.put(picture(ANN, holds=(hold(end=number, by=None),)))
    assert not state.flush(1.5)
    locked.communicate(timeout=LONG)
    assert state.flush(LONG)
    assert state.close(LONG)

    assert [int(one["id"], 16) for one in reader.requests(path, 100)] == [0, *range(21, 31)]
    assert state_of(path).holds == {ANN: (hold(end=30, by=None),)}
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [("dropped" in one, "20 rows were lost" in one) for one in said] == [(True, False), (False, True)]


def test_a_disk_that_refuses_is_said_once_and_caught_up(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A full disk stops no request; what came meanwhile is written once there is room."""
    state = State(path)
    state.put(picture(ANN))
    assert state.flush(LONG)
    with raw(path) as connection:  # a trigger that fails as a full disk does
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON requests BEGIN SELECT no_such_function(); END")
    state.enter(line(1))
    state.put(picture(ANN, BEN))
    assert not state.flush(1.5)
    state.enter(line(2))
    with raw(path) as connection:
        connection.execute("DROP TRIGGER full")

    assert state.flush(LONG)
    assert state.close(LONG)
    assert [int(one["id"], 16) for one in reader.requests(path)] == [1, 2]
    assert state_of(path) == picture(ANN, BEN)
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [("cannot be written" in one, "written again" in one) for one in said] == [(True, False), (False, True)]


def test_a_fault_of_ours_costs_one_batch(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be told to a database is said and passed over; what comes next is written."""
    state = State(path)
    state.put(Remembered(readings={(ANN, "7d"): replace(reading(), resets_at=datetime(2026, 1, 6))}))  # noqa: DTZ001
    assert state.flush(LONG)
    state.put(picture())
    state.enter(line(1))
    assert state.close(LONG)

    assert state_of(path) == picture()
    assert "a fault of flowpool's own" in caplog.text


def test_an_odd_request_does_not_cost_the_others(path: Path) -> None:
    """A line without a time is left out of its batch."""
    reopened(path, lines=(line(1), {"at": None}, {"at": "soon"}, line(2)))

    assert [int(one["id"], 16) for one in reader.requests(path)] == [1, 2]


def test_a_file_that_was_taken_away_is_begun_anew(path: Path) -> None:
    """When somebody removes the file of a running proxy, the next write makes one with all that is remembered."""
    state = State(path)
    state.put(picture(ANN))
    assert state.flush(LONG)
    for one in path.parent.iterdir():
        one.unlink()
    state.enter(line(1))
    assert state.close(LONG)

    assert state_of(path) == picture(ANN)
    assert reader.requests(path) == [line(1)]


@pytest.mark.parametrize("damage", ["zeroed", "truncated", "text", "another"])
def test_a_corrupt_file_is_kept_aside(path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    """It is said in one line where the corrupt file is, and the state begins anew; an earlier one is kept too."""
    for number in range(2):
        reopened(path, picture(), lines=tuple(line(n) for n in range(200)))
        spoil(path, damage)
        spoiled = path.read_bytes()
        caplog.clear()
        assert state_of(path) == Remembered()

        aside = path.with_name(f"{path.name}.corrupt" if number == 0 else f"{path.name}.corrupt.1")
        assert aside.read_bytes() == spoiled
        assert [record.getMessage() for record in caplog.records] == [
            f"flowpool: {path} was corrupt; it is kept as {aside}, and a fresh one begins"
        ]
    assert reopened(path, picture()) == picture()


def spoil(path: Path, damage: str) -> None:
    """Damage a file that nobody has open."""
    data = path.read_bytes()
    match damage:
        case "zeroed":
            path.write_bytes(bytes(100) + data[100:])
        case "truncated":
            path.write_bytes(data[: len(data) // 2])
        case "text":
            path.write_text("this is not a database\n" * 100)
        case _:
            path.unlink()
            with raw(path) as connection:
                connection.execute("CREATE TABLE other (x)")


def test_damage_met_while_running_is_kept_aside(path: Path) -> None:
    """A file that breaks under a running proxy is replaced, and all that the proxy knows is in the new one."""
    reopened(path, picture(), lines=tuple(line(n) for n in range(200)))
    state = State(path)
    state.put(picture(used=0.6))
    assert state.flush(LONG)
    fresh = path.with_name("broken")
    fresh.write_text("not a database")
    fresh.replace(path)
    state.enter(line(7))
    assert state.close(LONG)

    assert state_of(path) == picture(used=0.6)
    assert reader.requests(path) == [line(7)]
    assert path.with_name(f"{path.name}.corrupt").exists()


@pytest.mark.parametrize("table", ["readings", "requests"])
def test_a_damaged_page_is_kept_aside(path: Path, table: str) -> None:
    """Whether it is met when the state is read or when it is written: what the proxy knows is in the fresh file."""
    reopened(path, picture(), lines=(line(1),))
    with raw(path) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    data = path.read_bytes()
    path.write_bytes(data[: (root - 1) * size] + bytes(size) + data[root * size :])

    state = State(path)
    assert state.remembered == (Remembered() if table == "readings" else picture())
    state.put(picture(used=0.6))
    state.enter(line(2))
    assert state.close(LONG)
    assert state_of(path) == picture(used=0.6)
    assert reader.requests(path) == [line(2)]
    assert path.with_name(f"{path.name}.corrupt").exists()


def test_the_clock_is_in_utc() -> None:
    """What is too old is told by an aware time."""
    assert utc_now().tzinfo is UTC


def test_a_newer_schema_is_left_alone(path: Path) -> None:
    """One line says so, the exit code is that of wrong settings, and not a byte is changed."""
    reopened(path, picture())
    with raw(path) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    before = path.read_bytes()

    with pytest.raises(NewerState, match="its schema is 99, this one knows 1") as met:
        State(path)
    assert (met.value.exit_code, str(met.value).count("\n")) == (2, 0)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_stays_locked_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another program keeps for itself is not served without: it would be overwritten later."""
    monkeypatch.setattr("home.state.database.BUSY", 0.01)
    state_of(path)
    with raw(path) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StateError, match="is locked by another process"):
            State(path)


def test_a_folder_that_refuses_does_not_stop_the_proxy(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where no file can be made it is said, nothing is remembered, and closing does not hang."""
    (tmp_path / "folder").write_text("in the way")
    state = State(tmp_path / "folder" / "state.sqlite3")
    state.put(picture())
    state.enter(LINE)

    assert state.close(LONG)
    assert state.remembered == Remembered()
    assert "cannot be written" in caplog.text


def test_an_open_file_becomes_ours_alone(path: Path) -> None:
    """A file that others could read can be read by us alone from now on."""
    state_of(path)
    path.chmod(0o644)
    state_of(path)

    assert path.stat().st_mode & 0o777 == 0o600


def test_names_that_no_database_takes_are_left_out(path: Path) -> None:
    """A client's own words are not trusted: what would not come back as it was is not written, the rest is."""
    odd = picture(ANN)
    stick = next(iter(odd.sticks.values()))
    sticks = {(ConversationId("talk"), name): stick for name in ("\ud800", "a\0b", "x" * 501, "sound")}
    found = reopened(path, replace(odd, sticks=sticks))

    assert [model for _, model in found.sticks] == ["sound"]
    assert replace(found, sticks=odd.sticks) == odd


def test_rows_that_make_no_sense_are_passed_over(path: Path) -> None:
    """What somebody else wrote into the tables costs itself and nothing more."""
    reopened(path, picture(ANN))
    with raw(path) as connection:
        for statement in (
            "INSERT INTO readings VALUES ('ann', 'week', 0.5, NULL, NULL, '2026-01-05', '2026-01-05')",
            "INSERT INTO readings VALUES ('ann', '1h', 0.5, NULL, 'perhaps', '2026-01-05 12:00:00', '2026-01-05 12:00:00')",
            "UPDATE readings SET used = -1 WHERE window_key = '5h'",
            "INSERT INTO holds VALUES (99, 'ann', NULL, 13, '2026-01-05 12:00:00', '', '{', '2026-01-05 12:00:00')",
            "INSERT INTO health VALUES ('ben', 0, '2026-01-05 12:00:00.000000')",
            "INSERT INTO sticks VALUES ('talk', 'opus', 'ann', 'soon')",
        ):
            connection.execute(statement)

    found = state_of(path)
    assert {key: one.used for key, one in found.readings.items()} == {(ANN, "5h"): None, (ANN, "7d"): 0.5}
    assert replace(found, readings={}) == replace(picture(ANN), readings={})
    assert reader.remembered(path) == found


def test_a_batch_has_its_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a batch is written in several."""
    monkeypatch.setattr(backlog, "BATCH", 7)
    reopened(path, lines=tuple(line(n) for n in range(30)))

    assert count(path, "requests") == 30
