"""A clock that is wrong by more than a minute is told, by more than five it fails."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from flowpool.findings.clock import clock, compared
from flowpool.findings.finding import Level
from tests.flowpool.proxy import listening, reply

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
CASES = [  # seconds that we are ahead, the level, what is said
    (0, Level.OK, "agrees"),
    (60, Level.OK, "agrees"),
    (-60, Level.OK, "agrees"),
    (61, Level.WARN, "61 s ahead of the upstream's"),
    (-300, Level.WARN, "300 s behind the upstream's"),
    (301, Level.FAIL, "301 s ahead of"),
    (-86_400, Level.FAIL, "86400 s behind"),
]


@pytest.mark.parametrize(("ahead", "level", "says"), CASES)
def test_the_difference_decides(ahead: int, level: Level, says: str) -> None:
    """Either way."""
    found = compared(format_datetime(NOON), NOON + timedelta(seconds=ahead))

    assert (found.level, says in found.message) == (level, True)
    assert bool(found.mend) is (level is not Level.OK)


@pytest.mark.parametrize("date", ["", "yesterday", "2026-01-05T12:00:00Z", "Mon, 32 Jan 2026 12:00:00 GMT"])
def test_without_a_date_nothing_is_said(date: str) -> None:
    """An upstream need not tell one."""
    assert compared(date, NOON).level is Level.SKIP


def test_any_answer_tells_the_time() -> None:
    """The upstream is asked without a credential, and what it says of that does not matter."""
    heard: list[bytes] = []
    late = format_datetime(datetime.now(UTC) - timedelta(seconds=200), usegmt=True).replace("+0000", "GMT")
    with listening(reply(b"{}", f"401 No\r\nDate: {late}"), heard) as address:
        found = clock(f"http://{address}")

    assert found.level is Level.WARN
    (asked,) = heard
    assert not {b"authorization", b"x-api-key"} & {line.partition(b":")[0].lower() for line in asked.split(b"\r\n")}


def test_nobody_there_is_a_warning() -> None:
    """With the command that shows why."""
    with listening(b"", []) as address:
        pass
    found = clock(f"http://{address}")

    assert (found.level, found.mend) == (Level.WARN, f"curl -sSI http://{address}")
