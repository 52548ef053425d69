"""Tests of routing/words.py."""

import pytest

from routing.words import Identity, Kind


@pytest.mark.parametrize(("kind", "expected"), [(Kind.OAUTH, True), (Kind.SETUP_TOKEN, True), (Kind.API_KEY, False)])
def test_only_an_api_key_is_billed_per_token(kind: Kind, expected: bool) -> None:
    """A login of either kind is a subscription; a key is not."""
    assert expected is kind.is_subscription


def identity(owner: str, organization: str) -> Identity:
    """A login of that owner to that organization."""
    return Identity(owner=owner, organization=organization, email="a@example.org")


IDENTITIES = [  # one, other, whether they are the same, whether they contradict
    (identity("u", "o"), identity("u", "o"), True, False),
    (identity("u", "o"), identity("u", "p"), False, True),
    (identity("u", "o"), identity("v", "o"), False, True),
    (identity("u", "o"), identity("", ""), False, False),
    (identity("", ""), identity("", ""), False, False),
    (identity("u", "o"), identity("u", ""), False, False),
]


@pytest.mark.parametrize(("one", "other", "same", "contrary"), IDENTITIES, ids=range(len(IDENTITIES)))
def test_a_login_is_owner_and_organization(one: Identity, other: Identity, same: bool, contrary: bool) -> None:
    """One person may have a login in each of several organizations; what is not known decides nothing."""
    for mine, theirs in ((one, other), (other, one)):
        assert (mine.is_same(theirs), mine.contradicts(theirs)) == (same, contrary)
