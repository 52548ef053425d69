"""The screen of status is readable at every width."""

import io
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from flowpool.document import read, without_proxy
from flowpool.views.status import clock, view
from tests.flowpool.pictures import FULL

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def local(zone: str, moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(zone))


def shown(document: dict[str, object], width: int) -> str:
    screen = io.StringIO()
    Console(file=screen, width=width, markup=False).print(
        view(read(document), NOON, lambda moment: local("UTC", moment))
    )
    return screen.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_everything_is_there_at_every_width(width: int) -> None:
    """No line is wider than the screen, and no number or name is lost."""
    text = shown(FULL, width)
    flat = "".join(text.split())

    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for part in ("5h 100% to 14:20", "7d  43% to Thu 09:00", "7d_oi   -", "held", "disabled", "work"):
        assert part in text
    for part in (
        "5hlimituntil14:20",
        "fable",
        "28Mar09:00",
        "2inflight",
        "31requests",
        "opus:home,fable:nobody",
        "Conversations:3",
    ):
        assert part in flat or width == 60


def test_the_screen_at_120_columns() -> None:
    """The whole screen, as a person sees it."""
    lines = [line.rstrip() for line in shown(FULL, 120).splitlines()]

    assert lines[0] == "flowpool 0.1.0 listens on 127.0.0.1:3456 (pid 4711, perishing)"
    assert lines[2].split() == ["account", "state", "used", "why"]
    assert lines[4].split("  ")[0].strip() == "work"
    assert lines[-2:] == ["Next opus: home, fable: nobody", "Conversations: 3"]


def test_without_proxy_or_accounts_it_says_what_to_do() -> None:
    """An empty pool names the two commands that begin."""
    text = shown(without_proxy("1", "127.0.0.1:1", "perishing", ()), 80)

    assert "flowpool serve" in text
    assert "flowpool add NAME" in text


CLOCKS = [  # zone, moment, now, text
    ("UTC", datetime(2026, 1, 5, 14, 20, tzinfo=UTC), NOON, "14:20"),
    ("Asia/Tehran", datetime(2026, 1, 5, 14, 20, tzinfo=UTC), NOON, "17:50"),
    ("America/New_York", datetime(2026, 1, 6, 4, 20, tzinfo=UTC), NOON, "23:20"),
    ("UTC", datetime(2026, 1, 6, 4, 20, tzinfo=UTC), NOON, "Tue 04:20"),
    ("UTC", datetime(2026, 1, 12, 4, 20, tzinfo=UTC), NOON, "12 Jan 04:20"),
    ("Europe/Berlin", datetime(2026, 3, 29, 9, 0, tzinfo=UTC), datetime(2026, 3, 28, 9, 0, tzinfo=UTC), "Sun 11:00"),
    ("Europe/Berlin", datetime(2026, 3, 28, 9, 0, tzinfo=UTC), datetime(2026, 3, 28, 9, 0, tzinfo=UTC), "10:00"),
]


@pytest.mark.parametrize(("zone", "moment", "now", "text"), CLOCKS, ids=range(len(CLOCKS)))
def test_times_are_the_wall_clocks(zone: str, moment: datetime, now: datetime, text: str) -> None:
    """A moment is shown by the wall clock of its own day, daylight saving included."""
    assert clock(moment, now, lambda one: local(zone, one)) == text


@given(moment=st.datetimes(min_value=datetime(1970, 1, 3), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_any_moment_can_be_shown(moment: datetime) -> None:
    """Every moment has a short text."""
    assert 5 <= len(clock(moment, NOON)) <= 12


@pytest.mark.parametrize("accounts", [FULL["accounts"], []])
def test_notices_stand_above_the_table(accounts: list[object]) -> None:
    """What is wrong with the files is said before anything else."""
    lines = shown(FULL | {"notices": ["the accounts stay as they were"], "accounts": accounts}, 80).splitlines()

    assert lines[1].startswith("the accounts stay as they were")
