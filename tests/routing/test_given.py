"""Tests of routing/given.py."""

from hypothesis import given
from hypothesis import strategies as st

from routing.given import Given
from tests.routing.made import ANN, BEN, CAT, NAMES, account


@given(st.lists(st.sampled_from(NAMES), max_size=12))
def test_ordinals_rise_with_each_choice(sent: list[str]) -> None:
    """The later an account's latest choice, the higher its ordinal; none without any; the last one is the latest."""
    kept = Given()
    for name in sent:
        kept.to(account(name))
    order = sorted(set(sent), key=lambda name: len(sent) - sent[::-1].index(name))

    assert sorted(kept.ordinals, key=lambda name: kept.ordinals[name]) == order
    assert kept.latest("anthropic") == (sent[-1] if sent else None)


def test_each_provider_has_a_latest_of_its_own() -> None:
    """One provider's choices are no other's."""
    kept = Given()
    kept.to(account(ANN))
    kept.to(account(BEN, provider="openai"))

    assert (kept.latest("anthropic"), kept.latest("openai"), kept.latest("other")) == (ANN, BEN, None)


def test_an_account_that_is_gone_is_forgotten() -> None:
    """It is no latest any more, and has none until it comes back; the others keep theirs."""
    kept = Given()
    for name in (ANN, CAT):
        kept.to(account(name))
    kept.drop(CAT)

    assert (kept.latest("anthropic"), CAT in kept.ordinals, kept.ordinals[ANN]) == (None, False, 1)
    kept.drop(BEN)
    kept.to(account(ANN))
    assert (kept.latest("anthropic"), kept.ordinals[ANN]) == (ANN, 3)
