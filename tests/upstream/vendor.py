"""The vendor's token endpoint on the fake upstream: refresh tokens that are good once.

endpoint = TokenEndpoint(upstream)
pair = endpoint.issue("work")
Member(name="work", kind="oauth", secret=endpoint.login_file(pair))
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import parse_qs

from tests.upstream.answer import Answer, as_json
from tests.upstream.door import NOBODY
from tests.upstream.received import Fate, Received
from tests.upstream.server import Upstream
from tests.upstream.steps import Silence
from tests.upstream.tokens import login, plant

PATH = "/v1/oauth/token"
EIGHT_HOURS = 28_800  # seconds; what the vendor gives
A_MONTH = 29 * 86_400
CLIENT = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"

type Scripted = Answer | Literal["hang"] | Callable[[Received], Answer]


@dataclass(frozen=True, slots=True)
class Pair:
    """What one login holds. expires_at: of access, in seconds since 1970."""

    access: str
    refresh: str
    expires_at: float


@dataclass(slots=True, kw_only=True)
class Call:
    """One request for a new pair.

    refresh: the token it came with. at: monotonic seconds. overlapped: another call was not answered yet when it came.
    status: what it was answered; 0 for none. fate: how the answer ended.
    """

    refresh: str
    at: float
    overlapped: bool
    fate: Fate = field(repr=False)
    status: int = 0


class TokenEndpoint:
    """Answers POST /v1/oauth/token as the vendor does; a second use of a refresh token is invalid_grant.

    calls: all so far. spent: how often each refresh token was exchanged, which is never more than once.
    identity: owner's and organization's id by account; "" leaves one out. expires_in: of what it gives, in seconds.
    latest: the newest pair of each account.
    """

    def __init__(self, upstream: Upstream) -> None:
        self.calls: list[Call] = []
        self.spent: Counter[str] = Counter()
        self.identity: dict[str, tuple[str, str]] = {}
        self.latest: dict[str, Pair] = {}
        self.expires_in: float = EIGHT_HOURS
        self._upstream = upstream
        self._owners: dict[str, str] = {}  # of refresh tokens
        self._access: dict[str, list[str]] = {}
        self._scripts: deque[Scripted] = deque()
        self.teach()

    @property
    def url(self) -> str:
        """What providers.anthropic.token_url is set to."""
        return f"{self._upstream.url}{PATH}"

    def teach(self) -> None:
        """Let the upstream answer; again after its reset()."""
        self._upstream.default(NOBODY, self._answer, path=PATH)

    def issue(self, account: str, expires_in: float | None = None) -> Pair:
        """Log an account in: a pair that is good, beside those that it has. Its access token ends after so many seconds."""
        lasts = self.expires_in if expires_in is None else expires_in
        access = plant(account, "oauth")
        pair = Pair(access, access.replace("oat01", "ort01"), time.time() + lasts)
        self._owners[pair.refresh] = account
        self._access.setdefault(account, []).append(access)
        self.latest[account] = pair
        self._upstream.add(account, access)
        self._later(lasts, access)
        return pair

    def login_file(self, pair: Pair, expires_in: float | None = None) -> str:
        """Claude Code's .credentials.json; expires_in: what it says of the access token, its real end without."""
        expires_at = pair.expires_at if expires_in is None else time.time() + expires_in
        return login(pair.access, expires_ms=int(expires_at * 1000))

    def script(self, *answers: Scripted) -> None:
        """What the next calls get instead; "hang": nothing. A function may call exchange(), and have its answer late."""
        self._scripts.extend(answers)

    def revoke(self, account: str) -> None:
        """Accept no access token that the account has by now."""
        for access in self._access.pop(account, ()):
            self._upstream._door.owners.pop(access, None)

    def end(self, account: str) -> None:
        """Accept no refresh token that the account has by now: its login has ended."""
        self._owners = {refresh: owner for refresh, owner in self._owners.items() if owner != account}

    def exchange(self, received: Received) -> Answer:
        """Give a new pair for one that was not spent yet."""
        refresh = _refresh_of(received)
        account = self._owners.pop(refresh, None)
        if account is None:
            return invalid_grant()
        self.spent[refresh] += 1
        pair = self.issue(account)
        owner, organization = self.identity.get(account, (f"owner-of-{account}", f"organization-of-{account}"))
        said: dict[str, object] = {
            "token_type": "Bearer",
            "access_token": pair.access,
            "expires_in": int(self.expires_in),
            "refresh_token": pair.refresh,
            "refresh_token_expires_in": A_MONTH,
            "scope": "user:inference user:profile",
        }
        if organization:
            said["organization"] = {"uuid": organization, "name": f"{account}'s organization"}
        if owner:
            said["account"] = {"uuid": owner, "email_address": f"{account}@example.com"}
        return as_json("token", said)

    def _answer(self, received: Received) -> Answer:
        is_busy = any(call.fate.end is None for call in self.calls)
        call = Call(refresh=_refresh_of(received), at=received.at, overlapped=is_busy, fate=received.fate)
        self.calls.append(call)
        answer = self._next(received)
        call.status = 0 if answer.framing == "raw" else answer.status
        return answer

    def _next(self, received: Received) -> Answer:
        scripted = self._scripts.popleft() if self._scripts else self.exchange
        if scripted == "hang":
            return hang()
        return scripted if isinstance(scripted, Answer) else scripted(received)

    def _later(self, seconds: float, access: str) -> None:
        """Accept an access token no longer once its time is over."""
        loop = self._upstream._loop

        def end() -> None:
            self._upstream._door.owners.pop(access, None)

        loop.call_soon_threadsafe(loop.call_later, max(0.0, seconds), end)


def _refresh_of(received: Received) -> str:
    """The refresh token that a request holds, as JSON or as a form."""
    try:
        said = received.json()
    except ValueError:
        said = {name: values[0] for name, values in parse_qs(received.body.decode("latin-1")).items()}
    return str(said.get("refresh_token", "")) if isinstance(said, dict) else ""


def hang() -> Answer:
    """Nothing at all, until the peer leaves."""
    return replace(as_json("hang", {}), framing="raw", parts=(Silence(),))


def invalid_grant() -> Answer:
    """The vendor's answer to a refresh token that is not good any more."""
    said = {"error": "invalid_grant", "error_description": "Refresh token not found or invalid"}
    return as_json("invalid_grant", said, status=400)


def invalid_client() -> Answer:
    """The vendor's answer to a program that it does not know, whoever it asks for."""
    return as_json("invalid_client", {"error": "invalid_client", "error_description": "Unknown client"}, status=401)


def too_many(retry_after: str | int = 45) -> Answer:
    """The vendor's answer to whoever asks too often."""
    said = {"type": "error", "error": {"type": "rate_limit_error", "message": "Rate limited. Please try again later."}}
    return as_json("token 429", said, status=429, headers=(("retry-after", str(retry_after)),))
