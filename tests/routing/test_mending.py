"""Tests of routing/mending.py."""

import pytest

from routing.mending import mending
from routing.words import Kind


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        (Kind.OAUTH, "flowpool login work"),
        (Kind.SETUP_TOKEN, "flowpool add work --replace"),
        (Kind.API_KEY, "flowpool add work --replace"),
        ("a kind to come", "flowpool add work --replace"),
    ],
)
def test_how_an_account_gets_a_new_credential(kind: str, command: str) -> None:
    """A login by the vendor's own program, whatever can be pasted by hand."""
    assert mending(kind, "work") == mending(str(kind), "work") == command
