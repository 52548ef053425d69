"""Asks the provider whether it accepts a secret, before the secret is kept."""

from credentials import web
from credentials.credential import API_KEY, LOGIN_FILE, OAUTH, SETUP_TOKEN, Credential
from flowpool.errors import Failure
from home.version import version
from routing.words import Account, Kind

PATIENCE = 10.0  # seconds for the whole question
UNASKED = "not checked: its first request will tell"

_NAMES = {SETUP_TOKEN: "setup-token", OAUTH: "login", API_KEY: "API key"}
_ANEW = {
    SETUP_TOKEN: "make a new one with `claude setup-token`",
    OAUTH: "start `claude` once, which renews it",
    API_KEY: "make a new one",
}


def check(upstream: str, account: Account, credential: Credential, command: str) -> str:
    """Ask, and return what to say of it; raise Failure when the provider refuses the secret.

    upstream: as config.toml has it. command: what to run once more, but for its --kind.
    """
    from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

    secret = credential.access.reveal()
    try:
        answer = web.ask(_question(upstream, credential), PATIENCE)
    except web.UnreachableError as error:
        return (
            f"not checked: {upstream} is unreachable ({checks.told(str(error), secret)}); its first request will tell"
        )
    found = checks.finding(answer.status, answer.body, secret)
    match found.standing:
        case checks.Standing.VALID:
            return "checked: accepted"
        case checks.Standing.LIMITED:
            return f"checked: not refused, but limited for now ({answer.status})"
        case checks.Standing.UNKNOWN:
            return f"not checked: {upstream} answered {answer.status}; its first request will tell"
        case checks.Standing.INVALID | checks.Standing.DISABLED:
            is_disabled = found.standing is checks.Standing.DISABLED
            why = f"{answer.status}: {found.detail}" if found.detail else f"{answer.status}"
            raise _refusal(account, command, why, is_disabled=is_disabled)


def _question(upstream: str, credential: Credential) -> web.Question:
    from providers.anthropic import checks  # noqa: PLC0415

    fields = {"Accept": "application/json", "User-Agent": f"flowpool/{version()}"}
    asked = checks.question(Kind(credential.kind), credential.access.reveal())
    return web.Question(method="GET", url=upstream + checks.PATH, headers=fields | dict(asked))


def _refusal(account: Account, command: str, why: str, *, is_disabled: bool) -> Failure:
    """The refusal with its way out. Nothing was saved."""
    again = f"{command} {LOGIN_FILE}" if account.kind == OAUTH else f"{command} --kind {account.kind}"
    name = _NAMES[account.kind]
    if is_disabled:
        return Failure(
            f"{account.provider} forbids this {name} ({why}), as when its organisation is disabled; nothing was saved; "
            f"use another organisation's, or keep this one with --no-verify; run: {again}"
        )
    return Failure(
        f"{account.provider} does not accept this {name} ({why}); nothing was saved; {_ANEW[account.kind]}, then run: {again}"
    )
