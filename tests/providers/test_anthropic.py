"""Anthropic, held to the contract of providers."""

import re
from pathlib import Path

import pytest

from providers.anthropic import ANTHROPIC
from providers.contract import Head, Ride
from tests.providers.contract import ProviderContract


class TestAnthropic(ProviderContract):
    provider = ANTHROPIC
    pooled = Head(method="POST", path="/v1/messages?beta=true", headers={})
    other = Head(method="GET", path="/v1/models?limit=1000", headers={})


class TestAnthropicCounting(ProviderContract):
    provider = ANTHROPIC
    pooled = Head(method="POST", path="/v1/messages/count_tokens?beta=true", headers={})
    other = Head(method="HEAD", path="/api/hello", headers={})


def test_a_ride_changes_no_list_unless_it_says_so() -> None:
    """A ride without a list header neither gains nor loses anything."""
    ride = Ride(header="authorization", value="Bearer {}")
    assert (ride.list_header, ride.gains, ride.loses) == ("", frozenset(), frozenset())


ROOT = Path(__file__).parents[2]
CODE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "providers").rglob("*.py"))
FACTS = sorted(set(re.findall(r"(docs/[\w/-]+\.md)#([\w-]+)", CODE)))


@pytest.mark.parametrize(("document", "anchor"), FACTS)
def test_facts_are_written_down(document: str, anchor: str) -> None:
    """Every fact that the code leans on has its place in the documents."""
    titles = re.findall(r"^#+ (.+)$", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE)
    assert anchor in {title.lower().replace(" ", "-") for title in titles}
