"""A request's line becomes a row and comes back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home.state.ledger import FIELDS, LONGEST, MOST_TRIED, count, line_of, number, row_of, text
from tests.home.state.made import LINE, line

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, "input", "row"]), inner),
    max_leaves=8,
)


def test_a_line_comes_back_as_it_was() -> None:
    """Every field, in its order."""
    assert list(line_of(row_of(LINE)).items()) == list(LINE.items())


@pytest.mark.parametrize(
    "given_line", [line(usage=None, first_byte_ms=None, answer="A", ended="refused"), line(tried=[])]
)
def test_what_is_absent_comes_back_absent(given_line: dict[str, Any]) -> None:
    """A request without use, first byte or attempts is a request."""
    assert line_of(row_of(given_line)) == given_line


@given(st.dictionaries(st.sampled_from(FIELDS), anything))
def test_no_field_can_do_harm(fields: dict[str, Any]) -> None:
    """Whatever a line holds, its row is strict JSON with sound numbers and texts that any database takes."""
    row = row_of({**fields, "at": LINE["at"]})

    assert tuple(row) == FIELDS
    for value in line_of(row).values():
        json.dumps(value, allow_nan=False).encode()
    for value in row.values():
        assert not isinstance(value, str) or "\0" not in value.encode().decode()
        assert not isinstance(value, int | float) or value >= 0


@pytest.mark.parametrize("at", [None, 5, "soon"])
def test_a_line_without_a_time_is_none(at: Any) -> None:
    """It could be neither ordered nor ever deleted."""
    with pytest.raises((ValueError, TypeError)):
        row_of({**LINE, "at": at})


def test_unknown_fields_are_not_kept() -> None:
    """What somebody adds to the line enters no table by itself."""
    assert row_of({**LINE, "prompt": "secret"}) == row_of(LINE)
    assert "secret" not in str(row_of({**LINE, "tried": [{"prompt": "secret"}], "usage": {"prompt": "secret"}}))


@pytest.mark.parametrize(
    ("value", "as_number", "as_count"),
    [
        (0, 0, 0),
        (1.5, 1.5, None),
        (-1, None, None),
        (float("nan"), None, None),
        (float("inf"), None, None),
        (10**400, None, None),
        (True, None, None),
        ("7", None, None),
    ],
)
def test_only_sound_numbers_enter(value: Any, as_number: float | None, as_count: int | None) -> None:
    """Negative, endless and made-up counts are not reported."""
    assert (number(value), count(value)) == (as_number, as_count)


def test_long_texts_and_trails_are_cut() -> None:
    """A client's own words cannot fill the disk; the last attempts are kept."""
    tried = [{"account": str(n), "status": 1, "row": 1, "verdict": "ok"} for n in range(MOST_TRIED + 1)]
    found = line_of(row_of(line(path="x" * 10_000, tried=tried)))

    assert len(found["path"]) == LONGEST
    assert [one["account"] for one in found["tried"]] == [str(n) for n in range(1, MOST_TRIED + 1)]
    assert text("a\0b\ud800") == "a�b?"
