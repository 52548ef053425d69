"""Keys are found on their lines."""

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from home import toml
from home.errors import Fault

WORD = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
VALUE = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(codec="utf-8"))
    | st.lists(st.integers(0, 9))
)
INNER = st.dictionaries(WORD, VALUE, max_size=3)
DOCUMENT = st.dictionaries(WORD, VALUE | st.dictionaries(WORD, VALUE | INNER, max_size=3), max_size=5)


@given(document=DOCUMENT, multiline=st.booleans())
def test_every_key_has_the_line_it_stands_on(document: dict[str, object], multiline: bool) -> None:
    """Cutting a document above a key's line loses the key; cutting below its statement keeps it."""
    text = tomli_w.dumps(document, multiline_strings=multiline)
    found = toml.lines(text.encode())

    assert {key[0] for key in found} == set(document)
    for key, line in found.items():
        above = tomllib.loads("\n".join(text.replace("\r\n", "\n").split("\n")[: line - 1]))
        for part in key[:-1]:
            assert isinstance(part, str)
            above = above.get(part, {})
        assert key[-1] not in above


TEXT = b"""\
\xef\xbb\xbf# a comment
version = 1
list = [
  1,  # one
[2]
]
text = '''
[not.a.table]
x = 1
'''
[a.b]
c = { d = 1 }
e.f = 2

[[accounts]]
id = "one"
[[accounts]]
id = "two"
"""


def test_lines_of_a_document_with_everything() -> None:
    """Multi-line values, inline tables, dotted keys and arrays of tables are all placed."""
    assert toml.lines(TEXT.replace(b"\n", b"\r\n")) == toml.lines(TEXT)
    assert toml.lines(TEXT) == {
        ("version",): 2,
        ("list",): 3,
        ("text",): 7,
        ("a", "b"): 11,
        ("a", "b", "c"): 12,
        ("a", "b", "c", "d"): 12,
        ("a", "b", "e"): 13,
        ("a", "b", "e", "f"): 13,
        ("accounts", 0): 15,
        ("accounts", 0, "id"): 16,
        ("accounts", 1): 17,
        ("accounts", 1, "id"): 18,
    }


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a = 1\nb = \n", 2),
        (b"a = 1\na = 2\n", 2),
        (b"a = 1\nb = [1,\n", 3),
        (b"a = 1\nb = '\xff'\n", 2),
        (b"a = 1" + b"0" * 9999, None),
        (b"a = " + b"[" * 9999, None),
    ],
    ids=range(6),
)
def test_what_is_no_toml_is_one_fault_with_its_line(data: bytes, line: int | None) -> None:
    """A broken document is one fault on the line that breaks it."""
    fault = toml.parse(data)

    assert isinstance(fault, Fault)
    assert line == fault.line
    assert fault.message.startswith("not valid")
    assert "(at" not in fault.message


UNIT, QUOTES = "; a number has no unit here: write the number alone", "; text needs quotes around it"
SMALL = "; true and false are written in small letters"
HINTS = [
    (b"max = 4m", UNIT),
    (b"max=240s # four minutes\r\nx = 1", UNIT),
    (b"a.b = -0.5 ms", UNIT),
    (b"switch_at = 98%", UNIT),
    (b"strategy = perishing", QUOTES),
    (b"path = /tmp/x y", QUOTES),
    (b"ambiguous = True", SMALL),
    (b"ambiguous = FALSE # no", SMALL),
    (b"a = [1,", ""),
    (b"a = ", ""),
    (b"x", ""),
    (b"a = 'b", ""),
    (b"a = 1\na = 2", ""),
    (b"a = 1 2", ""),
    (b"[a]\n# b = 1\n[ a ] # mine\nb = 1", "; [a] is on line 1 already: set it there, without the #"),
    (b"[a . b]\n[a.b]", "; [a.b] is on line 1 already: set it there, without the #"),
    (b"[a.'b']\n[a.b]", "; [a.b] is above already: set it there, without the #"),
]


@pytest.mark.parametrize(("data", "hint"), HINTS, ids=[repr(data) for data, _ in HINTS])
def test_what_was_likely_meant_is_hinted_at(data: bytes, hint: str) -> None:
    """Units, text without quotes and other languages' truths are told; nothing is guessed of other lines."""
    fault = toml.parse(data)

    assert isinstance(fault, Fault)
    assert fault.message.partition(";")[1:] == (";" if hint else "", hint[1:])


@given(data=st.binary() | st.text(st.sampled_from("a=[]{}\"'.#\n1 ")).map(str.encode))
def test_any_bytes_are_read_or_a_fault(data: bytes) -> None:
    """Junk never raises, and what is valid can be placed."""
    if not isinstance(toml.parse(data), Fault):
        toml.lines(data)
