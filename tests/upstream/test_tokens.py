"""Planted tokens look like the real ones and are never the same twice."""

from __future__ import annotations

import pytest

from tests.upstream.tokens import TokenKind, label, plant


@pytest.mark.parametrize(
    ("kind", "prefix"), [("setup-token", "sk-ant-oat01-"), ("oauth", "sk-ant-oat01-"), ("api-key", "sk-ant-api03-")]
)
def test_a_planted_token_is_new_and_short(kind: TokenKind, prefix: str) -> None:
    """A token has its kind's prefix, names its account, is under 60 characters past it, and is unique."""
    first, second = plant("work", kind), plant("work", kind)
    assert first != second
    assert first.startswith(f"{prefix}TEST-work-")
    assert len(first.removeprefix(prefix)) < 60


def test_a_label_does_not_show_the_token() -> None:
    """A stranger's label is the same for the same token and holds nothing of it."""
    token = plant("client")
    assert label(token) == label(token) != label(plant("client"))
    assert token not in label(token)
    assert "TEST" not in label(token)
