"""One value changes, every other byte stays, and what was put can be taken out to the byte."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.jsonc import Malformed, read
from flowpool.launch.jsonc_edit import drop, find, put, raw
from tests.flowpool.launch.jsontexts import NAMES, VALUES, objects, plain

ADDED = st.lists(st.sampled_from(["ANTHROPIC_BASE_URL", "NEW", "x y", '"', "ü"]), min_size=1, unique=True)


@given(objects(), ADDED, VALUES)
def test_only_what_is_put_differs(text: str, names: list[str], value: object) -> None:
    """Read again, the object has the new members, last and in order, and all that it had."""
    after = text
    for name in names:
        after = put(after, (name,), json.dumps(value))
    before = plain(text)

    assert plain(after) == before | dict.fromkeys(names, value)
    assert list(plain(after)) == list(before | dict.fromkeys(names, value))


@given(objects(), ADDED)
def test_what_was_put_can_be_taken_out(text: str, names: list[str]) -> None:
    """Last first, byte for byte; an object that was bare gets its old text."""
    root = read(text)
    bare = text[root.start : root.end] if root.is_bare else None
    names = [name for name in names if find(text, (name,)) is None]
    after = text
    for name in names:
        after = put(after, (name,), "1")
    for name in reversed(names):
        after = drop(after, (name,))
    if bare is not None:
        assert read(after).is_bare
        after = put(after, (), bare)

    assert after == text


@given(objects(), NAMES, VALUES)
def test_a_value_that_is_there_changes_alone(text: str, name: str, value: object) -> None:
    """Its text is replaced in its place, and can be put back."""
    old = raw(text, (name,))
    if old is None:
        return
    after = put(text, (name,), json.dumps(value))

    assert put(after, (name,), old) == text
    assert plain(after) == plain(text) | {name: value}


@given(objects(), st.integers(0))
def test_any_member_can_be_taken_out(text: str, at: int) -> None:
    """Wherever it stands, the others are as they were, and so are all comments."""
    names = list(plain(text))
    if not names:
        return
    name = names[at % len(names)]
    after = drop(text, (name,))

    assert plain(after) == {key: value for key, value in plain(text).items() if key != name}
    assert list(plain(after)) == [one for one in names if one != name]


SHAPES = [  # before, after: a member "b" of the object that is there
    ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "b": 2\n}\n'),
    ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}'),
    ('{\n    "a": 1,\n\n    "c": 1\n}', '{\n    "a": 1,\n\n    "c": 1,\n    "b": 2\n}'),
    ('{"a":1}', '{"a":1,"b":2}'),
    ('{"a": 1}', '{"a": 1, "b": 2}'),
    ('{"a" : 1, "c" : 3}', '{"a" : 1, "c" : 3, "b" : 2}'),
    ("{}", '{\n  "b": 2\n}'),
    ("{ }\r\n", '{\r\n  "b": 2\r\n}\r\n'),
    ("\ufeff{}", '\ufeff{\n  "b": 2\n}'),
    ('{\n  "a": 1, // note\n}', '{\n  "a": 1, // note\n  "b": 2,\n}'),
    ('{\n  "a": 1 // note\n}', '{\n  "a": 1, // note\n  "b": 2\n}'),
    ('{"a":1 // note\n}', '{"a":1, // note\n"b":2\n}'),
    ("{ // none yet\n}", '{ // none yet\n  "b": 2\n}'),
    ('{\n  "a": {\n    "x": 1 } }', '{\n  "a": {\n    "x": 1 },\n  "b": 2 }'),
]


@pytest.mark.parametrize(("before", "after"), SHAPES)
def test_it_is_laid_out_as_its_neighbours_are(before: str, after: str) -> None:
    """Indentation, line ends, colons and last commas are the person's."""
    assert put(before, ("b",), "2") == after


def test_an_object_inside_is_laid_out_too() -> None:
    """One level further in."""
    text = put(put('{\n\t"a": 1\n}', ("env",), "{}"), ("env", "K"), '"v"')

    assert text == '{\n\t"a": 1,\n\t"env": {\n\t\t"K": "v"\n\t}\n}'
    assert put(put("{}", ("env",), "{}"), ("env", "K"), "1") == '{\n  "env": {\n    "K": 1\n  }\n}'


TAKEN = [  # before, after: without its member "b"
    ('{"b": 1}', "{}"),
    ('{"b": 1, "a": 2}', '{ "a": 2}'),
    ('{"a": 2, "b": 1}', '{"a": 2}'),
    ('{\n  "a": 1, // of a\n  "b": 1 // of b\n}', '{\n  "a": 1 // of a\n // of b\n}'),
    ('{ // note\n"b": 1, "a": 2}', '{ // note\n "a": 2}'),
    ('{"a": 2, // note\n"b": 1}', '{"a": 2 // note\n}'),
]


@pytest.mark.parametrize(("before", "after"), TAKEN)
def test_comments_stay_and_hide_nothing(before: str, after: str) -> None:
    """What stood behind a member does not become part of the comment before it."""
    assert drop(before, ("b",)) == after
    assert all(one != two for one, two in pairwise([before, after]))


def test_what_is_not_there_is_not_taken_out() -> None:
    """Neither a member nor one of an object that is missing."""
    assert drop('{"a": 1}', ("b",)) == '{"a": 1}'
    assert drop('{"a": 1}', ("env", "b")) == '{"a": 1}'
    assert find('{"a": 1}', ("env", "b")) is None


@pytest.mark.parametrize("value", ["null", "7", "[]", '"x"'])
def test_a_path_leads_through_objects_only(value: str) -> None:
    """Else the line is named."""
    text = f'{{"a": 1,\n"env": {value}}}'
    for change in (lambda: put(text, ("env", "K"), "1"), lambda: find(text, ("env", "K"))):
        with pytest.raises(Malformed, match="an object must stand here") as caught:
            change()
        assert caught.value.line == 2
