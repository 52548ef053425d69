"""An account's secrets as one value, and how what a person pastes becomes one."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from credentials.errors import BadSecret
from credentials.secret import Secret

type Extra = str | tuple[str, ...]

SETUP_TOKEN, OAUTH, API_KEY = KINDS = ("setup-token", "oauth", "api-key")
SHORTEST, LONGEST = 8, 8192  # characters of one token; those seen so far have 100 to 2000
EXTRAS = ("scopes", "subscriptionType", "rateLimitTier")  # of Claude Code's .credentials.json
EARLIEST, LATEST = 946_684_800_000, 7_258_118_400_000  # ms; the years 2000 and 2200

_TOKEN = re.compile(r"[!-~]+")
_SHAPES = (  # how a text begins, what it then is, the kinds it may be given as
    ("sk-ant-oat", "a login token", (SETUP_TOKEN, OAUTH)),
    ("sk-ant-api", "an API key", (API_KEY,)),
    ("sk-ant-ort", "a refresh token, which needs its access token beside it", ()),
    ("{", "JSON", (OAUTH,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What one account needs to sign requests.

    kind: one of KINDS.
    access: what is sent: a setup token, an OAuth access token or an API key.
    expires_at: aware UTC; None when it is not known to end.
    extras: what came along, under the vendor's names (scopes, subscriptionType, rateLimitTier); no secrets.
    """

    kind: str
    access: Secret
    refresh: Secret | None = None
    expires_at: datetime | None = None
    extras: Mapping[str, Extra] = field(default_factory=lambda: MappingProxyType({}))


def parse(kind: str, text: str) -> Credential:
    """Read what a person pasted or piped; raise BadSecret, which never quotes it.

    setup-token, api-key: one token. oauth: Claude Code's .credentials.json, its inner object, or a bare access token.
    """
    if kind not in KINDS:
        raise BadSecret("the kind of secret is unknown", f"flowpool add NAME --kind {'|'.join(KINDS)}")
    text = text.strip().removeprefix("\ufeff").strip()
    _check_shape(kind, text)
    if text.startswith("{"):
        return _parse_login(text)
    return Credential(kind=kind, access=_token(kind, text, "the secret"))


def _check_shape(kind: str, text: str) -> None:
    for start, what, kinds in _SHAPES:
        if text.startswith(start) and kind not in kinds:
            right = kinds[0] if kinds else OAUTH
            raise BadSecret(f"this is {what}, not for --kind {kind}", f"flowpool add NAME --kind {right}")


def _token(kind: str, text: str, what: str) -> Secret:
    mend = f"flowpool add NAME --kind {kind}"
    if not text:
        raise BadSecret(f"{what} is empty", mend)
    if not _TOKEN.fullmatch(text):
        raise BadSecret(f"{what} must be one line of printable ASCII without spaces", mend)
    if not SHORTEST <= len(text) <= LONGEST:
        raise BadSecret(f"{what} has {len(text)} characters, not {SHORTEST} to {LONGEST}", mend)
    return Secret(text)


def _parse_login(text: str) -> Credential:
    """Read Claude Code's .credentials.json, or the object inside it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _not_login("it is not valid JSON") from None  # the cause would quote the text
    login = found.get("claudeAiOauth", found)
    if not isinstance(login, dict):
        raise _not_login("claudeAiOauth is not an object")
    access, refresh = login.get("accessToken"), login.get("refreshToken")
    if not isinstance(access, str):
        raise _not_login("it has no accessToken")
    if refresh is not None and not isinstance(refresh, str):
        raise _not_login("its refreshToken is not text")
    _check_shape(OAUTH, access)
    return Credential(
        kind=OAUTH,
        access=_token(OAUTH, access, "accessToken"),
        refresh=_token(OAUTH, refresh, "refreshToken") if refresh else None,
        expires_at=_moment(login.get("expiresAt")),
        extras=_extras(login),
    )


def _not_login(why: str) -> BadSecret:
    return BadSecret(
        f"this is not Claude Code's login file: {why}",
        "flowpool add NAME --kind oauth < ~/.claude/.credentials.json",
    )


def _moment(value: object) -> datetime | None:
    """Read milliseconds since 1970; None and 0 mean unknown."""
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not EARLIEST <= value <= LATEST:
        raise _not_login("its expiresAt is not a time in milliseconds")
    return datetime.fromtimestamp(value / 1000, UTC)


def _extras(login: Mapping[str, object]) -> Mapping[str, Extra]:
    """Keep the few labels that are known and of the right type; others may be secrets."""
    kept: dict[str, Extra] = {}
    for name in EXTRAS:
        match login.get(name):
            case str(text):
                kept[name] = text
            case list(items):
                kept[name] = tuple(item for item in items if isinstance(item, str))
            case _:
                pass
    return MappingProxyType(kept)
