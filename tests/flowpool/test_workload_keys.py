"""Keys that are misspelt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.workload_keys import near_misses
from tests.flowpool.test_workload_file import GOOD

KEYS = [("", key) for key in GOOD] + [
    (part, key)
    for part in ("accounts", "turns", "outside", "cost")
    for key in (GOOD[part] if part == "cost" else GOOD[part][0])
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD, "contxt"]) | st.text(), inner),
)


def of(part: str, inner: dict[str, Any]) -> dict[str, Any]:
    """A file with one object in this part."""
    return inner if not part else {part: inner if part == "cost" else [{}, inner]}


def test_a_good_file_has_none() -> None:
    """Nor has one with keys of another program."""
    assert near_misses(GOOD | {"seed": 7, "meaning": "x", "note": None}) == []


@pytest.mark.parametrize(("part", "key"), KEYS)
def test_a_doubled_letter_is_a_near_miss(part: str, key: str) -> None:
    """Of every key, in its own part of the file."""
    place = {"": "", "cost": "cost."}.get(part, f"{part}[1].")

    assert near_misses(of(part, {f"{key}{key[-1]}": 1})) == [f"{place}{key}{key[-1]} (did you mean {key}?)"]


@pytest.mark.parametrize(
    ("part", "wrong", "right"),
    [
        ("turns", "contxt", "context"),
        ("accounts", "modls", "models"),
        ("cost", "raed", "read"),
        ("", "acounts", "accounts"),
    ],
)
def test_what_fingers_do_is_a_near_miss(part: str, wrong: str, right: str) -> None:
    """A letter is gone, or two have changed places."""
    assert [found.split(".")[-1].split("].")[-1] for found in near_misses(of(part, {wrong: 1}))] == [
        f"{wrong} (did you mean {right}?)"
    ]


def test_of_many_that_are_alike_the_first_is_told() -> None:
    """A file of a thousand turns is one word."""
    turns = [{"context": 1}, *[{"contxt": 1}] * 1000]

    assert near_misses({"turns": turns}) == ["turns[1].contxt (did you mean context?)"]


def test_beside_the_known_key_another_is_no_mistake() -> None:
    """It is of a file that has grown."""
    assert near_misses({"cost": {"read": 1, "reads": 2}}) == []


def test_what_a_screen_cannot_show_is_written_out() -> None:
    """A key never steers the terminal."""
    assert near_misses({"cost": {"read\x1b": 1}}) == ["cost.'read\\x1b' (did you mean read?)"]


@given(tree=JSON)
def test_any_json_may_be_asked_about(tree: Any) -> None:
    """It is judged later whether that is a workload."""
    assert all(" (did you mean " in found for found in near_misses(tree))
