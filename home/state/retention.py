"""What grows too old is deleted, a few rows at a time."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Delete, Table, and_, delete, select

from home.state.tables import HISTORY, REQUESTS, STICKS, STORIES

REQUESTS_KEPT = timedelta(days=90)
MOST_REQUESTS = 200_000
HISTORY_KEPT = timedelta(days=30)
STICKS_KEPT = timedelta(days=1)  # past their end: the clock may go back
STORIES_KEPT = timedelta(days=7)
MOST_STORIES = 20_000  # of one to five kB each
STEP = 500  # rows of one transaction: a few ms

type Step = Callable[[Connection], int]


def steps(now: datetime, most: int = MOST_REQUESTS) -> Iterator[Step]:
    """List what is to be done; each is repeated, in a transaction of its own, until it deletes nothing."""
    yield lambda connection: connection.execute(_oldest(REQUESTS, REQUESTS.c.at < now - REQUESTS_KEPT)).rowcount
    yield lambda connection: _over(connection, REQUESTS, most)
    yield lambda connection: connection.execute(_oldest(STORIES, STORIES.c.at < now - STORIES_KEPT)).rowcount
    yield lambda connection: _over(connection, STORIES, min(most, MOST_STORIES))
    yield lambda connection: connection.execute(_oldest(HISTORY, HISTORY.c.taken_at < now - HISTORY_KEPT)).rowcount
    yield lambda connection: connection.execute(_cold(now - STICKS_KEPT)).rowcount


def _over(connection: Connection, table: Table, most: int) -> int:
    """Delete some of the rows that are over the number."""
    last = connection.scalar(select(table.c.seq).order_by(table.c.seq.desc()).offset(most).limit(1))
    return 0 if last is None else connection.execute(_oldest(table, table.c.seq <= last)).rowcount


def _oldest(table: Table, which: ColumnElement[bool]) -> Delete:
    return delete(table).where(table.c.seq.in_(select(table.c.seq).where(which).order_by(table.c.seq).limit(STEP)))


def _cold(before: datetime) -> Delete:
    """Delete some sticks; the Router's own copy of them is bounded too."""
    cold = select(STICKS.c.conversation, STICKS.c.model).where(STICKS.c.until < before).limit(STEP).subquery()
    same = and_(STICKS.c.conversation == cold.c.conversation, STICKS.c.model == cold.c.model)
    return delete(STICKS).where(select(1).select_from(cold).where(same).exists())
