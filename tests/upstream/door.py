"""Whose credential a request carries, and the refusal when it cannot be used."""

from __future__ import annotations

from collections.abc import Mapping

from tests.upstream.answer import Answer
from tests.upstream.limits import refusal
from tests.upstream.refusals import bad_token
from tests.upstream.side import MESSAGES
from tests.upstream.tokens import label
from tests.upstream.wire import Head

NOBODY = ""
_OAUTH, _BETA = "sk-ant-oat", "oauth-2025-04-20"


class Door:
    """Tells accounts apart by credential. strict: refuse an ill-placed OAuth token, as the vendor does."""

    def __init__(self, accounts: Mapping[str, str], *, strict: bool) -> None:
        self.owners = {token: name for name, token in accounts.items()}
        self._strict = strict

    def identify(self, head: Head, *, open_to_all: bool) -> tuple[str, Answer | None]:
        """The owner's name (a label for a stranger, "" without a credential) and the refusal, if any."""
        low = {name.lower(): value for name, value in head.headers}
        bearer = low.get("authorization", "").removeprefix("Bearer ").strip()
        token = bearer or low.get("x-api-key", "")
        if not token:
            return NOBODY, None if open_to_all else bad_token("x-api-key header is required")
        if token not in self.owners:
            return label(token), bad_token("Invalid bearer token" if bearer else "invalid x-api-key")
        pooled = head.path.startswith(MESSAGES)
        wrong = self._misuse(bearer, low.get("anthropic-beta", "")) if pooled and token.startswith(_OAUTH) else None
        return self.owners[token], wrong

    def _misuse(self, bearer: str, betas: str) -> Answer | None:
        """Refuse an OAuth token in x-api-key, or without its beta."""
        if not self._strict:
            return None
        if not bearer:
            return bad_token("invalid x-api-key")
        known = _BETA in (beta.strip() for beta in betas.split(","))
        text = "OAuth authentication is currently not supported."
        return None if known else refusal(401, "authentication_error", text, label="401 no beta")
