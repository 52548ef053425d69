"""What is too old is deleted, a few rows at a time."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select

from home.state import retention
from home.state.backlog import Backlog
from home.state.database import prepare
from home.state.ledger import row_of
from home.state.state import State
from home.state.tables import HISTORY, REQUESTS, STICKS
from home.state.writer import Writer
from tests.home.state.made import LONG, count, line
from tests.routing.made import NOON, hours


def filled(path: Path, *, requests: int = 0, reading_history: int = 0, sticks: int = 0) -> Engine:
    """A state with rows that are a minute apart, the newest at noon."""
    engine = prepare(path)
    ages = [NOON - timedelta(minutes=n) for n in reversed(range(max(requests, reading_history, sticks)))]
    with engine.begin() as connection:
        if requests:
            lines = [row_of(line(n, at=at.isoformat())) for n, at in enumerate(ages)]
            connection.execute(insert(REQUESTS), lines)
        if reading_history:
            points = [{"account": "ann", "window_key": "7d", "used": 0.5, "taken_at": at} for at in ages]
            connection.execute(insert(HISTORY), points)
        if sticks:
            habits = [{"conversation": str(at), "model": "m", "account": "ann", "until": at} for at in ages]
            connection.execute(insert(STICKS), habits)
    return engine


def run(engine: Engine, now: datetime, most: int = retention.MOST_REQUESTS) -> list[int]:
    """All steps to their end; how much each transaction deleted."""
    deleted = []
    for step in retention.steps(now, most):
        while True:
            with engine.begin() as connection:
                deleted.append(step(connection))
            if not deleted[-1]:
                break
    return deleted


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        ("requests", retention.REQUESTS_KEPT),
        ("reading_history", retention.HISTORY_KEPT),
        ("sticks", retention.STICKS_KEPT),
    ],
)
def test_the_oldest_go_in_small_batches(tmp_path: Path, table: str, kept: timedelta) -> None:
    """No transaction deletes more than a few hundred rows; what is young enough stays."""
    path = tmp_path / "s"
    engine = filled(path, **{table: 1_300})
    batches = [n for n in run(engine, NOON + kept - timedelta(minutes=100)) if n]

    assert batches == [500, 500, 199]
    assert count(path, table) == 101
    assert not any(run(engine, NOON + kept - timedelta(minutes=100)))


def test_a_ledger_has_its_number(tmp_path: Path) -> None:
    """Over the number the oldest go, also when they are young."""
    engine = filled(tmp_path / "s", requests=1_300)
    batches = [n for n in run(engine, NOON, most=200) if n]

    assert count(tmp_path / "s", "requests") == 200
    assert (sum(batches), max(batches)) == (1_100, retention.STEP)
    with engine.connect() as connection:
        assert connection.scalar(select(REQUESTS.c.id).order_by(REQUESTS.c.seq)) == line(1_100)["id"]
    assert not any(run(engine, NOON, most=200))


def test_tidying_lets_new_rows_through(tmp_path: Path) -> None:
    """What comes between two steps is written before the next one, and the old rows are gone at the end."""
    path = tmp_path / "s"
    filled(path, requests=1_300)
    backlog = Backlog()
    writer = Writer(path, backlog, lambda: NOON + hours(1), 200)
    backlog.enter(line(9_999))
    writer.tidy()

    assert backlog.flush(0)
    assert count(path, "requests") in (200, 201)
    backlog.close()
    writer.run()


def test_a_disk_that_refuses_is_not_tidied(tmp_path: Path) -> None:
    """It is tried again in an hour; nothing is raised."""
    (tmp_path / "folder").write_text("in the way")
    Writer(tmp_path / "folder" / "s", Backlog(), lambda: NOON, 200).tidy()


def test_a_start_does_not_tidy_at_once(tmp_path: Path) -> None:
    """A start has enough to do; the rows are still there."""
    path = tmp_path / "s"
    filled(path, requests=300)
    assert State(path, most_requests=5).close(LONG)

    assert count(path, "requests") == 300
