"""Holds can be ended while no proxy runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from home.state import reader
from home.state.errors import StateError
from home.state.lifting import lift
from home.state.state import State
from routing.verdicts import LOGIN_ROWS
from tests.home.state.made import LONG, picture
from tests.routing.made import ANN, BEN, hold


def test_only_the_named_accounts_are_lifted(tmp_path: Path) -> None:
    """Their holds, refused logins and next checks go, all else stays; how many holds there were is told."""
    path = tmp_path / "state.sqlite3"
    state = State(path)
    state.put(picture())
    state.close(LONG)
    whole = picture()

    assert lift(path, [ANN]) == 1
    assert lift(path, [ANN]) == 0
    expected = replace(
        whole,
        holds={BEN: whole.holds[BEN]},
        ladders={BEN: whole.ladders[BEN]},
        checks={ANN: whole.checks[ANN].unscheduled(), BEN: whole.checks[BEN]},
    )
    assert reader.remembered(path) == expected


def test_only_holds_of_the_named_rows_are_lifted(tmp_path: Path) -> None:
    """A new credential ends what the old one was refused for, and no limit."""
    path = tmp_path / "state.sqlite3"
    state = State(path)
    state.put(picture(ANN, holds=(hold(13, by=None), hold(17, by=None), hold(18, by=None), hold(19, by=None))))
    state.close(LONG)

    assert lift(path, [ANN], LOGIN_ROWS) == 3
    found = reader.remembered(path)
    assert (found.holds, found.ladders) == ({ANN: (hold(13, by=None),)}, {})


def test_without_a_file_nothing_is_lifted(tmp_path: Path) -> None:
    """And none is made."""
    assert lift(tmp_path / "state.sqlite3", [ANN]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A folder in its place is said."""
    (tmp_path / "state.sqlite3").mkdir()

    with pytest.raises(StateError, match="cannot be written") as met:
        lift(tmp_path / "state.sqlite3", [ANN])
    assert str(met.value).count("\n") == 0
