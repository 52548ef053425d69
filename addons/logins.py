"""Logins: what the proxy knows of a credential besides what it sends: when it ends, and when it is to be renewed.

A refresh token is spent by `flowpool refresh` alone, so none stays in the proxy's memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from credentials.credential import Credential
from credentials.renewal import due_at
from routing.lifetimes import Lifetime
from routing.words import AccountId


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """One account's login.

    due_at: when to renew it; None where that cannot be told, or nothing can. saved_at: when it was saved, in ns since 1970, which
    tells one generation from the next.
    """

    lifetime: Lifetime
    due_at: datetime | None
    saved_at: int


def login_of(account: AccountId, credential: Credential) -> Login:
    """What is to be known of a credential."""
    lifetime = Lifetime(
        expires_at=credential.expires_at,
        refresh_expires_at=credential.refresh_expires_at,
        is_refreshable=credential.refresh is not None,
    )
    return Login(lifetime=lifetime, due_at=due_at(account, credential), saved_at=credential.saved_at)


def logins_of(credentials: Mapping[AccountId, Credential | None]) -> dict[AccountId, Login]:
    """The same of all that have one."""
    return {account: login_of(account, credential) for account, credential in credentials.items() if credential}


def kept(credential: Credential) -> Credential:
    """What of a credential stays in memory."""
    return replace(credential, refresh=None)
