"""When a credential ends at the latest, where only the way it was made tells."""

from dataclasses import replace
from datetime import datetime, timedelta

from credentials.credential import SETUP_TOKEN, Credential

SETUP_TOKEN_LASTS = timedelta(days=365)  # from when it was made, which is before we see it
LOGIN_LASTS = timedelta(days=29)  # of a refresh token, from the login on, however often it is exchanged


def of_token(credential: Credential, now: datetime) -> Credential:
    """Give a setup token that says no end of its own the latest that it may have; return any other as it is."""
    if credential.kind != SETUP_TOKEN or credential.expires_at is not None:
        return credential
    return replace(credential, expires_at=now + SETUP_TOKEN_LASTS)


def of_login(credential: Credential, now: datetime) -> Credential:
    """Give a login that was made just now its end. An older one's age is not known, and so is its end not.

    Fact: docs/facts/anthropic.md#renewing-a-login.
    """
    if credential.refresh is None or credential.refresh_expires_at is not None:
        return credential
    return replace(credential, refresh_expires_at=now + LOGIN_LASTS)


def the_sooner(credential: Credential, kept: Credential) -> Credential:
    """Give a secret that is kept already the end that was known of it: seeing it again makes no token younger."""
    known = kept.expires_at
    if credential.kind != SETUP_TOKEN or credential.access != kept.access or known is None:
        return credential
    return replace(credential, expires_at=min(known, credential.expires_at or known))
