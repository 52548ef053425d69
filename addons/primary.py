"""Primary: whose identity it is that a client without a login of its own has, and what is answered where it has none (own answer H).

Such a client shows flowpool's placeholder, which is nobody's. No 401: at that, clients drop the login that they have. A 404 outside the
pooled paths: Claude Code waits 20 s before its first turn, asking again and again, for its settings and limits, unless it is told that
there are none. Fact: docs/facts/claude-code.md, "Retries".
"""

from collections.abc import Iterable

from mitmproxy import http

from addons.exchange import Exchange, Path
from addons.replies import own, refusal
from routing.mending import mending
from routing.words import Account

BECAUSE = "what is bound to an identity goes out on the primary"
NOT_FOUND, UNAVAILABLE, BAD_GATEWAY = 404, 503, 502


def primary(accounts: Iterable[Account], provider: str) -> Account | None:
    """The account that is the primary of a provider; None where nobody made one so."""
    return next((one for one in accounts if one.primary and one.provider == provider), None)


def none_made(exchange: Exchange) -> http.Response:
    """The client has no login, and no account is the primary."""
    return _nobody(exchange, "no account is the primary, whose identity it could take; run: flowpool primary NAME")


def none_there(exchange: Exchange) -> http.Response:
    """The client has no login, and the pool has no account."""
    return _nobody(exchange, "the pool has no account yet; run: flowpool login NAME")


def unfit(exchange: Exchange, account: Account, why: str) -> http.Response:
    """The client has no login, and the primary cannot serve; why: as Router.why_not_pinned says it."""
    mend = _mending(account) if account.enabled else f"flowpool enable {account.name}"
    return _nobody(exchange, f"{account.name}, the primary, {why}; run: {mend}")


def refused(exchange: Exchange, account: Account | None) -> http.Response:
    """Own answer B: the provider does not accept the primary's login any more."""
    exchange.answer = "B"
    name, mend = ("the primary", "flowpool status") if account is None else (account.name, _mending(account))
    message = f"the provider does not accept the login of {name}, whose identity this client has; run: {mend}"
    return own(exchange, BAD_GATEWAY, message, retry=False)


def _mending(account: Account) -> str:
    return mending(account.kind, account.name)


def _nobody(exchange: Exchange, why: str) -> http.Response:
    status = UNAVAILABLE if exchange.path is Path.POOLED else NOT_FOUND
    return refusal(exchange, "H", status, f"this client has no login of its own, and {why}", retry=False)
