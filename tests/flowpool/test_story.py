"""A story is read with care, and says where the cache was."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.story import cache, of_line, read
from tests.flowpool.pictures import LINE, STORY


def changed(**fields: Any) -> dict[str, Any]:
    """The story with other fields."""
    return deepcopy(STORY) | fields


def test_a_whole_story_is_read() -> None:
    """Every part comes as a value, times in seconds."""
    story = read(STORY)

    assert (story.kept, story.size, story.streams, story.waited, story.heartbeats) == (True, 41_234, True, 14.05, 2)
    assert [choice.kind for choice in story.choices] == ["use", "wait", "use"]
    assert [one.order for one in story.choices[2].accounts or ()] == [1, None]
    assert [(one.account, one.row, one.took) for one in story.attempts] == [("work", 13, 0.1904), ("home", 8, 8.123)]
    assert story.usage is not None
    assert (story.usage.read, story.usage.fresh, story.usage.written, story.usage.output) == (0, 312, 40_100, 811)


def test_a_line_of_the_ledger_is_a_story_that_says_less() -> None:
    """What it does not tell is not known; whom it asked is."""
    story = read(of_line(LINE))

    assert (story.kept, story.size, story.streams, story.choices, story.waited) == (False, None, None, (), None)
    assert (story.conversation, story.account, story.total) == ("60a9dfd2", "home", 0.0206)
    assert [(one.account, one.row, one.status, one.because, one.took) for one in story.attempts] == [
        ("work", 13, 429, "", None),
        ("home", 8, 200, "", None),
    ]
    assert read(of_line(LINE | {"conversation": None})).conversation == ""


def test_what_could_steer_a_terminal_is_dropped() -> None:
    """Models, names and reasons come from far away."""
    choice = STORY["choices"][0] | {"because": "a\x1b[2Jb"}
    story = read(changed(model="claude-\x1b[2J", choices=[choice]))

    assert "\x1b" not in story.model + story.choices[0].because


@given(st.sampled_from([name for name in STORY if name not in ("side", "size", "stream")]), st.data())
def test_an_odd_story_is_refused_or_read(name: str, data: st.DataObject) -> None:
    """Whatever one of its fields is: nothing but ValueError."""
    odd: Any = data.draw(st.sampled_from([None, 1, -1.5, "x", [], {}, [{}], [1], {"a": 1}, True, 10**400]))
    with suppress(ValueError):
        assert read(changed(**{name: odd})).id


@pytest.mark.parametrize("name", STORY)
def test_a_missing_field_is_refused(name: str) -> None:
    """But for what is never shown, and what older stories have not."""
    short = {key: value for key, value in STORY.items() if key != name}
    if name in ("side", "session"):
        read(short)
    else:
        with pytest.raises(ValueError, match="not the story"):
            read(short)


READ = {"input": 5, "output": 5, "cache_read": 9000, "cache_write_5m": 10, "cache_write_1h": None}
NOTHING = dict.fromkeys(READ, 0)
CACHES: list[tuple[dict[str, Any], str]] = [
    ({}, "cache rebuilt on home; it was warm on work"),
    ({"usage": READ, "warm": "home"}, "cache read on home, where it was warm"),
    ({"warm": "home"}, "cache rebuilt on home, where it was warm"),
    ({"warm": None}, "cache rebuilt on home; it had gone cold on work"),
    ({"warm": None, "home": "home"}, "cache rebuilt on home; it had gone cold there"),
    ({"warm": None, "home": None}, "cache rebuilt on home; it was not known to be warm anywhere"),
    ({"usage": READ, "kept": False}, "cache read on home; where it had been warm is no longer known"),
    ({"usage": NOTHING}, "no cache was used"),
    ({"usage": None}, ""),
    ({"account": None}, "no cache was used"),
]


@pytest.mark.parametrize(("fields", "says"), CACHES, ids=range(len(CACHES)))
def test_the_cache_was_read_or_rebuilt(fields: dict[str, Any], says: str) -> None:
    """Where, and where it had been."""
    assert cache(read(changed(**fields))) == says
