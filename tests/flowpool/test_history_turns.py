"""Turns out of the ledger: what the context was, and how long it stayed warm."""

from datetime import UTC, datetime, timedelta
from typing import Any

from flowpool.history_turns import FIVE_MINUTES, HOUR, Spoken, spoken

START = datetime(2026, 1, 5, tzinfo=UTC)


def line(at: float = 0, account: str | None = "work", **changes: Any) -> dict[str, Any]:
    """A line of the ledger; what is no field of it are counts of its usage."""
    usage = {"input": 0, "output": 0, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0}
    usage |= {name: changes.pop(name) for name in list(changes) if name in usage}
    fields = {"id": f"{at:g}", "conversation": "talk", "model": "claude-opus-4-5", "path": "/v1/messages"}
    when = (START + timedelta(seconds=at)).isoformat(timespec="milliseconds")
    return {"at": when, "account": account, "total_ms": 2000.0, "usage": usage, **fields, **changes}


def sizes(*lines: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Context, fresh, output and warm of each turn."""
    return [(one.context, one.fresh, one.output, one.warm) for one in spoken(lines)[0]]


def test_a_turn_is_read_with_all_it_tells() -> None:
    """Of the first with a model, all that a cache took is context."""
    first = line(5, input=10, output=20, cache_read=300, cache_write_1h=4000)

    assert spoken([first]) == (
        [
            Spoken(
                at=START + timedelta(seconds=5),
                ended_at=START + timedelta(seconds=7),
                conversation="talk",
                model="claude-opus-4-5",
                account="work",
                context=4300,
                fresh=10,
                output=20,
                warm=300,
                ttl=HOUR,
            )
        ],
        0,
    )


def test_what_a_warm_cache_gave_is_the_context() -> None:
    """The rest is fresh, though it was written; also where nothing was read because the question was another one."""
    first = line(0, output=100, cache_write_1h=1000)

    assert sizes(first, line(60, input=5, cache_read=1000, cache_write_1h=150))[1] == (1000, 155, 0, 1000)
    assert sizes(first, line(60, cache_write_1h=400))[1] == (0, 400, 0, 0)


def test_a_cold_turn_would_have_read_what_was_said_before() -> None:
    """On another account, or after the cache expired; never more than it wrote."""
    first = line(0, output=100, cache_write_1h=1000)

    assert sizes(first, line(60, "home", cache_write_1h=1500))[1] == (1100, 400, 0, 0)
    assert sizes(first, line(3601, cache_write_1h=1500))[1] == (1100, 400, 0, 0)
    assert sizes(first, line(60, "home", cache_write_1h=700))[1] == (700, 0, 0, 0)


def test_a_ttl_is_that_of_what_was_written_last() -> None:
    """An hour as long as nothing was."""
    lines = [line(0), line(1, cache_write_5m=9), line(2, cache_read=9), line(3, cache_write_1h=9, cache_write_5m=9)]

    assert [one.ttl for one in spoken(lines)[0]] == [HOUR, FIVE_MINUTES, FIVE_MINUTES, HOUR]


def test_models_and_conversations_are_told_apart() -> None:
    """Each pair has a cache of its own; requests of no known conversation are alone."""
    lines = [
        line(0, cache_write_1h=9),
        line(1, model="x", cache_write_1h=9),
        line(2, conversation=None),
        line(3, conversation=None),
    ]
    turns, _ = spoken(lines)

    assert [one.context for one in turns] == [9, 9, 0, 0]
    assert len({one.conversation for one in turns}) == 3


def test_what_was_no_answered_turn_is_left_out() -> None:
    """Counted tokens and the client's own login without a word; what told no tokens is counted."""
    lines = [
        line(0),
        line(1, path="/v1/messages/count_tokens"),
        line(2, "client"),
        line(3, usage=None),
        line(4, None),
        line(5, model=None),
    ]
    turns, left_out = spoken(lines)

    assert (len(turns), left_out) == (1, 3)


def test_turns_come_in_the_order_in_which_they_began() -> None:
    """The ledger has them as they ended; what a provider did not tell counts as nothing."""
    later, sooner = line(9, output=None, cache_write_1h=50), line(1, cache_write_1h=40)

    assert [one.context for one in spoken([later, sooner])[0]] == [40, 0]
