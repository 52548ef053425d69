"""What is JSON is read, each part at its place; what is not is refused with its line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.jsonc import DEEPEST, Malformed, Value, read
from tests.flowpool.launch.jsontexts import objects, plain

WORDS = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"a"', '"', "1", "-", "01", "true", "nul", "\n", " ", "//", "/*", "*/"]
)


def said(text: str, value: Value) -> Any:
    """What a value says: its members read one by one, all else by its text."""
    if value.members is None:
        return plain(text[value.start : value.end])
    return {one.key: said(text, one.value) for one in value.members}


@given(objects())
def test_every_part_is_at_its_place(text: str) -> None:
    """Members, names and values are those that json reads, whatever stands between them; also behind a byte order mark."""
    assert said(text, read(text)) == plain(text)
    assert said(f"\ufeff{text}", read(f"\ufeff{text}")) == plain(text)


@given(objects())
def test_gaps_and_tails_are_white_space(text: str) -> None:
    """Between a gap and the name, and between a tail and the brace, nothing else stands."""

    def look(value: Value) -> None:
        assert not text[value.tail : value.end - 1].strip(" \t\r\n") or value.members is None
        for one in value.members or ():
            assert not text[one.gap : one.start].strip(" \t\r\n")
            assert json.loads(text[one.start : one.named]) == one.key
            assert one.comma is None or text[one.comma] == ","
            look(one.value)

    look(read(text))


@given(st.lists(WORDS, max_size=12).map("".join).map(lambda inner: "{" + inner + "}"))
def test_what_is_refused_json_refuses_too(text: str) -> None:
    """And what is taken, comments and last commas aside, says what json says."""
    try:
        found = read(text)
    except Malformed:
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)
    else:
        assert said(text, found) == plain(text)


@given(objects(), st.integers(0))
def test_a_cut_text_is_refused(text: str, at: int) -> None:
    """No beginning of an object is an object."""
    whole = text[: read(text).end]

    with pytest.raises(Malformed):
        read(whole[: at % len(whole)])


WRONG = [  # text, line
    ("", 1),
    ("[]", 1),
    ("\n\n7", 3),
    ("null", 1),
    ("{} {}", 1),
    ('{\n"a": 1\n"b": 2}', 3),
    ('{"a" 1}', 1),
    ('{"a":\r\n\r\n}', 3),
    ("{,}", 1),
    ('{"a": 1,,}', 1),
    ('{"a": [1 2]}', 1),
    ('{"a": [,]}', 1),
    ("{'a': 1}", 1),
    ("{\"a\": '1'}", 1),
    ('{"a": NaN}', 1),
    ('{"a": 01}', 1),
    ('{"a": 1.}', 1),
    ('{"a": +1}', 1),
    ('{"a": truefalse}', 1),
    ('{"a": "x\ty"}', 1),
    ('{"a": "\\x"}', 1),
    ('{"a": "x', 1),
    ('{\r"a": /* no end', 2),
    ('{"a": / 1}', 1),
    ("\ufeff\ufeff{}", 1),
    ('{"a": ' + "[" * 150 + "]" * 150 + "}", 1),
    ('{"a":\u00a01}', 1),
]


@pytest.mark.parametrize(("text", "line"), WRONG)
def test_the_line_of_the_fault_is_named(text: str, line: int) -> None:
    """And nothing of the text is quoted."""
    with pytest.raises(Malformed) as caught:
        read(text)

    assert caught.value.line == line


def test_a_long_text_in_quotes_takes_no_time() -> None:
    """One without its end neither: no way of reading it is tried twice."""
    text = '{"a": "' + "x" * 1_000_000

    with pytest.raises(Malformed):
        read(text)
    assert read(f'{text}"}}').end == len(text) + 2


def test_of_several_with_one_name_the_last_counts() -> None:
    """As json has it."""
    text = '{"a": 1, "a": 2}'
    found = read(text).get("a")

    assert found
    assert text[found.value.start : found.value.end] == "2"
    assert read(text).get("b") is None


def test_deep_is_fine_up_to_the_bound() -> None:
    """Settings are nowhere near it."""
    text = '{"a": ' + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1) + "}"

    assert read(text).end == len(text)
