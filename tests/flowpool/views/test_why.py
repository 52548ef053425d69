"""The screen of why is readable at 100 columns, and says all that is known."""

import io
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from flowpool.story import of_line, read
from flowpool.views.why import WIDEST, view
from tests.flowpool.pictures import LINE, STORY

NOON = datetime(2026, 1, 5, 12, 1, tzinfo=UTC)


def utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def shown(told: dict[str, Any], width: int = WIDEST) -> str:
    """The screen, as text."""
    screen = io.StringIO()
    Console(file=screen, width=width, markup=False).print(view(read(told), NOON, utc))
    return "\n".join(line.rstrip() for line in screen.getvalue().splitlines())


SCREEN = """\
f4f2ad99cab6  12:00:07  claude-opus-5-5 (opus), stream, 41.2 kB, session 11111111-2222, conversation 60a9dfd2, warm on work

1. 12:00:07 work: sticky
   account   may   order   used     because
   ────────────────────────────────────────────────────
   work      yes       -   5h 40%   may serve; 2 in flight
   home      yes       -   -        may serve

2. 12:00:08 waits until 12:00:09: others are moving there just now (14 times)

3. 12:00:22 home: hop: work refused: 7d limit until 14:00 UTC
   ordered by perishing
   account   may   order   used            because
   ─────────────────────────────────────────────────────────────────────────
   home      yes       1   5h 2%, 7d 40%   7d perishes soonest (0.021/h)
   work      no        -   7d 100%         7d limit, until 14:00

   asked   answer   meant           waited     took   because
   ──────────────────────────────────────────────────────────────────────────
   work    429      limit, row 13        -   190 ms   7d limit until 14:00 UTC
   home    200      ok, row 8        50 ms    8.1 s   answered

complete by home: 200, first byte after 14.8 s, all of it 22.3 s, waited 14.1 s,
its client was told 2 times that it waits
cost in tokens: 0 read, 312 fresh, 40.1k written, 811 output; cache rebuilt on home; it was warm on
work"""


def words(text: str) -> str:
    """The text without its lines and spaces."""
    return " ".join(text.replace("─", "").split())


def test_it_tells_the_whole_story() -> None:
    """What was asked, each choice among whom, each attempt, its end and its cost."""
    assert words(shown(STORY)) == words(SCREEN)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_line_is_wider_than_people_read(width: int) -> None:
    """Long names and reasons are folded."""
    long = deepcopy(STORY)
    long["choices"][2]["accounts"][0]["because"] = "words " * 40
    long["choices"][2]["accounts"][1]["account"] = "a-name-of-thirty-two-characters-"
    text = shown(long, width)

    assert max(map(len, text.splitlines())) <= min(width, WIDEST)
    assert text.count("words") == 40


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"stream": False, "warm": None, "home": "ben"}, "whole answer, 41.2 kB, session 11111111-2222, conversation 60a9dfd2, gone cold on ben"),
    ({"model": "", "family": "", "size": 12, "session": None, "conversation": None}, "12:00:07 /v1/messages, stream, 12 B, warm on work"),
    ({"size": 8_000_000, "family": "claude-opus-5-5"}, "claude-opus-5-5, stream, 8.0 MB"),
    ({"usage": None}, "What it cost was not told."),
    ({"heartbeats": 1}, "its client was told once that it waits"),
    ({"answer": "A", "because": "7d limit", "account": None}, "flowpool refused: every account is out for now. 7d limit"),
    ({"answer": "G"}, "It went out on the client's own login."),
    ({"ended": "client_left", "account": None, "status": None, "first_byte_ms": None}, "client left: all of it 22.3 s"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "says"), OTHERS, ids=range(len(OTHERS)))
def test_it_says_what_else_may_be(fields: dict[str, Any], says: str) -> None:
    """In as few words."""
    assert says in words(shown(STORY | fields))


def test_a_request_that_was_given_up_says_so() -> None:
    """With the time at which somebody recovers."""
    choice = STORY["choices"][1] | {
        "kind": "give_up",
        "until": "2026-01-05T14:00:00+00:00",
        "times": 1,
        "because": "7d limit",
    }

    assert "gives up: 7d limit (the first recovers at 14:00:00)" in words(shown(STORY | {"choices": [choice]}))


def test_nothing_is_said_twice() -> None:
    """An account that is full says how many requests are in flight there."""
    full = STORY["choices"][0]["accounts"][0] | {"may": False, "because": "2 of 2 requests in flight"}
    choice = STORY["choices"][0] | {"accounts": [full]}

    assert words(shown(STORY | {"choices": [choice]})).count("in flight") == 1


def test_what_is_no_longer_known_is_said() -> None:
    """Of an old request the ledger's line is all there is."""
    text = words(shown(of_line(LINE)))

    assert "no longer kept" in text
    assert "work 429 limit, row 13 - - -" in text
    assert "cache read on home; where it had been warm is no longer known" in text
