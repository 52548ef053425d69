"""The state is read without a proxy, beside one, and without SQLAlchemy."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from home.state import reader
from home.state.errors import NewerState, StateError
from home.state.state import State
from routing.remembered import Remembered
from tests.home.state.made import LINE, LONG, line, picture, raw
from tests.routing.made import ANN, NOON

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the state is."""
    return tmp_path / "a %20 b" / "state.sqlite3"


def test_it_reads_what_a_running_proxy_wrote(path: Path) -> None:
    """Beside an open state everything that was flushed is there, with every field of the ledger's line."""
    state = State(path)
    state.put(picture())
    state.enter(LINE)
    assert state.flush(LONG)

    assert reader.remembered(path) == picture()
    assert reader.requests(path) == [LINE]
    assert list(reader.requests(path)[0]) == list(LINE)
    state.close(LONG)
    assert reader.remembered(path) == picture()


def test_the_latest_requests_come_in_their_order(path: Path) -> None:
    """So many of the newest, the oldest first; and those after a known one, for who follows."""
    state = State(path)
    for number in range(9):
        state.enter(line(number))
    state.close(LONG)

    assert [one["id"][-1] for one in reader.requests(path, 3)] == ["6", "7", "8"]
    assert [one["id"][-1] for one in reader.requests_after(path, line(6)["id"])] == ["7", "8"]
    assert [one["id"][-1] for one in reader.requests_after(path, line(2)["id"], most=2)] == ["3", "4"]
    assert reader.requests_after(path, "unknown") == []


def test_conversations_are_found_by_their_beginning(path: Path) -> None:
    """Each once; what stands for anything elsewhere is a letter here."""
    state = State(path)
    for number, name in enumerate(["abc", "abd", "abc", "%", None]):
        state.enter(line(number) | {"conversation": name})
    state.close(LONG)

    assert sorted(reader.conversations_like(path, "ab")) == ["abc", "abd"]
    assert [reader.conversations_like(path, begun) for begun in ("%", "x", "_bc")] == [["%"], [], []]
    assert len(reader.conversations_like(path, "", 2)) == 2
    assert reader.conversations_like(path.with_name("none"), "a") == []


def test_without_a_file_there_is_nothing(path: Path) -> None:
    """Nothing is told, and nothing is made."""
    assert reader.remembered(path) == Remembered()
    assert reader.requests(path) == reader.requests_after(path, "x") == reader.history(path, ANN, "7d", NOON) == []
    assert not path.parent.exists()


def test_a_file_that_is_only_being_made_tells_nothing(path: Path) -> None:
    """A proxy that starts just now has no tables yet."""
    path.parent.mkdir()
    path.touch()

    assert reader.remembered(path) == Remembered()


def test_an_older_file_is_read_and_completed(path: Path) -> None:
    """It lacks the tables that came later: nothing is told of those, and the next start adds them and keeps the rest."""
    state = State(path)
    state.put(picture())
    state.close(LONG)
    with raw(path) as connection:
        for table in ("checks", "lifetimes", "capacities", "gauges"):
            connection.execute(f"DROP TABLE {table}")

    old = replace(picture(), checks={}, lifetimes={}, capacities={}, gauges={})
    assert reader.remembered(path) == old
    state = State(path)
    assert state.remembered == old
    state.put(picture())
    state.close(LONG)
    assert reader.remembered(path) == picture()


@pytest.mark.parametrize("found", ["text", "foreign"])
def test_what_is_no_state_is_said_and_left(path: Path, found: str) -> None:
    """Only a start moves a corrupt file aside; reading it is one line."""
    path.parent.mkdir()
    if found == "text":
        path.write_text("not a database" * 100)
    else:
        with raw(path) as connection:
            connection.execute("CREATE TABLE other (x)")
    before = path.read_bytes()

    with pytest.raises(StateError, match="cannot be read") as met:
        reader.requests(path)
    assert str(met.value).count("\n") == 0
    assert path.read_bytes() == before


def test_a_newer_schema_is_not_read(path: Path) -> None:
    """What its tables mean is not known here."""
    State(path).close(LONG)
    with raw(path) as connection:
        connection.execute("UPDATE meta SET value = '2' WHERE name = 'schema'")

    with pytest.raises(NewerState):
        reader.remembered(path)


def test_it_does_without_sqlalchemy() -> None:
    """A command that only reads starts as fast as one that asks a proxy."""
    code = "import sys; import home.state.reader; print('sqlalchemy' in sys.modules, 'mitmproxy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)

    assert shown.stdout == "False False\n"
