"""Whose a login is: what Anthropic says of it, and what Claude Code remembers of that.

The service answers tokens of the scope user:profile alone; a setup token gets a 403, which says nothing of the token.
Fact: docs/facts/anthropic.md#whose-a-login-is.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from routing.words import Identity

PATH = "/api/oauth/profile"
SCOPE = "user:profile"
_OK = 200
_TIMES = re.compile(r"_(\d+x)$")  # how a tier says how many times the usual limits it has


def read(status: int, body: bytes) -> Identity:
    """Read the answer; whatever is not understood is not known."""
    if status != _OK:
        return Identity()
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return Identity()
    account, organization = _table(found, "account"), _table(found, "organization")
    kind = _text(organization, "organization_type").removeprefix("claude_")
    return Identity(
        owner=_text(account, "uuid"),
        organization=_text(organization, "uuid"),
        email=_text(account, "email"),
        organization_name=_text(organization, "name"),
        plan=plan(kind, _text(organization, "rate_limit_tier")),
    )


def of_client(owner: Mapping[str, Any], labels: Mapping[str, Any]) -> Identity:
    """Read Claude Code's oauthAccount, and the labels that stand in its login file."""
    return Identity(
        owner=_text(owner, "accountUuid"),
        organization=_text(owner, "organizationUuid"),
        email=_text(owner, "emailAddress"),
        organization_name=_text(owner, "organizationName"),
        plan=plan(_text(labels, "subscriptionType"), _text(labels, "rateLimitTier")),
    )


def plan(subscription: str, tier: str) -> str:
    """Return a plan in two words: max 20x."""
    times = _TIMES.search(tier)
    return " ".join(part for part in (subscription, times[1] if times else "") if part)


def _table(found: Any, name: str) -> Mapping[str, Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else {}


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""
