"""The tables, in types that SQLite and PostgreSQL share."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import StatementError
from sqlalchemy.schema import CreateTable

from home.state.rows import TABLES
from home.state.tables import METADATA, STICKS, Moment
from tests.routing.made import NOON

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
POSTGRESQL, SQLITE = postgresql.dialect(), sqlite.dialect()  # type: ignore[no-untyped-call]


@given(st.lists(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1), timezones=zones), max_size=5))  # noqa: DTZ001
def test_a_moment_comes_back_in_utc(moments: list[datetime]) -> None:
    """To the microsecond, whatever its zone was, and ordered as moments are."""
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.begin() as connection:
        for number, moment in enumerate(moments):
            row = {"conversation": str(number), "model": "m", "account": "a", "until": moment}
            connection.execute(insert(STICKS), row)
        found = connection.scalars(select(STICKS.c.until).order_by(STICKS.c.until)).all()
    engine.dispose()

    assert list(found) == sorted(moments)
    assert all(moment.tzinfo is UTC for moment in found)


def test_a_time_without_its_zone_is_refused() -> None:
    """It would be off by hours."""
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.connect() as connection, pytest.raises(StatementError, match="without its zone"):
        connection.execute(select(STICKS).where(STICKS.c.until < NOON.replace(tzinfo=None)))
    engine.dispose()


def test_what_another_database_gives_is_turned_into_utc() -> None:
    """PostgreSQL answers in the session's zone."""
    there = NOON.astimezone(timezone(timedelta(hours=3)))
    found = Moment().process_result_value(there, POSTGRESQL)

    assert found is not None
    assert (found, found.tzinfo) == (NOON, UTC)
    assert Moment().process_result_value(None, POSTGRESQL) is None
    assert Moment().process_bind_param(None, POSTGRESQL) is None


@pytest.mark.parametrize("table", METADATA.sorted_tables, ids=lambda table: table.name)
def test_the_tables_are_portable(table: object) -> None:
    """Both databases can make each of them; rows count up by themselves."""
    statements = [str(CreateTable(table).compile(dialect=dialect)) for dialect in (SQLITE, POSTGRESQL)]  # type: ignore[arg-type]

    assert all("CREATE TABLE" in statement for statement in statements)
    assert ("seq" in statements[0]) is ("seq BIGSERIAL" in statements[1])
    assert "WITHOUT TIME ZONE" not in statements[1]


def test_every_table_that_is_read_exists() -> None:
    """The names that rows are read by."""
    assert set(TABLES) <= METADATA.tables.keys()
