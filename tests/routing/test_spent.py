"""Tests of routing/spent.py."""

from hypothesis import given
from hypothesis import strategies as st

from routing.spent import FRESH, OUTPUT, READ, WRITE, Spent

tokens = st.integers(0, 1_000_000)
spents = st.builds(Spent, read=tokens, fresh=tokens, written=tokens, output=tokens)


@given(tokens, tokens, tokens, tokens)
def test_each_token_has_the_price_of_its_kind(read: int, fresh: int, written: int, output: int) -> None:
    """No token is counted twice, and none is left out."""
    spent = Spent(read=read, fresh=fresh, written=written, output=output)

    assert spent.cost == read * READ + fresh * FRESH + written * WRITE + output * OUTPUT
    assert spent.prompt == read + fresh + written


@given(spents, tokens)
def test_what_is_new_is_a_part_of_the_cost(spent: Spent, known: int) -> None:
    """It is never more than the cost, never below the answer's, and less the longer the conversation was before."""
    assert spent.output * OUTPUT <= spent.news(known) <= spent.cost
    assert spent.news(known + 1) <= spent.news(known)


@given(tokens, st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_turn_has_the_same_news_cold_and_warm(known: int, new: int, output: int) -> None:
    """What a rebuilt cache costs on top says nothing of the conversation's pace."""
    warm = Spent(read=known, written=new, output=output)
    cold = Spent(written=known + new, output=output)

    assert warm.news(known) == cold.news(known) == new * WRITE + output * OUTPUT
