"""The table of requests is readable at every width."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from flowpool.rows import read
from flowpool.views.requests import HEADINGS, WIDTHS, cells, columns, view
from tests.flowpool.pictures import LINE

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def test_a_row_says_what_happened() -> None:
    """When, who, what, what it met, how soon, how much, how it ended, and how `why` finds it."""
    assert cells(read(LINE), NOON, arrow="->", local=utc) == (
        "12:00:07",
        "home",
        "claude-opus-5-5",
        "200",
        "work limit -> home",
        "14 ms",
        "9.8k + 25",
        "complete",
        "f4f2ad",
    )


BARE: dict[str, object] = {
    "account": None,
    "model": None,
    "status": None,
    "tried": [],
    "first_byte_ms": None,
    "usage": None,
}
MANY: dict[str, object] = {
    "usage": {"input": 1_500_000, "output": 999, "cache_read": None, "cache_write_5m": 0, "cache_write_1h": 0}
}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (BARE, ("12:00:07", "-", "/v1/messages", "-", "-", "-", "-", "complete", "f4f2ad")),
        (MANY | {"first_byte_ms": 1234}, ("12:00:07", "home", "claude-opus-5-5", "200", "work limit -> home", "1.2 s", "1.5M + 999", "complete", "f4f2ad")),
        ({"path": "/v1/messages/count_tokens"}, ("12:00:07", "home", "claude-opus-5-5 (count)", *cells(read(LINE), NOON, arrow="->", local=utc)[3:])),
        ({"at": "2026-01-02T12:00:07"}, ("Fri 12:00:07", *cells(read(LINE), NOON, arrow="->", local=utc)[1:])),
    ],
    ids=range(4),
)  # fmt: skip
def test_what_is_not_known_is_a_dash(given: dict[str, object], says: tuple[str, ...]) -> None:
    """Numbers stay short, another day has its name."""
    assert cells(read(LINE | given), NOON, arrow="->", local=utc) == says


@pytest.mark.parametrize("width", [80, 120, 160])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    """And no word is lost."""
    screen = io.StringIO()
    Console(file=screen, width=width, markup=False).print(
        view([read(LINE), read(LINE | {"ended": "cut"})], NOON, arrow="->", local=utc)
    )
    text = screen.getvalue()

    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    flat = "".join(text.split())
    assert flat.count("home") >= 2
    assert all(heading.split()[0] in text for heading in HEADINGS)


def test_columns_stand_below_each_other() -> None:
    """Rows that come one by one line up."""
    assert len(WIDTHS) == len(HEADINGS)
    lines = [columns(cells(read(LINE | {"model": model}), NOON, arrow="->", local=utc)) for model in ("a", "claude-b")]

    assert len({line.index("200") for line in lines}) == 1
