"""Renewing a login: when, how often it is tried, and what a token endpoint's answer makes of a credential. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from credentials.credential import Credential, Extra
from credentials.secret import Secret

EARLIEST, LATEST = timedelta(seconds=600), timedelta(seconds=300)  # before the end of an access token
FIRST, LONGEST = timedelta(seconds=30), timedelta(minutes=15)  # between two tries that fail
ENOUGH = 5  # doublings that lead from one to the other
DIGITS = 16  # of a fingerprint; enough to tell a person's tokens apart, and none of them can be told from it

FULL = float(16**DIGITS)  # one more than the highest


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The endpoint gave a new pair.

    refresh: None when the old refresh token stays good. owner, organization, email, organization_name: whose login it
    said that this is, each empty where it did not. extras: labels that it gave anew.
    """

    access: Secret
    expires_at: datetime
    refresh: Secret | None = None
    refresh_expires_at: datetime | None = None
    owner: str = ""
    organization: str = ""
    email: str = ""
    organization_name: str = ""
    extras: Mapping[str, Extra] = field(default_factory=lambda: MappingProxyType({}))

    def whose(self) -> dict[str, str]:
        """Return what it said of the owner, by the name of the fact."""
        names = ("owner", "organization", "email", "organization_name")
        return {name: value for name in names if (value := getattr(self, name))}


@dataclass(frozen=True, slots=True)
class Refused:
    """The refresh token is good for nothing any more; to send it again would change nothing."""

    because: str


@dataclass(frozen=True, slots=True)
class Systemic:
    """The endpoint does not accept how it is asked, whoever it is for: no account is to blame."""

    because: str


@dataclass(frozen=True, slots=True)
class Later:
    """Nothing was decided. retry_after: how long the endpoint asked to be left alone, if it did."""

    because: str
    retry_after: timedelta | None = None


type Reply = Granted | Refused | Systemic | Later


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """How the last try to renew a login ended.

    fingerprint: of the refresh token that was sent. outcome: sent (no end is known) | kept | refused | failed.
    failures: in a row. retry_at: not to be tried before. asked_until: the same, where the service itself asked for it.
    """

    fingerprint: str
    outcome: str
    at: datetime
    failures: int = 0
    retry_at: datetime | None = None
    asked_until: datetime | None = None
    because: str = ""


def fingerprint(secret: Secret) -> str:
    """Name a token without telling it: hexadecimal, DIGITS long."""
    import hashlib  # noqa: PLC0415  # `status` reads renewals and names none

    return hashlib.sha256(secret.reveal().encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def due_at(account_id: str, credential: Credential) -> datetime | None:
    """Return when to renew it: LATEST to EARLIEST before its end, at a moment of its own, so that not all come at once.

    None when there is nothing to renew with, or no end is known.
    """
    if credential.refresh is None or credential.expires_at is None:
        return None
    drawn = int(fingerprint(Secret(f"{account_id} {fingerprint(credential.refresh)}")), 16)
    span = EARLIEST - LATEST
    try:
        return credential.expires_at - LATEST - span * (drawn / FULL)
    except OverflowError:  # an end in the first minutes of year 1
        return credential.expires_at


def backoff(failures: int) -> timedelta:
    """Return how long to wait after so many failures in a row: FIRST, doubling up to LONGEST."""
    doublings = min(max(failures, 1) - 1, ENOUGH)
    return min(FIRST * (1 << doublings), LONGEST)


def renewed(old: Credential, granted: Granted) -> Credential:
    """Return what is to be kept: the new pair, and of the old credential what the endpoint did not say anew."""
    return replace(
        old,
        access=granted.access,
        refresh=granted.refresh or old.refresh,
        expires_at=granted.expires_at,
        refresh_expires_at=granted.refresh_expires_at or old.refresh_expires_at,
        extras=MappingProxyType({**old.extras, **granted.extras}),
        saved_at=0,
    )


def is_better(one: Credential | None, than: Credential) -> bool:
    """Tell whether another copy of a login is to replace ours: it has another refresh token, and ends later."""
    if one is None or one.refresh is None or one.refresh == than.refresh or one.expires_at is None:
        return False
    return than.expires_at is None or one.expires_at > than.expires_at
