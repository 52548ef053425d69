"""Tests of routing/words.py."""

import pytest

from routing.words import Kind


@pytest.mark.parametrize(("kind", "expected"), [(Kind.OAUTH, True), (Kind.SETUP_TOKEN, True), (Kind.API_KEY, False)])
def test_only_an_api_key_is_billed_per_token(kind: Kind, expected: bool) -> None:
    """A login of either kind is a subscription; a key is not."""
    assert expected is kind.is_subscription
