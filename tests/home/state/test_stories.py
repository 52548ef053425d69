"""A request's story comes back from the state as it was told; one that is too long, or broken, costs nothing else."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select

from home.state import reader, retention
from home.state.database import prepare
from home.state.state import State
from home.state.stories import LARGEST, row_of, story_of
from home.state.tables import STORIES
from tests.home.state.made import LONG, line
from tests.routing.made import NOON

LEAF = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20)
PLAIN = st.dictionaries(
    st.text(max_size=8), st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3), max_leaves=8)
)


@dataclass
class Told:
    """A story of these words."""

    id: str
    words: Any = field(default_factory=dict)
    at: datetime = NOON

    def plain(self) -> dict[str, Any]:
        """The words; a story that cannot be told raises what it is made of."""
        if isinstance(self.words, Exception):
            raise self.words
        return {"id": self.id, "words": self.words}


@given(PLAIN)
def test_a_story_comes_back_as_it_was_told(words: dict[str, Any]) -> None:
    """Whatever its words are."""
    assert story_of(row_of(Told("0a", words))) == {"id": "0a", "words": words}


def test_a_story_that_is_too_long_is_refused() -> None:
    """A bound for what one row may hold."""
    with pytest.raises(ValueError, match="too long"):
        row_of(Told("0a", "x" * LARGEST))


@pytest.mark.parametrize("told", ["", "[]", "{", "1", "[" * 100_000, None])
def test_what_is_no_story_is_none(told: str | None) -> None:
    """A file may be odd."""
    assert story_of({"told": told}) is None


def test_stories_are_kept_beside_their_lines(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One that cannot be told costs neither its line nor the others; the log says which."""
    caplog.set_level(logging.INFO)
    path = tmp_path / "s"
    state = State(path)
    for number, words in enumerate(["first", RuntimeError("no"), "third"]):
        state.enter(line(number))
        state.tell(Told(f"{number:012x}", words))
    assert state.flush(LONG)
    state.close(LONG)

    assert [reader.story(path, f"{number:012x}") for number in range(3)] == [
        {"id": "000000000000", "words": "first"},
        None,
        {"id": "000000000002", "words": "third"},
    ]
    assert len(reader.requests(path)) == 3
    assert "how request 000000000001 went is not kept: RuntimeError" in caplog.text


def test_requests_are_found_by_their_beginning(tmp_path: Path) -> None:
    """The latest first, never more than asked for; without a file none."""
    path = tmp_path / "s"
    assert reader.requests_like(path, "", 9) == []
    assert reader.story(path, "aa") is None
    state = State(path)
    for name in ("aa01", "ab02", "aa03", "b004"):
        state.enter(line(0, id=name))
    state.close(LONG)

    def found(beginning: str, most: int = 9) -> list[str]:
        return [one["id"] for one in reader.requests_like(path, beginning, most)]

    assert found("aa") == ["aa03", "aa01"]
    assert found("a", 2) == ["aa03", "ab02"]
    assert found("") == ["b004", "aa03", "ab02", "aa01"]
    assert found("ab02") == ["ab02"]
    assert found("c") == found("%") == []


def test_a_file_of_before_has_no_stories(tmp_path: Path) -> None:
    """Until a proxy opens it, which adds the table and touches nothing else."""
    path = tmp_path / "s"
    State(path).close(LONG)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE stories")
    assert reader.story(path, "aa") is None
    state = State(path)
    state.tell(Told("aa"))
    state.close(LONG)
    assert reader.story(path, "aa") == {"id": "aa", "words": {}}


def test_old_stories_go(tmp_path: Path) -> None:
    """After some days, and those over their number, whose lines stay longer."""
    engine = prepare(tmp_path / "s")
    ages = [NOON - timedelta(days=days) for days in (9, 8, 3, 2, 1)]
    with engine.begin() as connection:
        connection.execute(insert(STORIES), [row_of(Told(str(n), at=at)) for n, at in enumerate(ages)])
    for step in retention.steps(NOON, most=2):
        with engine.begin() as connection:
            while step(connection):
                pass
    with engine.connect() as connection:
        assert [row.id for row in connection.execute(select(STORIES))] == ["3", "4"]
