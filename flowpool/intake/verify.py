"""Asks the provider whether it accepts a secret, before the secret is kept."""

from dataclasses import dataclass
from datetime import datetime

from credentials import web, worth
from credentials.credential import API_KEY, OAUTH, SETUP_TOKEN, Credential
from credentials.way import DIRECT, Way
from flowpool.errors import Failure
from home.version import version
from routing.words import Kind

PATIENCE = 10.0  # seconds for the whole question

_NAMES = {SETUP_TOKEN: "setup-token", OAUTH: "login", API_KEY: "API key"}
_ANEW = {SETUP_TOKEN: "make a new one with `claude setup-token`", OAUTH: "log in anew", API_KEY: "make a new one"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is to be said of a secret that was not refused. is_accepted: the provider said yes to it."""

    says: str
    is_accepted: bool = False


UNASKED = Checked(says="not checked: its first request will tell")
STALE = Checked(
    says="stale: its access token has expired, so it was not checked; the running proxy renews it, or run: flowpool refresh"
)


def check(
    upstream: str, provider: str, credential: Credential, again: str, now: datetime, *, way: Way = DIRECT
) -> Checked:
    """Ask, and return what to say of it; raise Failure when the provider refuses the secret.

    upstream: as config.toml has it. again: what to run once there is another secret. An access token that has expired, and can be
    renewed, is not asked about: the refusal would say nothing of the login.
    """
    from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

    if worth.state(credential, now) is worth.State.STALE:
        return STALE
    secret = credential.access.reveal()
    question = checks.question(upstream + checks.PATH, Kind(credential.kind), secret, f"flowpool/{version()}")
    try:
        answer = web.ask(question, PATIENCE, way)
    except web.UnreachableError as error:
        why = checks.told(str(error), secret)
        return Checked(says=f"not checked: {upstream} is unreachable ({why}); its first request will tell")
    found = checks.finding(answer, secret)
    match found.standing:
        case checks.Standing.VALID:
            return Checked(says="checked: accepted", is_accepted=True)
        case checks.Standing.LIMITED:
            return Checked(says=f"checked: not refused, but limited for now ({answer.status})")
        case checks.Standing.UNKNOWN:
            return Checked(says=f"not checked: {upstream} answered {answer.status}; its first request will tell")
        case checks.Standing.INVALID | checks.Standing.DISABLED:
            is_disabled = found.standing is checks.Standing.DISABLED
            why = f"{answer.status}: {found.detail}" if found.detail else f"{answer.status}"
            raise _refusal(provider, credential, again, why, is_disabled=is_disabled)


def _refusal(provider: str, credential: Credential, again: str, why: str, *, is_disabled: bool) -> Failure:
    """The refusal with its way out. Nothing was saved."""
    name = _NAMES[credential.kind]
    if is_disabled:
        return Failure(
            f"{provider} forbids this {name} ({why}), as when its organisation is disabled; nothing was saved; "
            f"use another organisation's, or keep this one with --no-verify; run: {again}"
        )
    return Failure(
        f"{provider} does not accept this {name} ({why}); nothing was saved; {_ANEW[credential.kind]}, then run: {again}"
    )
