"""The token endpoint: how a new pair is asked for, and what the answers mean. Fact: docs/facts/anthropic.md#renewing-a-login."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from credentials.credential import EARLIEST, LATEST, LONGEST, SHORTEST
from credentials.renewal import Granted, Later, Refused, Reply, Systemic
from credentials.secret import Secret
from providers import times
from providers.anthropic.checks import told
from providers.anthropic.errors import dig, text
from providers.contract import Fields

CLIENT_ID = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"  # Claude Code's, whose login it is; a public client without a secret
USUAL = timedelta(hours=8)  # what an access token lasts when the answer does not say so, or says what cannot be
SHORTEST_LIFE, LONGEST_LIFE = timedelta(minutes=1), timedelta(days=400)  # a year is given to those who ask for it
LONGEST_WAIT = timedelta(hours=1)  # a longer Retry-After would cost logins that a try might keep

OK, BAD_REQUEST, UNAUTHORIZED = 200, 400, 401
CLIENT_ERRORS = range(400, 500)
FINAL = frozenset(
    {
        "invalid_grant",
        "refresh_token_reused",
        "refresh_token_expired",
        "refresh_token_invalidated",
    }  # the last three: Codex
)
OURS = frozenset({"invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"})

_PRINTABLE = re.compile(r"[!-~]+")


def fields(version: str) -> Fields:
    """The headers of the POST. Without a user agent of one's own the endpoint answers 429."""
    return (
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("user-agent", f"flowpool/{version}"),
    )


def body(refresh: Secret) -> bytes:
    """The body of the POST, the secret in clear."""
    said = {"grant_type": "refresh_token", "refresh_token": refresh.reveal(), "client_id": CLIENT_ID}
    return json.dumps(said).encode()


def read(status: int, headers: Mapping[str, str], body: bytes, now: datetime, refresh: Secret) -> Reply:
    """What an answer means for the refresh token that was sent; never fails. headers: names in lower case."""
    tree = _tree(body)
    if status == OK:
        return _granted(tree, now) or Later("the answer holds no new login")
    names = _names(tree)
    because = _because(status, tree, refresh)
    if status in (BAD_REQUEST, UNAUTHORIZED) and names & FINAL:
        return Refused(because)
    if status in CLIENT_ERRORS and names & OURS:
        return Systemic(because)
    wait = times.delay(headers.get("retry-after", ""), now)
    return Later(because, None if wait is None else min(wait, LONGEST_WAIT))


def _tree(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _granted(tree: object, now: datetime) -> Granted | None:
    """What it holds. A refresh token that makes no sense counts as none: the access token serves for hours all the same."""
    access = _token(dig(tree, "access_token"))
    if access is None:
        return None
    lasts = _seconds(dig(tree, "expires_in")) or _until(dig(tree, "expires_at"), now) or USUAL
    login_lasts = _seconds(dig(tree, "refresh_token_expires_in"))
    return Granted(
        access=access,
        refresh=_token(dig(tree, "refresh_token")),
        expires_at=now + lasts,
        refresh_expires_at=None if login_lasts is None else now + login_lasts,
        owner=text(dig(tree, "account", "uuid")),
        organization=text(dig(tree, "organization", "uuid")),
        email=text(dig(tree, "account", "email_address")),
        organization_name=text(dig(tree, "organization", "name")),
        extras=_extras(tree),
    )


def _token(value: object) -> Secret | None:
    is_one = isinstance(value, str) and SHORTEST <= len(value) <= LONGEST and _PRINTABLE.fullmatch(value)
    return Secret(value) if is_one and isinstance(value, str) else None


def _extras(tree: object) -> dict[str, tuple[str, ...]]:
    scopes = tuple(text(dig(tree, "scope")).split())
    return {"scopes": scopes} if scopes else {}


def _seconds(value: object) -> timedelta | None:
    """A plausible time to live, in seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    is_plausible = SHORTEST_LIFE.total_seconds() <= value <= LONGEST_LIFE.total_seconds()  # not so for NaN
    return timedelta(seconds=value) if is_plausible else None


def _until(value: object, now: datetime) -> timedelta | None:
    """The time to live until a plausible end, in milliseconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not EARLIEST <= value <= LATEST:
        return None
    return _seconds(value / 1000 - now.astimezone(UTC).timestamp())


def _names(tree: object) -> frozenset[str]:
    """What an error calls itself, wherever it does so: OAuth's error, or the vendor's own shape around it."""
    said = (dig(tree, "error"), dig(tree, "code"), *(dig(tree, "error", key) for key in ("type", "code")))
    spoken = (dig(tree, "error", "message"), dig(tree, "message"))
    first_words = (re.split(r"[^a-z_]", text(one), maxsplit=1)[0] for one in spoken)
    return frozenset({*map(text, said), *first_words}) - {""}


def _because(status: int, tree: object, refresh: Secret) -> str:
    """The endpoint's own words, fit for a screen."""
    said = [dig(tree, "error_description"), dig(tree, "error", "message"), dig(tree, "error"), dig(tree, "message")]
    detail = told(next((one for one in map(text, said) if one), ""), refresh.reveal())
    return f"{status}: {detail}" if detail else f"{status}"
