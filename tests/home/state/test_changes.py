"""Only what differs between two pictures is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, event

from home.state import changes
from home.state.tables import METADATA
from home.state.writer import read
from routing.remembered import Remembered
from tests.home.state.made import picture
from tests.routing.made import ANN, BEN, NAMES, hold

mappings = st.dictionaries(st.integers(0, 5), st.integers(0, 3))
pictures = st.builds(
    lambda names, used, talks: picture(*names, used=used, talks=tuple(talks)) if names else Remembered(),
    st.lists(st.sampled_from(NAMES), unique=True),
    st.sampled_from([0.1, 0.2]),
    st.sets(st.sampled_from("abc")),
)


@given(mappings, mappings)
def test_a_difference_makes_one_the_other(old: dict[int, int], new: dict[int, int]) -> None:
    """Without what is gone and with what is changed, the old is the new."""
    kept = {key: value for key, value in old.items() if key not in changes.gone(old, new)}

    assert kept | changes.changed(old, new) == new
    assert changes.changed(new, new) == {}


@given(pictures, pictures)
def test_the_tables_become_those_of_the_next_picture(old: Remembered, new: Remembered) -> None:
    """From whatever was there before; lines alone are never forgotten."""
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.connect() as connection:
        with connection.begin():
            changes.write(connection, Remembered(), old)
            changes.write(connection, old, new)
        found = read(connection)
    engine.dispose()

    assert (found.readings, found.holds, found.ladders) == (new.readings, new.holds, new.ladders)
    assert (found.checks, found.lifetimes, found.capacities) == (new.checks, new.lifetimes, new.capacities)
    assert found.gauges == new.gauges
    assert (found.sticks, found.lines) == (new.sticks, old.lines or new.lines)


@pytest.mark.parametrize(
    ("new", "tables"),
    [
        (picture(), set()),
        (picture(used=0.6), {"readings"}),
        (picture(holds=(hold(14),)), {"holds"}),
        (picture(talks=()), {"sticks"}),
        (
            picture(ANN),
            {"readings", "holds", "health", "checks", "lifetimes", "capacities", "sticks", "pins", "gauges"},
        ),
    ],
)
def test_a_table_without_a_change_is_not_touched(new: Remembered, tables: set[str]) -> None:
    """A turn of a conversation writes a reading and a stick, not the whole state."""
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    touched = set()

    @event.listens_for(engine, "before_cursor_execute")
    def _note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        touched.add(statement.replace("DELETE FROM ", "").replace("INSERT INTO ", "").split()[0])

    with engine.begin() as connection:
        changes.write(connection, Remembered(), picture(ANN, BEN))
        touched.clear()
        changes.write(connection, picture(ANN, BEN), new)
    engine.dispose()

    assert touched == tables
