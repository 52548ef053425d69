"""A pin that is set while no proxy runs is what the next one finds."""

from datetime import timedelta
from pathlib import Path

import pytest

from home.state import reader
from home.state.errors import StateError
from home.state.pinning import pin
from home.state.state import State
from routing.pins import ALL, HEEDED, OWN, Pin
from tests.home.state.made import picture, raw
from tests.routing.made import ANN, BEN, NOON, hours

TICK = timedelta(microseconds=1)


def test_it_is_written_beside_all_else(tmp_path: Path) -> None:
    """Nothing else of the state changes."""
    path = tmp_path / "state.sqlite3"
    state = State(path)
    state.put(picture())
    state.close()
    before = reader.remembered(path)
    pin(path, Pin(accounts=(ANN, BEN), at=NOON, moves=True))
    pin(path, Pin(accounts=(BEN,), at=NOON), "session")
    found = reader.remembered(path)

    assert found.pins == {
        (HEEDED, "talk", "opus"): Pin(accounts=(), at=NOON - TICK),  # so that both are newer
        (ALL, "", ""): Pin(accounts=(ANN, BEN), at=NOON, moves=True),
        (OWN, "session", ""): Pin(accounts=(BEN,), at=NOON),
    }
    assert (found.readings, found.holds, found.sticks) == (before.readings, before.holds, before.sticks)


def test_a_state_that_is_not_there_is_made(tmp_path: Path) -> None:
    """The pin of before is replaced, and ended."""
    path = tmp_path / "state.sqlite3"
    pin(path, Pin(accounts=(ANN,), at=NOON))
    pin(path, Pin(accounts=(BEN,), at=NOON + hours(1)))
    assert reader.remembered(path).pins == {(ALL, "", ""): Pin(accounts=(BEN,), at=NOON + hours(1))}
    pin(path, Pin(accounts=(), at=NOON + hours(2)))
    assert reader.remembered(path).pins == {}


def test_a_file_without_the_table_gets_it(tmp_path: Path) -> None:
    """An older proxy wrote it; reading it finds no pins."""
    path = tmp_path / "state.sqlite3"
    pin(path, Pin(accounts=(ANN,), at=NOON))
    with raw(path) as connection:
        connection.execute("DROP TABLE pins")
    assert reader.remembered(path).pins == {}
    pin(path, Pin(accounts=(BEN,), at=NOON))
    assert list(reader.remembered(path).pins.values()) == [Pin(accounts=(BEN,), at=NOON)]


def test_a_disk_that_refuses_is_one_clear_line(tmp_path: Path) -> None:
    """With the mending command."""
    with pytest.raises(StateError, match="run: ls -l"):
        pin(tmp_path, Pin(accounts=(ANN,), at=NOON))
