"""A line of the ledger is read with care."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool import rows
from tests.flowpool.pictures import LINE

STRANGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@given(st.sampled_from(sorted(LINE)), STRANGE)
def test_a_strange_line_is_a_value_error_or_harmless(field: str, value: Any) -> None:
    """Nothing else is raised, and what is read can be shown."""
    try:
        row = rows.read(LINE | {field: value})
    except ValueError:
        return
    shown = f"{row.id}{row.path}{row.account}{row.model}{row.answer}{row.ended}{rows.trail(row, '->')}"
    assert shown.isprintable()


@pytest.mark.parametrize("field", sorted({"at", "id", "path", "account", "model", "tried", "status", "usage", "ended"}))
def test_a_line_that_lacks_something_is_none(field: str) -> None:
    """It says so."""
    with pytest.raises(ValueError, match="not a line of the ledger"):
        rows.read({name: value for name, value in LINE.items() if name != field})


TRAILS = [
    ([("work", "ok")], "", "work"),
    ([("work", "limit"), ("home", "ok")], "", "work limit > home"),
    ([("work", "overloaded")] * 3 + [("home", "ok")], "", "work overloaded x3 > home"),
    ([("work", "server"), ("work", "ok")], "", "work server > work"),
    ([("work", "limit")], "A", "work limit > flowpool refused: every account is out for now"),
    ([], "C", "flowpool refused: no account is enabled"),
    ([("client", "ok")], "G", "client > on the client's own login"),
    ([], "Z", "flowpool refused: answer Z"),
    ([], "", ""),
]


@pytest.mark.parametrize(("tried", "answer", "says"), TRAILS, ids=[case[2] for case in TRAILS])
def test_the_trail_tells_whom_it_met(tried: list[tuple[str, str]], answer: str, says: str) -> None:
    """The same outcome in a row is told once."""
    met = [{"account": name, "status": 200, "row": 8, "verdict": verdict} for name, verdict in tried]

    assert rows.trail(rows.read(LINE | {"tried": met, "answer": answer or None}), ">") == says


def test_every_answer_of_our_own_has_words() -> None:
    """Those of docs/verdicts.md, by their letters."""
    text = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")
    letters = set(re.findall(r"^\| ([A-Z]) \|", text, re.MULTILINE))

    assert letters == {*rows.ANSWERS, rows.PASSED}


@pytest.mark.parametrize(("path", "counts"), [("/v1/messages", False), ("/v1/messages/count_tokens", True)])
def test_a_count_is_told_from_a_turn(path: str, counts: bool) -> None:
    """By its path."""
    assert rows.counts(rows.read(LINE | {"path": path})) is counts


def test_tokens_are_summed_with_the_caches() -> None:
    """The question's are all that were read or written; without usage there are none."""
    row = rows.read(LINE)
    assert (row.taken, row.given, row.first_byte) == (9812, 25, 0.014)
    row = rows.read(LINE | {"usage": None, "first_byte_ms": None, "status": None})
    assert (row.taken, row.given, row.first_byte, row.status) == (None, None, None, None)
