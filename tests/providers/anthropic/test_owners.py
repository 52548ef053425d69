"""Whose a login is, from the vendor and from the client's own memory."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic import owners
from routing.words import Identity

ME = Identity(owner="u-1", organization="o-1", email="me@example.org", organization_name="Example Org", plan="max 20x")
SAID = {
    "account": {"uuid": "u-1", "email": "me@example.org", "full_name": "Me", "has_claude_max": True},
    "organization": {
        "uuid": "o-1",
        "name": "Example Org",
        "organization_type": "claude_max",
        "rate_limit_tier": "default_claude_max_20x",
    },
}
REMEMBERED = {
    "emailAddress": "me@example.org",
    "accountUuid": "u-1",
    "organizationUuid": "o-1",
    "organizationName": "Example Org",
}
LABELS = {"subscriptionType": "max", "rateLimitTier": "default_claude_max_20x", "scopes": ("user:profile",)}


def test_both_tell_the_same() -> None:
    """The vendor's answer and what Claude Code remembers of one login are one identity."""
    assert owners.read(200, json.dumps(SAID).encode()) == ME
    assert owners.of_client(REMEMBERED, LABELS) == ME


@pytest.mark.parametrize("status", [204, 302, 401, 403, 429, 500])
def test_what_is_no_answer_tells_nothing(status: int) -> None:
    """A setup token's 403 least of all (X22)."""
    assert owners.read(status, json.dumps(SAID).encode()) == Identity()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["account", "organization", "uuid"]), inner)
    ),
)


@given(found=JSON, cut=st.integers(0, 40))
def test_anything_may_come(found: object, cut: int) -> None:
    """What is not understood is not known."""
    body = json.dumps(found).encode()
    assert isinstance(owners.read(200, body[: len(body) - cut]), Identity)


@pytest.mark.parametrize(
    ("subscription", "tier", "plan"),
    [
        ("max", "default_claude_max_5x", "max 5x"),
        ("pro", "default_claude_ai", "pro"),
        ("team", "", "team"),
        ("", "", ""),
    ],
)
def test_a_plan_is_two_words_at_most(subscription: str, tier: str, plan: str) -> None:
    """The subscription, and how many times its limits."""
    assert owners.plan(subscription, tier) == plan
