"""Tests of routing/bounded.py."""

from hypothesis import given
from hypothesis import strategies as st

from routing.bounded import put_last

puts = st.lists(st.tuples(st.integers(0, 6), st.integers()), max_size=20)


@given(puts, st.integers(1, 4))
def test_a_table_keeps_what_was_put_in_last(made: list[tuple[int, int]], bound: int) -> None:
    """The latest value of each key, the oldest first, and no more than the bound."""
    table: dict[int, int] = {}
    for key, value in made:
        put_last(table, key, value, bound)
    latest = list({key: None for key, _ in made[::-1]})[:bound][::-1]

    assert list(table) == latest
    assert table == {key: dict(made)[key] for key in latest}
