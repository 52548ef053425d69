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
USUAL = "sk-ant-oat"  # so begins every login token that was seen
SHORT_LIVED = "sk-ant-at01-"  # so begins a token that ends within hours and that nothing renews
LOGIN_FILE = f"--kind {OAUTH} < ~/.claude/.credentials.json"
QUOTES = "\"'`"
EXTRAS = ("scopes", "subscriptionType", "rateLimitTier")  # of Claude Code's .credentials.json
EARLIEST, LATEST = 946_684_800_000, 7_258_118_400_000  # ms; the years 2000 and 2200

_TOKEN = re.compile(r"[!#-&(-_a-~]+")  # printable ASCII without quotes
_SHAPES = (  # how a text begins, what it then is, the kinds it may be given as
    (USUAL, "a login token", (SETUP_TOKEN, OAUTH)),
    ("sk-ant-api", "an API key", (API_KEY,)),
    ("sk-ant-ort", "a refresh token alone", ()),
    ("{", "JSON", (OAUTH,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What one account needs to sign requests.

    kind: one of KINDS.
    access: what is sent: a setup token, an OAuth access token or an API key.
    expires_at: when access ends, aware UTC; None when it is not known to end.
    refresh_expires_at: when refresh ends, however often it was exchanged meanwhile, aware UTC; None when that is not known.
    extras: what came along, under the vendor's names (scopes, subscriptionType, rateLimitTier); no secrets.
    saved_at: when the store that gave it was given it, in ns since 1970; 0 when that is not known. No part of what it is.
    """

    kind: str
    access: Secret
    refresh: Secret | None = None
    expires_at: datetime | None = None
    refresh_expires_at: datetime | None = None
    extras: Mapping[str, Extra] = field(default_factory=lambda: MappingProxyType({}))
    saved_at: int = field(default=0, compare=False)


def parse(kind: str, text: str, command: str = "flowpool add NAME") -> Credential:
    """Read what a person pasted or piped; raise BadSecret, which never quotes it.

    setup-token, api-key: one token. oauth: Claude Code's .credentials.json, its inner object, or a bare access token.
    One pair of quotes around it is dropped. command: what to run once more, but for its --kind.
    """
    if kind not in KINDS:
        raise BadSecret("the kind of secret is unknown", f"{command} --kind {'|'.join(KINDS)}")
    text = _bare(text)
    _check_shape(kind, text, command)
    if text.startswith("{"):
        return _parse_login(text, command)
    return Credential(kind=kind, access=_token(text, "the secret", f"{command} --kind {kind}"))


def shares_secret(one: Credential, other: Credential) -> bool:
    """Tell whether two credentials open the same door."""
    return one.access == other.access or (one.refresh is not None and one.refresh == other.refresh)


def is_usual(credential: Credential) -> bool:
    """Tell whether a login token begins as all that were seen did; an API key may begin anyhow."""
    return credential.kind == API_KEY or credential.access.reveal().startswith(USUAL)


def _bare(text: str) -> str:
    """Take away what surrounds a text that was copied."""
    text = text.strip().removeprefix("\ufeff").strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES
    return text[1:-1].strip() if is_quoted else text


def _check_shape(kind: str, text: str, command: str) -> None:
    if text.startswith(SHORT_LIVED):
        raise BadSecret(
            "this is a short-lived access token; make one that lasts with `claude setup-token`",
            f"{command} --kind {SETUP_TOKEN}",
        )
    for start, what, kinds in _SHAPES:
        if text.startswith(start) and kind not in kinds:
            if not kinds:
                raise BadSecret(f"this is {what}; pipe in the whole login file", f"{command} {LOGIN_FILE}")
            raise BadSecret(f"this is {what}, not for --kind {kind}", f"{command} --kind {kinds[0]}")


def _token(text: str, what: str, mend: str) -> Secret:
    if not text:
        raise BadSecret(f"{what} is empty", mend)
    if not _TOKEN.fullmatch(text):
        raise BadSecret(f"{what} must be one line of printable ASCII without spaces or quotes", mend)
    if not SHORTEST <= len(text) <= LONGEST:
        raise BadSecret(f"{what} has {len(text)} characters, not {SHORTEST} to {LONGEST}", mend)
    return Secret(text)


def _parse_login(text: str, command: str) -> Credential:
    """Read Claude Code's .credentials.json, or the object inside it."""
    mend = f"{command} {LOGIN_FILE}"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _not_login("it is not valid JSON", mend) from None  # the cause would quote the text
    login = found.get("claudeAiOauth", found)
    if not isinstance(login, dict):
        raise _not_login("claudeAiOauth is not an object", mend)
    access, refresh = login.get("accessToken"), login.get("refreshToken")
    if not isinstance(access, str):
        raise _not_login("it has no accessToken", mend)
    if refresh is not None and not isinstance(refresh, str):
        raise _not_login("its refreshToken is not text", mend)
    _check_shape(OAUTH, access, command)
    return Credential(
        kind=OAUTH,
        access=_token(access, "accessToken", mend),
        refresh=_token(refresh, "refreshToken", mend) if refresh else None,
        expires_at=_moment(login.get("expiresAt"), mend),
        extras=_extras(login),
    )


def _not_login(why: str, mend: str) -> BadSecret:
    return BadSecret(f"this is not Claude Code's login file: {why}", mend)


def _moment(value: object, mend: str) -> datetime | None:
    """Read milliseconds since 1970; None and 0 mean unknown."""
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not EARLIEST <= value <= LATEST:
        raise _not_login("its expiresAt is not a time in milliseconds", mend)
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
